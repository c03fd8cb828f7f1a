"""One self-contained HTML page about a trained model: pictures and their tags, and all that was measured."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tagrank.annotation import Annotator, explain
from tagrank.annotation.describing import PICTURES
from tagrank.data import Collection
from tagrank.files import Problem
from tagrank.metrics import MetricTable
from tagrank.reports.methods import MethodResult, metric_lines, training_charts
from tagrank.reports.model_notes import choice_section, kernels_section
from tagrank.reports.pages import problems_section, write_page
from tagrank.reports.picture_pixels import one_row, picture_finder, picture_pixels
from tagrank.reports.pictures import (
    FindPicture,
    ReportPicture,
    judge_tags,
    pick_pictures,
    pick_tag_examples,
    pictures_section,
    why_section,
)
from tagrank.reports.quality import QualityNote
from tagrank.reports.scores import Answers, scores_section
from tagrank.reports.tags import MOST_PAIRS, Confusion, TagExamples, co_occurrence, confusions, tags_section

__all__ = ["Answers", "MethodResult", "ReportPicture", "TagExamples", "judge_tags", "write_report"]

# in the order of the page; each is drawn by the template of its name
SECTIONS = {
    "pictures": "Examples",
    "why": "Why these tags",
    "metrics": "Quality",
    "choice": "How the model was chosen",
    "kernels": "Kernel weights",
    "tags": "Quality of each tag",
    "confusions": "Common confusions",
    "companions": "Tags that go together",
    "scores": "Scores and probabilities",
    "features": "Time for the features",
    "training": "Convergence of the training",
    "problems": "Files that could not be read",
}


def write_report(
    path: str | os.PathLike,
    *,
    title: str,
    methods: Sequence[MethodResult],
    pictures: Sequence[ReportPicture] = (),
    per_tag: Mapping[str, Sequence[Any] | np.ndarray] | None = None,
    facts: Mapping[str, object] | None = None,
    summary: str = "",
    quality: QualityNote | None = None,
    choice: Mapping[str, Any] | None = None,
    kernels: Mapping[str, Any] | None = None,
    answers: Answers | None = None,
    tag_examples: Mapping[str, TagExamples] | None = None,
    find_picture: FindPicture | None = None,
    feature_seconds: Mapping[str, float] | None = None,
    n_pictures: int | None = None,
    problems: Sequence[Problem] = (),
) -> None:
    """Write an HTML page that needs nothing else: no scripts, no network, pictures inside.

    Parameters
    ----------
    path : the HTML file; missing folders are made
    title : headline of the page
    methods : the methods to compare; pictures and tags are those of the first
    pictures : what to show, in this order; see `pick_pictures`
    per_tag : columns "tag", "support", "precision", "recall", "f1" and perhaps "ap", such as
        `per_label_table` gives
    facts : words and numbers about the data, such as {"training pictures": 280}
    summary : a sentence below the headline
    quality : what the tags of the first method are worth; stands at the top
    choice : how the first method was chosen, see `choice_section`
    kernels : what its kernels weigh and cost, see `kernels_section`
    answers : what the first method said about all pictures, for confusions, companions and scores
    tag_examples : tag -> pictures in which it was found and missed; see `pick_tag_examples`
    find_picture : name of a training picture -> uint8 array or None, for the pictures with `why`
    feature_seconds : set of features -> seconds that it took for `n_pictures`
    n_pictures : how many pictures the features were extracted from
    problems : files that could not be read, and why
    """
    if not methods:
        raise ValueError("a report needs at least one method, got none")
    content = {
        "pictures": pictures_section(pictures),
        "why": why_section(pictures, find_picture),
        "metrics": metric_lines(methods),
        "choice": choice,
        "kernels": kernels,
        "tags": tags_section(per_tag, tag_examples),
        "confusions": _confusions(answers),
        "companions": _companions(answers),
        "scores": scores_section(answers),
        "features": _features(feature_seconds, n_pictures),
        "training": training_charts(methods),
        "problems": problems_section(problems),
    }
    write_page(
        path,
        title=title,
        summary=summary,
        facts={name: _fact(value) for name, value in (facts or {}).items()},
        headings=SECTIONS,
        content=content,
        methods=[method.name for method in methods],
        quality=None if quality is None else (quality.sentence, quality.origin),
    )


def _confusions(answers: Answers | None) -> list[Confusion]:
    if answers is None:
        return []
    return confusions(answers.Y, answers.predictions, answers.tags, n_pairs=MOST_PAIRS)


def _companions(answers: Answers | None) -> dict[str, Any] | None:
    if answers is None:
        return None
    together = co_occurrence(answers.Y, answers.predictions, answers.tags)
    if not together.tags:
        return None
    maps = [("True", together.true), ("Predicted", together.predicted)]
    return {"found": together, "maps": maps, "n_tags": len(answers.tags)}


def _features(seconds: Mapping[str, float] | None, n_pictures: int | None) -> dict[str, Any] | None:
    """The slowest first; bars in hundredths of the slowest."""
    if not seconds:
        return None
    longest = max(seconds.values()) or 1.0
    return {
        "lines": [
            (name, took, 1000 * took / n_pictures if n_pictures else None, round(100 * took / longest, 1))
            for name, took in sorted(seconds.items(), key=lambda entry: -entry[1])
        ],
        "total": sum(seconds.values()),
        "n_pictures": n_pictures,
    }


def _fact(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        return str(value)
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.2f}"


EXPLAINED = 2  # pictures of each heading of which the page tells why
TAGS_EXPLAINED = 3


def write_model_report(
    path: str | os.PathLike,
    *,
    title: str,
    annotator: Annotator,
    rows: Collection,
    tables: Mapping[str, MetricTable],
    per_tag: Mapping[str, np.ndarray],
    answers: Answers,
    facts: Mapping[str, object],
    traces: Mapping[str, Sequence[Any]] | None = None,
    feature_seconds: Mapping[str, float] | None = None,
    training: Collection | None = None,
    pictures: str | os.PathLike | None = None,
    summary: str = "",
    quality: QualityNote | None = None,
) -> None:
    """Write the page about a model; what is not said here is as `write_report` takes it.

    `answers` are those of `annotator` about `rows`, with their features. Of `tables`, metrics by method, its
    own comes first. Training pictures may be found in the collection `training` and in the folder `pictures`.
    """
    names = rows.names or [f"row {i}" for i in range(len(rows))]
    shown = [
        _report_picture(annotator, rows, answers, names, i, heading, explained=place < EXPLAINED)
        for heading, chosen in pick_pictures(answers.Y, answers.scores, answers.predictions).items()
        for place, i in enumerate(chosen)
    ]
    write_report(
        path,
        title=title,
        summary=f"{_about_model(annotator)} {summary}".strip(),
        quality=quality,
        choice=choice_section(annotator),
        kernels=kernels_section(annotator),
        methods=[MethodResult(name, table, (traces or {}).get(name, ())) for name, table in tables.items()],
        pictures=shown,
        per_tag=per_tag,
        facts=facts,
        answers=answers,
        tag_examples=_PicturesOfTags(rows, answers, names) if PICTURES in rows.views else None,
        find_picture=picture_finder(annotator, training, pictures),
        feature_seconds=feature_seconds,
        n_pictures=len(rows),
        problems=rows.problems,
    )


def _about_model(annotator: Annotator) -> str:
    """What is known of the model: its kind, its training, and how complete the tags were."""
    known = annotator.metadata
    kind = "rows" if annotator.features_ is None else "pictures"
    facts = [f"Model: {known.get('method', 'unknown')}"]
    if isinstance(known.get("n_training"), int):
        facts.append(f"trained on {known['n_training']:,} {kind}")
    if isinstance(known.get("created"), str):
        facts.append(known["created"][:10])
    completeness = getattr(annotator.estimator_, "completeness_", None)
    if completeness is not None:
        facts.append(f"listed true tags: {completeness.words}")
    return f"{'; '.join(facts)}."


def _report_picture(
    annotator: Annotator,
    rows: Collection,
    answers: Answers,
    names: Sequence[str],
    i: int,
    heading: str,
    *,
    explained: bool,
) -> ReportPicture:
    states = rows.states()[i]
    chosen = np.flatnonzero(answers.predictions[i])
    chosen = chosen[np.argsort(-answers.scores[i, chosen], kind="stable")]
    probabilities = answers.probabilities
    return ReportPicture(
        name=names[i],
        true_tags=_named(answers.tags, states > 0),
        predicted=[
            (
                answers.tags[j],
                float(answers.scores[i, j]),
                None if probabilities is None else float(probabilities[i, j]),
            )
            for j in chosen.tolist()
        ],
        unknown_tags=_named(answers.tags, states == 0),
        image=picture_pixels(rows, i),
        heading=heading,
        why=explain(annotator, one_row(rows, i))[:TAGS_EXPLAINED] if explained else (),
    )


class _PicturesOfTags(Mapping[str, TagExamples]):
    """Tag to the pictures in which it was found and missed; only those that are asked for are decoded."""

    def __init__(self, rows: Collection, answers: Answers, names: Sequence[str]) -> None:
        picked = pick_tag_examples(answers.Y, answers.scores, answers.predictions)
        self._picked = dict(zip(answers.tags, picked, strict=True))
        self._rows, self._names = rows, names

    def __getitem__(self, tag: str) -> TagExamples:
        return TagExamples(*map(self._picture, self._picked[tag]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._picked)

    def __len__(self) -> int:
        return len(self._picked)

    def _picture(self, i: int | None) -> ReportPicture | None:
        return (
            None if i is None else ReportPicture(self._names[i], (), (), image=picture_pixels(self._rows, i))
        )


def _named(tags: Sequence[str], is_chosen: np.ndarray) -> list[str]:
    return [tag for tag, chosen in zip(tags, is_chosen, strict=True) if chosen]

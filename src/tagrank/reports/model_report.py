"""The report of one model on pictures whose tags are known: which pictures to show, and why these tags."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tagrank.annotation import Annotator, explain
from tagrank.annotation.describing import PICTURES
from tagrank.data import Collection
from tagrank.metrics import MetricTable
from tagrank.reports.picture_pixels import one_row, picture_finder, picture_pixels
from tagrank.reports.quality import QualityNote
from tagrank.reports.report import Answers, MethodResult, ReportPicture, TagExamples, write_report
from tagrank.reports.sections.choice import choice_section
from tagrank.reports.sections.kernels import kernels_section
from tagrank.reports.sections.pictures import pick_pictures, pick_tag_examples

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
        facts.append(f"true tags that were listed: {completeness.words}")
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

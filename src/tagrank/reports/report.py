"""One self-contained HTML page about a trained model: pictures and their tags, and all that was measured."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tagrank.data import Problem
from tagrank.reports.pages import problems_section, write_page
from tagrank.reports.quality import QualityNote
from tagrank.reports.sections.methods import MethodResult, metric_lines, training_charts
from tagrank.reports.sections.pairs import MOST_PAIRS, Confusion, co_occurrence, confusions
from tagrank.reports.sections.pictures import ReportPicture, judge_tags, pictures_section
from tagrank.reports.sections.scores import Answers, scores_section
from tagrank.reports.sections.tags import TagExamples, tags_section
from tagrank.reports.sections.why import FindPicture, why_section

__all__ = ["Answers", "MethodResult", "ReportPicture", "TagExamples", "judge_tags", "write_report"]

# in the order of the page; each is drawn by the template of its name
SECTIONS = {
    "pictures": "What it says",
    "why": "Why these tags",
    "metrics": "How good is it?",
    "choice": "How the model was chosen",
    "kernels": "What counts how much",
    "tags": "Tag by tag",
    "confusions": "What it takes for what",
    "companions": "Tags that come together",
    "scores": "How sure it is",
    "features": "What the features cost",
    "training": "How the training went",
    "problems": "What could not be read",
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
    """Write a page that needs nothing else: no scripts, no network, pictures inside; whole or not at all.

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
    found = co_occurrence(answers.Y, answers.predictions, answers.tags)
    if not found.tags:
        return None
    maps = [("True", found.true), ("Predicted", found.predicted)]
    return {"found": found, "maps": maps, "n_tags": len(answers.tags)}


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

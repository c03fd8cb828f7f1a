"""The tags of a report: numbers of each, the best and the worst."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tagrank.data.picture_files import thumbnail_url
from tagrank.reports.sections.pictures import ReportPicture

MOST_PLOTTED_TAGS = 42
PLOT_COLUMNS, SHORTEST_COLUMN = 3, 5
MOST_TABLED_TAGS = 2000
MOST_EXTREMES = 6
COLUMNS = ("tag", "support", "precision", "recall", "f1")
THUMBNAIL = {"longest": 144, "quality": 80}


class TagExamples(NamedTuple):
    """A picture in which a tag was found and one in which it was missed; their names and images are shown."""

    found: ReportPicture | None = None
    missed: ReportPicture | None = None


class TagLine(NamedTuple):
    """Precision, recall, F1 and average precision of one tag; None where undefined."""

    tag: str
    support: int
    precision: float | None
    recall: float | None
    f1: float | None
    ap: float | None

    @property
    def measures(self) -> list[tuple[str, float | None]]:
        return [("precision", self.precision), ("recall", self.recall), ("AP", self.ap)]


def tags_section(
    per_tag: Mapping[str, Sequence[Any] | np.ndarray] | None, tag_examples: Mapping[str, TagExamples] | None
) -> dict[str, Any] | None:
    """The best and the worst tags as cards, the frequent ones as bars, all in numbers."""
    if per_tag is None:
        return None
    lines = tag_lines(per_tag)
    if not lines:
        return None
    examples = tag_examples or {}
    frequent = set(sorted(lines, key=lambda line: -line.support)[:MOST_TABLED_TAGS])
    return {
        "lines": [line for line in lines if line in frequent],
        "n_tags": len(lines),
        "plotted": plotted_tags(lines),
        "has_ap": any(line.ap is not None for line in lines),
        "extremes": [
            (heading, [_card(line, examples.get(line.tag, TagExamples())) for line in chosen])
            for heading, chosen in extreme_tags(lines)
        ],
    }


def tag_lines(per_tag: Mapping[str, Sequence[Any] | np.ndarray]) -> list[TagLine]:
    """All tags, the best F1 first, undefined ones last."""
    missing = [name for name in COLUMNS if name not in per_tag]
    if missing:
        raise ValueError(f"per_tag must have the columns {', '.join(COLUMNS)}; missing: {', '.join(missing)}")
    columns = [per_tag[name] for name in COLUMNS]
    columns.append(per_tag.get("ap", np.full(len(columns[0]), np.nan)))
    lines = [
        TagLine(str(tag), int(support), *map(_defined, values))
        for tag, support, *values in zip(*columns, strict=True)
    ]
    return sorted(lines, key=lambda line: (line.f1 is None, -(line.f1 or 0.0), line.tag))


def plotted_tags(lines: list[TagLine]) -> list[list[TagLine]]:
    """The most frequent tags, still the best first, in up to three columns of about equal length."""
    frequent = set(sorted(lines, key=lambda line: -line.support)[:MOST_PLOTTED_TAGS])
    chosen = [line for line in lines if line in frequent and line.f1 is not None]
    length = max(math.ceil(len(chosen) / PLOT_COLUMNS), SHORTEST_COLUMN)
    return [chosen[start : start + length] for start in range(0, len(chosen), length)]


def extreme_tags(lines: list[TagLine]) -> list[tuple[str, list[TagLine]]]:
    """The best and the worst tags; of equally bad ones the most frequent, which matter most."""
    defined = [line for line in lines if line.f1 is not None]
    n_shown = min(MOST_EXTREMES, len(defined) // 2)
    if not n_shown:
        return []
    best = sorted(defined, key=lambda line: (-(line.f1 or 0.0), -line.support))[:n_shown]
    worst = sorted(defined, key=lambda line: (line.f1 or 0.0, -line.support))[:n_shown]
    return [("The best", best), ("The worst", worst)]


def _card(line: TagLine, examples: TagExamples) -> dict[str, Any]:
    shown = [
        {"kind": kind, "name": picture.name, "url": thumbnail_url(picture.image, **THUMBNAIL)}
        for kind, picture in zip(("found", "missed"), examples, strict=True)
        if picture is not None and picture.image is not None
    ]
    return {"line": line, "examples": shown}


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else float(value)

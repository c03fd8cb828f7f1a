"""One self-contained HTML page about a trained model: pictures and their tags, metrics, convergence."""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from tagrank._version import __version__
from tagrank.data.thumbnails import thumbnail_url
from tagrank.files import atomic_write
from tagrank.metrics import MetricRow
from tagrank.solvers.solution import TracePoint
from tagrank.study.charts import LineChart, Series, line_chart

MOST_PLOTTED_TAGS = 42
PLOT_COLUMNS, SHORTEST_COLUMN = 3, 5


@dataclass(frozen=True)
class ReportPicture:
    """A picture (or a row without one) with the tags that the model gave it.

    Parameters
    ----------
    name : what the picture is called
    true_tags : the tags known to be present
    predicted : (tag, score, probability or None) of every tag given to the picture, best first
    unknown_tags : tags of which nobody knows whether they are present: neither right nor wrong
    image : uint8 array, shape (height, width, 3), or None
    """

    name: str
    true_tags: Sequence[str]
    predicted: Sequence[tuple[str, float, float | None]]
    unknown_tags: Sequence[str] = ()
    image: np.ndarray | None = None


@dataclass(frozen=True)
class MethodResult:
    """A method of the comparison: its metrics and, if it was trained step by step, its trace.

    Parameters
    ----------
    name : for instance "LabelRanker"
    metrics : rows with name, value and higher_is_better, such as a `MetricTable`
    trace : points with seconds, primal, dual and gap, such as `trace_`; empty if there is none
    """

    name: str
    metrics: Iterable[MetricRow]
    trace: Sequence[TracePoint] = field(default_factory=tuple)


class Verdict(NamedTuple):
    """What a page says about one tag of one picture."""

    tag: str
    kind: str
    strength: str


class MetricLine(NamedTuple):
    """One metric across all methods; `best` says which cells hold the best value."""

    name: str
    higher_is_better: bool
    cells: list[str]
    best: list[bool]


class TagLine(NamedTuple):
    """Precision, recall and F1 of one tag; None where undefined."""

    tag: str
    support: int
    precision: float | None
    recall: float | None
    f1: float | None


def write_report(
    path: str | os.PathLike,
    *,
    title: str,
    methods: Sequence[MethodResult],
    pictures: Sequence[ReportPicture] = (),
    per_tag: Mapping[str, Sequence[Any] | np.ndarray] | None = None,
    facts: Mapping[str, object] | None = None,
    summary: str = "",
) -> None:
    """Write a page that needs nothing else: no scripts, no network, pictures inside; whole or not at all.

    Parameters
    ----------
    path : the HTML file; missing folders are made
    title : headline of the page
    methods : the methods to compare; pictures and tags are those of the first
    pictures : what to show, in this order
    per_tag : columns "tag", "support", "precision", "recall" and "f1", such as `per_label_table` gives
    facts : words and numbers about the data, such as {"training pictures": 280}
    summary : a sentence below the headline
    """
    if not methods:
        raise ValueError("a report needs at least one method, got none")
    shown = [_picture(picture) for picture in pictures]
    tag_lines = _tag_lines(per_tag) if per_tag is not None else []
    page = _render(
        title=title,
        summary=summary,
        facts={name: _fact(value) for name, value in (facts or {}).items()},
        methods=[method.name for method in methods],
        metric_lines=_metric_lines(methods),
        pictures=shown,
        kinds={verdict.kind for picture in shown for verdict in picture["verdicts"]},
        charts=_charts(methods),
        tag_lines=tag_lines,
        plotted_tags=_plotted_tags(tag_lines),
    )
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        # names of files may hold bytes that are no text: they become question marks
        file.write(page.encode("utf-8", errors="replace"))


def judge_tags(picture: ReportPicture) -> list[Verdict]:
    """The predicted tags in their order as found, wrong or unknown, then the missed ones."""
    true, unknown = set(picture.true_tags), set(picture.unknown_tags)
    verdicts = []
    for tag, score, probability in picture.predicted:
        kind = "found" if tag in true else "unknown" if tag in unknown else "wrong"
        strength = f"{score:.2f}" if probability is None else f"{probability:.0%}"
        verdicts.append(Verdict(tag, kind, strength))
    given = {verdict.tag for verdict in verdicts}
    return verdicts + [Verdict(tag, "missed", "") for tag in picture.true_tags if tag not in given]


def _render(**content: Any) -> str:
    environment = Environment(
        loader=PackageLoader("tagrank.study", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2").render(version=__version__, **content)


def _picture(picture: ReportPicture) -> dict[str, Any]:
    return {
        "name": picture.name,
        "url": None if picture.image is None else thumbnail_url(picture.image),
        "verdicts": judge_tags(picture),
    }


def _metric_lines(methods: Sequence[MethodResult]) -> list[MetricLine]:
    """Every metric that is defined for some method, in the order in which they come up."""
    tables = [{row.name: row for row in method.metrics} for method in methods]
    found = {
        row.name: row.higher_is_better
        for table in tables
        for row in table.values()
        if not math.isnan(row.value)
    }
    return [
        _metric_line(name, higher, [table[name].value if name in table else math.nan for table in tables])
        for name, higher in found.items()
    ]


def _metric_line(name: str, higher_is_better: bool, values: list[float]) -> MetricLine:
    known = [value for value in values if not math.isnan(value)]
    decimals = 3 if max(map(abs, known)) < 5 else 0 if all(value.is_integer() for value in known) else 2
    cells = ["–" if math.isnan(value) else f"{value:.{decimals}f}" for value in values]
    top = (max(known) if higher_is_better else min(known)) if len(known) > 1 else math.nan
    # a tie is judged by what the reader sees
    shown = {cell for cell, value in zip(cells, values, strict=True) if value == top}
    return MetricLine(name, higher_is_better, cells, [cell in shown for cell in cells])


def _charts(methods: Sequence[MethodResult]) -> list[LineChart]:
    """The duality gaps of all methods in one plot, then the objectives of each in its own."""
    traces = {method.name: _finite_points(method.trace) for method in methods}
    traces = {name: points for name, points in traces.items() if points}
    if not traces:
        return []
    gaps = [(name, [p.seconds for p in points], [p.gap for p in points]) for name, points in traces.items()]
    ends = ", ".join(f"{name} ends at {points[-1].gap:.1e}" for name, points in traces.items())
    description = f"How far from the optimum at most: {ends}."
    gap_chart = line_chart("Relative duality gap", gaps, description=description, logarithmic=True)
    return [gap_chart, *(_objective_chart(name, points) for name, points in traces.items())]


def _objective_chart(name: str, points: list[TracePoint]) -> LineChart:
    seconds, last = [point.seconds for point in points], points[-1]
    lines: list[Series] = [
        ("primal", seconds, [point.primal for point in points]),
        ("dual", seconds, [point.dual for point in points]),
    ]
    between = f"{last.dual:,.5g} and {last.primal:,.5g}"
    description = f"The optimum lies between the lines, at the end between {between}."
    return line_chart(f"Objective of {name}", lines, description=description)


def _finite_points(trace: Sequence[TracePoint]) -> list[TracePoint]:
    return [point for point in trace if all(map(math.isfinite, point))]


def _tag_lines(per_tag: Mapping[str, Sequence[Any] | np.ndarray]) -> list[TagLine]:
    """All tags, the best F1 first, undefined ones last."""
    names = ("tag", "support", "precision", "recall", "f1")
    missing = [name for name in names if name not in per_tag]
    if missing:
        raise ValueError(f"per_tag must have the columns {', '.join(names)}; missing: {', '.join(missing)}")
    lines = [
        TagLine(str(tag), int(support), *map(_defined, values))
        for tag, support, *values in zip(*(per_tag[name] for name in names), strict=True)
    ]
    return sorted(lines, key=lambda line: (line.f1 is None, -(line.f1 or 0.0), line.tag))


def _plotted_tags(lines: list[TagLine]) -> list[list[TagLine]]:
    """The most frequent tags, still the best first, in up to three columns of about equal length."""
    frequent = sorted(lines, key=lambda line: -line.support)[:MOST_PLOTTED_TAGS]
    chosen = [line for line in lines if line in set(frequent) and line.f1 is not None]
    length = max(math.ceil(len(chosen) / PLOT_COLUMNS), SHORTEST_COLUMN)
    return [chosen[start : start + length] for start in range(0, len(chosen), length)]


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _fact(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        return str(value)
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.2f}"

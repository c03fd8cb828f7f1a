"""The methods of a report side by side: their metrics and how their training went."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tagrank.metrics import MetricRow
from tagrank.reports.charts import LineChart, Series, line_chart
from tagrank.solvers.solution import TracePoint


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


class MetricLine(NamedTuple):
    """One metric across all methods; `best` says which cells hold the best value."""

    name: str
    higher_is_better: bool
    cells: list[str]
    best: list[bool]
    about: str = ""


def metric_lines(methods: Sequence[MethodResult]) -> list[MetricLine]:
    """Every metric that is defined for some method, in the order in which they come up."""
    tables = [{row.name: row for row in method.metrics} for method in methods]
    defined = {row.name: row for table in tables for row in table.values() if not math.isnan(row.value)}
    return [
        _metric_line(row, [table[name].value if name in table else math.nan for table in tables])
        for name, row in defined.items()
    ]


def _metric_line(row: MetricRow, values: list[float]) -> MetricLine:
    known = [value for value in values if not math.isnan(value)]
    decimals = 3 if max(map(abs, known)) < 5 else 0 if all(value.is_integer() for value in known) else 2
    cells = ["–" if math.isnan(value) else f"{value:.{decimals}f}" for value in values]
    top = (max(known) if row.higher_is_better else min(known)) if len(known) > 1 else math.nan
    # a tie is judged by what the reader sees
    shown = {cell for cell, value in zip(cells, values, strict=True) if value == top}
    best = [cell in shown for cell in cells]
    return MetricLine(row.name, row.higher_is_better, cells, best, getattr(row, "about", ""))


def training_charts(methods: Sequence[MethodResult]) -> list[LineChart]:
    """The duality gaps of all methods in one plot, then the objectives of each in its own."""
    traces = {
        method.name: [point for point in method.trace if all(map(math.isfinite, point))] for method in methods
    }
    traces = {name: points for name, points in traces.items() if points}
    if not traces:
        return []
    gaps = [(name, [p.seconds for p in points], [p.gap for p in points]) for name, points in traces.items()]
    ends = ", ".join(f"{name} ends at {points[-1].gap:.1e}" for name, points in traces.items())
    description = f"Largest possible distance to the optimum: {ends}."
    gap_chart = line_chart("Relative duality gap", gaps, description=description, logarithmic=True)
    return [gap_chart, *(_objective_chart(name, points) for name, points in traces.items())]


def _objective_chart(name: str, points: list[TracePoint]) -> LineChart:
    seconds, last = [point.seconds for point in points], points[-1]
    lines: list[Series] = [
        ("primal", seconds, [point.primal for point in points]),
        ("dual", seconds, [point.dual for point in points]),
    ]
    between = f"{last.dual:,.5g} and {last.primal:,.5g}"
    description = f"The optimum is between the lines; at the end, between {between}."
    return line_chart(f"Objective of {name}", lines, description=description)

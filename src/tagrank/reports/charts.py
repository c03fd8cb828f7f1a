"""Where the lines, bars and ticks of a plot lie: numbers only, the page template draws them.

Charts are 360 units wide, so that they stay readable on a telephone; lengths count from the top left corner.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

LEFT, RIGHT, TOP, BOTTOM = 52, 338, 12, 186
SMALLEST_GAP = 1e-12
MOST_MARKS = 25

Series = tuple[str, Sequence[float] | np.ndarray, Sequence[float] | np.ndarray]


@dataclass(frozen=True)
class Tick:
    """A place on an axis and what stands there."""

    position: float
    label: str


@dataclass(frozen=True)
class Line:
    """A named line; `points` is ready for a polyline, `marks` are its corners while they are few.

    `notes` stand beside the marks, one for each, where there are any.
    """

    name: str
    points: str
    marks: list[tuple[float, float]]
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class LineChart:
    """Lines with the ticks of both axes, and a sentence that says what they show.

    `x_label` is what stands below; `filled` lines enclose an area above the horizontal axis.
    """

    title: str
    description: str
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    lines: list[Line]
    x_label: str = "seconds"
    filled: bool = False


def line_chart(
    title: str,
    series: Sequence[Series],
    *,
    description: str,
    x_label: str = "seconds",
    logarithmic: bool = False,
) -> LineChart:
    """Lay out lines given as (name, x, y), all finite; a logarithmic vertical axis ends at 1e-12."""
    curves = [(name, np.asarray(x, dtype=float), np.asarray(y, dtype=float)) for name, x, y in series]
    if logarithmic:
        curves = [(name, x, np.log10(np.maximum(y, SMALLEST_GAP))) for name, x, y in curves]
    heights = np.concatenate([y for _, _, y in curves])
    y_values = (_decades if logarithmic else round_values)(float(heights.min()), float(heights.max()))
    places = np.concatenate([x for _, x, _ in curves])
    x_values = round_values(min(0.0, float(places.min())), float(places.max()))
    across = partial(_place, first=x_values[0], last=x_values[-1], start=LEFT, end=RIGHT)
    down = partial(_place, first=y_values[0], last=y_values[-1], start=BOTTOM, end=TOP)
    return LineChart(
        title,
        description,
        x_ticks=[Tick(across(x), f"{x:,.10g}") for x in x_values],
        y_ticks=[Tick(down(y), power_of_ten(y) if logarithmic else f"{y:,.10g}") for y in y_values],
        lines=[_line(name, across(x), down(y)) for name, x, y in curves],
        x_label=x_label,
    )


def histogram_chart(
    title: str, groups: Mapping[str, np.ndarray], *, description: str, x_label: str, edges: np.ndarray
) -> LineChart:
    """Outlines of histograms on common bins: the share of each group that falls into each bin.

    Values outside the bins are counted in the outermost.
    """
    inside = {name: np.clip(values, edges[0], edges[-1]) for name, values in groups.items()}
    counts = {name: np.histogram(values, edges)[0] / max(1, len(values)) for name, values in inside.items()}
    x = np.repeat(edges, 2)
    series = [(name, x, np.concatenate([[0], np.repeat(shares, 2), [0]])) for name, shares in counts.items()]
    chart = line_chart(title, series, description=description, x_label=x_label)
    return replace(chart, lines=[replace(line, marks=[]) for line in chart.lines], filled=True)


def round_values(low: float, high: float) -> list[float]:
    """About five round numbers (1, 2 or 5 times a power of ten apart) that enclose low and high."""
    spread = high - low if high > low else max(abs(high), 1.0)
    power = 10.0 ** math.floor(math.log10(spread / 4))
    step = power * next(factor for factor in (1, 2, 5, 10) if factor * power >= spread / 4 * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 12) for k in range(first, max(last, first + 1) + 1)]


def _decades(low: float, high: float) -> list[float]:
    """Exponents of at most seven powers of ten that enclose low and high."""
    first, last = math.floor(low), max(math.ceil(high), math.floor(low) + 1)
    stride = math.ceil((last - first) / 6)
    return [float(k) for k in range(first, last + stride, stride)]


def power_of_ten(exponent: float) -> str:
    """A label that is read at a glance: 1, 0.1, 0.01, then 10⁻³."""
    if -2 <= exponent <= 3:
        return f"{10.0**exponent:g}"
    return "10" + f"{exponent:.0f}".translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _place(value: Any, *, first: float, last: float, start: float, end: float) -> Any:
    return start + (value - first) / (last - first) * (end - start)


def _line(name: str, x: np.ndarray, y: np.ndarray) -> Line:
    marks = [(round(float(a), 1), round(float(b), 1)) for a, b in zip(x, y, strict=True)]
    return Line(
        name, " ".join(f"{a},{b}" for a, b in marks), marks if len(marks) <= MOST_MARKS else marks[-1:]
    )

"""Where the lines, bars, names and ticks of a plot lie: numbers only, the page template draws them.

Charts of lines are 360 units wide, so that they stay readable on a telephone; lengths count from the top
left corner. Interval charts and rank diagrams compare methods.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tagrank.metrics.chance import AverageRanks

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


NAMES_END, SCALE_END, ROW_HEIGHT, FIRST_ROW = 190, 560, 20, 26  # of interval charts
RANKS_LEFT, RANKS_RIGHT, RANKS_AXIS = 210, 510, 52  # of rank diagrams: the axis
GROUP, ARM = 7, 19  # heights of a group's bar and of a name


@dataclass(frozen=True)
class IntervalLine:
    """A method: its value with its interval, at a height."""

    name: str
    y: float
    x: float
    low: float
    high: float
    words: str
    is_marked: bool


@dataclass(frozen=True)
class IntervalChart:
    """Values of methods with their intervals, one below the other, and lines of those to be beaten."""

    height: float
    ticks: list[Tick]
    lines: list[IntervalLine]
    baselines: list[Tick]
    title: str


def interval_chart(
    title: str,
    values: Mapping[str, tuple[float, float, float]],
    *,
    baselines: Mapping[str, str],
    marked: Sequence[str] = (),
) -> IntervalChart:
    """Lay out values (value, low, high) of methods, in their order.

    `baselines` are names of methods whose values become lines through all, and what the lines are called;
    `marked` methods stand out.
    """
    everything = [number for triple in values.values() for number in triple]
    scale = round_values(min(everything), max(everything))

    def across(value: float) -> float:
        return round(
            NAMES_END + 12 + (value - scale[0]) / (scale[-1] - scale[0]) * (SCALE_END - NAMES_END - 12), 1
        )

    lines = [
        IntervalLine(
            name,
            FIRST_ROW + ROW_HEIGHT * place + ROW_HEIGHT / 2,
            across(value),
            across(low),
            across(high),
            f"{value:.3f} ({low:.3f} to {high:.3f})",
            name in marked,
        )
        for place, (name, (value, low, high)) in enumerate(values.items())
    ]
    return IntervalChart(
        FIRST_ROW + ROW_HEIGHT * len(lines) + 8,
        [Tick(across(value), f"{value:,.10g}") for value in scale],
        lines,
        [Tick(across(values[name][0]), words) for name, words in baselines.items() if name in values],
        title,
    )


@dataclass(frozen=True)
class Arm:
    """A method of a rank diagram: the line from its rank to its name."""

    name: str
    rank: float
    points: str
    x: float
    y: float
    anchor: str


@dataclass(frozen=True)
class RankDiagram:
    """Average ranks on an axis; bars join methods that are not told apart (Demsar 2006)."""

    height: float
    ticks: list[Tick]
    arms: list[Arm]
    bars: list[tuple[float, float, float]]
    difference: tuple[float, float]
    words: str


def rank_diagram(ranks: AverageRanks) -> RankDiagram:
    """Lay out average ranks: the better half of the names on the left, the others on the right."""
    n_methods = len(ranks.names)

    def across(rank: float) -> float:
        return round(RANKS_LEFT + (rank - 1) / (n_methods - 1) * (RANKS_RIGHT - RANKS_LEFT), 1)

    below, half = RANKS_AXIS + 10 + GROUP * len(ranks.groups), (n_methods + 1) // 2
    arms = []
    for place, (name, rank) in enumerate(zip(ranks.names, ranks.ranks, strict=True)):
        is_left = place < half
        y = below + ARM * (0.5 + (place if is_left else n_methods - 1 - place))
        x, end = across(rank), RANKS_LEFT - 12 if is_left else RANKS_RIGHT + 12
        points = f"{x},{RANKS_AXIS} {x},{y} {end},{y}"
        arms.append(
            Arm(name, rank, points, end - 6 if is_left else end + 6, y + 4, "end" if is_left else "start")
        )
    step = max(1, round((n_methods - 1) / 8))
    return RankDiagram(
        below + ARM * half + 8,
        [Tick(across(rank), str(rank)) for rank in range(1, n_methods + 1, step)],
        arms,
        [
            (across(ranks.ranks[first]) - 3, across(ranks.ranks[last]) + 3, RANKS_AXIS + 8 + GROUP * place)
            for place, (first, last) in enumerate(ranks.groups)
        ],
        (RANKS_LEFT, min(across(1 + ranks.critical_difference), RANKS_RIGHT + 150.0)),
        ", ".join(f"{name} {rank:.2f}" for name, rank in zip(ranks.names, ranks.ranks, strict=True)),
    )

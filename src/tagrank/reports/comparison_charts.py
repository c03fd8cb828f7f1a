"""Where lines and names lie in charts that compare methods: numbers only, the page template draws them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tagrank.metrics.chance import AverageRanks
from tagrank.reports.charts import Tick, round_values

NAMES, RIGHT, ROW, TOP = (
    190,
    560,
    20,
    26,
)  # of interval charts: names end, scale ends, height of a line, first
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
        return round(NAMES + 12 + (value - scale[0]) / (scale[-1] - scale[0]) * (RIGHT - NAMES - 12), 1)

    lines = [
        IntervalLine(
            name,
            TOP + ROW * place + ROW / 2,
            across(value),
            across(low),
            across(high),
            f"{value:.3f} ({low:.3f} to {high:.3f})",
            name in marked,
        )
        for place, (name, (value, low, high)) in enumerate(values.items())
    ]
    return IntervalChart(
        TOP + ROW * len(lines) + 8,
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

"""The geometry of the plots: ticks are round and enclose the data, points land where the ticks say.

Charts that compare methods: places follow values and ranks.
"""

import numpy as np
import pytest

from tagrank.metrics.chance import average_ranks
from tagrank.reports.charts import (
    BOTTOM,
    LEFT,
    NAMES_END,
    RANKS_AXIS,
    RANKS_LEFT,
    RANKS_RIGHT,
    RIGHT,
    SCALE_END,
    TOP,
    interval_chart,
    line_chart,
    power_of_ten,
    rank_diagram,
    round_values,
)

RANGES = [(0, 1), (0, 0.37), (-3, 8), (1e-7, 3e-7), (49.9, 50.1), (0, 0), (5, 5), (-2e6, 7e6)]


@pytest.mark.parametrize(("low", "high"), RANGES)
def test_round_values_enclose_the_data(low, high):
    values = round_values(low, high)
    assert values[0] <= low + 1e-9 * abs(low)
    assert values[-1] >= high - 1e-9 * abs(high)
    assert 2 <= len(values) <= 8
    assert len(set(np.round(np.diff(values) / (values[1] - values[0]), 6))) == 1


def test_points_land_on_their_ticks():
    chart = line_chart("t", [("a", [0, 10], [0, 40])], description="")
    start, end = chart.lines[0].marks
    ticks_x, ticks_y = (
        {tick.label: tick.position for tick in ticks} for ticks in (chart.x_ticks, chart.y_ticks)
    )
    assert start == pytest.approx((ticks_x["0"], ticks_y["0"]))
    assert end == pytest.approx((ticks_x["10"], ticks_y["40"]), abs=0.1)


def test_logarithmic_axis():
    chart = line_chart("t", [("a", [1, 2, 3], [1, 1e-2, 1e-4])], description="", logarithmic=True)
    heights = [y for _, y in chart.lines[0].marks]
    assert heights[1] - heights[0] == pytest.approx(heights[2] - heights[1], abs=0.2)
    assert [tick.label for tick in chart.y_ticks] == ["10⁻⁴", "10⁻³", "0.01", "0.1", "1"]


def test_gap_of_zero_stays_in_the_frame():
    chart = line_chart("t", [("a", [0, 1], [0.5, 0.0])], description="", logarithmic=True)
    assert len(chart.y_ticks) <= 8
    assert all(TOP <= y <= BOTTOM and LEFT <= x <= RIGHT for x, y in chart.lines[0].marks)


@pytest.mark.parametrize("logarithmic", [False, True])
def test_a_single_point(logarithmic):
    chart = line_chart("t", [("a", [0.0], [3.0])], description="", logarithmic=logarithmic)
    ((x, y),) = chart.lines[0].marks
    assert LEFT <= x <= RIGHT
    assert TOP <= y <= BOTTOM


def test_long_lines_keep_only_their_last_mark():
    chart = line_chart("t", [("a", list(range(100)), list(range(100)))], description="")
    assert len(chart.lines[0].marks) == 1
    assert len(chart.lines[0].points.split()) == 100


@pytest.mark.parametrize(
    ("exponent", "label"), [(0, "1"), (-2, "0.01"), (3, "1000"), (-12, "10⁻¹²"), (4, "10⁴")]
)
def test_powers_of_ten(exponent, label):
    assert power_of_ten(exponent) == label


def test_values_lie_within_their_intervals_and_the_frame():
    values = {"a": (0.8, 0.7, 0.9), "b": (0.5, 0.45, 0.6), "label-frequency": (0.55, 0.5, 0.6)}
    chart = interval_chart("AUC", values, baselines={"label-frequency": "frequency", "x": "y"}, marked=["b"])
    assert [line.name for line in chart.lines] == list(values)
    for line in chart.lines:
        assert NAMES_END < line.low < line.x < line.high <= SCALE_END
        assert line.y < chart.height
    assert [line.is_marked for line in chart.lines] == [False, True, False]
    assert [(line.position, line.label) for line in chart.baselines] == [(chart.lines[2].x, "frequency")]
    assert chart.lines[1].x < chart.baselines[0].position < chart.lines[0].x


def test_equal_values_have_a_scale():
    chart = interval_chart("AUC", {"a": (1.0, 1.0, 1.0)}, baselines={})
    assert len(chart.ticks) > 1


@pytest.mark.parametrize("n_methods", [2, 5, 33])
def test_rank_diagrams(n_methods):
    rng = np.random.default_rng(0)
    values = np.linspace(0, 2, n_methods) + rng.normal(size=(8, n_methods))
    ranks = average_ranks([f"method {j}" for j in range(n_methods)], values)
    diagram = rank_diagram(ranks)
    assert [arm.name for arm in diagram.arms] == list(ranks.names)
    starts = [float(arm.points.split(",")[0]) for arm in diagram.arms]
    assert starts == sorted(starts)
    assert starts[0] >= RANKS_LEFT
    assert starts[-1] <= RANKS_RIGHT
    places = {(arm.anchor, arm.y) for arm in diagram.arms}
    assert len(places) == n_methods
    assert max(arm.y for arm in diagram.arms) < diagram.height
    lowest_bar = max((y for *_, y in diagram.bars), default=RANKS_AXIS)
    assert lowest_bar < min(arm.y for arm in diagram.arms)
    assert len(diagram.bars) == len(ranks.groups)

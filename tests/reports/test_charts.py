"""The geometry of the plots: ticks are round and enclose the data, points land where the ticks say."""

import numpy as np
import pytest

from tagrank.reports.charts import BOTTOM, LEFT, RIGHT, TOP, line_chart, power_of_ten, round_values

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

"""Charts that compare methods: places follow values and ranks."""

import numpy as np
import pytest

from tagrank.metrics.chance import average_ranks
from tagrank.reports.comparison_charts import (
    NAMES,
    RANKS_AXIS,
    RANKS_LEFT,
    RANKS_RIGHT,
    RIGHT,
    interval_chart,
    rank_diagram,
)


def test_values_lie_within_their_intervals_and_the_frame():
    values = {"a": (0.8, 0.7, 0.9), "b": (0.5, 0.45, 0.6), "label-frequency": (0.55, 0.5, 0.6)}
    chart = interval_chart("AUC", values, baselines={"label-frequency": "frequency", "x": "y"}, marked=["b"])
    assert [line.name for line in chart.lines] == list(values)
    for line in chart.lines:
        assert NAMES < line.low < line.x < line.high <= RIGHT
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

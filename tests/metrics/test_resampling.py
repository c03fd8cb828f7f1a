"""Resampled metrics are those of the rows that were drawn, the same rows for every method."""

import numpy as np
import pytest

from tagrank.metrics import catalog_metrics
from tagrank.metrics.resampling import interval, resampled

METRICS = [catalog_metrics()[name] for name in ("Image-AUC", "Category-MAP", "Micro-F1", "N+", "Coverage")]


@pytest.fixture(scope="module")
def answers():
    rng = np.random.default_rng(0)
    Y = (rng.random((25, 6)) < 0.4).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    F = np.nan_to_num(Y) + rng.normal(size=Y.shape)
    return Y, F, (F > 0.5).astype(int)


def test_each_draw_is_the_metric_of_its_rows(answers):
    Y, F, P = answers
    found = resampled(Y, F, P, METRICS, seed=3)
    for number in (0, 7):
        drawn = np.random.default_rng([3, number]).integers(25, size=25)
        for metric in METRICS:
            expected = metric(Y[drawn], (F if metric.takes == "scores" else P)[drawn])
            assert found[metric.name][number] == pytest.approx(expected)


def test_draws_are_paired(answers):
    Y, F, P = answers
    once, again = resampled(Y, F, P, METRICS[:1], seed=1), resampled(Y, F, P, METRICS[:1], seed=1)
    other = resampled(Y, F, P, METRICS[:1], seed=2)
    assert np.array_equal(once["Image-AUC"], again["Image-AUC"])
    assert not np.array_equal(once["Image-AUC"], other["Image-AUC"])


def test_intervals():
    assert interval(np.arange(1001.0)) == pytest.approx((25, 975))
    assert np.isnan(interval(np.array([np.nan]))).all()
    low, high = interval(np.array([1.0, np.nan, 3.0]))
    assert 1 <= low < high <= 3

"""Average ranks: by hand, critical values of Demsar's table 5, and groups that are not told apart.

Resampled metrics are those of the rows that were drawn, the same rows for every method.
"""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import chi2

from tagrank.metrics import catalog_metrics
from tagrank.metrics.chance import average_ranks, interval, resampled

METRICS = [catalog_metrics()[name] for name in ("Image-AUC", "Category-MAP", "Micro-F1", "N+", "Coverage")]


def test_ranks_and_friedmans_test():
    values = np.random.default_rng(0).normal([0, 0.5, 0.1, 1], size=(14, 4))
    found = average_ranks(list("abcd"), values)
    places = np.array([[1 + np.sum(row > one) for one in row] for row in values])
    means = places.mean(axis=0)
    assert dict(zip(found.names, found.ranks, strict=True)) == pytest.approx(
        dict(zip("abcd", means, strict=True))
    )
    assert list(found.ranks) == sorted(found.ranks)
    statistic = 12 * 14 / (4 * 5) * (np.sum(means**2) - 4 * 5**2 / 4)
    assert found.p_value == pytest.approx(chi2.sf(statistic, 3))
    assert found.n_blocks == 14


def test_ties_share_their_places():
    found = average_ranks(["a", "b", "c"], [[1.0, 1.0, 0.0], [0.0, 2.0, 1.0]])
    assert dict(zip(found.names, found.ranks, strict=True)) == {"b": 1.25, "a": 2.25, "c": 2.5}


@pytest.mark.parametrize(("n_methods", "q"), [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_critical_values_of_the_paper(n_methods, q):
    values = np.arange(float(n_methods)) + np.zeros((6, 1))
    found = average_ranks(list(map(str, range(n_methods))), values)
    assert found.critical_difference == pytest.approx(q * np.sqrt(n_methods * (n_methods + 1) / 36), rel=1e-3)


def test_groups_lie_within_the_difference_and_not_inside_each_other():
    rng = np.random.default_rng(0)
    values = np.linspace(0, 3, 8) + rng.normal(size=(20, 8))
    found = average_ranks(list("abcdefgh"), values)
    ranks = np.array(found.ranks)
    assert np.all(np.diff(ranks) >= 0)
    assert found.groups
    for first, last in found.groups:
        assert ranks[last] - ranks[first] <= found.critical_difference
        assert last == 7 or ranks[last + 1] - ranks[first] > found.critical_difference
    spans = list(found.groups)
    assert all(b[1] > a[1] and b[0] > a[0] for a, b in pairwise(spans))


def test_methods_that_are_all_alike():
    found = average_ranks(["a", "b", "c"], np.ones((4, 3)))
    assert found.ranks == (2.0, 2.0, 2.0)
    assert found.p_value == 1
    assert found.groups == ((0, 2),)


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

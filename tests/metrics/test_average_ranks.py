"""Average ranks: by hand, critical values of Demsar's table 5, and groups that are not told apart."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import chi2

from tagrank.metrics.average_ranks import average_ranks


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

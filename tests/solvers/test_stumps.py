"""Boosted stumps: the split of every round beside brute force, the bound on the training error, bins."""

import numpy as np
import pytest
from scipy import sparse

from tagrank.solvers.stumps import N_BINS, BinnedColumns, boost_stumps


@pytest.fixture(scope="module")
def problem():
    """25 samples, 4 columns of which one is constant and one binary, 3 labels, weights, some unknown."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(25, 2)), np.ones(25), rng.random(25) < 0.5])
    bounds = np.where(X[:, :1] + rng.normal(size=(25, 3)) > 0.3, 1.0, -1.0) * rng.uniform(0.5, 2, (25, 3))
    bounds[rng.random(bounds.shape) < 0.2] = 0
    return X, bounds


def least_normalizer(sides, D, bounds):
    """Z of the best of some cuts, given as bool arrays (n_samples,)."""

    def of_side(side):
        present = np.where(bounds > 0, D, 0)[side].sum(axis=0)
        absent = np.where(bounds < 0, D, 0)[side].sum(axis=0)
        return 2 * np.sqrt(present * absent).sum()

    return min(of_side(side) + of_side(~side) for side in sides)


def replay(stumps, right_sides, sides, bounds):
    """Check every round against all cuts; returns the scores."""
    D, F = np.abs(bounds) / np.abs(bounds).sum(), np.zeros(bounds.shape)
    for right, votes, normalizer in zip(right_sides, stumps.votes, stumps.normalizers, strict=True):
        assert least_normalizer([right], D, bounds) == pytest.approx(least_normalizer(sides, D, bounds))
        F += votes[right.astype(int)]
        D = D * np.exp(-np.sign(bounds) * votes[right.astype(int)])
        assert D.sum() == pytest.approx(normalizer)
        D /= D.sum()
    return F


def check_bound(stumps, F, bounds):
    wrong = np.sum(np.abs(bounds)[F * bounds < 0]) / np.abs(bounds).sum()
    assert wrong <= np.prod(stumps.normalizers)
    assert np.all(stumps.normalizers < 1)


def test_every_round_takes_the_best_of_all_cuts(problem):
    X, bounds = problem
    stumps = boost_stumps(X, bounds, 8)
    cuts = [column > value for column in X.T for value in np.unique(column)[:-1]]
    F = replay(stumps, (X[:, stumps.columns] > stumps.thresholds).T, cuts, bounds)
    check_bound(stumps, F, bounds)


def test_sparse_columns_are_there_or_not(problem):
    _, bounds = problem
    X = np.random.default_rng(1).normal(size=(25, 6)) * (np.random.default_rng(2).random((25, 6)) < 0.4)
    stumps = boost_stumps(sparse.csr_array(X), bounds, 8)
    F = replay(stumps, (X[:, stumps.columns] != 0).T, list((X != 0).T), bounds)
    check_bound(stumps, F, bounds)


def test_binary_columns_are_the_same_dense_and_sparse(problem):
    _, bounds = problem
    X = (np.random.default_rng(1).random((25, 6)) < 0.4).astype(float)
    dense = boost_stumps(X, bounds, 8)
    by_presence = boost_stumps(sparse.csr_array(X), bounds, 8)
    np.testing.assert_array_equal(dense.columns, by_presence.columns)
    np.testing.assert_allclose(dense.votes, by_presence.votes)


def test_many_values_share_bins_of_about_the_same_size():
    values = np.random.default_rng(0).exponential(size=(10_000, 1))
    columns = BinnedColumns(values)
    assert columns.n_bins[0] == N_BINS
    counts = np.bincount(columns.codes[0])
    assert counts.min() > 20
    assert counts.max() < 60
    np.testing.assert_array_equal(values[:, 0] > columns.edges[0][99], columns.right_side(0, 99))


def test_neighbouring_numbers_are_told_apart():
    values = np.array([[1.0], [np.nextafter(1, 2)]])
    columns = BinnedColumns(values)
    assert (
        columns.right_side(0, 0).tolist()
        == (values[:, 0] > columns.threshold(0, 0)).tolist()
        == [False, True]
    )


def test_it_ends_when_nothing_is_left_to_learn():
    bounds = np.array([[1.0], [1.0], [-1.0]])
    stumps = boost_stumps(np.ones((3, 2)), bounds, 50)
    assert len(stumps.columns) < 20
    assert stumps.votes.sum(axis=0)[0, 0] == pytest.approx(np.log(2) / 2, abs=0.05)
    assert not len(boost_stumps(np.ones((3, 2)), np.zeros((3, 1)), 50).columns)
    assert not len(boost_stumps(np.ones((3, 2)), bounds, 50, stop=lambda: True).columns)

"""BoostedStumps: scores are sums of votes, unknown labels count for nothing, scales do not matter."""

import numpy as np
import pytest
from scipy import sparse

from tagrank import BoostedStumps


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    Y = (X[:, :3] + 0.3 * rng.normal(size=(60, 3)) > 0.3).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    X.flags.writeable = Y.flags.writeable = False
    return X, Y


@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array])
def test_scores_are_sums_of_votes(problem, hold):
    X, Y = problem
    X = np.where(X > 0.5, X, 0)
    model = BoostedStumps(20).fit(hold(X), Y)
    expected = np.zeros(Y.shape)
    for t, column in enumerate(model.columns_):
        right = X[:, column] != 0 if model.by_presence_ else X[:, column] > model.thresholds_[t]
        expected += np.where(right[:, None], model.right_votes_[t], model.left_votes_[t])
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-12)
    assert model.score(X, Y) > 0.8


def test_only_the_order_of_values_counts(problem):
    X, Y = problem
    stretched = np.sign(X) * np.abs(X) ** 3 * 1e6
    expected = BoostedStumps(20).fit(X, Y).decision_function(X)
    np.testing.assert_allclose(BoostedStumps(20).fit(stretched, Y).decision_function(stretched), expected)


def test_unknown_samples_leave_no_trace(problem):
    X, Y = problem
    unknown = Y.copy()
    unknown[:7] = np.nan
    found = BoostedStumps(20).fit(X, unknown).decision_function(X)
    np.testing.assert_allclose(found, BoostedStumps(20).fit(X[7:], Y[7:]).decision_function(X))


def test_weights_count_as_repetitions(problem):
    X, Y = problem
    weights = np.arange(60) % 3
    weighted = BoostedStumps(20).fit(X, Y, sample_weight=weights).decision_function(X)
    repeated = BoostedStumps(20).fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0))
    np.testing.assert_allclose(weighted, repeated.decision_function(X))


def test_constant_columns_leave_how_frequent_labels_are(problem):
    X, Y = np.full((60, 2), 3.0), np.nan_to_num(problem[1])
    odds = Y.sum(axis=0) / (1 - Y).sum(axis=0)
    scores = BoostedStumps().fit(X, Y).decision_function(X[:1])
    np.testing.assert_allclose(scores[0], np.log(odds) / 2, atol=1e-3)


def test_rounds_are_counts(problem):
    with pytest.raises(ValueError, match="n_rounds must be a positive integer, got 0"):
        BoostedStumps(0).fit(*problem)

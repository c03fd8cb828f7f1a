"""LabelCompletion: its expectations by drawing, its solution by turns and by a general solver."""

import numpy as np
import pytest

from tagrank.estimators import LabelCompletion, RidgeRegression
from tagrank.estimators.ridge_regression import corrupted_moments


@pytest.fixture(scope="module")
def problem():
    """40 samples, 4 labels that go together."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    Y = (X @ rng.normal(size=(3, 4)) + 0.5 * rng.normal(size=(40, 4)) > 0.2).astype(float)
    X.flags.writeable = Y.flags.writeable = False
    return X, Y


def test_moments_of_dropped_labels(problem):
    Y, rng = problem[1], np.random.default_rng(1)
    P, Q = corrupted_moments(Y, 0.3)
    dropped = Y * (rng.random((20_000, *Y.shape)) > 0.3)
    np.testing.assert_allclose(P, np.einsum("ia,sib->ab", Y, dropped) / 20_000, atol=0.2)
    np.testing.assert_allclose(Q, np.einsum("sia,sib->ab", dropped, dropped) / 20_000, atol=0.2)


def by_turns(X, Y, *, alpha, dropout, g):
    """B, W and b as the paper solves for them, until nothing changes."""
    P, Q = corrupted_moments(Y, dropout)
    S, means = Y.T @ Y, X.mean(axis=0)
    Xc, B = X - means, np.eye(Y.shape[1])
    for _ in range(3000):
        enriched = Y @ B.T
        W = np.linalg.solve(Xc.T @ Xc + alpha * np.eye(X.shape[1]), Xc.T @ enriched).T
        b = enriched.mean(axis=0) - W @ means
        fitted = X @ W.T + b
        B = np.linalg.solve(g * Q + S, (g * P + fitted.T @ Y).T).T
    return B, X @ W.T + b


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
@pytest.mark.parametrize(("dropout", "g"), [(0.5, 1.0), (0.2, 0.5)])
def test_at_once_is_by_turns(problem, kernel, dropout, g):
    X, Y = problem
    rows = X if kernel == "linear" else X @ X.T
    model = LabelCompletion(kernel=kernel, alpha=2.0, dropout=dropout, reconstruction=g).fit(rows, Y)
    B, scores = by_turns(X, Y, alpha=2.0, dropout=dropout, g=g)
    np.testing.assert_allclose(model.completion_, B, atol=1e-6)
    np.testing.assert_allclose(model.decision_function(rows), scores, atol=1e-6)


def test_nothing_near_the_solution_is_better(problem):
    X, Y = problem
    model = LabelCompletion(kernel="linear", alpha=2.0).fit(X, Y)
    P, Q = corrupted_moments(Y, 0.5)

    def objective(B, W, b):
        fit = np.sum((Y @ B.T - X @ W.T - b) ** 2) + 2.0 * np.sum(W**2)
        return fit + np.sum(Y**2) - 2 * np.sum(B * P) + np.sum((B @ Q) * B)

    found = (model.completion_, model.coef_, model.intercept_)
    rng = np.random.default_rng(2)
    for _ in range(20):
        beside = [part + 1e-3 * rng.normal(size=part.shape) for part in found]
        assert objective(*beside) > objective(*found)


def test_unknown_labels_are_those_that_ridge_regression_fits(problem):
    X, Y = problem
    unknown = np.where(np.random.default_rng(4).random(Y.shape) < 0.3, np.nan, Y)
    ridge = RidgeRegression(kernel="linear", alpha=2.0).fit(X, unknown)
    filled = np.where(np.isnan(unknown), (ridge.decision_function(X) + 1) / 2, Y)
    model = LabelCompletion(kernel="linear", alpha=2.0).fit(X, unknown)
    B, scores = by_turns(X, filled, alpha=2.0, dropout=0.5, g=1.0)
    np.testing.assert_allclose(model.completion_, B, atol=1e-3)
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-3)


def test_labels_are_completed_by_those_that_go_with_them():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 2))
    sea = X[:, 0] > 0
    Y = np.column_stack([sea, sea & (rng.random(200) < 0.4), X[:, 1] > 0]).astype(float)
    model = LabelCompletion(kernel="linear").fit(X, Y)
    assert model.completion_[1, 0] > 2 * abs(model.completion_[1, 2])


def test_the_threshold_gives_as_many_labels_as_training_has(problem):
    X, Y = problem
    assert LabelCompletion().fit(X, Y).predict(X).sum() == pytest.approx(Y.sum(), abs=2)


def test_the_penalty_is_that_of_ridge_regression(problem):
    assert LabelCompletion().fit(*problem).alpha_ == RidgeRegression().fit(*problem).alpha_


def test_refused_parameters(problem):
    with pytest.raises(ValueError, match="dropout must be a number from 0 to below 1, got 1"):
        LabelCompletion(dropout=1).fit(*problem)
    with pytest.raises(ValueError, match="reconstruction must be a positive number, got 0"):
        LabelCompletion(reconstruction=0).fit(*problem)

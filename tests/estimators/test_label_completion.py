"""LabelCompletion: its expectations by drawing, its solution by turns and by a general solver."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from tagrank.estimators import LabelCompletion, RidgeRegression
from tagrank.estimators.label_completion import corrupted_moments


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


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
@pytest.mark.parametrize("n_layers", [2, 3])
def test_layers_complete_what_the_layer_before_completed(problem, kernel, n_layers):
    X, Y = problem
    rows = X if kernel == "linear" else X @ X.T
    model = LabelCompletion(kernel=kernel, alpha=2.0, n_layers=n_layers).fit(rows, Y)
    labels, product = Y, np.eye(4)
    for _ in range(n_layers):
        B, scores = by_turns(X, labels, alpha=2.0, dropout=0.5, g=1.0)
        labels, product = labels @ B.T, B @ product
    np.testing.assert_allclose(model.completion_, product, atol=1e-5)
    np.testing.assert_allclose(model.decision_function(rows), scores, atol=1e-5)


@pytest.fixture(scope="module")
def many():
    """60 samples, 9 labels of which the last are rare."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 4))
    strength = X @ rng.normal(size=(4, 9)) + rng.normal(size=(60, 9))
    return X, (strength > np.quantile(strength, np.linspace(0.3, 0.95, 9), axis=0).diagonal()).astype(float)


@pytest.mark.parametrize("rare_recall", [0.0, 0.4, 1.0])
def test_only_labels_that_are_rarely_found_take_a_further_layer(many, rare_recall):
    X, Y = many
    one, two, chosen = (
        LabelCompletion(kernel="linear", alpha=2.0, n_layers=n, rare_recall=recall).fit(X, Y).completion_
        for n, recall in ((1, None), (2, None), (2, rare_recall))
    )
    left_out = [
        Ridge(2.0).fit(np.delete(X, i, axis=0), np.delete(Y, i, axis=0)).predict(X[i : i + 1])[0]
        for i in range(60)
    ]
    places = np.argsort(-np.array(left_out) @ one.T, axis=1)[:, :5]
    predicted = np.zeros_like(Y)
    np.put_along_axis(predicted, places, 1, axis=1)
    recall = (predicted * Y).sum(axis=0) / Y.sum(axis=0)
    expected = np.where((recall <= rare_recall)[:, None], two, one)
    np.testing.assert_allclose(chosen, expected, atol=1e-9)
    if rare_recall == 0.4:
        assert 0 < np.sum(recall <= rare_recall) < 9


def test_many_samples_are_left_out_by_some(many, monkeypatch):
    monkeypatch.setattr("tagrank.estimators.label_completion.MOST_LEFT_OUT", 30)
    X, Y = many
    for kernel in ("linear", "rbf"):
        model = LabelCompletion(kernel=kernel, n_layers=3, rare_recall=0.3, alpha=1.0).fit(X, Y)
        assert np.isfinite(model.completion_).all()
        assert model.score(X, Y) > 0.8


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
    with pytest.raises(ValueError, match="n_layers must be a positive integer, got 0"):
        LabelCompletion(n_layers=0).fit(*problem)
    with pytest.raises(ValueError, match="rare_recall must be a number from 0 to 1, got 2"):
        LabelCompletion(rare_recall=2).fit(*problem)
    with pytest.raises(ValueError, match="reconstruction must be a positive number, got 0"):
        LabelCompletion(reconstruction=0).fit(*problem)

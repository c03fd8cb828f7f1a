"""Ridge regression onto known targets against a fit for each target on the samples that know it."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

from tagrank.solvers import known_targets
from tagrank.solvers.known_targets import fill_unknown, relative_gaps
from tagrank.solvers.ridge import ridge_on

SHAPES = {"more samples": (40, 7), "more columns": (25, 60)}
FORMS = {
    "dense": lambda X: ridge_on(X, "rows"),
    "sparse": lambda X: ridge_on(sparse.csr_array(X), "rows"),
    "gram": lambda X: ridge_on(X @ X.T, "gram"),
}
# how many steps a target is expected to take: with none it is never cheaper to regress each directly
WAYS = {"steps": 0, "directly": 1e9}


@pytest.fixture(params=SHAPES)
def problem(request):
    """Rows, targets of which 40 % are unknown in a pattern of their own, and which are known."""
    rng = np.random.default_rng(0)
    n_samples, n_features = SHAPES[request.param]
    X = rng.normal(size=(n_samples, n_features)) + 3
    X[rng.random(X.shape) < 0.5] = 0
    Y = X[:, :2] @ rng.normal(size=(2, 5)) + rng.normal(size=(n_samples, 5))
    return X, Y, rng.random(Y.shape) < 0.6


@pytest.fixture(params=FORMS)
def pose(request):
    return FORMS[request.param]


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    monkeypatch.setattr(known_targets, "USUAL_STEPS", WAYS[request.param])
    return request.param


def fitted_where_known(X, Y, known, alpha):
    """Scores of all samples by scikit-learn's, trained for each target on the samples that know it."""
    fits = [Ridge(alpha, solver="svd").fit(X[k], y[k]) for y, k in zip(Y.T, known.T, strict=True)]
    return np.column_stack([fit.predict(X) for fit in fits])


def regress(ridge, Y, alpha):
    return Y.mean(axis=0) + ridge.scores(ridge.solve(Y - Y.mean(axis=0), alpha))


@pytest.mark.parametrize("alpha", [0.1, 10.0, 1000.0])
def test_each_target_is_regressed_where_it_is_known(problem, pose, way, alpha):
    X, Y, known = problem
    ridge, expected = pose(X), fitted_where_known(X, Y, known, alpha)
    filled = fill_unknown(ridge, np.where(known, Y, 77.0), known, alpha, tol=1e-13)
    assert (filled.n_steps > 0) == (way == "steps")
    assert filled.gap <= 1e-13
    np.testing.assert_array_equal(filled.values[known], Y[known])
    np.testing.assert_allclose(filled.values[~known], expected[~known], atol=1e-5)
    np.testing.assert_allclose(regress(ridge, filled.values, alpha), expected, atol=1e-5)


def test_a_general_solver_finds_the_same_optimum(problem):
    X, Y, known = problem
    n_features = X.shape[1]

    def objective(parameters, y):
        weights, intercept = parameters[:n_features], parameters[n_features]
        residuals = X @ weights + intercept - y
        residuals[np.isnan(y)] = 0
        slope = 2 * np.append(X.T @ residuals + 3.0 * weights, residuals.sum())
        return residuals @ residuals + 3.0 * weights @ weights, slope

    filled = fill_unknown(ridge_on(X, "rows"), Y, known, 3.0, tol=1e-12)
    targets = np.where(known, Y, np.nan)
    for target, y in enumerate(targets.T):
        options = {"maxiter": 10_000, "gtol": 1e-10, "ftol": 0}
        found = minimize(objective, np.zeros(n_features + 1), y, jac=True, method="L-BFGS-B", options=options)
        scores = X @ found.x[:n_features] + found.x[n_features]
        unknown = ~known[:, target]
        np.testing.assert_allclose(filled.values[unknown, target], scores[unknown], atol=1e-4)


@pytest.mark.parametrize("alpha", [0.1, 10.0])
def test_the_gap_bounds_what_is_missing(problem, pose, alpha):
    X, Y, known = problem
    ridge = pose(X).on_fewest()
    best = fitted_objective(X, Y, known, alpha)
    rng = np.random.default_rng(1)
    for size in (0.0, 0.1, 1.0):
        guess = np.where(known, Y, fitted_where_known(X, Y, known, alpha) + size * rng.normal(size=Y.shape))
        residuals = ridge.residuals(guess, alpha)
        gaps = relative_gaps(ridge, guess, known, residuals, alpha)
        # the objective of the known targets, with the best intercept
        own = np.where(known, residuals, np.nan)
        squares = np.nansum((own - np.nanmean(own, axis=0)) ** 2, axis=0)
        centred = guess - guess.mean(axis=0)
        reached = squares + np.sum(residuals * (centred - residuals), axis=0)
        assert np.all(gaps >= -1e-12)
        assert np.all(reached - best >= -1e-9 * best)
        assert np.all(reached - best <= gaps * reached + 1e-9 * best)
        if size == 0:
            assert np.all(gaps < 1e-12)


def fitted_objective(X, Y, known, alpha):
    values = []
    for y, k in zip(Y.T, known.T, strict=True):
        fit = Ridge(alpha, solver="svd").fit(X[k], y[k])
        values.append(np.sum((y[k] - fit.predict(X[k])) ** 2) + alpha * fit.coef_ @ fit.coef_)
    return np.array(values)


def test_targets_that_take_too_many_steps_are_regressed_directly(problem, pose, monkeypatch):
    X, Y, known = problem
    monkeypatch.setattr(known_targets, "USUAL_STEPS", 0)
    monkeypatch.setattr(known_targets, "MAX_STEPS", 1)
    filled = fill_unknown(pose(X), Y, known, 0.1)
    expected = fitted_where_known(X, Y, known, 0.1)
    np.testing.assert_allclose(filled.values[~known], expected[~known], atol=1e-8)


def test_targets_known_everywhere_once_or_never(pose, way):
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(12, 3)), rng.normal(size=(12, 4))
    known = np.ones(Y.shape, dtype=bool)
    known[:, 1] = False
    known[4:, 2] = False
    known[:, 3] = np.arange(12) == 5
    values = fill_unknown(pose(X), np.where(known, Y, np.pi), known, 1.0, tol=1e-12).values
    np.testing.assert_array_equal(values[:, 0], Y[:, 0])
    np.testing.assert_array_equal(values[:, 1], 0)
    expected = Ridge(1.0).fit(X[:4], Y[:4, 2]).predict(X)
    np.testing.assert_allclose(values[4:, 2], expected[4:], atol=1e-5)
    np.testing.assert_allclose(values[:, 3], Y[5, 3])


def test_single_precision(problem):
    X, Y, known = problem
    K = (X @ X.T).astype(np.float32)
    filled = fill_unknown(ridge_on(K, "gram"), Y, known, 10.0)
    expected = fitted_where_known(X, Y, known, 10.0)
    np.testing.assert_allclose(filled.values[~known], expected[~known], atol=0.05)

"""The ROC area by cutting planes: beside a general convex solver, and cuts beside all pairs."""

import cvxpy as cp
import numpy as np
import pytest

from tagrank.solvers.ranking_area import highest_cut, mix, pair_shares, solve_ranking_area


@pytest.fixture(scope="module")
def problem():
    """30 samples with ties, 3 labels, weights, some unknown; the last label is present everywhere."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4)).round(1)
    X[:4] = X[4]
    bounds = np.where(X[:, :3] + 0.7 * rng.normal(size=(30, 3)) > 0.3, 1.0, -1.0) * rng.uniform(
        0.5, 2, (30, 3)
    )
    bounds[rng.random(bounds.shape) < 0.1] = 0
    bounds[:, 2] = np.abs(bounds[:, 2])
    return X, bounds


def loss_of_pairs(f, bounds):
    """The weighted mean hinge over all pairs, and its coefficients of samples."""
    present, absent = np.flatnonzero(bounds > 0), np.flatnonzero(bounds < 0)
    weights = np.outer(bounds[present], -bounds[absent])
    weights /= weights.sum()
    violations = 1 - f[present][:, None] + f[absent]
    cut = np.zeros(len(f))
    cut[present] = np.where(violations > 0, weights, 0).sum(axis=1)
    cut[absent] = -np.where(violations > 0, weights, 0).sum(axis=0)
    return np.sum(weights * np.maximum(violations, 0)), cut


def test_cuts_are_those_of_all_pairs(problem):
    _, bounds = problem
    F = np.random.default_rng(1).normal(size=(3, 30))
    shares = pair_shares(bounds)
    for label in range(2):
        loss, cut = loss_of_pairs(F[label], bounds[:, label])
        np.testing.assert_allclose(highest_cut(F[label], shares[label]), cut, atol=1e-12)
        assert np.abs(cut).sum() / 2 - cut @ F[label] == pytest.approx(loss)
    assert not shares[2].any()


@pytest.mark.parametrize("C", [0.1, 3.0, 100.0])
def test_optimum_is_that_of_a_convex_solver(problem, C):
    X, bounds = problem
    solution = solve_ranking_area(lambda A: A @ X @ X.T, bounds, C, tol=1e-8)
    assert solution.converged
    expected = 0.0
    for label in range(2):
        present, absent = bounds[:, label] > 0, bounds[:, label] < 0
        weights = np.outer(bounds[present, label], -bounds[absent, label])
        w = cp.Variable(4)
        violations = 1 - (X[present] @ w)[:, None] + (X[absent] @ w)[None]
        losses = cp.sum(cp.multiply(weights / weights.sum(), cp.pos(violations)))
        convex = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * losses))
        expected += convex.solve(solver="CLARABEL")
        np.testing.assert_allclose(X.T @ solution.coefficients[:, label], w.value, atol=1e-3 * C)
    assert solution.primal == pytest.approx(expected, rel=1e-6)
    assert solution.dual <= expected * (1 + 1e-7)
    assert not solution.coefficients[:, 2].any()


def test_the_certificate_is_that_of_the_coefficients(problem):
    X, bounds = problem
    solution = solve_ranking_area(lambda A: A @ X @ X.T, bounds, 5.0, tol=1e-2)
    A, F = solution.coefficients, X @ X.T @ solution.coefficients
    losses = [loss_of_pairs(F[:, label], bounds[:, label])[0] for label in range(2)]
    assert solution.primal == pytest.approx(np.sum(A * F) / 2 + 5 * sum(losses))
    assert solution.dual == pytest.approx(np.abs(A).sum() / 2 - np.sum(A * F) / 2)


def test_a_start_saves_rounds_and_changes_nothing(problem):
    X, bounds = problem
    options = {"tol": 1e-6}
    cold = solve_ranking_area(lambda A: A @ X @ X.T, bounds, 30.0, **options)
    near = solve_ranking_area(lambda A: A @ X @ X.T, bounds, 29.0, **options)
    warm = solve_ranking_area(lambda A: A @ X @ X.T, bounds, 30.0, start=near.coefficients / 29, **options)
    assert warm.primal == pytest.approx(cold.primal, rel=1e-5)
    assert warm.n_iter < cold.n_iter


def test_mixtures_are_least_on_the_simplex():
    rng = np.random.default_rng(0)
    for total in (0.1, 5.0):
        directions = rng.normal(size=(8, 5))
        G, heights, found = directions @ directions.T, total * rng.random(8), np.zeros(8)
        mix(G, heights, found, 1e-10, 10_000)
        w = cp.Variable(8)
        objective = cp.sum_squares(directions.T @ w) / 2 - heights @ w
        expected = cp.Problem(cp.Minimize(objective), [w >= 0, cp.sum(w) <= 1]).solve(solver="CLARABEL")
        assert found.min() >= 0
        assert found.sum() <= 1 + 1e-12
        assert found @ G @ found / 2 - heights @ found == pytest.approx(expected, abs=1e-7)


def test_labels_come_in_groups(monkeypatch):
    rng = np.random.default_rng(0)
    X, bounds = rng.normal(size=(25, 3)), rng.choice([-1.0, 1.0], size=(25, 7))
    together = solve_ranking_area(lambda A: A @ X @ X.T, bounds, 3.0, tol=1e-6)
    monkeypatch.setattr("tagrank.solvers.ranking_area.GROUP", 3)
    apart = solve_ranking_area(lambda A: A @ X @ X.T, bounds, 3.0, tol=1e-6)
    np.testing.assert_allclose(apart.coefficients, together.coefficients, atol=1e-3)
    assert apart.primal == pytest.approx(together.primal, rel=1e-6)

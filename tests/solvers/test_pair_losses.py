"""Losses whose dual has a weight for each pair of labels: optimum, certificate, endings; oracle CVXPY."""

from functools import cache

import cvxpy as cp
import numpy as np
import pytest

from tagrank.losses.group_ranking import GroupRanking
from tagrank.solvers.group_steps import solve_paper

SIZE = {"GroupRanking": 0.5, "Pairwise": 1.0}  # of |coefficients| in the dual


def sides(bounds):
    for i, row in enumerate(bounds):
        present, absent = np.flatnonzero(row > 0), np.flatnonzero(row < 0)
        if len(present):
            yield from ((i, present, label, np.sqrt(row[present] * -row[label])) for label in absent)


def losses(name, bounds, scores):
    """The loss of all samples, pair by pair."""
    total = 0.0
    for i, present, label, costs in sides(bounds):
        if name == "Pairwise":
            total += costs @ np.maximum(2 - scores[i, present] + scores[i, label], 0)
        else:
            total += np.linalg.norm(costs * np.maximum(1 - scores[i, present] + scores[i, label], 0))
    return total


@cache
def best_value(name, make_problem, kernel, C, even):
    X, bounds = make_problem(kernel)
    bounds = C * (np.sign(bounds) if even else bounds)
    W = cp.Variable((X.shape[1], bounds.shape[1]))
    F, terms = X @ W, [cp.sum_squares(W) / 2]
    for i, present, label, costs in sides(bounds):
        if name == "Pairwise":
            terms.append(costs @ cp.pos(2 - F[i, present] + F[i, label]))
        else:
            terms.append(cp.norm(cp.multiply(costs, cp.pos(1 - F[i, present] + F[i, label]))))
    problem = cp.Problem(cp.Minimize(cp.sum(cp.hstack(terms))))
    problem.solve(solver="CLARABEL", tol_gap_rel=1e-9, tol_gap_abs=1e-9, tol_feas=1e-9)
    return problem.value


def check(Loss, K, bounds, solution, rtol=1e-9):
    """Objectives from the coefficients alone; balanced rows; never a negative gap."""
    A, F = solution.coefficients, K @ solution.coefficients
    inner = (A * F).sum() / 2
    scale = np.abs(bounds).sum()
    assert solution.primal == pytest.approx(inner + losses(Loss.__name__, bounds, F), abs=rtol * scale)
    assert solution.dual == pytest.approx(SIZE[Loss.__name__] * np.abs(A).sum() - inner, abs=rtol * scale)
    np.testing.assert_allclose(A.sum(axis=1), 0, atol=rtol * np.abs(bounds).max())
    assert np.all(A * bounds >= 0)
    assert not A[bounds == 0].any()
    assert all(point.gap >= 0 for point in solution.trace)


@pytest.mark.parametrize("C", [0.05, 1, 10])
@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_optimum_is_that_of_a_convex_solver(PairLoss, hold_in_short, kernel, C, make_problem):
    X, bounds = make_problem(kernel)
    even = C == 1  # equal costs take another way through the column of a group
    bounds = C * (np.sign(bounds) if even else bounds)
    held = hold_in_short(X)
    solution = held.solve(PairLoss, bounds, tol=1e-6, max_iter=100_000)
    value = best_value(PairLoss.__name__, make_problem, kernel, C, even)
    assert solution.converged
    assert solution.primal == pytest.approx(value, rel=1e-5)
    assert solution.dual == pytest.approx(value, rel=1e-5)
    check(PairLoss, held.K, bounds, solution)


@pytest.mark.usefixtures("precision")
def test_single_precision_and_start_and_shapes(PairLoss, hold_in_short, make_problem):
    X, bounds = make_problem("gaussian")
    held = hold_in_short(X)
    loose = held.solve(PairLoss, bounds, tol=1e-3)
    assert loose.converged
    check(PairLoss, held.K, bounds, loose, rtol=1e-6)
    again = held.solve(PairLoss, bounds, tol=1e-6, start=loose.coefficients, max_iter=100_000)
    assert again.primal == pytest.approx(loose.primal, rel=2e-3)
    check(PairLoss, held.K, bounds, again)
    nothing = held.solve(PairLoss, 0 * bounds)
    assert (nothing.primal, nothing.dual) == (0, 0)
    one = hold_in_short(X[-1:]).solve(PairLoss, bounds[-1:], tol=1e-6)
    assert one.converged


def test_each_pass_raises_the_dual(PairLoss, hold_in_short, make_problem):
    X, bounds = make_problem()
    duals = [hold_in_short(X).solve(PairLoss, bounds, tol=1e-9, max_iter=k).dual for k in range(8)]
    assert np.all(np.diff(duals) >= -1e-12 * duals[-1])
    assert duals[-1] > duals[0]


@pytest.mark.usefixtures("precision")
@pytest.mark.parametrize("tol", [2e-5, 1e-6], ids=["float32", "float64"])
@pytest.mark.parametrize("cost", [0.3, 1, 10])
def test_equal_costs_and_full_balls_go_all_the_way(PairLoss, cost, tol, held):
    """Several blocks, balls full and not full, columns of many present labels: no step may stop short."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 10))
    scores = X @ rng.normal(size=(10, 20)) + rng.normal(size=(300, 20))
    bounds = np.where(scores > np.quantile(scores, 0.8), cost, -cost)
    distances = ((X[:, None] - X) ** 2).sum(axis=2)
    gram = held(np.exp(-distances / distances.mean()), "gram")
    solution = gram.solve(PairLoss, bounds, tol=tol)
    assert solution.converged
    check(PairLoss, gram.K, bounds, solution, rtol=1e-6 if tol > 1e-5 else 1e-9)


def test_zero_kernel(PairLoss, hold_in_short, make_problem):
    X, bounds = make_problem()
    solution = hold_in_short(0 * X).solve(PairLoss, bounds, tol=1e-6)
    assert solution.gap == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("eta", [None, 40.0])
def test_steps_of_the_paper_stand_still_where_each_is_its_own_closed_form(hold_in_short, make_problem, eta):
    X, bounds = make_problem("gaussian")
    bounds = np.sign(bounds)
    held = hold_in_short(X)
    eta = bounds.shape[1] / 2 if eta is None else eta
    solution = solve_paper(held.data, bounds, kind=held.kind, eta=eta, tol=1e-12, max_iter=5000)
    assert solution.converged
    A, K = solution.coefficients, held.K
    for i in np.flatnonzero(K.diagonal() > 0):
        others = K[i] @ A - K[i, i] * A[i]
        expected = np.zeros(bounds.shape[1])
        present = np.flatnonzero(bounds[i] > 0)
        for label in np.flatnonzero(bounds[i] < 0):
            half = np.maximum(1 - others[present] + others[label], 0) / 2
            norm = np.linalg.norm(half)
            gamma = half / norm * min(1, norm / (eta * K[i, i])) if norm else half
            expected[present] += gamma
            expected[label] -= gamma.sum()
        np.testing.assert_allclose(A[i], expected, atol=1e-9)
    check(GroupRanking, K, bounds, solution)
    value = best_value("GroupRanking", make_problem, "gaussian", 1, True)
    assert solution.dual < value < solution.primal  # another problem: far from this one's optimum
    assert solution.gap > 0.02


@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
def test_a_start_is_made_feasible(PairLoss, size):
    """Pairs that share its coefficients in proportion keep to their bounds; a small start stays as it is."""
    rng = np.random.default_rng(5)
    bounds = rng.uniform(0.5, 2, (40, 7)) * rng.choice([-1, 0, 1], (40, 7))
    bounds[:2] = [[1.0], [-1.0]]
    start = PairLoss.feasible(size * bounds * rng.random(bounds.shape), bounds)
    np.testing.assert_allclose(start.sum(axis=1), 0, atol=1e-12 * size)
    assert np.all(start * bounds >= 0)
    for i, present, label, costs in sides(bounds):
        weights = start[i, present] * -start[i, label] / max(start[i, present].sum(), 1e-300)
        norm = np.linalg.norm(weights / costs, 2 if PairLoss is GroupRanking else np.inf)
        assert norm <= 1 + 1e-12
    wild = PairLoss.feasible(100 * start + rng.normal(size=bounds.shape), bounds)
    assert np.all(wild * bounds >= 0)
    if size < 1:
        np.testing.assert_allclose(PairLoss.feasible(start, bounds), start, rtol=1e-12)

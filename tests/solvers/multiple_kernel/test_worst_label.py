"""The weights that are best for the worst label: exact cutting planes, and the stochastic game."""

import numpy as np
import pytest

from tagrank.losses.hinge import Hinge
from tagrank.solvers.dual_ascent import solve_dual
from tagrank.solvers.multiple_kernel import solve_worst

SEEDS = (0, 1, 2)
SOLVERS = ("cutting-plane", "stochastic")


def check_worst_label(case, solution):
    """The primal is the largest of all labels at the returned weights and coefficients."""
    K = case.stack.combined(solution.kernel_weights)
    values = [
        solve_dual(
            K, Hinge, case.bounds[:, [k]].copy(), kind="gram", max_iter=0, start=solution.coefficients[:, [k]]
        ).primal
        for k in range(case.bounds.shape[1])
    ]
    assert max(values) == pytest.approx(solution.primal, rel=1e-6)


@pytest.mark.parametrize("norm", [1.0, 1.5, 3.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_cutting_planes_reach_the_optimum(seed, norm, make_case, find_worst_optimum):
    case, value = make_case(n_labels=5, seed=seed), find_worst_optimum(norm, n_labels=5, seed=seed).value
    solution = solve_worst(case.stack, case.bounds.copy(), norm=norm, tol=1e-5)
    assert solution.converged
    assert solution.dual <= value * (1 + 1e-7)
    assert value <= solution.primal * (1 + 1e-7)
    assert solution.primal == pytest.approx(value, rel=1e-5)
    check_worst_label(case, solution)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_game_is_within_its_gap(seed, make_case, find_worst_optimum):
    case, value = make_case(n_labels=5, seed=seed), find_worst_optimum(n_labels=5, seed=seed).value
    solution = solve_worst(
        case.stack, case.bounds.copy(), solver="stochastic", tol=5e-3, max_iter=2000, random_state=seed
    )
    assert solution.converged
    assert solution.dual <= value * (1 + 1e-7)
    assert value <= solution.primal * (1 + 1e-7)
    check_worst_label(case, solution)


def test_more_labels_than_steps_between_measurements(make_case):
    case = make_case(n_labels=30, seed=4)
    exact = solve_worst(case.stack, case.bounds.copy(), tol=1e-5)
    game = solve_worst(case.stack, case.bounds.copy(), solver="stochastic", tol=2e-2)
    assert exact.converged
    assert game.converged
    assert game.dual <= exact.primal
    assert game.primal == pytest.approx(exact.primal, rel=2e-2)


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_label_is_its_own_problem(solver, make_case, find_optimum):
    case, value = make_case(n_labels=1, seed=3), find_optimum("hinge", n_labels=1, seed=3).value
    tol = 1e-5 if solver == "cutting-plane" else 1e-2
    solution = solve_worst(case.stack, case.bounds.copy(), solver=solver, tol=tol)
    assert solution.converged
    assert solution.primal == pytest.approx(value, rel=tol)


@pytest.mark.parametrize("solver", SOLVERS)
def test_hard_cases(solver, make_case, plain_stack):
    case = make_case()
    K = case.stack.matrices[0]
    for matrices in ([K], [K, K], [K, 0 * K], [0 * K, 0 * K]):
        solution = solve_worst(plain_stack(matrices), case.bounds.copy(), solver=solver, tol=1e-2)
        assert solution.converged
    solution = solve_worst(case.stack, 0 * case.bounds, solver=solver)
    assert (solution.primal, solution.dual, solution.stopped_by) == (0, 0, "tol")


@pytest.mark.parametrize("solver", SOLVERS)
def test_rows_and_intercept(solver, make_case, plain_rows):
    case = make_case()
    options = {"solver": solver, "tol": 1e-2, "intercept": 0.5, "max_iter": 2000}
    one = solve_worst(case.stack, case.bounds.copy(), **options)
    other = solve_worst(plain_rows(case.blocks), case.bounds.copy(), **options)
    assert one.converged
    assert other.converged
    assert one.dual <= other.primal
    assert other.dual <= one.primal


@pytest.mark.parametrize("solver", SOLVERS)
def test_endings(solver, make_case):
    case = make_case()
    for max_iter in (1, 2, 5):
        solution = solve_worst(case.stack, case.bounds.copy(), solver=solver, tol=1e-9, max_iter=max_iter)
        assert (solution.stopped_by, solution.n_iter) == ("max_iter", max_iter)
        assert np.isfinite([solution.primal, solution.dual]).all()
    solution = solve_worst(case.stack, case.bounds.copy(), solver=solver, tol=0.0, max_seconds=0.0)
    assert solution.stopped_by == "max_seconds"

    def interrupt(point):
        raise KeyboardInterrupt

    solution = solve_worst(case.stack, case.bounds.copy(), solver=solver, tol=1e-9, callback=interrupt)
    assert (solution.stopped_by, solution.n_iter) == ("interrupt", 1)


def test_the_game_refuses_other_norms(make_case):
    case = make_case()
    with pytest.raises(ValueError, match="solver='stochastic' does not support norm=2; choose cutting-plane"):
        solve_worst(case.stack, case.bounds.copy(), solver="stochastic", norm=2)
    with pytest.raises(
        ValueError, match="solver must be one of 'cutting-plane', 'stochastic', 'paper', got 'silp'"
    ):
        solve_worst(case.stack, case.bounds.copy(), solver="silp")

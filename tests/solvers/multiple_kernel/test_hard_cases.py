"""Kernels of zeros, equal kernels, one kernel, nothing to learn; and every way to end."""

import numpy as np
import pytest

from tagrank.solvers.dual_ascent import solve_dual
from tagrank.solvers.multiple_kernel import smo
from tagrank.solvers.multiple_kernel.solve import methods_for, solve_kernels

CASES = [(solver, norm) for norm in (1.0, 2.0) for solver in methods_for(norm)]
pytestmark = pytest.mark.parametrize(("solver", "norm"), CASES)


@pytest.fixture
def solve(solver, norm, losses):
    def solve(stack, bounds, loss="hinge", **options):
        return solve_kernels(
            stack, losses[loss], np.array(bounds), **{"solver": solver, "norm": norm, "tol": 1e-5} | options
        )

    return solve


@pytest.fixture
def small_blocks(monkeypatch):
    """With all samples in one block, coordinate ascent would be over after one round."""
    monkeypatch.setattr(smo, "BLOCK", 8)


def test_a_kernel_of_zeros(solve, norm, make_case, plain_stack):
    case = make_case()
    matrices = case.stack.matrices.copy()
    without = solve(plain_stack(matrices[1:]), case.bounds)
    matrices[0] = 0
    solution = solve(plain_stack(matrices), case.bounds)
    assert solution.primal == pytest.approx(without.primal, rel=1e-5)
    assert solution.kernel_weights[0] <= 0.02


def test_only_kernels_of_zeros(solve, make_case, plain_stack):
    case = make_case()
    solution = solve(plain_stack(np.zeros((3, 24, 24))), case.bounds)
    assert solution.converged
    assert solution.primal == pytest.approx(np.abs(case.bounds).sum())


def test_equal_kernels(solve, norm, make_case, plain_stack):
    case = make_case()
    K = case.stack.matrices[0]
    solution = solve(plain_stack([K] * 4), case.bounds)
    one = solve(plain_stack([K * 4 ** (1 - 1 / norm)]), case.bounds)
    assert solution.converged
    assert solution.primal == pytest.approx(one.primal, rel=2e-5)


def test_one_kernel(solve, make_case, plain_stack, losses):
    case = make_case()
    K = case.stack.matrices[1]
    solution = solve(plain_stack([K]), case.bounds)
    plain = solve_dual(K, losses["hinge"], case.bounds.copy(), kind="gram", tol=1e-5)
    assert solution.kernel_weights == pytest.approx([1])
    assert solution.primal == pytest.approx(plain.primal, rel=2e-5)


def test_nothing_to_learn(solve, solver, make_case, losses):
    case = make_case()
    given = [("hinge", 0 * case.bounds)]
    if solver != "smo":
        given += [("ranking", 0 * case.bounds), ("ranking", np.abs(case.bounds)), ("group", 0 * case.bounds)]
    for loss, bounds in given:
        solution = solve(case.stack, bounds, loss)
        assert (solution.primal, solution.dual, solution.stopped_by) == (0, 0, "tol")
        assert not solution.coefficients.any()


def test_one_class_only(solve, make_case):
    case = make_case()
    solution = solve(case.stack, np.abs(case.bounds))
    assert solution.converged
    assert 0 < solution.primal <= np.abs(case.bounds).sum()


@pytest.mark.usefixtures("small_blocks")
def test_round_limit(solve, make_case):
    case = make_case()
    for max_iter in (1, 2, 3):
        solution = solve(case.stack, case.bounds, tol=1e-9, max_iter=max_iter)
        assert (solution.stopped_by, solution.n_iter) == ("max_iter", max_iter)
        assert np.isfinite([solution.primal, solution.dual]).all()
        assert solution.gap >= 0


def test_limits_and_requests_end_a_search(solve, make_case):
    case = make_case()
    solution = solve(case.stack, case.bounds, tol=0.0, max_seconds=0.0)
    assert solution.stopped_by == "max_seconds"
    assert solution.n_iter == 1
    answers = iter([False] * 7 + [True])
    solution = solve(case.stack, case.bounds, tol=0.0, stop=lambda: next(answers))
    assert solution.stopped_by == "stop"
    assert solution.dual <= solution.primal


@pytest.mark.usefixtures("small_blocks")
def test_interrupt_from_the_callback(solve, make_case):
    def interrupt(point):
        if point.n_iter == 2:
            raise KeyboardInterrupt

    solution = solve(make_case().stack, make_case().bounds, tol=1e-9, callback=interrupt)
    assert (solution.stopped_by, solution.n_iter) == ("interrupt", 2)
    assert solution.trace[-1][2:4] == (solution.primal, solution.dual)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n_calls", [1, 2, 3])
def test_interrupt_while_kernels_are_read(solve, n_calls, make_case, plain_stack, monkeypatch):
    calls = []

    def interrupt(inner):
        def wrapped(*arguments):
            calls.append(arguments)
            if len(calls) == n_calls:
                raise KeyboardInterrupt
            return inner(*arguments)

        return wrapped

    case = make_case()
    stack = plain_stack(case.stack.matrices)
    stack.quadratics = interrupt(stack.quadratics)
    monkeypatch.setattr(smo, "sweep", interrupt(smo.sweep))
    solution = solve(stack, case.bounds, tol=1e-9)
    assert solution.stopped_by == "interrupt"
    assert solution.dual <= solution.primal
    assert solution.trace[-1][2:4] == (solution.primal, solution.dual)


def test_callback_sees_the_trace(solve, make_case):
    seen = []
    solution = solve(make_case().stack, make_case().bounds, callback=seen.append)
    assert all(one is other for one, other in zip(seen, solution.trace, strict=True))
    assert [point.n_iter for point in seen] == [*range(1, len(seen) + 1)]


def test_start_from_the_solution(solve, make_case):
    case = make_case()
    cold = solve(case.stack, case.bounds, tol=1e-6)
    warm = solve(
        case.stack, case.bounds, start=cold.coefficients, start_weights=3 * cold.kernel_weights, tol=1e-3
    )
    assert warm.n_iter <= 2
    assert warm.primal == pytest.approx(cold.primal, rel=1e-3)


def test_single_precision(solve, make_case, plain_stack):
    case = make_case()
    single = plain_stack(case.stack.matrices.astype(np.float32))
    solution = solve(single, case.bounds, tol=1e-3)
    exact = solve(case.stack, case.bounds, tol=1e-6)
    assert solution.dual <= exact.primal * (1 + 1e-6)
    assert solution.primal == pytest.approx(exact.primal, rel=1e-3)
    with pytest.raises(ValueError, match="tol=1e-05 needs kernels in float64, got float32"):
        solve(single, case.bounds)


def test_seeds(solve, make_case):
    case = make_case()
    one, again = (solve(case.stack, case.bounds, tol=1e-3) for _ in range(2))
    np.testing.assert_array_equal(one.kernel_weights, again.kernel_weights)
    np.testing.assert_array_equal(one.coefficients, again.coefficients)


def test_many_kernels(solve, make_case):
    """More than are needed: most weights vanish on the way, and none may stop the others."""
    case = make_case(n_samples=40, n_kernels=30, seed=5)
    assert solve(case.stack, case.bounds, tol=1e-3, max_iter=300).converged


def test_kernels_of_different_sizes(solve, make_case, plain_stack):
    case = make_case(n_samples=40, n_kernels=6, seed=5)
    sizes = np.logspace(-3, 3, 6)[:, None, None]
    assert solve(plain_stack(sizes * case.stack.matrices), case.bounds, tol=1e-3, max_iter=300).converged

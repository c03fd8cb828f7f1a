"""Every method reaches the optimum of a general convex solver, for every loss and norm, and proves it."""

import numpy as np
import pytest

from tagrank.losses.logistic import Logistic
from tagrank.losses.pairwise import Pairwise
from tagrank.solvers.dual_ascent import solve_dual
from tagrank.solvers.multiple_kernel.solve import METHODS, methods_for, solve_kernels

NORMS = (1.0, 1.5, 2.0, 4.0)
CASES = [(solver, norm) for norm in NORMS for solver in methods_for(norm)]


def check_bounds(solution, value, tol):
    """The bounds hold the optimum between them, and are as close as they say."""
    slack = 1e-7 * abs(value)
    assert solution.converged
    assert solution.gap <= tol
    assert solution.dual - slack <= value <= solution.primal + slack
    assert solution.primal == pytest.approx(value, rel=tol + 1e-7)


def check_certificate(case, loss, norm, solution):
    """The primal is that of the returned weights and coefficients; the trace tells of the same bounds."""
    weights = solution.kernel_weights
    assert np.all(weights >= 0)
    assert np.sum(weights**norm) ** (1 / norm) == pytest.approx(1)
    again = solve_dual(
        case.stack.combined(weights), loss, case.bounds.copy(), kind="gram", tol=1e-7, max_iter=0,
        start=solution.coefficients,
    )  # fmt: skip
    assert again.primal == pytest.approx(solution.primal, rel=1e-7)
    assert (solution.trace[-1].primal, solution.trace[-1].dual) == (solution.primal, solution.dual)
    assert solution.trace[-1].n_iter == solution.n_iter == len(solution.trace)
    assert np.all(np.diff([point.primal for point in solution.trace]) <= 0)
    assert np.all(np.diff([point.dual for point in solution.trace]) >= 0)


@pytest.mark.parametrize("loss", ["hinge", "ranking", "group"])
@pytest.mark.parametrize(("solver", "norm"), CASES)
def test_optimum_is_that_of_a_convex_solver(solver, norm, loss, make_case, find_optimum, losses):
    """Unknown labels, costs of different sizes; all labels together (one label: the next test)."""
    if solver == "smo" and loss != "hinge":
        pytest.skip("refused: see below")
    case, optimum = make_case(), find_optimum(loss, norm)
    solution = solve_kernels(case.stack, losses[loss], case.bounds.copy(), solver=solver, norm=norm, tol=1e-5)
    check_bounds(solution, optimum.value, 1e-5)
    check_certificate(case, losses[loss], norm, solution)
    np.testing.assert_allclose(solution.kernel_weights, optimum.weights, atol=0.02)


@pytest.mark.parametrize("C", [0.1, 10])
@pytest.mark.parametrize(("solver", "norm"), CASES)
def test_one_label(solver, norm, C, make_case, find_optimum, losses):
    case, value = make_case(n_labels=1, seed=3), find_optimum("hinge", norm, C, n_labels=1, seed=3).value
    solution = solve_kernels(case.stack, losses["hinge"], C * case.bounds, solver=solver, norm=norm, tol=1e-5)
    check_bounds(solution, value, 1e-5)


@pytest.mark.parametrize("Loss", [Logistic, Pairwise])
@pytest.mark.parametrize("norm", [1.0, 2.0])
def test_any_loss_closes_its_gap(Loss, norm, make_case):
    case = make_case()
    one, other = (
        solve_kernels(case.stack, Loss, case.bounds.copy(), solver=solver, norm=norm, tol=1e-4)
        for solver in ("auto", "silp")
    )
    assert one.converged
    assert other.converged
    assert one.dual <= other.primal
    assert other.dual <= one.primal


@pytest.mark.parametrize(("solver", "norm"), [("auto", 1.0), ("auto", 2.0), ("smo", 2.0)])
def test_intercept(solver, norm, make_case, find_optimum, losses, plain_rows):
    case, value = make_case(), find_optimum("hinge", norm, intercept=0.7).value
    for stack in (case.stack, plain_rows(case.blocks)):
        solution = solve_kernels(
            stack, losses["hinge"], case.bounds.copy(), solver=solver, norm=norm, tol=1e-5, intercept=0.7
        )
        check_bounds(solution, value, 1e-5)


@pytest.mark.parametrize("loss", ["hinge", "ranking", "group"])
def test_gradient(loss, make_case, losses):
    """dJ/dbeta_j = -v_j / 2, by finite differences of the values of trained problems."""
    case, weights, step = make_case(), np.array([0.3, 0.1, 0.2, 0.15, 0.25]), 1e-4

    def train(weights):
        K = case.stack.combined(weights)
        return solve_dual(K, losses[loss], case.bounds.copy(), kind="gram", tol=1e-11, max_iter=10**5)

    gradient = -case.stack.quadratics(train(weights).coefficients) / 2
    for j, direction in enumerate(step * np.eye(5)):
        difference = train(weights + direction).dual - train(weights - direction).dual
        assert difference / (2 * step) == pytest.approx(gradient[j], rel=1e-3)


@pytest.mark.parametrize("loss", ["ranking", "group"])
def test_coordinate_ascent_refuses_other_losses(loss, make_case, losses):
    case = make_case()
    with pytest.raises(ValueError, match="solver='smo' only supports the hinge loss"):
        solve_kernels(case.stack, losses[loss], case.bounds.copy(), solver="smo", norm=2)


def test_a_method_that_does_not_fit_the_norm_is_refused(make_case, losses):
    case = make_case()
    for solver in set(METHODS) - set(methods_for(2.0)):
        with pytest.raises(ValueError, match=f"solver='{solver}' does not do norm=2; choose one of auto, "):
            solve_kernels(case.stack, losses["hinge"], case.bounds.copy(), solver=solver, norm=2)
    for solver in set(METHODS) - set(methods_for(1.0)):
        with pytest.raises(ValueError, match=f"solver='{solver}' does not do norm=1; choose one of auto, "):
            solve_kernels(case.stack, losses["hinge"], case.bounds.copy(), solver=solver)

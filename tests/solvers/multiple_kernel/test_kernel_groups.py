"""Groups of kernels (VSKL) reach the optimum of a general convex solver on the mixed norm itself."""

import cvxpy as cp
import numpy as np
import pytest

from tagrank.solvers.multiple_kernel import solve_kernels

GROUPS = np.array([0, 0, 1, 1, 2])


def convex_optimum(case, loss, group_norm, groups=GROUPS, intercept=0.0):
    """1/2 (sum_g (sum_j |f_j|)^s)^(2/s) + losses, and the weights beta that the lengths |f_j| ask for."""
    parts = [cp.Variable((rows.shape[1], case.bounds.shape[1])) for rows in case.blocks]
    lengths = [cp.norm(part, "fro") for part in parts]
    of_groups = [sum(lengths[j] for j in np.flatnonzero(groups == g)) for g in range(groups.max() + 1)]
    scores = sum(rows @ part for rows, part in zip(case.blocks, parts, strict=True))
    value = cp.square(cp.pnorm(cp.hstack(of_groups), group_norm)) / 2
    if intercept:
        offset = cp.Variable((1, case.bounds.shape[1]))
        scores = scores + np.ones((len(case.bounds), 1)) @ offset
        value += cp.sum_squares(offset) / (2 * intercept)
    if loss == "ranking":
        scores = scores - cp.Variable((len(case.bounds), 1)) @ np.ones((1, case.bounds.shape[1]))
        is_mixed = (case.bounds > 0).any(axis=1) & (case.bounds < 0).any(axis=1)
        bounds = np.where(is_mixed[:, None], case.bounds, 0)
    else:
        bounds = case.bounds
    hinge = cp.pos(1 - cp.multiply(np.sign(bounds), scores))
    problem = cp.Problem(cp.Minimize(value + cp.sum(cp.multiply(np.abs(bounds), hinge))))
    problem.solve(solver="CLARABEL", tol_gap_rel=1e-7, tol_gap_abs=1e-7, tol_feas=1e-7)
    lengths = np.array([np.linalg.norm(part.value) for part in parts])
    totals = np.bincount(groups, lengths)
    sizes = (totals / np.sum(totals**group_norm) ** (1 / group_norm)) ** (group_norm - 2)
    return problem.value, lengths / totals[groups] / sizes[groups]


@pytest.mark.parametrize("loss", ["hinge", "ranking"])
@pytest.mark.parametrize("group_norm", [2.0, 3.0, 6.0])
def test_optimum_is_that_of_a_convex_solver(loss, group_norm, make_case, losses):
    case = make_case()
    value, weights = convex_optimum(case, loss, group_norm)
    solution = solve_kernels(
        case.stack, losses[loss], case.bounds.copy(), groups=GROUPS, group_norm=group_norm, tol=1e-5
    )
    slack = 1e-6 * value  # of the convex solver
    assert solution.converged
    assert solution.dual - slack <= value <= solution.primal + slack
    assert solution.primal == pytest.approx(value, rel=1e-5)
    np.testing.assert_allclose(solution.kernel_weights, weights, atol=0.03)


def test_an_intercept(make_case, losses):
    case = make_case(n_labels=1, seed=3)
    value, _ = convex_optimum(case, "hinge", 3.0, intercept=0.5)
    solution = solve_kernels(
        case.stack,
        losses["hinge"],
        case.bounds.copy(),
        groups=GROUPS,
        group_norm=3.0,
        intercept=0.5,
        tol=1e-5,
    )
    assert solution.primal == pytest.approx(value, rel=1e-5)


def test_one_group_is_the_norm_of_one(make_case, losses):
    case = make_case()
    options = {"solver": "mirror", "tol": 1e-6}
    one = solve_kernels(
        case.stack, losses["hinge"], case.bounds.copy(), groups=np.zeros(5, int), group_norm=4.0, **options
    )
    plain = solve_kernels(case.stack, losses["hinge"], case.bounds.copy(), **options)
    assert one.primal == pytest.approx(plain.primal, rel=2e-6)
    np.testing.assert_allclose(one.kernel_weights, plain.kernel_weights, atol=1e-2)


def test_groups_of_one_kernel_are_their_sum(make_case, losses):
    """With s = 2 no group is larger than another."""
    case = make_case()
    solution = solve_kernels(case.stack, losses["hinge"], case.bounds.copy(), groups=np.arange(5), tol=1e-6)
    np.testing.assert_allclose(solution.kernel_weights, 1)
    assert solution.converged


def test_kernels_that_say_nothing(make_case, plain_stack, losses):
    case = make_case()
    K = case.stack.matrices[0]
    for matrices in ([K, 0 * K, K, 0 * K], [0 * K] * 4):
        solution = solve_kernels(
            plain_stack(matrices), losses["hinge"], case.bounds.copy(), groups=np.array([0, 0, 1, 2]),
            group_norm=3.0, tol=1e-3,
        )  # fmt: skip
        assert solution.converged
    nothing = solve_kernels(case.stack, losses["hinge"], 0 * case.bounds, groups=GROUPS)
    assert (nothing.primal, nothing.dual) == (0, 0)


def test_what_groups_do_not_go_with(make_case, losses):
    case = make_case()
    for wrong, words in (
        ({"solver": "level"}, "need solver='mirror' and norm=1, got solver='level'"),
        ({"norm": 2.0}, "need solver='mirror' and norm=1, got solver='auto' and norm=2"),
        ({"group_norm": 1.5}, "group_norm must be a finite number of at least 2, got 1.5"),
    ):
        with pytest.raises(ValueError, match=words):
            solve_kernels(case.stack, losses["hinge"], case.bounds.copy(), groups=GROUPS, **wrong)

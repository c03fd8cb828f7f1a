"""The stack of `tagrank.kernels` serves the solvers as the plain one does."""

import numpy as np
import pytest

from tagrank.kernels.stack import KernelStack
from tagrank.solvers.multiple_kernel import solve_kernels, solve_worst


@pytest.mark.parametrize(("solver", "norm"), [("auto", 1.0), ("level", 1.0), ("auto", 2.0), ("smo", 2.0)])
def test_weights(solver, norm, make_case, losses):
    case = make_case()
    options = {"solver": solver, "norm": norm, "tol": 1e-5}
    plain = solve_kernels(case.stack, losses["hinge"], case.bounds.copy(), **options)
    stack = KernelStack(case.stack.matrices)
    for one in (stack, stack.scaled(np.ones(5)), stack[np.ix_(np.arange(24), np.arange(24))]):
        solution = solve_kernels(one, losses["hinge"], case.bounds.copy(), **options)
        assert solution.primal == pytest.approx(plain.primal, rel=1e-5)


def test_scaled_kernels_are_a_weighted_norm(make_case, losses, plain_stack):
    case, factors = make_case(), np.array([1.0, 2.0, 0.5, 1.5, 3.0])
    scaled = KernelStack(case.stack.matrices).scaled(factors)
    plain = plain_stack(factors[:, None, None] * case.stack.matrices)
    one, other = (
        solve_kernels(stack, losses["ranking"], case.bounds.copy(), tol=1e-5) for stack in (scaled, plain)
    )
    assert one.primal == pytest.approx(other.primal, rel=1e-5)


def test_worst_label(make_case):
    case = make_case()
    plain = solve_worst(case.stack, case.bounds.copy(), tol=1e-5)
    solution = solve_worst(KernelStack(case.stack.matrices), case.bounds.copy(), tol=1e-5)
    assert solution.primal == pytest.approx(plain.primal, rel=1e-5)

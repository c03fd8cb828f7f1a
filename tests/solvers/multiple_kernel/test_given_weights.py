"""Weights that are given: one training on their kernel."""

import numpy as np
import pytest

from tagrank.solvers.dual_ascent import solve_dual
from tagrank.solvers.multiple_kernel import solve_weighted


def test_given_weights_are_a_training_on_their_kernel(make_case, losses, plain_rows):
    case, weights = make_case(), np.array([0.5, 0, 0.3, 0.2, 0])
    plain = solve_dual(
        case.stack.combined(weights),
        losses["ranking"],
        case.bounds.copy(),
        kind="gram",
        tol=1e-6,
        intercept=1.0,
    )
    for stack in (case.stack, plain_rows(case.blocks)):
        seen = []
        solution = solve_weighted(
            stack,
            losses["ranking"],
            weights,
            bounds=case.bounds.copy(),
            tol=1e-6,
            intercept=1.0,
            callback=seen.append,
        )
        assert solution.primal == pytest.approx(plain.primal, rel=1e-6)
        np.testing.assert_array_equal(solution.kernel_weights, weights)
        assert seen == solution.trace
        np.testing.assert_array_equal(seen[-1].weights, weights)

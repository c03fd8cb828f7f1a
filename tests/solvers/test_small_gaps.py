"""Gaps near the precision of float32 are reached, not circled."""

import numpy as np
import pytest

from tagrank.kernels import Gaussian
from tagrank.losses.ranking import Ranking
from tagrank.solvers.dual_ascent import solve_dual


@pytest.mark.parametrize("tol", [9e-5, 5e-5, 2.1e-5, 1.9e-5])
def test_a_small_gap_is_reached_soon(tol):
    rng = np.random.default_rng(0)
    K = np.mean([Gaussian()(rng.normal(size=(31, 50))) for _ in range(4)], axis=0)
    labels = np.array([rng.permutation(35) < 3 for _ in range(31)])
    solution = solve_dual(K, Ranking, np.where(labels, 10.0, -10.0), kind="gram", tol=tol)
    assert solution.converged
    assert solution.n_iter < 50

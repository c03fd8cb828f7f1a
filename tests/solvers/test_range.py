"""Numbers beyond the range of floating point are refused in a sentence, before or after one pass of nan."""

import numpy as np
import pytest

from tagrank.solvers.group_steps import solve_paper


@pytest.mark.parametrize("C", [1e300, 1e40, 1e16, 1e-101, 1e-300])
def test_costs(AnyLoss, hold_in_short, C, make_problem):
    X, bounds = make_problem()
    with pytest.raises(ValueError, match=r"the largest cost .* 1e-100 and 1e\+15, got .* a C nearer to 1"):
        hold_in_short(X).solve(AnyLoss, C * np.sign(bounds))


@pytest.mark.parametrize("C", [1e14, 1e-99])
def test_the_largest_and_smallest_costs_leave_finite_numbers(AnyLoss, hold_in_short, C, make_problem):
    X, bounds = make_problem()
    solution = hold_in_short(X).solve(AnyLoss, C * np.sign(bounds), max_iter=20)
    assert np.isfinite(solution.primal)
    assert 0 <= solution.gap <= 1
    assert np.all(np.isfinite(solution.coefficients))


def test_large_similarities(AnyLoss, hold_in_short, make_problem):
    X, bounds = make_problem()
    with pytest.raises(ValueError, match=r"the largest k\(x, x\) must lie between 0 and 1e\+30, got"):
        hold_in_short(1e20 * X).solve(AnyLoss, bounds)


def test_rows_whose_squares_vanish(AnyLoss, make_problem, held):
    X, bounds = make_problem()
    with pytest.raises(ValueError, match=r"the largest value of X must lie between .* got .*e-300; scale"):
        held(1e-300 * X, "rows").solve(AnyLoss, bounds)


def test_nan_in_a_gram_matrix_ends_a_training_after_one_pass(AnyLoss, make_problem, held):
    """One that nobody checked, and whose diagonal is finite; steps may divide by zero on the way."""
    X, bounds = make_problem()
    K = X @ X.T
    K[10, 20:] = K[20:, 10] = np.nan
    with pytest.raises(ValueError, match=r"training met nan or infinity: .* scale the features"):
        held(K, "gram").solve(AnyLoss, bounds, max_iter=10**9)


def test_nan_from_a_sweep_ends_a_training_after_one_pass(AnyLoss, hold_in_short, make_problem):
    n_sweeps = []

    class Overflowing(AnyLoss):
        def sweep_block(self, rows, corner, scores, changes, least_gap, n):
            n_sweeps.append(1)
            self.coefficients[rows], changes[:] = np.nan, np.nan
            return changes.size

        def sweep_rows(self, *_):
            n_sweeps.append(1)
            return np.nan, np.nan

    X, bounds = make_problem()
    with pytest.raises(ValueError, match="training met nan or infinity"):
        hold_in_short(X).solve(Overflowing, bounds, max_iter=10**9)
    assert len(n_sweeps) == 1


def test_division_by_zero_is_told_as_what_it_comes_from(AnyLoss, hold_in_short, make_problem):
    class Dividing(AnyLoss):
        def sweep_block(self, *_):
            return 1 / 0

        sweep_rows = sweep_block

    X, bounds = make_problem()
    with pytest.raises(ValueError, match="training met nan or infinity"):
        hold_in_short(X).solve(Dividing, bounds)


def test_nan_ends_the_steps_of_the_paper_after_one_pass(make_problem):
    X, bounds = make_problem()
    K = X @ X.T
    K[10, 20] = K[20, 10] = np.nan
    with pytest.raises(ValueError, match="training met nan or infinity"):
        solve_paper(K, bounds, kind="gram", eta=2.5, max_iter=10**9)

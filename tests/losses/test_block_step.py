"""The step for one sample, all others fixed, solves its small quadratic program."""

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from tagrank.losses.hinge import Hinge
from tagrank.losses.ranking import Ranking
from tagrank.simd import aligned_zeros, padded

N_LABELS = 6
LOSSES = [Hinge, Ranking]


def best_step(Loss, bounds, others, diagonal):
    """By a general convex solver; |step| is sign(bounds) * step within the bounds."""
    step = cp.Variable(N_LABELS)
    value = diagonal / 2 * cp.sum_squares(step) + (others - np.sign(bounds)) @ step
    limits = [step >= np.minimum(bounds, 0), step <= np.maximum(bounds, 0)]
    balance = [cp.sum(step) == 0] if Loss is Ranking else []
    problem = cp.Problem(cp.Minimize(value), limits + balance)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return step.value


def random_sample(seed):
    """Bounds, feasible coefficients and the scores of one sample, and its k(x, x)."""
    rng = np.random.default_rng(seed)
    states = np.concatenate([[1, -1], rng.choice([-1, 0, 1], size=N_LABELS - 2)])
    bounds = (states * rng.uniform(0.2, 3, N_LABELS))[None]
    coefficients = Ranking.without_kernel(bounds * rng.random(bounds.shape))
    return bounds, coefficients, rng.normal(scale=2, size=(N_LABELS, 1)), rng.uniform(0.2, 3)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("Loss", LOSSES)
def test_step_in_a_block(Loss, seed):
    bounds, coefficients, scores, diagonal = random_sample(seed)
    old = coefficients.copy()
    others = scores[:, 0] - diagonal * old[0]
    expected = best_step(Loss, bounds[0], others, diagonal)
    loss, changes = Loss(bounds, coefficients), np.empty_like(scores)
    n_changed = loss.sweep_block(np.array([0]), np.array([[diagonal]]), scores, changes, 0.0, 1)
    np.testing.assert_allclose(coefficients[0], expected, atol=1e-6)
    np.testing.assert_allclose(changes[:, 0], (coefficients - old)[0], atol=1e-12)
    np.testing.assert_allclose(scores[:, 0], others + diagonal * coefficients[0], atol=1e-12)
    assert n_changed == np.count_nonzero(changes)

    loss.sweep_block(np.array([0]), np.array([[diagonal]]), scores, changes, 0.0, 3)
    np.testing.assert_allclose(changes, 0, atol=1e-12)


@pytest.mark.parametrize("seed", range(10, 16))
@pytest.mark.parametrize("Loss", LOSSES)
def test_step_on_a_sparse_row(Loss, seed):
    bounds, coefficients, scores, diagonal = random_sample(seed)
    others = scores[:, 0] - diagonal * coefficients[0]
    expected = best_step(Loss, bounds[0], others, diagonal)
    root = np.sqrt(diagonal)
    X = sparse.csr_array(np.array([[0, root]]))
    W = aligned_zeros((1, 2, padded(N_LABELS)), np.float64)
    W[0, 1, :N_LABELS] = scores[:, 0] / root
    gap, primal = Loss(bounds, coefficients).sweep_rows(np.array([0]), X, np.array([diagonal]), W, 0.0)
    np.testing.assert_allclose(coefficients[0], expected, atol=1e-6)
    np.testing.assert_allclose(root * W[0, 1, :N_LABELS], others + diagonal * expected, atol=1e-5)
    assert not W[0, 0].any()
    assert not W[0, :, N_LABELS:].any()
    assert gap >= 0
    assert primal >= 0


@pytest.mark.parametrize("Loss", LOSSES)
def test_block_of_several_samples_is_visited_one_after_another(Loss):
    rng = np.random.default_rng(20)
    rows, X = np.array([4, 0, 2]), rng.normal(size=(5, 4))
    K = X @ X.T
    bounds = rng.choice([-1.0, 1.0], size=(5, N_LABELS)) * rng.uniform(0.2, 2, size=(5, N_LABELS))
    bounds[:, :2] = np.abs(bounds[:, :1]) * [1, -1]
    A = np.zeros_like(bounds)
    changes = np.empty((N_LABELS, 3))
    Loss(bounds, A).sweep_block(rows, K[np.ix_(rows, rows)], np.zeros((N_LABELS, 3)), changes, 0.0, 1)
    expected = np.zeros_like(bounds)
    for i in rows:
        others = K[i] @ expected - K[i, i] * expected[i]
        expected[i] = best_step(Loss, bounds[i], others, K[i, i])
    np.testing.assert_allclose(A, expected, atol=1e-6)
    np.testing.assert_allclose(changes.T, A[rows], atol=1e-12)


@pytest.mark.parametrize("Loss", LOSSES)
def test_without_kernel_the_coefficients_are_as_large_as_allowed(Loss):
    bounds = np.array([[1.0, 2, -0.5, 0, 0, -0.25], [1, 1, 1, 0, 0, 0], [0] * 6, [1, -2, -2, 0, 0, 0]])
    A = Loss.without_kernel(bounds)
    for row, bound in zip(A, bounds, strict=True):
        assert np.abs(row).sum() == pytest.approx(
            np.abs(best_step(Loss, bound, np.zeros(6), 0)).sum(), abs=1e-7
        )
    assert np.all(A * bounds >= 0)
    assert np.all(np.abs(A) <= np.abs(bounds))
    if Loss is Ranking:
        np.testing.assert_allclose(A.sum(axis=1), 0, atol=1e-15)


def test_hinge_measure():
    rng = np.random.default_rng(21)
    bounds, A, scores = (rng.normal(size=(150, N_LABELS)) for _ in range(3))
    sums, thresholds = Hinge.measure(bounds, A, np.ascontiguousarray(scores.T))
    slack = np.maximum(1 - np.sign(bounds) * scores, 0)
    expected = [np.abs(bounds) * slack, np.abs(A), A * scores]
    np.testing.assert_allclose(sums, np.sum(expected, axis=2), atol=1e-12)
    assert thresholds is None

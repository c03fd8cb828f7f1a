"""Steps of the coupled hinge loss: each raises the dual, repeated ones solve the program of their block."""

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from tagrank.losses.hinge import Hinge
from tagrank.losses.prior import PriorHinge
from tagrank.simd import aligned_zeros, padded

N_LABELS = 6


def random_prior(seed, rank=N_LABELS):
    factor = np.random.default_rng(seed).normal(size=(N_LABELS, rank))
    return factor @ factor.T


def random_block(seed, n_rows):
    """Rows, bounds (a fifth unknown), and feasible coefficients."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    bounds = rng.choice([-1.0, 0, 1], p=[0.4, 0.2, 0.4], size=(n_rows, N_LABELS))
    bounds *= rng.uniform(0.2, 3, size=bounds.shape)
    return X, bounds, bounds * rng.random(bounds.shape)


def best_value(K, R, bounds):
    """The largest dual value, by a general convex solver."""
    root_K = np.linalg.cholesky(K + 1e-12 * np.eye(len(K)))
    values, vectors = np.linalg.eigh(R)
    root_R = vectors * np.sqrt(np.maximum(values, 0))
    A = cp.Variable(bounds.shape)
    dual = cp.sum(cp.multiply(np.sign(bounds), A)) - cp.sum_squares(root_K.T @ A @ root_R) / 2
    limits = [np.minimum(bounds, 0) <= A, np.maximum(bounds, 0) >= A]
    problem = cp.Problem(cp.Maximize(dual), limits)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return problem.value


def dual_value(K, R, A):
    return np.abs(A).sum() - (A * (K @ A @ R)).sum() / 2


@pytest.mark.parametrize("rank", [2, N_LABELS])
@pytest.mark.parametrize("seed", range(3))
def test_sweeps_solve_the_program_of_a_block(seed, rank):
    R = random_prior(seed, rank)
    X, bounds, A = random_block(seed, 5)
    K, rows = X @ X.T, np.arange(5)
    loss, values = PriorHinge(bounds, A, R=R), [dual_value(K, R, A)]
    for n_sweeps in (1, 1, 2, 2000):
        before, changes = A.copy(), np.empty((N_LABELS, 5))
        scores = np.ascontiguousarray((K @ A).T)
        n_changed = loss.sweep_block(rows, K, scores, changes, 0.0, n_sweeps)
        np.testing.assert_allclose(changes.T, A - before, atol=1e-12)
        assert n_changed == np.count_nonzero(changes)
        values.append(dual_value(K, R, A))
    assert np.all(np.diff(values) >= -1e-12)
    assert np.all((A * bounds >= 0) & (np.abs(A) <= np.abs(bounds)))
    # sweeps stop when the gap fell to a tenth, and start again
    for _ in range(60):
        loss.sweep_block(rows, K, np.ascontiguousarray((K @ A).T), changes, 0.0, 2000)
    assert dual_value(K, R, A) == pytest.approx(best_value(K, R, bounds), rel=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_visits_of_a_sparse_row_solve_its_program(seed):
    R = random_prior(seed)
    X, bounds, A = random_block(seed, 1)
    rows, norms = sparse.csr_array(X), (X**2).sum(axis=1)
    W = aligned_zeros((1, 4, padded(N_LABELS)), np.float64)
    W[0, :, :N_LABELS] = X.T @ A @ R
    loss = PriorHinge(bounds, A, R=R)
    for _ in range(300):
        gap, _ = loss.sweep_rows(np.array([0]), rows, norms, W, 0.0)
    assert gap == pytest.approx(0, abs=1e-7)
    np.testing.assert_allclose(W[0, :, :N_LABELS], X.T @ A @ R, atol=1e-10)
    assert not W[0, :, N_LABELS:].any()
    assert dual_value(X @ X.T, R, A) == pytest.approx(best_value(X @ X.T, R, bounds), rel=1e-7)


def test_what_a_visit_meets_is_gap_and_primal_before_it():
    R = random_prior(7)
    X, bounds, A = random_block(7, 1)
    F = X @ X.T @ A @ R
    slack = 1 - np.sign(bounds) * F
    losses = np.abs(bounds) * np.maximum(slack, 0)
    W = aligned_zeros((1, 4, padded(N_LABELS)), np.float64)
    W[0, :, :N_LABELS] = X.T @ A @ R
    expected = (losses - np.abs(A) * slack).sum(), (losses + A * F / 2).sum()
    loss = PriorHinge(bounds, A, R=R)
    met = loss.sweep_rows(np.array([0]), sparse.csr_array(X), (X**2).sum(axis=1), W, 0.0)
    assert met == pytest.approx(expected)


def test_identity_takes_the_step_of_the_hinge_loss():
    X, bounds, A = random_block(8, 1)
    scores, changes = np.ascontiguousarray((X @ X.T @ A).T), np.empty((N_LABELS, 1))
    other = A.copy()
    PriorHinge(bounds, A).sweep_block(np.array([0]), X @ X.T, scores.copy(), changes, 0.0, 1)
    Hinge(bounds, other).sweep_block(np.array([0]), X @ X.T, scores.copy(), changes, 0.0, 1)
    np.testing.assert_allclose(A, other, atol=1e-12)


def test_measure_puts_the_prior_on_the_scores():
    rng, R = np.random.default_rng(9), random_prior(9)
    bounds, A, scores = (rng.normal(size=(150, N_LABELS)) for _ in range(3))
    sums, thresholds = PriorHinge(bounds, A, R=R).measure(bounds, A, np.ascontiguousarray(scores.T))
    F = scores @ R
    slack = np.maximum(1 - np.sign(bounds) * F, 0)
    np.testing.assert_allclose(sums, np.sum([np.abs(bounds) * slack, np.abs(A), A * F], axis=2), atol=1e-9)
    assert thresholds is None

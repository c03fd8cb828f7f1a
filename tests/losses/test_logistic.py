"""The step of the logistic loss for one sample, all others fixed, meets the root of its derivative."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import entr, expit

from tagrank.losses.logistic import Logistic
from tagrank.simd import aligned_zeros, padded

N_LABELS = 6


def best_step(bound, others, diagonal):
    """The coefficient at which the derivative of the dual is zero, by bisection on the margin."""
    cost, margin = abs(bound), np.sign(bound) * others
    if cost == 0:
        return 0.0
    t = brentq(
        lambda t: t - margin - cost * diagonal * expit(-t), margin - 1e-9, margin + cost * diagonal + 1e-9,
        xtol=1e-14, rtol=1e-15,
    )  # fmt: skip
    return bound * expit(-t)


def random_sample(seed, size):
    """Bounds, feasible coefficients, the scores of one sample, and its k(x, x); zero and whole shares too."""
    rng = np.random.default_rng(seed)
    bounds = np.array([[1, -1, 1, 0, -1, 1]]) * rng.uniform(0.2, 3, N_LABELS) * size
    coefficients = bounds * rng.random(bounds.shape)
    coefficients[0, 1], coefficients[0, 2] = 0, bounds[0, 2]
    return bounds, coefficients, rng.normal(scale=3, size=(N_LABELS, 1)), rng.uniform(0.2, 3)


@pytest.mark.parametrize("size", [1e-4, 1, 100, 1e5])
@pytest.mark.parametrize("seed", range(4))
def test_step_in_a_block(seed, size):
    bounds, coefficients, scores, diagonal = random_sample(seed, size)
    old = coefficients.copy()
    others = scores[:, 0] - diagonal * old[0]
    expected = [best_step(*pair, diagonal) for pair in zip(bounds[0], others, strict=True)]
    loss, changes = Logistic(bounds, coefficients), np.empty_like(scores)
    n_changed = loss.sweep_block(np.array([0]), np.array([[diagonal]]), scores, changes, 0.0, 1)
    np.testing.assert_allclose(coefficients[0], expected, rtol=1e-9, atol=1e-9 * size)
    np.testing.assert_allclose(changes[:, 0], (coefficients - old)[0], atol=1e-12 * size)
    np.testing.assert_allclose(scores[:, 0], others + diagonal * coefficients[0], atol=1e-9 * size)
    assert n_changed == np.count_nonzero(changes)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e-4, 1, 100, 1e5])
@pytest.mark.parametrize("seed", range(4, 8))
def test_step_on_a_sparse_row(seed, size, dtype):
    bounds, coefficients, scores, diagonal = random_sample(seed, size)
    expected = [
        best_step(bound, score - diagonal * coefficient, diagonal)
        for bound, score, coefficient in zip(bounds[0], scores[:, 0], coefficients[0], strict=True)
    ]
    root = np.sqrt(diagonal)
    X = sparse.csr_array(np.array([[0, root]]))
    W = aligned_zeros((1, 2, padded(N_LABELS)), dtype)
    W[0, 1, :N_LABELS] = scores[:, 0] / root
    before = W[0, 1, :N_LABELS].astype(np.float64)
    held, old = coefficients.astype(dtype), coefficients
    loss = Logistic(bounds.astype(dtype), held)
    gap, primal = loss.sweep_rows(np.array([0]), X, np.array([diagonal], dtype), W, 0.0)
    rtol = 1e-2 if dtype == np.float32 else 1e-5  # the last digits wait for the next pass
    np.testing.assert_allclose(held[0], expected, rtol=0, atol=rtol * 3 * size)
    change = (held - old)[0].astype(np.float64)
    np.testing.assert_allclose(W[0, 1, :N_LABELS], before + root * change, rtol=1e-5, atol=1e-5 * size)
    assert not W[0, 0].any()
    assert gap >= 0
    assert primal >= 0 or size > 1  # random coefficients are far from those of any scores


def test_measure_is_the_sum_of_its_terms():
    rng = np.random.default_rng(0)
    bounds = rng.normal(size=(150, N_LABELS)) * rng.choice([0, 1, 1], size=(150, N_LABELS))
    A, scores = bounds * rng.random(bounds.shape), rng.normal(scale=3, size=bounds.shape)
    A[:5], A[5:10], scores[:10:2] = 0, bounds[5:10], 1000.0
    sums, thresholds = Logistic.measure(bounds, A, np.ascontiguousarray(scores.T))
    cost, size, margins = np.abs(bounds), np.abs(A), np.sign(bounds) * scores
    expected = [
        cost * np.logaddexp(0, -margins), entr(size) + entr(cost - size) - entr(cost), A * scores,
    ]  # fmt: skip
    np.testing.assert_allclose(sums, np.sum(expected, axis=2), atol=1e-11)
    assert thresholds is None


def test_gap_is_the_divergence_of_the_shares_from_the_probabilities():
    rng = np.random.default_rng(1)
    bounds, scores = rng.normal(size=(50, N_LABELS)), rng.normal(scale=3, size=(50, N_LABELS))
    shares, expected = rng.random(bounds.shape), expit(-np.sign(bounds) * scores)
    sums, _ = Logistic.measure(bounds, shares * bounds, np.ascontiguousarray(scores.T))
    divergence = shares * np.log(shares / expected) + (1 - shares) * np.log((1 - shares) / (1 - expected))
    np.testing.assert_allclose(
        sums[0] - sums[1] + sums[2], (np.abs(bounds) * divergence).sum(axis=1), atol=1e-12
    )


def test_gap_is_zero_at_the_probabilities_of_the_scores():
    rng = np.random.default_rng(2)
    bounds, scores = rng.normal(size=(50, N_LABELS)), rng.normal(scale=3, size=(50, N_LABELS))
    A = bounds * expit(-np.sign(bounds) * scores)
    sums, _ = Logistic.measure(bounds, A, np.ascontiguousarray(scores.T))
    np.testing.assert_allclose(sums[0] - sums[1] + sums[2], 0, atol=1e-13)

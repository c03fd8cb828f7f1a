"""The joint perceptron in blocks equals the rule as it is printed, one sample after the other."""

import numpy as np
import pytest
from scipy import sparse

from tagrank.solvers.perceptrons import GramCoefficients, LinearWeights, learn_block


@pytest.fixture(scope="module")
def samples():
    """100 unit rows, 5 labels as unit vectors; one row and one label vector of zeros."""
    rng = np.random.default_rng(0)
    X, V = rng.normal(size=(100, 8)), rng.normal(size=(100, 5))
    X, V = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (X, V))
    X[4], V[9] = 0, 0
    X.flags.writeable = V.flags.writeable = False
    return X, V


def one_by_one(X, V, margin):
    """W, the mean of W over all samples, and the number of updates."""
    W, total, n_updates = np.zeros((X.shape[1], V.shape[1])), 0.0, 0
    for x, v in zip(X, V, strict=True):
        norm = np.linalg.norm(W)
        beta = v @ W.T @ x / norm if norm > 0 else 0.0
        if (norm == 0 or beta < margin) and x.any() and v.any():
            W = W + np.outer(x, v)
            n_updates += 1
        total = total + W
    return W, total / len(X), n_updates


def in_blocks(weights, rows, V, margin, size):
    squared_norm, n_updates = 0.0, 0
    for start in range(0, len(V), size):
        block = slice(start, start + size)
        n_new, squared_norm = learn_block(weights, rows[block], V[block], squared_norm, margin)
        n_updates += n_new
    return n_updates, squared_norm


@pytest.mark.parametrize("margin", [0.0, 0.2, 0.9])
@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("form", ["dense", "sparse", "gram"])
def test_blocks_equal_single_samples(samples, margin, size, form):
    X, V = samples
    W, mean, expected = one_by_one(X, V, margin)
    if form == "gram":
        weights = GramCoefficients(9 * X @ X.T, V.shape[1], averaged=True)
        n_updates, squared_norm = in_blocks(weights, np.arange(100), V, margin, size)
        found, total = 3 * X.T @ weights.A, 3 * X.T @ weights.total
    else:
        rows = 3.0 * (X if form == "dense" else sparse.csr_array(X))  # scaled to unit length inside
        weights = LinearWeights(8, 5, np.float64, averaged=True)
        n_updates, squared_norm = in_blocks(weights, rows, V, margin, size)
        found, total = weights.W, weights.total
        assert weights.squared_norm() == pytest.approx(squared_norm)
    assert n_updates == expected
    np.testing.assert_allclose(found, W, atol=1e-10)
    np.testing.assert_allclose(total / 100, mean, atol=1e-10)
    assert squared_norm == pytest.approx((W**2).sum(), abs=1e-9)


def test_single_precision_without_an_average(samples):
    X, V = samples
    weights = LinearWeights(8, 5, np.float32, averaged=False)
    in_blocks(weights, X.astype(np.float32), V, 0.2, 20)
    assert weights.W.dtype == np.float32
    assert weights.total is None
    np.testing.assert_allclose(weights.W, one_by_one(X, V, 0.2)[0], atol=1e-5)

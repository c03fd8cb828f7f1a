"""The p-norm that bounds the weights of kernels, and what follows from it."""

import numpy as np

LEAST_SHARE = 1e-4  # of equal weights in a start for methods that cannot revive a weight of zero
NEGLIGIBLE = 0.05  # of tol: the sum of weights that are taken for zero


def check_norm(norm):
    if not (np.isfinite(norm) and norm >= 1):
        raise ValueError(f"norm must be a finite number of at least 1, got {norm!r}")
    return float(norm)


def uniform_weights(n_kernels, norm):
    """Equal weights with |beta|_p = 1."""
    return np.full(n_kernels, n_kernels ** (-1 / norm))


def normalized(weights, norm):
    """Weights of |beta|_p = 1 in the same proportions; those that are all zero become equal."""
    weights = np.maximum(weights, 0)
    largest = weights.max()
    if not largest > 0:
        return uniform_weights(len(weights), norm)
    weights = weights / largest  # powers of what is very small or large stay in range
    return weights / np.sum(weights**norm) ** (1 / norm)


def away_from_zero(weights, norm):
    """Weights near those given, none of them zero."""
    return normalized((1 - LEAST_SHARE) * weights + LEAST_SHARE * uniform_weights(len(weights), norm), norm)


def dual_norm(quadratics, norm):
    """The largest beta'v over beta >= 0, |beta|_p <= 1: |v|_q with 1/p + 1/q = 1."""
    return float(best_response(quadratics, norm) @ quadratics)


def best_response(quadratics, norm):
    """The beta >= 0, |beta|_p <= 1 with the largest beta'v: the gradient of |v|_q."""
    quadratics = np.maximum(quadratics, 0)
    if norm == 1:
        return np.eye(len(quadratics))[quadratics.argmax()]
    return normalized((quadratics / max(quadratics.max(), np.finfo(float).tiny)) ** (1 / (norm - 1)), norm)


def without_smallest(weights, norm, tol):
    """Weights, p = 1, whose smallest, of a sum below part of `tol`, are zero: their kernels are not read.

    A kernel that is missed for this has a large v_j, and does not stay among the smallest.
    """
    if norm > 1:
        return weights
    order = np.argsort(weights)
    kept = weights.copy()
    kept[order[np.cumsum(weights[order]) <= NEGLIGIBLE * tol]] = 0
    return normalized(kept, norm)

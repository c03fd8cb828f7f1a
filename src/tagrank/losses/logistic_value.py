"""Values of the logistic loss: shares, terms of the gap, the best share of one entry, sums of samples."""

import numpy as np
from numba import njit, prange

from tagrank.losses.exponentials import exp, log

FAST = {"contract", "nsz", "arcp", "reassoc"}  # nan must be seen
TILE = 64
LARGEST = 60.0  # margin whose share counts; that of a larger one, exp(-60), is as good as none
LEAST = 1e-26  # exp(-60)
LOG_2 = 0.6931471805599453
MOST_STEPS = 100  # of Newton's method; more than three are rare


@njit(inline="always")
def share_of_margin(margin):
    """1 / (1 + exp(margin)); constants have the type of the margin, or all would be computed in float64."""
    one, largest = type(margin)(1), type(margin)(LARGEST)
    return one / (one + exp(min(max(margin, -largest), largest)))


@njit(inline="always")
def divergence(u, p, margin):
    """KL(u, p) without a logarithm, p = 1 / (1 + exp(margin)).

    By the curvature of the entropy a third of the way from p to u: exact where they are near. Where they are
    not, the part that grows with the margin, which is never more than the whole.
    """
    zero, one = type(p)(0), type(p)(1)
    x = p + (u - p) * type(p)(1 / 3)
    near = type(p)(0.5) * (u - p) * (u - p) / (x * (one - x) + type(p)(LEAST))
    return max(near, (u * margin if margin > zero else (u - one) * margin) - type(p)(LOG_2))


@njit(inline="always")
def bracket(q, k):
    """Ends of an interval that holds the root, and in which Newton's method does not leave it."""
    zero = type(q)(0)
    is_right = q + type(q)(0.5) * k > zero
    low = max(q, zero) if is_right else q
    high = q + k if is_right else min(q + k, zero)
    return low, high


@njit(cache=True, fastmath=FAST, error_model="numpy")
def best_share(t, q, k, enough):
    """The root of h, from an estimate of it: the margin, and the share that it stands for."""
    one = type(t)(1)
    low, high = bracket(q, k)
    u = slope = step = type(t)(0)
    for _ in range(MOST_STEPS):
        t = min(max(t, low), high)
        u = share_of_margin(t)
        slope = u * (one - u)
        step = (t - q - k * u) / (one + k * slope)
        if abs(step) < enough:
            break
        t -= step
    # the share at t - step by its Taylor series, which saves an exponential
    return t - step, min(u + step * slope * (one + step * (type(t)(0.5) - u)), one)


@njit(cache=True, fastmath=FAST, error_model="numpy")
def _sums_of_sample(bounds, coefficients, scores):
    loss = entropy = inner = 0.0
    for k in range(scores.shape[0]):
        bound, coefficient, score = np.float64(bounds[k]), np.float64(coefficients[k]), np.float64(scores[k])
        cost = abs(bound)
        margin = score if bound > 0 else -score
        loss += cost * (max(-margin, 0.0) + log(1 + exp(-min(abs(margin), 700.0))))
        u = abs(coefficient) / max(cost, 1e-300)
        entropy -= cost * (u * log(max(u, 1e-300)) + (1 - u) * log(max(1 - u, 1e-300)))
        inner += coefficient * score
    return loss, entropy, inner


@njit(cache=True, parallel=True)
def measure_samples(bounds, coefficients, scores):
    """Sums over the labels of each sample of loss, entropy and coefficient * score, shape (3, n_samples)."""
    n_labels, n_samples = scores.shape
    sums = np.zeros((3, n_samples))
    for tile in prange((n_samples + TILE - 1) // TILE):
        start = tile * TILE
        n_rows = min(n_samples - start, TILE)
        mine = np.empty((TILE, n_labels), scores.dtype)
        for label in range(n_labels):
            for b in range(n_rows):
                mine[b, label] = scores[label, start + b]
        for b in range(n_rows):
            i = start + b
            sums[0, i], sums[1, i], sums[2, i] = _sums_of_sample(bounds[i], coefficients[i], mine[b])
    return sums

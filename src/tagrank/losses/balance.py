"""Coefficients of a ranking, which sum up to zero in every sample, and what a step changes in them."""

import numpy as np
from numba import njit

FAST = {"contract", "nsz", "nnan", "arcp", "reassoc"}


def balanced(values):
    """`values` (n_samples, n_labels) with the larger of the two sides shrunk to the size of the other."""
    sides = [np.maximum(values, 0), np.minimum(values, 0)]
    sums = [np.abs(side).sum(axis=1, dtype=np.float64, keepdims=True) for side in sides]
    total = np.minimum(*sums)
    shares = [np.divide(total, s, out=np.zeros_like(s), where=s > 0) for s in sums]
    return sides[0] * shares[0] + sides[1] * shares[1]


def with_signs_of(bounds, values):
    """`values` without those on the wrong side of zero, or of unknown labels."""
    return np.where(values * bounds > 0, values, 0.0)


def shrunk_to_fit(bounds, coefficients, norm):
    """Balanced coefficients, shrunk until pairs of present and absent labels may share them in proportion.

    The pair of k and l has then the weight A_k |A_l| / (sum of all A_k), in units of sqrt(B_k |B_l|). It fits
    if in each column of pairs, all those of one absent label, the `norm` of the weights is one at most.
    """
    scaled = np.divide(coefficients, np.sqrt(np.abs(bounds)), out=np.zeros(bounds.shape), where=bounds != 0)
    total = np.maximum(coefficients, 0).sum(axis=1)
    fullest = np.linalg.norm(np.maximum(scaled, 0), norm, axis=1) * np.maximum(-scaled, 0).max(axis=1)
    return coefficients * np.divide(total, fullest, out=np.ones(len(total)), where=fullest > total)[:, None]


@njit(cache=True)
def take_changes(new, current, where, changed):
    """Which entries change and by how much, a short list; `current` becomes `new`. Returns their number."""
    n_changed = 0
    for label in range(new.shape[0]):
        change = new[label] - current[label]
        where[n_changed], changed[n_changed] = label, change
        n_changed += change != 0
        current[label] = new[label]
    return n_changed


@njit(cache=True, fastmath=FAST)
def sum_of_squares(changed, n_changed):
    total = changed.dtype.type(0)
    for k in range(n_changed):
        total += changed[k] * changed[k]
    return total

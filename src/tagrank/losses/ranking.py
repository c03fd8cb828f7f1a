"""Ranking loss with one free threshold per sample (MLR-L1).

Problem, with bounds B (+C for a present label, -C for an absent one, 0 unknown) and scores F = K A:

    primal   1/2 <A, F> + sum_i min_t sum_l |B_il| max(0, 1 - sign(B_il) (F_il - t))
    dual     sum_il |A_il| - 1/2 <A, F>       A_il between 0 and B_il, every sample's coefficients sum to 0

Present labels ask to stand two above absent ones. The best new coefficients of one sample, all others fixed,
are clip((sign(B) + t - s) / k_ii, bounds) with s the scores without the sample's own share and t the root of
their sum, a piecewise linear nondecreasing function of t. A sample whose known labels are all present or all
absent asks for nothing: its coefficients and its loss are zero.
"""

import numpy as np
from numba import njit, prange

FAST = {"contract", "nsz", "nnan", "arcp", "reassoc"}
FAR = 1e30  # beyond any score; stands for a side without labels
ENOUGH = 0.1  # a block is swept again until the gain falls below this share of its first gain


class Ranking:
    """State of the ranking loss during training; see `tagrank.losses.hinge.Hinge` for the interface."""

    def __init__(self, bounds, coefficients):
        self.bounds = bounds
        self.coefficients = coefficients

    @staticmethod
    def without_kernel(bounds):
        """Coefficients of samples with k(x, x) = 0: the side with the smaller bounds is full."""
        return _balanced(bounds)

    @staticmethod
    def repair(coefficients, bounds):
        """Undo rounding: make every sample's coefficients sum to zero by shrinking the larger side."""
        coefficients[:] = _balanced(coefficients)

    def sweep_block(self, rows, corner, scores, changes, threshold, n_sweeps):
        return _sweep_block(self.bounds, self.coefficients, rows, corner, scores, changes, n_sweeps)

    def sweep_rows(self, order, X, squared_norms, W, threshold):
        return _sweep_rows(
            self.bounds, self.coefficients, order, X.indptr, X.indices, X.data, squared_norms, W, threshold
        )

    @staticmethod
    def measure(bounds, coefficients, scores):
        """Sums as for the hinge loss, and (2, n_samples): each sample's best threshold and highest score."""
        return _measure(bounds, coefficients, scores)


def _balanced(values):
    """`values` (n_labels, n_samples) with the larger of the two sides shrunk to the size of the other."""
    sides = [np.maximum(values, 0), np.minimum(values, 0)]
    sums = [np.abs(side).sum(axis=0, dtype=np.float64) for side in sides]
    total = np.minimum(*sums)
    shares = [np.divide(total, s, out=np.zeros_like(s), where=s > 0) for s in sums]
    return sides[0] * shares[0] + sides[1] * shares[1]


@njit(cache=True, fastmath=FAST)
def _range_of_thresholds(scores, bounds):
    """Lowest present label minus one, highest absent label plus one: the threshold lies between them."""
    lowest = scores.dtype.type(FAR)
    highest = scores.dtype.type(-FAR)
    for k in range(scores.shape[0]):
        lowest = min(lowest, scores[k] if bounds[k] > 0 else lowest)
        highest = max(highest, scores[k] if bounds[k] < 0 else highest)
    return np.float64(lowest) - 1, np.float64(highest) + 1


@njit(cache=True)
def _find_candidates(scores, bounds, lowest, highest, where, starts, weights):
    """Labels that a threshold between `lowest` and `highest` can violate, and where violation starts."""
    n_found = 0
    for k in range(scores.shape[0]):
        if bounds[k] < 0:
            if scores[k] + 1 > lowest:
                where[n_found] = k
                starts[n_found] = scores[k] + 1
                weights[n_found] = bounds[k]
                n_found += 1
        elif bounds[k] > 0 and scores[k] - 1 < highest:
            where[n_found] = k
            starts[n_found] = scores[k] - 1
            weights[n_found] = bounds[k]
            n_found += 1
    return n_found


@njit(cache=True)
def _select(values, weights, n_values, target):
    """The smallest of `values` up to which the sizes of the weights sum to `target`; reorders both arrays."""
    low, high = 0, n_values
    while high - low > 1:
        pivot = values[(low + high) // 2]
        below, above, k = low, high, low
        weight_below = weight_equal = 0.0
        while k < above:
            if values[k] < pivot:
                weight_below += abs(weights[k])
                values[k], values[below] = values[below], values[k]
                weights[k], weights[below] = weights[below], weights[k]
                below += 1
                k += 1
            elif values[k] > pivot:
                above -= 1
                values[k], values[above] = values[above], values[k]
                weights[k], weights[above] = weights[above], weights[k]
            else:
                weight_equal += abs(weights[k])
                k += 1
        if weight_below >= target:
            high = below
        elif weight_below + weight_equal >= target or above == high:
            return pivot
        else:
            target -= weight_below + weight_equal
            low = above
    return values[low]


@njit(cache=True)
def _loss_and_threshold(scores, bounds, where, starts, weights):
    """The loss of one sample and its best threshold: where the weights of violated labels balance."""
    lowest, highest = _range_of_thresholds(scores, bounds)
    if lowest >= highest:
        return 0.0, min(max((lowest + highest) / 2, highest), lowest)
    n_found = _find_candidates(scores, bounds, lowest, highest, where, starts, weights)
    target = 0.0
    for k in range(n_found):
        target -= min(weights[k], 0.0)
    threshold = _select(starts, weights, n_found, target)
    loss = 0.0
    for k in range(n_found):
        loss += max(weights[k] * (threshold - starts[k]), 0.0)
    return loss, threshold


@njit(cache=True, fastmath=FAST)
def _sum_and_slope(starts, weights, n_found, threshold, diagonal):
    total = 0.0
    n_free = 0
    for k in range(n_found):
        value = (threshold - starts[k]) / diagonal
        low, high = min(weights[k], 0.0), max(weights[k], 0.0)
        total += min(max(value, low), high)
        n_free += (value > low) & (value < high)
    return total, n_free / diagonal


@njit(cache=True)
def _balancing_threshold(starts, weights, n_found, diagonal, left, right):
    """The root in [left, right] of the sum of the new coefficients, by safeguarded Newton steps."""
    threshold = (left + right) / 2
    for _ in range(100):
        total, slope = _sum_and_slope(starts, weights, n_found, threshold, diagonal)
        if total == 0:
            break
        if total > 0:
            right = threshold
        else:
            left = threshold
        step = threshold - total / slope if slope > 0 else (left + right) / 2
        if not left < step < right:
            step = (left + right) / 2
        if abs(step - threshold) <= 1e-15 * (1 + abs(threshold)):
            break
        threshold = step
    return threshold


@njit(cache=True)
def _step(others, bounds, diagonal, new, where, starts, weights):
    """Best coefficients of one sample into `new`; `others` are its scores without its own share."""
    new[:] = 0
    left, right = _range_of_thresholds(others, bounds)
    if left >= right:
        return
    n_found = _find_candidates(others, bounds, left, right, where, starts, weights)
    threshold = _balancing_threshold(starts, weights, n_found, diagonal, left, right)
    for k in range(n_found):
        value = (threshold - starts[k]) / diagonal
        new[where[k]] = min(max(value, min(weights[k], 0.0)), max(weights[k], 0.0))


@njit(cache=True, fastmath=FAST)
def _add_scaled(target, factor, source):
    for j in range(target.shape[0]):
        target[j] += factor * source[j]


@njit(cache=True)
def _sweep_block(all_bounds, all_coefficients, rows, corner, scores, changes, n_sweeps):
    n_labels, n_rows = scores.shape
    bounds = np.empty((n_rows, n_labels), scores.dtype)
    coefficients = np.empty((n_rows, n_labels), scores.dtype)
    for label in range(n_labels):
        for b in range(n_rows):
            bounds[b, label] = all_bounds[label, rows[b]]
            coefficients[b, label] = all_coefficients[label, rows[b]]
    others, new = np.empty(n_labels, scores.dtype), np.empty(n_labels, scores.dtype)
    where, starts, weights = np.empty(n_labels, np.int64), np.empty(n_labels), np.empty(n_labels)
    first_gain = 0.0
    for sweep in range(n_sweeps):
        gain = 0.0
        for position in range(n_rows):
            b = position if sweep % 2 == 0 else n_rows - 1 - position
            diagonal = corner[b, b]
            if diagonal <= 0:
                continue
            for label in range(n_labels):
                others[label] = scores[label, b] - diagonal * coefficients[b, label]
            _step(others, bounds[b], diagonal, new, where, starts, weights)
            for label in range(n_labels):
                change = new[label] - coefficients[b, label]
                if change != 0:
                    gain += diagonal * change * change
                    coefficients[b, label] = new[label]
                    _add_scaled(scores[label], change, corner[b])
        if sweep == 0:
            first_gain = gain
        elif gain <= ENOUGH * first_gain:
            break
    n_changed = 0
    for label in range(n_labels):
        for b in range(n_rows):
            changes[label, b] = coefficients[b, label] - all_coefficients[label, rows[b]]
            all_coefficients[label, rows[b]] = coefficients[b, label]
            n_changed += changes[label, b] != 0
    return n_changed


@njit(cache=True)
def _sweep_rows(bounds, coefficients, order, indptr, indices, data, norms, W, threshold):
    n_labels = W.shape[1]
    scores, others, new = (
        np.empty(n_labels, W.dtype),
        np.empty(n_labels, W.dtype),
        np.empty(n_labels, W.dtype),
    )
    where, starts, weights = np.empty(n_labels, np.int64), np.empty(n_labels), np.empty(n_labels)
    total_gap = 0.0
    for i in order:
        if norms[i] <= 0:
            continue
        scores[:] = 0
        for p in range(indptr[i], indptr[i + 1]):
            _add_scaled(scores, data[p], W[indices[p]])
        gap, _ = _loss_and_threshold(scores, bounds[i], where, starts, weights)
        for label in range(n_labels):
            gap += coefficients[i, label] * scores[label] - abs(coefficients[i, label])
            others[label] = scores[label] - norms[i] * coefficients[i, label]
        total_gap += gap
        if gap <= threshold:
            continue
        _step(others, bounds[i], norms[i], new, where, starts, weights)
        for label in range(n_labels):
            change = new[label] - coefficients[i, label]
            coefficients[i, label] = new[label]
            new[label] = change
        for p in range(indptr[i], indptr[i + 1]):
            _add_scaled(W[indices[p]], data[p], new)
    return total_gap


@njit(cache=True, parallel=True)
def _measure(bounds, coefficients, scores):
    n_labels, n_samples = scores.shape
    sums = np.zeros((3, n_samples))
    thresholds = np.zeros((2, n_samples))
    width = 64
    for tile in prange((n_samples + width - 1) // width):
        start = tile * width
        n_rows = min(n_samples - start, width)
        mine = np.empty((2, n_rows, n_labels), scores.dtype)
        where, starts, weights = np.empty(n_labels, np.int64), np.empty(n_labels), np.empty(n_labels)
        for label in range(n_labels):
            for b in range(n_rows):
                score = np.float64(scores[label, start + b])
                coefficient = np.float64(coefficients[label, start + b])
                mine[0, b, label] = score
                mine[1, b, label] = bounds[label, start + b]
                sums[1, start + b] += abs(coefficient)
                sums[2, start + b] += coefficient * score
        for b in range(n_rows):
            sums[0, start + b], thresholds[0, start + b] = _loss_and_threshold(
                mine[0, b], mine[1, b], where, starts, weights
            )
            thresholds[1, start + b] = mine[0, b].max()
    return sums, thresholds

"""The value of the ranking loss: the smallest hinge loss of a sample over all thresholds.

As a function of the threshold the loss is convex, with a kink where the violation of a label starts: one
above an absent label, one below a present one. Its slope is the cost of the present labels violated minus
that of the absent ones, so that the best threshold is the lowest kink up to which the costs of all labels sum
to the cost of all absent ones.
"""

import numpy as np
from numba import njit, prange

FAST = {"contract", "nsz", "nnan", "arcp", "reassoc"}
FAR = 1e30  # beyond any score; stands for a side without labels
TILE = 64
HALVINGS = 5  # of the range of a threshold, before the kinks that are left are looked at one by one


@njit(cache=True, fastmath=FAST)
def _range_of_thresholds(scores, bounds):
    """Lowest present label minus one, highest absent label plus one: the threshold lies between them."""
    lowest = scores.dtype.type(FAR)
    highest = scores.dtype.type(-FAR)
    for k in range(scores.shape[0]):
        lowest = min(lowest, scores[k] if bounds[k] > 0 else lowest)
        highest = max(highest, scores[k] if bounds[k] < 0 else highest)
    return np.float64(lowest) - 1, np.float64(highest) + 1


@njit(cache=True, fastmath=FAST)
def _find_kinks(scores, bounds, kinks, sizes):
    """Where the violation of each label starts, and its cost; returns the cost of all absent labels."""
    cost_of_absent = 0.0
    for k in range(scores.shape[0]):
        kinks[k] = scores[k] - (1.0 if bounds[k] > 0 else -1.0)
        sizes[k] = abs(bounds[k])
        cost_of_absent += max(-bounds[k], 0.0)
    return cost_of_absent


@njit(cache=True, fastmath=FAST)
def _cost_up_to(threshold, kinks, sizes):
    total = 0.0
    for k in range(kinks.shape[0]):
        total += sizes[k] if kinks[k] <= threshold else 0.0
    return total


@njit(cache=True)
def _take_between(low, high, kinks, sizes, values, weights):
    """The kinks in (low, high] and their costs, put into `values` and `weights`; returns their number."""
    n_found = 0
    for k in range(kinks.shape[0]):
        values[n_found], weights[n_found] = kinks[k], sizes[k]
        n_found += (kinks[k] > low) & (kinks[k] <= high) & (sizes[k] > 0)
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


@njit(cache=True, fastmath=FAST)
def _loss_at(threshold, scores, bounds):
    loss = 0.0
    for k in range(scores.shape[0]):
        sign = 1.0 if bounds[k] > 0 else -1.0
        loss += abs(bounds[k]) * max(1 - sign * (scores[k] - threshold), 0.0)
    return loss


@njit(cache=True)
def loss_and_threshold(scores, bounds, room):
    """The loss of one sample and its best threshold; `room` has shape (4, n_labels + 1)."""
    lowest, highest = _range_of_thresholds(scores, bounds)
    if lowest >= highest:
        return 0.0, min(max((lowest + highest) / 2, highest), lowest)
    threshold = _best_threshold(scores, bounds, lowest, highest, room)
    return _loss_at(threshold, scores, bounds), threshold


@njit(cache=True)
def _best_threshold(scores, bounds, lowest, highest, room):
    """Halving the range leaves few kinks to choose from; summing costs runs along all labels at once."""
    kinks, sizes, values, weights = room[0, :-1], room[1, :-1], room[2], room[3]
    target = _find_kinks(scores, bounds, kinks, sizes)
    low, high = lowest - 1e-9 * (1 + abs(lowest)), highest
    below = _cost_up_to(low, kinks, sizes)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        cost = _cost_up_to(middle, kinks, sizes)
        if cost >= target:
            high = middle
        else:
            low, below = middle, cost
    n_found = _take_between(low, high, kinks, sizes, values, weights)
    return _select(values, weights, n_found, target - below)


@njit(cache=True, parallel=True)
def measure_samples(bounds, coefficients, scores):
    """Sums of loss, |coefficient|, coefficient * score; best threshold and highest score of each sample."""
    n_labels, n_samples = scores.shape
    sums = np.zeros((3, n_samples))
    thresholds = np.zeros((2, n_samples))
    for tile in prange((n_samples + TILE - 1) // TILE):
        start = tile * TILE
        n_rows = min(n_samples - start, TILE)
        mine = np.empty((TILE, n_labels), scores.dtype)
        room = np.empty((4, n_labels + 1))
        for label in range(n_labels):
            for b in range(n_rows):
                mine[b, label] = scores[label, start + b]
        for b in range(n_rows):
            i = start + b
            sums[0, i], thresholds[0, i] = loss_and_threshold(mine[b], bounds[i], room)
            sums[1, i], sums[2, i] = size_and_inner(coefficients[i], mine[b])
            thresholds[1, i] = mine[b].max()
    return sums, thresholds


@njit(cache=True, fastmath=FAST)
def size_and_inner(coefficients, scores):
    size = inner = 0.0
    for k in range(scores.shape[0]):
        coefficient = np.float64(coefficients[k])
        size += abs(coefficient)
        inner += coefficient * np.float64(scores[k])
    return size, inner

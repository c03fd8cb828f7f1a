"""Ranking loss with one free threshold per sample (MLR-L1).

Problem, with bounds B (+C for a present label, -C for an absent one, 0 unknown) and scores F = K A:

    primal   1/2 <A, F> + sum_i min_t sum_l |B_il| max(0, 1 - sign(B_il) (F_il - t))
    dual     sum_il |A_il| - 1/2 <A, F>       A_il between 0 and B_il, every sample's coefficients sum to 0

Present labels ask to stand two above absent ones. The best new coefficients of one sample, all others fixed,
are clip((sign(B) + t - s) / k_ii, bounds) with s the scores without the sample's own share and t the root of
their sum, a piecewise linear nondecreasing function of t. A sample whose known labels are all present or all
absent asks for nothing: its coefficients and its loss are zero.

The value of the loss is the smallest hinge loss over all thresholds t. As a function of t it is convex, with
a kink where the violation of a label starts: one above an absent label, one below a present one. Its slope is
the cost of the present labels violated minus that of the absent ones, so that the best threshold is the
lowest kink up to which the costs of all labels sum to the cost of all absent ones.
"""

import numpy as np
from numba import njit, prange

from tagrank.losses.loss import BalancedLoss, balanced, sum_of_squares, take_changes
from tagrank.simd import add_to_rows, copy_columns, in_whole_vectors, multiply_row

FAST = {"contract", "nsz", "nnan", "arcp", "reassoc"}
FAR = 1e30  # beyond any score; stands for a side without labels
ENOUGH = 0.1  # a block is swept again until the gain falls below this share of its first gain
TILE = 64
HALVINGS = 5  # of the range of a threshold, before the kinks that are left are looked at one by one


class Ranking(BalancedLoss):
    """State of the ranking loss during training."""

    stays_feasible = True

    @staticmethod
    def without_kernel(bounds):
        """Coefficients of samples with k(x, x) = 0: the side with the smaller bounds is full."""
        return balanced(bounds)

    @staticmethod
    def feasible(start, bounds):
        return balanced(np.clip(start, np.minimum(bounds, 0), np.maximum(bounds, 0)))

    def sweep_block(self, rows, corner, scores, changes, least_gap, n_sweeps):
        return _sweep_block(
            self.bounds, self.coefficients, self.guesses, self.is_mixed,
            rows, corner, scores, changes, n_sweeps,
        )  # fmt: skip

    def sweep_rows(self, order, X, squared_norms, W, least_gap):
        return _sweep_rows(
            self.bounds, self.coefficients, self.guesses, self.is_mixed, order,
            X.indptr, X.indices, X.data, squared_norms, W, least_gap,
        )  # fmt: skip

    @staticmethod
    def measure(bounds, coefficients, scores):
        return measure_samples(bounds, coefficients, scores)


@njit(cache=True, fastmath=FAST)
def _sum_and_slope(targets, bounds, threshold, inverse):
    zero, one = targets.dtype.type(0), targets.dtype.type(1)
    total = n_free = zero
    for k in range(targets.shape[0]):
        low, high = min(bounds[k], zero), max(bounds[k], zero)
        value = (targets[k] + threshold) * inverse
        total += min(max(value, low), high)
        n_free += one if (value > low) & (value < high) else zero
    return np.float64(total), np.float64(n_free * inverse)


@njit(cache=True)
def _balancing_threshold(targets, bounds, diagonal, guess):
    """The root of the sum of the new coefficients: Newton steps from `guess`, bisection where they fail."""
    left, right, is_bracketed = -FAR, FAR, False
    threshold = guess
    inverse = 1 / diagonal
    precision = 4 * np.finfo(targets.dtype).eps
    for _ in range(100):
        total, slope = _sum_and_slope(targets, bounds, targets.dtype.type(threshold), inverse)
        if total == 0:
            break
        if total > 0:
            right = threshold
        else:
            left = threshold
        step = threshold - total / slope if slope > 0 else FAR
        if not left < step < right:
            if not is_bracketed:
                lowest, highest = _range_of_roots(targets, bounds)
                left, right, is_bracketed = max(left, lowest), min(right, highest), True
            step = (left + right) / 2
        if abs(step - threshold) <= precision * (1 + abs(threshold)):
            break
        threshold = step
    return threshold


@njit(cache=True, fastmath=FAST)
def _range_of_roots(targets, bounds):
    """Up to the first threshold no coefficient is positive, from the second on none is negative."""
    lowest = targets.dtype.type(FAR)
    highest = targets.dtype.type(-FAR)
    for k in range(targets.shape[0]):
        lowest = min(lowest, -targets[k] if bounds[k] > 0 else lowest)
        highest = max(highest, -targets[k] if bounds[k] < 0 else highest)
    return np.float64(lowest), np.float64(highest)


@njit(cache=True, fastmath=FAST)
def _find_targets(scores, bounds, diagonal, coefficients, targets):
    """What each label lacks to its margin without the sample's own share: sign(B) - s."""
    one = targets.dtype.type(1)
    for k in range(targets.shape[0]):
        targets[k] = (one if bounds[k] > 0 else -one) - (scores[k] - diagonal * coefficients[k])


@njit(cache=True, fastmath=FAST)
def _step(targets, bounds, diagonal, threshold, new):
    """Best coefficients of one sample."""
    zero, inverse = targets.dtype.type(0), 1 / diagonal
    for k in range(new.shape[0]):
        value = (targets[k] + threshold) * inverse
        new[k] = min(max(value, min(bounds[k], zero)), max(bounds[k], zero))


@njit(cache=True)
def _sweep_block(bounds, coefficients, guesses, is_mixed, rows, corner, scores, changes, n_sweeps):
    n_labels, n_rows = scores.shape
    targets, new = np.empty(n_labels, scores.dtype), np.empty(n_labels, scores.dtype)
    where, changed = np.empty(n_labels + 1, np.int64), np.empty(n_labels + 1, scores.dtype)
    current = coefficients[rows].astype(scores.dtype)
    wide_corner, wide_scores = in_whole_vectors(corner), in_whole_vectors(scores)
    first_gain = 0.0
    for sweep in range(n_sweeps):
        gain = 0.0
        for position in range(n_rows):
            b = position if sweep % 2 == 0 else n_rows - 1 - position
            i, diagonal = rows[b], corner[b, b]
            if diagonal <= 0 or not is_mixed[i]:
                continue
            _find_targets(wide_scores[:, b], bounds[i], diagonal, current[b], targets)
            guesses[i] = _balancing_threshold(targets, bounds[i], diagonal, guesses[i])
            _step(targets, bounds[i], diagonal, targets.dtype.type(guesses[i]), new)
            n_changed = take_changes(new, current[b], where, changed)
            gain += diagonal * sum_of_squares(changed, n_changed)
            add_to_rows(wide_scores, where, changed, 0, n_changed, wide_corner[b])
        if sweep == 0:
            first_gain = gain
        elif gain <= ENOUGH * first_gain:
            break
    copy_columns(wide_scores, scores, n_rows)
    return _store_block(coefficients, rows, current, changes)


@njit(cache=True, parallel=True)
def _store_block(coefficients, rows, current, changes):
    """Take over what changed, balanced in the precision of `coefficients`; returns how many entries did."""
    n_rows, n_labels = current.shape
    n_changed = np.zeros(n_rows, np.int64)
    for b in prange(n_rows):
        old, new = coefficients[rows[b]], np.empty(n_labels, coefficients.dtype)
        for label in range(n_labels):
            is_same = current[b, label] == current.dtype.type(old[label])
            new[label] = old[label] if is_same else current[b, label]
        _balance(new, old)
        for label in range(n_labels):
            changes[label, b] = new[label] - old[label]
            n_changed[b] += changes[label, b] != 0
            old[label] = new[label]
    return n_changed.sum()


@njit(cache=True, fastmath=FAST)
def _sum(row):
    total = 0.0
    for k in range(row.shape[0]):
        total += row[k]
    return total


@njit(cache=True)
def _balance(row, old):
    """Make a rounded row sum to zero: an entry of the larger side shrinks, if possible one that changed."""
    excess, largest, where = _sum(row), 0.0, -1
    for k in range(row.shape[0]):
        size = abs(row[k]) if row[k] * excess > 0 else 0.0
        if size > abs(excess) and row[k] != old[k]:
            where = k
            break
        if size > largest:
            largest, where = size, k
    if where >= 0:
        row[where] -= excess


@njit(cache=True)
def _sweep_rows(
    bounds, coefficients, guesses, is_mixed, order, indptr, indices, data, norms, all_weights, least_gap
):
    W = all_weights[0]
    n_labels, width = bounds.shape[1], W.shape[1]
    scores_wide, changes_wide = np.zeros(width, W.dtype), np.zeros(width, W.dtype)
    scores, changes = scores_wide[:n_labels], changes_wide[:n_labels]
    targets, room = np.empty(n_labels, W.dtype), np.empty((4, n_labels + 1))
    total_gap = total_primal = 0.0
    for i in order:
        if norms[i] <= 0 or not is_mixed[i]:
            continue
        multiply_row(W, indices, data, indptr[i], indptr[i + 1], scores_wide)
        loss, _ = loss_and_threshold(scores, bounds[i], room)
        size, inner = size_and_inner(coefficients[i], scores)
        gap = loss + inner - size
        total_gap += gap
        total_primal += loss + inner / 2
        if gap <= least_gap:
            continue
        _find_targets(scores, bounds[i], norms[i], coefficients[i], targets)
        guesses[i] = _balancing_threshold(targets, bounds[i], norms[i], guesses[i])
        _step(targets, bounds[i], norms[i], targets.dtype.type(guesses[i]), changes)
        for label in range(n_labels):
            change = changes[label] - coefficients[i, label]
            coefficients[i, label] = changes[label]
            changes[label] = change
        add_to_rows(W, indices, data, indptr[i], indptr[i + 1], changes_wide)
    return total_gap, total_primal


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

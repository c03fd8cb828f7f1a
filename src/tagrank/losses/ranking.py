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

from tagrank.losses.balance import balanced, sum_of_squares, take_changes
from tagrank.losses.base import Loss
from tagrank.losses.ranking_value import loss_and_threshold, measure_samples, size_and_inner
from tagrank.simd import add_to_rows, copy_columns, in_whole_vectors, multiply_row

FAST = {"contract", "nsz", "nnan", "arcp", "reassoc"}
FAR = 1e30  # beyond any score; stands for a side without labels
ENOUGH = 0.1  # a block is swept again until the gain falls below this share of its first gain


class Ranking(Loss):
    """State of the ranking loss during training."""

    stays_feasible = True

    def __init__(self, bounds, coefficients):
        super().__init__(bounds, coefficients)
        self.guesses = np.zeros(len(bounds))
        # a sample without present or without absent labels has nothing to rank
        self.is_mixed = (bounds.min(axis=1) < 0) & (bounds.max(axis=1) > 0)

    @staticmethod
    def without_kernel(bounds):
        """Coefficients of samples with k(x, x) = 0: the side with the smaller bounds is full."""
        return balanced(bounds)

    @staticmethod
    def feasible(start, bounds):
        return balanced(np.clip(start, np.minimum(bounds, 0), np.maximum(bounds, 0)))

    @staticmethod
    def repair(coefficients):
        """Undo rounding: make every sample's coefficients sum to zero by shrinking the larger side."""
        coefficients[:] = balanced(coefficients)

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

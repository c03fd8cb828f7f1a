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

from tagrank.losses.loss import (
    ENOUGH_ENTRIES,
    BalancedLoss,
    as_double,
    balanced,
    sum_of_squares,
    take_changes,
)
from tagrank.resources import compiled, share_out
from tagrank.simd import add_to_rows, in_whole_vectors, multiply_row

FAST = {"contract", "nsz", "nnan", "arcp", "reassoc"}
FAR = 1e30  # beyond any score; stands for a side without labels
ENOUGH = 0.1  # a block is swept again until the gain falls below this share of its first gain
TILE = 64
SINGLE_PRECISION, DOUBLE_PRECISION = (4 * float(np.finfo(kind).eps) for kind in (np.float32, np.float64))
KINK, COST = 0, 1  # rows of scratch memory
FEW_KINKS = 8  # of a threshold; more are halved
HALVINGS = 60


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
        current = self.coefficients[rows].astype(scores.dtype)
        wide_scores = in_whole_vectors(scores)
        _sweep_block(
            self.bounds, current, self.guesses, self.is_mixed, rows,
            in_whole_vectors(corner), wide_scores, *_room(len(scores), scores.dtype), n_sweeps,
        )  # fmt: skip
        scores[:] = wide_scores[:, : len(rows)]
        least = max(1, ENOUGH_ENTRIES // len(scores))
        return sum(share_out(_store, len(rows), self.coefficients, rows, current, changes, least=least))

    def sweep_rows(self, order, X, squared_norms, W, least_gap):
        n_labels, wide = self.bounds.shape[1], np.zeros((2, W.shape[2]), W.dtype)
        targets, new = _room(n_labels, W.dtype)[:2]
        return _sweep_rows(
            self.bounds, self.coefficients, self.guesses, self.is_mixed, order,
            X.indptr, X.indices, X.data, squared_norms, W[0], least_gap,
            *wide, targets, new, np.empty((2, n_labels)),
        )  # fmt: skip

    @staticmethod
    def measure(bounds, coefficients, scores):
        sums, thresholds = np.empty((3, len(bounds))), np.empty((2, len(bounds)))
        share_out(
            _measure, len(bounds), bounds, coefficients, as_double(scores), sums, thresholds,
            least=max(1, ENOUGH_ENTRIES // len(scores)),
        )  # fmt: skip
        return sums, thresholds


def _room(n_labels, dtype):
    """Targets, new coefficients, which of them change and by how much: scratch memory of the sweeps."""
    targets, new, changed = np.empty((3, n_labels + 1), dtype)
    return targets[:-1], new[:-1], np.empty(n_labels + 1, np.int64), changed


@compiled(fastmath=FAST)
def _step(scores, bounds, coefficients, diagonal, guess, new):
    """Best coefficients of one sample, in `new`; returns the threshold at which they sum up to zero.

    It is found by Newton steps from `guess`, by bisection where they fail. The scores become targets: what
    each label lacks to its margin without the sample's own share, sign(B) - s.
    """
    targets, zero, one, inverse = scores, scores.dtype.type(0), scores.dtype.type(1), 1 / diagonal
    for k in range(targets.shape[0]):
        targets[k] = (one if bounds[k] > zero else -one) - (scores[k] - diagonal * coefficients[k])
    left, right, is_bracketed, threshold = -FAR, FAR, False, guess
    precision = SINGLE_PRECISION if scores.itemsize == 4 else DOUBLE_PRECISION
    for _ in range(100):
        total, n_free, rounded = zero, zero, scores.dtype.type(threshold)
        for k in range(targets.shape[0]):
            low, high = min(bounds[k], zero), max(bounds[k], zero)
            value = (targets[k] + rounded) * inverse
            total += min(max(value, low), high)
            n_free += one if (value > low) & (value < high) else zero
        if total == 0:
            break
        left, right = (left, threshold) if total > 0 else (threshold, right)
        slope = np.float64(n_free * inverse)
        step = threshold - np.float64(total) / slope if slope > 0 else FAR
        if not left < step < right:
            if not is_bracketed:  # up to `lowest` no coefficient is positive, from `highest` on none negative
                lowest, highest = scores.dtype.type(FAR), scores.dtype.type(-FAR)
                for k in range(targets.shape[0]):
                    lowest = min(lowest, -targets[k] if bounds[k] > zero else lowest)
                    highest = max(highest, -targets[k] if bounds[k] < zero else highest)
                left, right = max(left, np.float64(lowest)), min(right, np.float64(highest))
                is_bracketed = True
            step = (left + right) / 2
        if abs(step - threshold) <= precision * (1 + abs(threshold)):
            break
        threshold = step
    rounded = scores.dtype.type(threshold)
    for k in range(targets.shape[0]):
        value = (targets[k] + rounded) * inverse
        new[k] = min(max(value, min(bounds[k], zero)), max(bounds[k], zero))
    return threshold


@compiled()
def _sweep_block(
    bounds, current, guesses, is_mixed, rows, corner, scores, targets, new, where, changed, n_sweeps
):
    """Exact steps on the samples of a block: `current` are their coefficients, kept with the scores.

    corner, scores : in whole vectors
    targets, new, where, changed : of `_room`
    """
    n_rows, n_labels = current.shape
    first_gain = 0.0
    for sweep in range(n_sweeps):
        gain = 0.0
        for position in range(n_rows):
            b = position if sweep % 2 == 0 else n_rows - 1 - position
            i, diagonal = rows[b], corner[b, b]
            if diagonal <= 0 or not is_mixed[i]:
                continue
            for label in range(n_labels):
                targets[label] = scores[label, b]
            guesses[i] = _step(targets, bounds[i], current[b], diagonal, guesses[i], new)
            n_changed = take_changes(new, current[b], where, changed)
            gain += diagonal * sum_of_squares(changed, n_changed)
            add_to_rows(scores, where, changed, 0, n_changed, corner[b])
        if sweep == 0:
            first_gain = gain
        elif gain <= ENOUGH * first_gain:
            break


@compiled()
def _store(coefficients, rows, current, changes, start, stop):
    """Take over what changed, balanced in the precision of `coefficients`; returns how many entries did.

    A rounded row is made to sum to zero: an entry of the larger side shrinks, if possible one that changed.
    """
    n_labels, n_changed = current.shape[1], 0
    for b in range(start, stop):
        i, excess = rows[b], 0.0
        for label in range(n_labels):
            old, new = coefficients[i, label], np.float64(current[b, label])
            new = old if new == current.dtype.type(old) else new
            changes[label, b] = new
            excess += new
        largest, where = 0.0, -1
        for label in range(n_labels):
            new = changes[label, b]
            size = abs(new) if new * excess > 0 else 0.0
            if size > abs(excess) and new != coefficients[i, label]:
                where = label
                break
            if size > largest:
                largest, where = size, label
        if where >= 0:
            changes[where, b] -= excess
        for label in range(n_labels):
            new = changes[label, b]
            changes[label, b] = new - coefficients[i, label]
            n_changed += changes[label, b] != 0
            coefficients[i, label] = new
    return n_changed


@compiled()
def _sweep_rows(
    bounds, coefficients, guesses, is_mixed, order, indptr, indices, data, norms, W, least_gap,
    scores_wide, changes_wide, targets, new, room,
):  # fmt: skip
    n_labels = bounds.shape[1]
    total_gap = total_primal = 0.0
    for i in order:
        if norms[i] <= 0 or not is_mixed[i]:
            continue
        multiply_row(W, indices, data, indptr[i], indptr[i + 1], scores_wide)
        size = inner = 0.0
        for label in range(n_labels):
            targets[label] = scores_wide[label]
            coefficient = np.float64(coefficients[i, label])
            size += abs(coefficient)
            inner += coefficient * np.float64(targets[label])
        loss, _ = loss_and_threshold(targets, bounds[i], room)
        gap = loss + inner - size
        total_gap += gap
        total_primal += loss + inner / 2
        if gap <= least_gap:
            continue
        guesses[i] = _step(targets, bounds[i], coefficients[i], norms[i], guesses[i], new)
        for label in range(n_labels):
            changes_wide[label] = new[label] - coefficients[i, label]
            coefficients[i, label] = new[label]
        add_to_rows(W, indices, data, indptr[i], indptr[i + 1], changes_wide)
    return total_gap, total_primal


@compiled(fastmath=FAST)
def loss_and_threshold(scores, bounds, room):
    """The loss of one sample and its best threshold; `room` has shape (2, n_labels).

    The threshold lies between the lowest present label minus one and the highest absent one plus one. Halving
    this range leaves few kinks, which are taken in order; sums of costs run along all labels at once.
    """
    n_labels, lowest, highest, target = scores.shape[0], FAR, -FAR, 0.0
    for k in range(n_labels):
        score, bound = np.float64(scores[k]), np.float64(bounds[k])
        lowest = min(lowest, score - 1 if bound > 0 else lowest)
        highest = max(highest, score + 1 if bound < 0 else highest)
        room[KINK, k] = score - 1 if bound > 0 else (score + 1 if bound < 0 else FAR)
        room[COST, k] = abs(bound)
        target += max(-bound, 0.0)
    if lowest >= highest:
        return 0.0, min(max((lowest + highest) / 2, highest), lowest)
    threshold, high = lowest - 1e-9 * (1 + abs(lowest)), highest
    n_below, n_left = 0.0, np.float64(n_labels)
    for _ in range(HALVINGS):
        if n_left <= FEW_KINKS:
            break
        middle, cost, n_kinks = (threshold + high) / 2, 0.0, 0.0
        for k in range(n_labels):
            cost += room[COST, k] if room[KINK, k] <= middle else 0.0
            n_kinks += 1.0 if room[KINK, k] <= middle else 0.0
        if cost >= target:
            high, n_left = middle, n_kinks - n_below
        else:
            threshold, n_left, n_below = middle, n_left + n_below - n_kinks, n_kinks
    cost, loss = -1.0, 0.0
    while cost < target and threshold < high:
        following, cost, loss = high, 0.0, 0.0
        for k in range(n_labels):
            following = min(following, room[KINK, k] if room[KINK, k] > threshold else high)
        for k in range(n_labels):
            away = np.float64(scores[k]) - following
            loss += room[COST, k] * max(1 - (away if bounds[k] > 0 else -away), 0.0)
            cost += room[COST, k] if room[KINK, k] <= following else 0.0
        threshold = following
    return loss, threshold


@compiled(fastmath=FAST)
def _measure(bounds, coefficients, scores, sums, thresholds, start, stop):
    """Sums of loss, |coefficient|, coefficient * score; best threshold and highest score of each sample."""
    n_labels = scores.shape[0]
    tile, room = np.empty((TILE, n_labels)), np.empty((2, n_labels))
    for first in range(start, stop, TILE):
        n_rows = min(stop - first, TILE)
        for label in range(n_labels):
            for b in range(n_rows):
                tile[b, label] = scores[label, first + b]
        for b in range(n_rows):
            i, size, inner, highest = first + b, 0.0, 0.0, tile[b, 0]
            for label in range(n_labels):
                coefficient, score = np.float64(coefficients[i, label]), tile[b, label]
                size += abs(coefficient)
                inner += coefficient * score
                highest = max(highest, score)
            sums[0, i], thresholds[0, i] = loss_and_threshold(tile[b], bounds[i], room)
            sums[1, i], sums[2, i], thresholds[1, i] = size, inner, highest

"""Ranking loss for incomplete labels: one group for each label that was not assigned (MLR-GL).

Problem, with bounds B (+C for a present label, -C for an absent one, 0 unknown) and scores F = K A:

    primal   1/2 <A, F> + sum_i sum_l sqrt(|B_il| sum_k B_ik max(0, 1 - F_ik + F_il)^2)
    dual     1/2 sum_il |A_il| - 1/2 <A, F>

where k runs over the present and l over the absent labels of sample i; for equal costs the loss of a group is
C times the norm of its violations. In the dual every pair has a weight Z_kl >= 0 and every group a ball,
sum_k Z_kl^2 / B_ik <= |B_il|; A_ik is the sum of row k of Z, A_il minus the sum of column l.

A sample's step is of one of two kinds. Where no ball is in the way, the best coefficients are those of a
ranking without bounds: labels on the wrong side of a threshold, or within half a margin, are pushed to their
half, and pairs share the push in proportion, so that Z need not be kept. Otherwise each column takes a step
of its own, four at a time, and those that are not zero are kept for the next visit.
"""

import numpy as np
from numba import njit, prange

from tagrank.losses.group_columns import IN_PROPORTION, N_ROLES, NEW, SCORE, WEIGHT, PairWeights, step_columns
from tagrank.losses.loss import (
    BalancedLoss,
    balanced,
    shrunk_to_fit,
    sum_of_squares,
    take_changes,
    with_signs_of,
)
from tagrank.simd import (
    LANES,
    add_to_rows,
    copy_columns,
    in_whole_vectors,
    load,
    multiply_row,
    splat,
    square_root,
    sum_of,
    where_greater,
)

FAST = {"contract", "nsz", "nnan", "arcp", "reassoc"}
FAR = 1e30  # beyond any score; stands for a side without labels
PRECISION = 1e-13  # of a threshold
ENOUGH = 0.1  # a block is swept again until the gain falls below this share of its first gain
TILE = 64


class GroupRanking(BalancedLoss):
    """State of the group ranking loss during training; its dual has half of |coefficients|."""

    def __init__(self, bounds, coefficients):
        super().__init__(bounds, coefficients)
        self.pairs = PairWeights(bounds)

    @staticmethod
    def without_kernel(bounds):
        """Coefficients of samples with k(x, x) = 0: every ball is full, in the direction of the costs."""
        present, absent = np.maximum(bounds, 0), np.maximum(-bounds, 0)
        total = present.sum(axis=1, keepdims=True)
        columns = np.sqrt(absent * total)
        shares = np.divide(present, total, out=np.zeros_like(present), where=total > 0)
        return shares * columns.sum(axis=1, keepdims=True) - columns

    @staticmethod
    def feasible(start, bounds):
        return shrunk_to_fit(bounds, balanced(with_signs_of(bounds, start)), norm=2)

    def sweep_block(self, rows, corner, scores, changes, least_gap, n_sweeps):
        return _sweep_block(
            self.bounds, self.coefficients, self.guesses, self.is_mixed, self.pairs.with_room_for(rows),
            rows, corner, scores, changes, n_sweeps,
        )  # fmt: skip

    def sweep_rows(self, order, X, squared_norms, W, least_gap):
        return _sweep_rows(
            self.bounds, self.coefficients, self.guesses, self.is_mixed, self.pairs.with_room_for(order),
            order, X.indptr, X.indices, X.data, squared_norms, W[0], least_gap,
        )  # fmt: skip

    @staticmethod
    def measure(bounds, coefficients, scores):
        """The threshold is the middle between the lowest present and the highest absent label."""
        return measure_samples(bounds, coefficients, scores)


@njit(cache=True, fastmath=FAST)
def _sum_and_slope(others, bounds, threshold):
    """How far a threshold pushes present labels up less how far it pushes absent ones down, and its slope."""
    total, n_pushed = 0.0, 0.0
    for k in range(others.shape[0]):
        push = threshold - others[k]
        up = max(push + 0.5, 0.0) if bounds[k] > 0 else 0.0
        down = min(push - 0.5, 0.0) if bounds[k] < 0 else 0.0
        total += up + down
        n_pushed += 1.0 if up != down else 0.0
    return total, n_pushed


@njit(cache=True)
def _balancing_threshold(others, bounds, low, guess):
    """A root of `_sum_and_slope` from `low` on: Newton steps from `guess`, bisection where they fail."""
    high, threshold = FAR, max(guess, low)
    for _ in range(100):
        total, slope = _sum_and_slope(others, bounds, threshold)
        if abs(total) <= PRECISION * slope * (1 + abs(threshold)):
            break
        if total > 0:
            high = threshold
        else:
            low = threshold
        step = threshold - total / slope
        threshold = step if low < step < high else (low + high) / 2
    return threshold


@njit(cache=True, fastmath=FAST)
def _push_apart(others, bounds, diagonal, threshold, new):
    """Coefficients that push labels away from the threshold; returns the sums of both sides."""
    up, down, inverse = 0.0, 0.0, 1 / diagonal
    for k in range(others.shape[0]):
        push = threshold - others[k]
        rise = max(push + 0.5, 0.0) if bounds[k] > 0 else 0.0
        fall = min(push - 0.5, 0.0) if bounds[k] < 0 else 0.0
        new[k] = (rise + fall) * inverse
        up += rise
        down -= fall
    return up * inverse, down * inverse


@njit(cache=True, fastmath=FAST)
def _balance_sides(new, bounds, up, down, spread):
    """Shrink the side with the larger sum; returns how many balls are too small for pairs in proportion."""
    n_outside, limit = 0.0, up * up
    excess_up, excess_down = min(down / up, 1.0), min(up / down, 1.0)
    for k in range(new.shape[0]):
        is_outside = (new[k] < 0) & (new[k] * new[k] * spread > -bounds[k] * limit)
        n_outside += 1.0 if is_outside else 0.0
        new[k] *= excess_up if new[k] > 0 else excess_down
    return n_outside


@njit(cache=True)
def _step_in_proportion(bounds, present, old, diagonal, guess, room):
    """The best coefficients of a sample if no ball were in the way, in room[NEW].

    Returns whether none is, with pairs that share the push in proportion, and the threshold.
    """
    others, new, lowest, spread = room[WEIGHT], room[NEW], FAR, 0.0
    for k in range(others.shape[0]):
        others[k] = room[SCORE, k] - diagonal * old[k]
    for k in present:
        lowest = min(lowest, others[k])
    threshold = _balancing_threshold(others, bounds, lowest - 0.5, guess)
    up, down = _push_apart(others, bounds, diagonal, threshold, new)
    if up <= 0 or down <= 0:
        new[:] = 0
        return True, threshold
    for k in present:
        spread += new[k] * new[k] / bounds[k]
    return _balance_sides(new, bounds, up, down, spread) == 0, threshold


@njit(cache=True)
def _step(i, bounds, old, diagonal, guess, pairs, room):
    """Better coefficients of sample i, in room[NEW]; returns the threshold, a guess for next time.

    room : room[SCORE] holds the scores with the sample's own share, overwritten
    """
    places, starts, present = pairs[0], pairs[2], pairs[3]
    place = places[i]
    if place[2] == IN_PROPORTION or place[3] == 0:
        mine = present[starts[i] : starts[i + 1]]
        fits, guess = _step_in_proportion(bounds, mine, old, diagonal, guess, room)
        if fits:
            place[2] = IN_PROPORTION
            return guess
    step_columns(i, pairs, bounds, old, diagonal, room)
    return guess


@njit(cache=True)
def _sweep_block(bounds, coefficients, guesses, is_mixed, pairs, rows, corner, scores, changes, n_sweeps):
    n_labels, n_rows = scores.shape
    before = coefficients[rows]
    room = np.empty((N_ROLES, n_labels))
    where, changed = np.empty(n_labels + 1, np.int64), np.empty(n_labels + 1, scores.dtype)
    wide_corner, wide_scores = in_whole_vectors(corner), in_whole_vectors(scores)
    gains, first_gain, least = np.zeros(n_rows), 0.0, 0.0
    for sweep in range(n_sweeps):
        gain = 0.0
        for position in range(n_rows):
            b = position if sweep % 2 == 0 else n_rows - 1 - position
            i, diagonal = rows[b], np.float64(corner[b, b])
            if diagonal <= 0 or not is_mixed[i] or gains[b] < least:
                continue
            for label in range(n_labels):
                room[SCORE, label] = wide_scores[label, b]
            guesses[i] = _step(i, bounds[i], coefficients[i], diagonal, guesses[i], pairs, room)
            n_changed = take_changes(room[NEW], coefficients[i], where, changed)
            gains[b] = diagonal * sum_of_squares(changed, n_changed)
            add_to_rows(wide_scores, where, changed, 0, n_changed, wide_corner[b])
            gain += gains[b]
        least = gain / n_rows
        if sweep == 0:
            first_gain = gain
        elif gain <= ENOUGH * first_gain:
            break
    copy_columns(wide_scores, scores, n_rows)
    return _find_changes(coefficients, before, rows, changes)


@njit(cache=True, parallel=True)
def _find_changes(coefficients, before, rows, changes):
    """How the coefficients of `rows` changed, shape (n_labels, len(rows)); returns how many of them did."""
    n_rows, n_labels = before.shape
    n_changed = np.zeros(n_rows, np.int64)
    for b in prange(n_rows):
        for label in range(n_labels):
            changes[label, b] = coefficients[rows[b], label] - before[b, label]
            n_changed[b] += changes[label, b] != 0
    return n_changed.sum()


@njit(cache=True)
def _sweep_rows(
    bounds, coefficients, guesses, is_mixed, pairs, order, indptr, indices, data, norms, W, least_gap
):
    n_labels, width = bounds.shape[1], W.shape[1]
    scores_wide, changes_wide = np.zeros(width, W.dtype), np.zeros(width, W.dtype)
    changes, scores = changes_wide[:n_labels], np.empty(n_labels)
    room, loss_room = np.empty((N_ROLES, n_labels)), np.zeros((4, n_labels + LANES))
    total_gap = total_primal = 0.0
    for i in order:
        if norms[i] <= 0 or not is_mixed[i]:
            continue
        multiply_row(W, indices, data, indptr[i], indptr[i + 1], scores_wide)
        scores[:] = scores_wide[:n_labels]
        loss = group_loss(scores, bounds[i], loss_room)
        size, inner = half_size_and_inner(coefficients[i], scores)
        gap = loss + inner - size
        total_gap += gap
        total_primal += loss + inner / 2
        if gap <= least_gap:
            continue
        room[SCORE] = scores
        guesses[i] = _step(i, bounds[i], coefficients[i], np.float64(norms[i]), guesses[i], pairs, room)
        for label in range(n_labels):
            changes[label] = room[NEW, label] - coefficients[i, label]
            coefficients[i, label] = room[NEW, label]
        add_to_rows(W, indices, data, indptr[i], indptr[i + 1], changes_wide)
    return total_gap, total_primal


@njit(cache=True, fastmath=FAST)
def lowest_and_highest(scores, bounds):
    """Score of the lowest present and of the highest absent label."""
    lowest, highest = scores.dtype.type(FAR), scores.dtype.type(-FAR)
    for k in range(scores.shape[0]):
        lowest = min(lowest, scores[k] if bounds[k] > 0 else lowest)
        highest = max(highest, scores[k] if bounds[k] < 0 else highest)
    return np.float64(lowest), np.float64(highest)


@njit(cache=True)
def group_loss(scores, bounds, room):
    """The loss of one sample; `room` has shape (4, n_labels + LANES)."""
    present, costs, reaches, radii = room[0], room[1], room[2], room[3]
    lowest, n_present, n_violated = FAR, 0, 0
    for k in range(scores.shape[0]):
        if bounds[k] > 0:
            present[n_present], costs[n_present] = scores[k], bounds[k]
            lowest = min(lowest, present[n_present])
            n_present += 1
    for label in range(scores.shape[0]):
        reach = np.float64(scores[label]) + 1
        reaches[n_violated], radii[n_violated] = reach, -bounds[label]
        n_violated += (bounds[label] < 0) & (reach > lowest)
    radii[n_violated : n_violated + LANES] = 0
    loss, nothing = splat(0.0), splat(0.0)
    for first in range(0, n_violated, LANES):
        square = nothing
        for k in range(n_present):
            violation = load(reaches, first) - splat(present[k])
            violation = where_greater(violation, nothing, violation, nothing)
            square = square + splat(costs[k]) * violation * violation
        loss = loss + square_root(load(radii, first) * square)
    return sum_of(loss)


@njit(cache=True, fastmath=FAST)
def half_size_and_inner(coefficients, scores):
    """Half the size of the coefficients, and their inner product with the scores."""
    size = inner = 0.0
    for k in range(scores.shape[0]):
        coefficient = np.float64(coefficients[k])
        size += abs(coefficient) / 2
        inner += coefficient * np.float64(scores[k])
    return size, inner


@njit(cache=True, parallel=True)
def measure_samples(bounds, coefficients, scores):
    n_labels, n_samples = scores.shape
    sums, thresholds = np.zeros((3, n_samples)), np.zeros((2, n_samples))
    for tile in prange((n_samples + TILE - 1) // TILE):
        start = tile * TILE
        n_rows = min(n_samples - start, TILE)
        mine, room = np.empty((TILE, n_labels), scores.dtype), np.zeros((4, n_labels + LANES))
        for label in range(n_labels):
            for b in range(n_rows):
                mine[b, label] = scores[label, start + b]
        for b in range(n_rows):
            i = start + b
            sums[0, i] = group_loss(mine[b], bounds[i], room)
            sums[1, i], sums[2, i] = half_size_and_inner(coefficients[i], mine[b])
            lowest, highest = lowest_and_highest(mine[b], bounds[i])
            thresholds[0, i], thresholds[1, i] = (lowest + highest) / 2, mine[b].max()
    return sums, thresholds

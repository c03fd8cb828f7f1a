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

from tagrank.losses.group_columns import IN_PROPORTION, N_ROLES, NEW, SCORE, WEIGHT, PairWeights, step_columns
from tagrank.losses.loss import (
    ENOUGH_ENTRIES,
    BalancedLoss,
    as_double,
    balanced,
    shrunk_to_fit,
    sum_of_squares,
    take_changes,
    with_signs_of,
)
from tagrank.resources import compiled, share_out
from tagrank.simd import (
    LANES,
    add_to_rows,
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
        before, wide_scores = self.coefficients[rows], in_whole_vectors(scores)
        n_labels, n_rows = scores.shape
        _sweep_block(
            self.bounds, self.coefficients, self.guesses, self.is_mixed, self.pairs.with_room_for(rows),
            rows, in_whole_vectors(corner), wide_scores, np.empty((N_ROLES, n_labels)),
            np.empty(n_labels + 1, np.int64), np.empty(n_labels + 1, scores.dtype), np.zeros(n_rows),
            n_sweeps,
        )  # fmt: skip
        scores[:] = wide_scores[:, :n_rows]
        changes[:] = (self.coefficients[rows] - before).T
        return np.count_nonzero(changes)

    def sweep_rows(self, order, X, squared_norms, W, least_gap):
        n_labels, wide = self.bounds.shape[1], np.zeros((2, W.shape[2]), W.dtype)
        return _sweep_rows(
            self.bounds, self.coefficients, self.guesses, self.is_mixed, self.pairs.with_room_for(order),
            order, X.indptr, X.indices, X.data, squared_norms, W[0], least_gap,
            *wide, np.empty((N_ROLES, n_labels)), np.zeros((4, n_labels + LANES)),
        )  # fmt: skip

    @staticmethod
    def measure(bounds, coefficients, scores):
        """The threshold is the middle between the lowest present and the highest absent label."""
        sums, thresholds = np.empty((3, len(bounds))), np.empty((2, len(bounds)))
        least = max(1, ENOUGH_ENTRIES // len(scores))
        arguments = bounds, coefficients, as_double(scores), sums, thresholds
        share_out(_measure, len(bounds), *arguments, least=least)
        return sums, thresholds


@compiled(fastmath=FAST)
def _balancing_threshold(others, bounds, low, guess):
    """From `low` on, the threshold that pushes present labels up as far as absent ones down.

    Newton steps from `guess`, bisection where they fail.
    """
    high, threshold = FAR, max(guess, low)
    for _ in range(100):
        total, slope = 0.0, 0.0
        for k in range(others.shape[0]):
            push = threshold - others[k]
            up = max(push + 0.5, 0.0) if bounds[k] > 0 else 0.0
            down = min(push - 0.5, 0.0) if bounds[k] < 0 else 0.0
            total += up + down
            slope += 1.0 if up != down else 0.0
        if abs(total) <= PRECISION * slope * (1 + abs(threshold)):
            break
        if total > 0:
            high = threshold
        else:
            low = threshold
        step = threshold - total / slope
        threshold = step if low < step < high else (low + high) / 2
    return threshold


@compiled(fastmath=FAST)
def _step_in_proportion(bounds, present, old, diagonal, guess, room):
    """The best coefficients of a sample if no ball were in the way, in room[NEW].

    Returns whether none is, with pairs that share the push in proportion, and the threshold.
    """
    others, lowest = room[WEIGHT], FAR
    for k in range(others.shape[0]):
        others[k] = room[SCORE, k] - diagonal * old[k]
    for k in present:
        lowest = min(lowest, others[k])
    threshold = _balancing_threshold(others, bounds, lowest - 0.5, guess)
    up, down, inverse = 0.0, 0.0, 1 / diagonal
    for k in range(others.shape[0]):
        push = threshold - others[k]
        rise = max(push + 0.5, 0.0) if bounds[k] > 0 else 0.0
        fall = min(push - 0.5, 0.0) if bounds[k] < 0 else 0.0
        room[NEW, k] = (rise + fall) * inverse
        up += rise
        down -= fall
    up, down, spread, n_outside = up * inverse, down * inverse, 0.0, 0.0
    if up <= 0 or down <= 0:
        for k in range(others.shape[0]):
            room[NEW, k] = 0
        return True, threshold
    for k in present:
        spread += room[NEW, k] * room[NEW, k] / bounds[k]
    # the side with the larger sum shrinks
    excess_up, excess_down, limit = min(down / up, 1.0), min(up / down, 1.0), up * up
    for k in range(others.shape[0]):
        new = room[NEW, k]
        n_outside += 1.0 if (new < 0) & (new * new * spread > -bounds[k] * limit) else 0.0
        room[NEW, k] = new * (excess_up if new > 0 else excess_down)
    return n_outside == 0, threshold


@compiled()
def _sweep_block(
    bounds,
    coefficients,
    guesses,
    is_mixed,
    pairs,
    rows,
    corner,
    scores,
    room,
    where,
    changed,
    gains,
    n_sweeps,
):
    """Steps on the samples of a block, kept with coefficients and scores.

    First without balls, unless a ball of the sample was full at its last visit.

    corner, scores : in whole vectors
    room, where, changed, gains : scratch memory; gains are zero
    """
    places, starts, present = pairs[0], pairs[2], pairs[3]
    n_rows, n_labels = rows.shape[0], coefficients.shape[1]
    first_gain, least = 0.0, 0.0
    for sweep in range(n_sweeps):
        gain = 0.0
        for position in range(n_rows):
            b = position if sweep % 2 == 0 else n_rows - 1 - position
            i, diagonal = rows[b], np.float64(corner[b, b])
            if diagonal <= 0 or not is_mixed[i] or gains[b] < least:
                continue
            for label in range(n_labels):
                room[SCORE, label] = scores[label, b]
            fits, guess = places[i, 2] == IN_PROPORTION or places[i, 3] == 0, guesses[i]
            if fits:
                mine = present[starts[i] : starts[i + 1]]
                fits, guesses[i] = _step_in_proportion(
                    bounds[i], mine, coefficients[i], diagonal, guess, room
                )
            if fits:
                places[i, 2] = IN_PROPORTION
            else:
                step_columns(i, pairs, bounds[i], coefficients[i], diagonal, room)
            n_changed = take_changes(room[NEW], coefficients[i], where, changed)
            gains[b] = diagonal * sum_of_squares(changed, n_changed)
            add_to_rows(scores, where, changed, 0, n_changed, corner[b])
            gain += gains[b]
        least = gain / n_rows
        if sweep == 0:
            first_gain = gain
        elif gain <= ENOUGH * first_gain:
            break


@compiled()
def _sweep_rows(
    bounds, coefficients, guesses, is_mixed, pairs, order, indptr, indices, data, norms, W, least_gap,
    scores_wide, changes_wide, room, loss_room,
):  # fmt: skip
    places, starts, present = pairs[0], pairs[2], pairs[3]
    n_labels, scores = bounds.shape[1], room[SCORE]
    total_gap = total_primal = 0.0
    for i in order:
        if norms[i] <= 0 or not is_mixed[i]:
            continue
        multiply_row(W, indices, data, indptr[i], indptr[i + 1], scores_wide)
        size = inner = 0.0
        for label in range(n_labels):
            scores[label] = scores_wide[label]
            coefficient = np.float64(coefficients[i, label])
            size += abs(coefficient) / 2
            inner += coefficient * scores[label]
        loss = group_loss(scores, bounds[i], loss_room)
        gap = loss + inner - size
        total_gap += gap
        total_primal += loss + inner / 2
        if gap <= least_gap:
            continue
        fits, diagonal = places[i, 2] == IN_PROPORTION or places[i, 3] == 0, np.float64(norms[i])
        if fits:
            mine, guess = present[starts[i] : starts[i + 1]], guesses[i]
            fits, guesses[i] = _step_in_proportion(bounds[i], mine, coefficients[i], diagonal, guess, room)
        if fits:
            places[i, 2] = IN_PROPORTION
        else:
            step_columns(i, pairs, bounds[i], coefficients[i], diagonal, room)
        for label in range(n_labels):
            changes_wide[label] = room[NEW, label] - coefficients[i, label]
            coefficients[i, label] = room[NEW, label]
        add_to_rows(W, indices, data, indptr[i], indptr[i + 1], changes_wide)
    return total_gap, total_primal


@compiled()
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


@compiled(fastmath=FAST)
def _measure(bounds, coefficients, scores, sums, thresholds, start, stop):
    """Sums of loss, half of |coefficient|, coefficient * score; threshold and highest score."""
    n_labels = scores.shape[0]
    tile, room = np.empty((TILE, n_labels)), np.zeros((4, n_labels + LANES))
    for first in range(start, stop, TILE):
        n_rows = min(stop - first, TILE)
        for label in range(n_labels):
            for b in range(n_rows):
                tile[b, label] = scores[label, first + b]
        for b in range(n_rows):
            i, size, inner, top = first + b, 0.0, 0.0, tile[b, 0]
            lowest, highest = FAR, -FAR  # score of the lowest present and of the highest absent label
            for k in range(n_labels):
                coefficient, score = np.float64(coefficients[i, k]), tile[b, k]
                size += abs(coefficient) / 2
                inner += coefficient * score
                lowest = min(lowest, score if bounds[i, k] > 0 else lowest)
                highest = max(highest, score if bounds[i, k] < 0 else highest)
                top = max(top, score)
            sums[0, i] = group_loss(tile[b], bounds[i], room)
            sums[1, i], sums[2, i] = size, inner
            thresholds[0, i], thresholds[1, i] = (lowest + highest) / 2, top

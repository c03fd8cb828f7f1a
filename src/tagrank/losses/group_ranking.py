"""Ranking loss for incomplete labels: one group for each label that was not assigned (MLR-GL).

Problem, with bounds B (+C for a present label, -C for an absent one, 0 unknown) and scores F = K A:

    primal   1/2 <A, F> + sum_i sum_l sqrt(|B_il| sum_k B_ik max(0, 1 - F_ik + F_il)^2)
    dual     1/2 sum_il |A_il| - 1/2 <A, F>

where k runs over the present and l over the absent labels of sample i; for equal costs the loss of a group is
C times the norm of its violations. In the dual every pair has a weight Z_kl >= 0 and every group a ball,
sum_k Z_kl^2 / B_ik <= |B_il|; A_ik is the sum of row k of Z, A_il minus the sum of column l.

A sample's step is of one of two kinds. Where no ball is in the way, the best coefficients are those of a
ranking without bounds: labels on the wrong side of a threshold, or within half a margin, are pushed to their
half, and pairs share the push in proportion, so that Z need not be kept. Otherwise the columns are solved one
after the other, each exactly, and those that are not zero are kept for the next visit.
"""

import numpy as np
from numba import njit, prange

from tagrank.losses.group_columns import IN_PROPORTION, PairWeights, pack, sweep_columns, unpack
from tagrank.simd import add_to_rows, multiply_row

FAST = {"contract", "nsz", "nnan", "arcp", "reassoc"}
FAR = 1e30  # beyond any score; stands for a side without labels
TILE = 64
ENOUGH = 0.1  # a block is swept again until the gain falls below this share of its first gain


class GroupRanking:
    """State of the group ranking loss during training; see `tagrank.losses.hinge.Hinge` for the interface."""

    has_independent_labels = False

    def __init__(self, bounds, coefficients):
        self.bounds = bounds
        self.coefficients = coefficients
        self.guesses = np.zeros(len(bounds))
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
    def repair(coefficients):
        """Make every sample's coefficients sum to zero by shrinking the larger side.

        Within their bounds such coefficients are feasible: pairs may share them in proportion.
        """
        sides = [np.maximum(coefficients, 0), np.minimum(coefficients, 0)]
        sums = [np.abs(side).sum(axis=1, dtype=np.float64, keepdims=True) for side in sides]
        total = np.minimum(*sums)
        shares = [np.divide(total, s, out=np.zeros_like(s), where=s > 0) for s in sums]
        coefficients[:] = sides[0] * shares[0] + sides[1] * shares[1]

    def sweep_block(self, rows, corner, scores, changes, threshold, n_sweeps):
        self.pairs.make_room(rows)
        return _sweep_block(
            self.bounds, self.coefficients, self.guesses, self.pairs.places, self.pairs.pool,
            rows, corner, scores, changes, n_sweeps,
        )  # fmt: skip

    def sweep_rows(self, order, X, squared_norms, W, threshold):
        self.pairs.make_room(order)
        return _sweep_rows(
            self.bounds, self.coefficients, self.guesses, self.pairs.places, self.pairs.pool, order,
            X.indptr, X.indices, X.data, squared_norms, W[0], threshold,
        )  # fmt: skip

    @staticmethod
    def measure(bounds, coefficients, scores):
        """Sums as for the hinge loss, but half of |coefficients|; and (2, n_samples): each sample's middle
        between its lowest present and its highest absent label, and its highest score.

        scores : shape (n_labels, n_samples)
        """
        return _measure(bounds, coefficients, scores)


@njit(cache=True, fastmath=FAST)
def _lowest_and_highest(scores, bounds):
    """Score of the lowest present and of the highest absent label."""
    lowest, highest = scores.dtype.type(FAR), scores.dtype.type(-FAR)
    for k in range(scores.shape[0]):
        lowest = min(lowest, scores[k] if bounds[k] > 0 else lowest)
        highest = max(highest, scores[k] if bounds[k] < 0 else highest)
    return np.float64(lowest), np.float64(highest)


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
def _balancing_threshold(others, bounds, low, high, guess):
    """The root of `_sum_and_slope` in [low, high]: Newton steps from `guess`, bisection where they fail."""
    threshold = min(max(guess, low), high)
    for _ in range(100):
        total, slope = _sum_and_slope(others, bounds, threshold)
        if total == 0:
            break
        if total > 0:
            high = threshold
        else:
            low = threshold
        step = threshold - total / slope if slope > 0 else high
        if not low < step < high:
            step = (low + high) / 2
        if abs(step - threshold) <= 1e-15 * (1 + abs(threshold)):
            break
        threshold = step
    return threshold


@njit(cache=True)
def _push_apart(others, bounds, diagonal, threshold, new):
    """Coefficients that push labels away from the threshold; returns whether they fit into the balls.

    Pairs that share the push in proportion fill no ball by more than the returned share.
    """
    up = down = spread = fullest = 0.0
    for k in range(others.shape[0]):
        bound, push = np.float64(bounds[k]), threshold - others[k]
        new[k] = 0.0
        if bound > 0 and push + 0.5 > 0:
            new[k] = (push + 0.5) / diagonal
            up += new[k]
            spread += new[k] * new[k] / bound
        elif bound < 0 and push - 0.5 < 0:
            new[k] = (push - 0.5) / diagonal
            down -= new[k]
            fullest = max(fullest, new[k] * new[k] / -bound)
    if up == 0 or down == 0:
        new[:] = 0
        return True
    excess_up, excess_down = min(down / up, 1.0), min(up / down, 1.0)
    for k in range(others.shape[0]):
        new[k] *= excess_up if new[k] > 0 else excess_down
    return fullest * spread <= up * up


@njit(cache=True)
def _loss(scores, bounds, present, costs):
    """The loss of one sample; `present` and `costs` are room for its present labels."""
    lowest, n_present = FAR, 0
    for k in range(scores.shape[0]):
        if bounds[k] > 0:
            present[n_present], costs[n_present] = scores[k], bounds[k]
            lowest = min(lowest, present[n_present])
            n_present += 1
    loss = 0.0
    for label in range(scores.shape[0]):
        reach = np.float64(scores[label]) + 1
        if bounds[label] < 0 and reach > lowest:
            loss += np.sqrt(-bounds[label] * _square(reach, present[:n_present], costs[:n_present]))
    return loss


@njit(cache=True, fastmath=FAST)
def _square(reach, present, costs):
    total = 0.0
    for k in range(present.shape[0]):
        violation = max(reach - present[k], 0.0)
        total += costs[k] * violation * violation
    return total


@njit(cache=True, fastmath=FAST)
def _size_and_inner(coefficients, scores):
    """Half the size of the coefficients, and their inner product with the scores."""
    size = inner = 0.0
    for k in range(scores.shape[0]):
        coefficient = np.float64(coefficients[k])
        size += abs(coefficient) / 2
        inner += coefficient * np.float64(scores[k])
    return size, inner


@njit(cache=True)
def _step(scores, bounds, old, diagonal, guess, place, last, pool, room, columns, slots, pairs, new):
    """Better coefficients of one sample; returns the threshold, a guess for next time.

    scores : with the sample's own share, overwritten; room : as long as they
    """
    others = room
    for k in range(scores.shape[0]):
        others[k] = scores[k] - diagonal * old[k]
    lowest, highest = _lowest_and_highest(others, bounds)
    if lowest >= highest + 1:
        new[:] = 0
        place[2] = IN_PROPORTION
        return guess
    guess = _balancing_threshold(others, bounds, lowest - 0.5, highest + 0.5, guess)
    if _push_apart(others, bounds, diagonal, guess, new):
        place[2] = IN_PROPORTION
        return guess
    present = np.flatnonzero(bounds > 0)
    n_columns = unpack(place, pool, bounds, old, scores, present, columns, pairs, slots)
    sweep_columns(scores, bounds, diagonal, present, columns[:n_columns], pairs)
    last[0] = pack(place, last[0], pool, present, columns[:n_columns], pairs, new)
    return guess


@njit(cache=True)
def _most_present(bounds, rows):
    most = 0
    for i in rows:
        n_present = 0
        for k in range(bounds.shape[1]):
            n_present += 1 if bounds[i, k] > 0 else 0
        most = max(most, n_present)
    return most


@njit(cache=True, fastmath=FAST)
def _add_scaled(target, factor, source):
    for j in range(target.shape[0]):
        target[j] += factor * source[j]


@njit(cache=True)
def _sweep_block(bounds, coefficients, guesses, places, pool, rows, corner, scores, changes, n_sweeps):
    n_labels, n_rows = scores.shape
    room, mine, new = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels)
    columns, slots = np.empty(n_labels, np.int64), np.empty(n_labels, np.int64)
    pairs = np.empty((n_labels, _most_present(bounds, rows)))
    for b in range(n_rows):
        changes[:, b] = coefficients[rows[b]]
    first_gain = 0.0
    for sweep in range(n_sweeps):
        gain = 0.0
        for position in range(n_rows):
            b = position if sweep % 2 == 0 else n_rows - 1 - position
            i, diagonal = rows[b], corner[b, b]
            if diagonal <= 0 or not _is_mixed(bounds[i]):
                continue
            mine[:] = scores[:, b]
            guesses[i] = _step(
                mine, bounds[i], coefficients[i], diagonal, guesses[i], places[i], places[-1], pool,
                room, columns, slots, pairs, new,
            )  # fmt: skip
            for label in range(n_labels):
                change = new[label] - coefficients[i, label]
                if change != 0:
                    gain += diagonal * change * change
                    coefficients[i, label] = new[label]
                    _add_scaled(scores[label], scores.dtype.type(change), corner[b])
        if sweep == 0:
            first_gain = gain
        elif gain <= ENOUGH * first_gain:
            break
    n_changed = 0
    for b in range(n_rows):
        for label in range(n_labels):
            changes[label, b] = coefficients[rows[b], label] - changes[label, b]
            n_changed += changes[label, b] != 0
    return n_changed


@njit(cache=True)
def _sweep_rows(
    bounds, coefficients, guesses, places, pool, order, indptr, indices, data, norms, W, threshold
):
    n_labels, width = bounds.shape[1], W.shape[1]
    scores_wide, changes_wide = np.zeros(width, W.dtype), np.zeros(width, W.dtype)
    changes = changes_wide[:n_labels]
    room, scores, new = np.empty((2, n_labels)), np.empty(n_labels), np.empty(n_labels)
    columns, slots = np.empty(n_labels, np.int64), np.empty(n_labels, np.int64)
    pairs = np.empty((n_labels, _most_present(bounds, order)))
    total_gap = total_primal = 0.0
    for i in order:
        if norms[i] <= 0 or not _is_mixed(bounds[i]):
            continue
        multiply_row(W, indices, data, indptr[i], indptr[i + 1], scores_wide)
        scores[:] = scores_wide[:n_labels]
        loss = _loss(scores, bounds[i], room[0], room[1])
        size, inner = _size_and_inner(coefficients[i], scores)
        gap = loss + inner - size
        total_gap += gap
        total_primal += loss + inner / 2
        if gap <= threshold:
            continue
        guesses[i] = _step(
            scores, bounds[i], coefficients[i], np.float64(norms[i]), guesses[i], places[i], places[-1], pool,
            room[0], columns, slots, pairs, new,
        )  # fmt: skip
        for label in range(n_labels):
            changes[label] = new[label] - coefficients[i, label]
            coefficients[i, label] = new[label]
        add_to_rows(W, indices, data, indptr[i], indptr[i + 1], changes_wide)
    return total_gap, total_primal


@njit(cache=True)
def _is_mixed(bounds):
    """Whether a sample has present and absent labels; otherwise there is nothing to rank."""
    return bounds.min() < 0 < bounds.max()


@njit(cache=True, parallel=True)
def _measure(bounds, coefficients, scores):
    n_labels, n_samples = scores.shape
    sums, thresholds = np.zeros((3, n_samples)), np.zeros((2, n_samples))
    for tile in prange((n_samples + TILE - 1) // TILE):
        start = tile * TILE
        n_rows = min(n_samples - start, TILE)
        mine, room = np.empty((TILE, n_labels), scores.dtype), np.empty((2, n_labels))
        for label in range(n_labels):
            for b in range(n_rows):
                mine[b, label] = scores[label, start + b]
        for b in range(n_rows):
            i = start + b
            sums[0, i] = _loss(mine[b], bounds[i], room[0], room[1])
            sums[1, i], sums[2, i] = _size_and_inner(coefficients[i], mine[b])
            lowest, highest = _lowest_and_highest(mine[b], bounds[i])
            thresholds[0, i], thresholds[1, i] = (lowest + highest) / 2, mine[b].max()
    return sums, thresholds

"""The weights of the pairs of one sample in a group ranking: one exact step for each column.

A sample has a weight Z_kl >= 0 for each present label k and each absent label l. Columns are bound to a ball,
sum_k Z_kl^2 / B_k <= |B_l|, and only those that are not zero are kept.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

FAST = {"contract", "nsz", "nnan", "arcp", "reassoc"}
FAR = 1e30  # beyond any score
SMALL_STEP = 1e-9
SPARE = 4  # times the largest need: whoever outgrows its place moves to one at least twice as large
IN_PROPORTION = -1  # in place of a number of columns: Z_kl = A_k |A_l| / sum of A_k


class Pairs(NamedTuple):
    """What compiled code sees of the weights of pairs; only columns that are not zero are in the pool.

    places : int array, shape (n_samples + 1, 4): first entry in the pool, capacity and number of columns of
        each sample, and how many of them fill their balls; the last row holds the end of the used part of the
        pool
    pool : float array, for each column its label and the weights of the present labels
    starts, present : sample i has the present labels ``present[starts[i] : starts[i + 1]]``
    """

    places: np.ndarray
    pool: np.ndarray
    starts: np.ndarray
    present: np.ndarray


class Room(NamedTuple):
    """Scratch memory for the steps of one sample after the other."""

    others: np.ndarray
    new: np.ndarray
    violations: np.ndarray
    costs: np.ndarray
    weights: np.ndarray
    is_stored: np.ndarray
    fresh: np.ndarray


class PairWeights:
    """The weights of pairs, in memory that grows with the need."""

    def __init__(self, bounds):
        places = np.zeros((len(bounds) + 1, 4), np.int64)
        places[:, 2] = IN_PROPORTION
        n_present = np.count_nonzero(bounds > 0, axis=1)
        starts = np.concatenate([[0], np.cumsum(n_present)])
        self.arrays = Pairs(places, np.empty(0, bounds.dtype), starts, np.nonzero(bounds > 0)[1])
        self.lengths = 1 + n_present
        self.most = self.lengths * np.count_nonzero(bounds < 0, axis=1)

    def with_room_for(self, rows):
        """The arrays, with a pool that all columns of `rows` fit into, so that compiled code need not ask."""
        places, pool = self.arrays.places, self.arrays.pool
        needed = SPARE * self.most[rows].sum()
        if places[-1, 0] + needed > len(pool):
            live = self.lengths @ places[:-1, 1]
            new_pool = np.empty(int(1.5 * live) + needed, pool.dtype)
            _compact(places, self.lengths, pool, new_pool)
            self.arrays = self.arrays._replace(pool=new_pool)
        return self.arrays


@njit(cache=True)
def make_room(n_labels, most_present):
    """Scratch memory for samples with up to `most_present` present labels."""
    return Room(
        np.empty(n_labels), np.empty(n_labels),
        np.empty(most_present), np.empty(most_present), np.empty(most_present),
        np.zeros(n_labels, np.bool_), np.empty((n_labels, 1 + most_present)),
    )  # fmt: skip


@njit(cache=True)
def _compact(places, lengths, pool, new_pool):
    """Move what is alive, without gaps and without spare capacity."""
    end = 0
    for i in range(len(lengths)):
        first, _, n_columns, _ = places[i]
        size = max(n_columns, 0) * lengths[i]
        new_pool[end : end + size] = pool[first : first + size]
        places[i, 0], places[i, 1] = end, max(n_columns, 0)
        end += size
    places[-1, 0] = end


@njit(cache=True, fastmath=FAST)
def _sums_above(violations, shift):
    n_above = total = square = 0.0
    for k in range(violations.shape[0]):
        above = max(violations[k] - shift, 0.0)
        n_above += 1.0 if above > 0 else 0.0
        total += above
        square += above * above
    return n_above, total, square


@njit(cache=True, fastmath=FAST)
def _largest(violations):
    largest = 0.0
    for k in range(violations.shape[0]):
        largest = max(largest, violations[k])
    return largest


@njit(cache=True)
def _solve_even_column(violations, radius, diagonal, total, weights):
    """As `_solve_column` for equal costs: max(v - s, 0) times one factor; Newton steps for s, safeguarded."""
    low, high, limit = 0.0, _largest(violations), diagonal * radius
    shift, step = min(diagonal * total, high), 0.0
    for _ in range(50):
        n_above, push, square = _sums_above(violations, shift)
        is_inside = square <= limit * limit
        factor = 1.0 if is_inside else limit / np.sqrt(square)
        lead = factor * push - shift
        if lead > 0:
            low = shift
        else:
            high = shift
        step = lead / (1 + factor * (n_above - (0.0 if is_inside else push * push / square)))
        shift = shift + step if low <= shift + step <= high else (low + high) / 2
        if abs(step) <= SMALL_STEP * (1 + shift):
            break
    _, push, square = _sums_above(violations, shift)
    is_full = square > limit * limit
    factor = (limit / np.sqrt(square) if is_full else 1.0) / diagonal
    for k in range(violations.shape[0]):
        weights[k] = max(violations[k] - shift, 0.0) * factor
    return push * factor, is_full


@njit(cache=True)
def _solve_column(violations, costs, radius, diagonal, total, weights):
    """Best weights of one column: maximise <v, z> - diagonal / 2 (|z|^2 + (sum z)^2) within its ball.

    They are max(v - s, 0) / (diagonal + multiplier / cost) with s = diagonal * sum z. `violations` are those
    without the column, `total` is a guess; returns the sum of the weights, and whether the ball is full.
    """
    shift, multiplier = diagonal * total, 0.0
    for _ in range(30):
        slope = pushed = 0.0
        for k in range(violations.shape[0]):
            if violations[k] > shift:
                inverse = 1 / (diagonal + multiplier / costs[k])
                slope += inverse
                pushed += violations[k] * inverse
        last, shift = shift, diagonal * pushed / (1 + diagonal * slope)
        total = square = curvature = 0.0
        for k in range(violations.shape[0]):
            inverse = 1 / (diagonal + multiplier / costs[k])
            weights[k] = max(violations[k] - shift, 0.0) * inverse
            total += weights[k]
            part = weights[k] * weights[k] / costs[k]
            square += part
            curvature += part * inverse / costs[k]
        excess = np.sqrt(square) / radius - 1
        is_still = abs(shift - last) <= 1e-9 * (1 + abs(shift))
        if is_still and (abs(excess) <= 1e-9 or (multiplier == 0 and excess <= 0)):
            break
        if curvature > 0 and (multiplier > 0 or excess > 0):
            multiplier = max(multiplier + excess * square / curvature, 0.0)
    if excess > 0:
        for k in range(violations.shape[0]):
            weights[k] /= 1 + excess
        total /= 1 + excess
    return total, multiplier > 0 or excess > 0


@njit(cache=True)
def _improve_column(label, column, scores, bounds, diagonal, present, is_even, room):
    """An exact step for one column, in place; keeps scores and coefficients current.

    Returns whether the column is not zero, and whether it fills its ball.
    """
    n_present = present.shape[0]
    violations, costs, weights = room.violations[:n_present], room.costs[:n_present], room.weights[:n_present]
    total = 0.0
    for k in range(n_present):
        total += column[k]
    reach = 1 + scores[label] + diagonal * total
    for k in range(n_present):
        violations[k] = reach - scores[present[k]] + diagonal * column[k]
    if is_even:
        radius = np.sqrt(-bounds[label] * costs[0])
        new_total, is_full = _solve_even_column(violations, radius, diagonal, total, weights)
    else:
        new_total, is_full = _solve_column(
            violations, costs, np.sqrt(-bounds[label]), diagonal, total, weights
        )
    scores[label] -= diagonal * (new_total - total)
    room.new[label] = 0
    for k in range(n_present):
        scores[present[k]] += diagonal * (weights[k] - column[k])
        column[k] = weights[k]
        room.new[present[k]] += column[k]
        room.new[label] -= column[k]
    return new_total > 0, is_full


@njit(cache=True)
def _improve_stored(place, pool, scores, bounds, diagonal, present, is_even, room):
    """A step for each column in the pool; those that become zero leave it. Returns how many are left."""
    length, n_kept, n_full = 1 + present.shape[0], 0, 0
    for j in range(place[2]):
        column = pool[place[0] + j * length : place[0] + (j + 1) * length]
        label = int(column[0])
        room.is_stored[label] = True
        is_used, is_full = _improve_column(
            label, column[1:], scores, bounds, diagonal, present, is_even, room
        )
        n_full += is_full
        if is_used:
            kept = pool[place[0] + n_kept * length : place[0] + (n_kept + 1) * length]
            for k in range(length):
                kept[k] = column[k]
            n_kept += 1
    place[3] = n_full
    return n_kept


@njit(cache=True)
def _find_fresh(place, scores, bounds, old, diagonal, present, is_even, room):
    """A step for each violated column that is not in the pool; returns how many are not zero."""
    total, lowest, n_fresh = 0.0, FAR, 0
    for k in present:
        total += old[k]
        lowest = min(lowest, scores[k])
    is_shared = place[2] == IN_PROPORTION and total > 0
    for label in range(scores.shape[0]):
        holds = is_shared and old[label] < 0
        if bounds[label] < 0 and (holds or scores[label] + 1 > lowest) and not room.is_stored[label]:
            column = room.fresh[n_fresh, : 1 + present.shape[0]]
            column[0] = label
            share = -old[label] / total if holds else 0.0
            for k in range(present.shape[0]):
                column[1 + k] = share * old[present[k]]
            is_used, is_full = _improve_column(
                label, column[1:], scores, bounds, diagonal, present, is_even, room
            )
            n_fresh += is_used
            place[3] += is_full
    return n_fresh


@njit(cache=True)
def step_columns(place, last, pool, scores, bounds, old, diagonal, present, room):
    """An exact step for each column of a sample; its new coefficients are in `room.new`.

    place : row of the sample in `Pairs.places`; last : the last row; old : the coefficients so far
    scores : with the sample's own share, kept current
    """
    n_present, length = present.shape[0], 1 + present.shape[0]
    is_even = True
    for k in range(n_present):
        room.costs[k] = bounds[present[k]]
        is_even = is_even and room.costs[k] == room.costs[0]
    room.new[:] = 0
    n_stored = max(place[2], 0)
    stored = pool[place[0] : place[0] + n_stored * length : length].astype(np.int64)
    n_kept = _improve_stored(place, pool, scores, bounds, diagonal, present, is_even, room)
    n_fresh = _find_fresh(place, scores, bounds, old, diagonal, present, is_even, room)
    room.is_stored[stored] = False
    if n_kept + n_fresh > place[1]:
        first, place[0], place[1] = place[0], last[0], max(n_kept + n_fresh, 2 * place[1])
        last[0] += place[1] * length
        pool[place[0] : place[0] + n_kept * length] = pool[first : first + n_kept * length]
    end = place[0] + n_kept * length
    for j in range(n_fresh):
        pool[end : end + length] = room.fresh[j, :length]
        end += length
    place[2] = n_kept + n_fresh

"""The weights of the pairs of one sample in a group ranking: one exact step for each column.

A sample has a weight Z_kl >= 0 for each present label k and each absent label l. Columns are bound to a ball,
sum_k Z_kl^2 / B_k <= |B_l|, and only those that are not zero are kept.
"""

import numpy as np
from numba import njit

FAST = {"contract", "nsz", "nnan", "arcp", "reassoc"}
FAR = 1e30  # beyond any score
SPARE = 4  # times the largest need: whoever outgrows its place moves to one at least twice as large
N_ROLES = 5  # of rows of scratch memory, each as long as there are labels
SCORE, NEW, VIOLATION, COST, WEIGHT = range(N_ROLES)
IN_PROPORTION = -1  # in place of a number of columns: Z_kl = A_k |A_l| / sum of A_k


class PairWeights:
    """The weights of pairs, in memory that grows with the need; only columns that are not zero are kept.

    Attributes
    ----------
    places : int array, shape (n_samples + 1, 4): first entry in the pool, capacity and number of columns of
        each sample, and how many of them fill their balls; the last row holds the end of the used part of the
        pool
    pool : float array, for each column its label and the weights of the present labels
    starts, present : sample i has the present labels ``present[starts[i] : starts[i + 1]]``
    fresh : as long as the columns of any sample; scratch memory, as the next one
    is_stored : bool array, shape (n_labels,), False between steps
    """

    def __init__(self, bounds):
        n_present = np.count_nonzero(bounds > 0, axis=1)
        self.lengths = 1 + n_present
        self.most = self.lengths * np.count_nonzero(bounds < 0, axis=1)
        self.places = np.zeros((len(bounds) + 1, 4), np.int64)
        self.places[:, 2] = IN_PROPORTION
        self.pool = np.empty(0, bounds.dtype)
        self.starts = np.concatenate([[0], np.cumsum(n_present)])
        self.present = np.nonzero(bounds > 0)[1]
        self.fresh = np.empty(self.most.max(initial=0), bounds.dtype)
        self.is_stored = np.zeros(bounds.shape[1], bool)

    def with_room_for(self, rows):
        """The arrays above, with a pool that all columns of `rows` fit into: compiled code need not ask.

        A plain tuple: the cache of compiled code would break if a class in a signature were renamed.
        """
        needed = SPARE * self.most[rows].sum()
        if self.places[-1, 0] + needed > len(self.pool):
            live = self.lengths @ self.places[:-1, 1]
            pool = np.empty(int(1.5 * live) + needed, self.pool.dtype)
            _compact(self.places, self.lengths, self.pool, pool)
            self.pool = pool
        return self.places, self.pool, self.starts, self.present, self.fresh, self.is_stored


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
def _sums_above(room, n_present, shift):
    n_above = total = square = 0.0
    for k in range(n_present):
        above = max(room[VIOLATION, k] - shift, 0.0)
        n_above += 1.0 if above > 0 else 0.0
        total += above
        square += above * above
    return n_above, total, square


@njit(cache=True, fastmath=FAST)
def _largest_violation(room, n_present):
    largest = 0.0
    for k in range(n_present):
        largest = max(largest, room[VIOLATION, k])
    return largest


@njit(cache=True)
def _solve_even_column(room, n_present, radius, diagonal, total, precision):
    """As `_solve_column` for equal costs: max(v - s, 0) times one factor; Newton steps for s, safeguarded."""
    low, high, limit = 0.0, _largest_violation(room, n_present), diagonal * radius
    shift, factor, push, is_full = min(diagonal * total, high), 1.0, 0.0, False
    for _ in range(50):
        n_above, push, square = _sums_above(room, n_present, shift)
        is_full = square > limit * limit
        factor = limit / np.sqrt(square) if is_full else 1.0
        lead = factor * push - shift
        step = lead / (1 + factor * (n_above - (push * push / square if is_full else 0.0)))
        if abs(step) <= precision * (1 + shift):
            break
        if lead > 0:
            low = shift
        else:
            high = shift
        shift = shift + step if low <= shift + step <= high else (low + high) / 2
    factor /= diagonal
    for k in range(n_present):
        room[WEIGHT, k] = max(room[VIOLATION, k] - shift, 0.0) * factor
    return push * factor, is_full


@njit(cache=True)
def _solve_column(room, n_present, radius, diagonal, total):
    """Best weights of one column: maximise <v, z> - diagonal / 2 (|z|^2 + (sum z)^2) within its ball.

    They are max(v - s, 0) / (diagonal + multiplier / cost) with s = diagonal * sum z. The violations v are
    those without the column, `total` is a guess. Returns the sum of weights, and whether the ball is full.
    """
    shift, multiplier = diagonal * total, 0.0
    for _ in range(30):
        slope = pushed = 0.0
        for k in range(n_present):
            if room[VIOLATION, k] > shift:
                inverse = 1 / (diagonal + multiplier / room[COST, k])
                slope += inverse
                pushed += room[VIOLATION, k] * inverse
        last, shift = shift, diagonal * pushed / (1 + diagonal * slope)
        total = square = curvature = 0.0
        for k in range(n_present):
            inverse = 1 / (diagonal + multiplier / room[COST, k])
            weight = max(room[VIOLATION, k] - shift, 0.0) * inverse
            room[WEIGHT, k] = weight
            total += weight
            part = weight * weight / room[COST, k]
            square += part
            curvature += part * inverse / room[COST, k]
        excess = np.sqrt(square) / radius - 1
        is_still = abs(shift - last) <= 1e-9 * (1 + abs(shift))
        if is_still and (abs(excess) <= 1e-9 or (multiplier == 0 and excess <= 0)):
            break
        if curvature > 0 and (multiplier > 0 or excess > 0):
            multiplier = max(multiplier + excess * square / curvature, 0.0)
    if excess > 0:
        for k in range(n_present):
            room[WEIGHT, k] /= 1 + excess
        total /= 1 + excess
    return total, multiplier > 0 or excess > 0


@njit(cache=True)
def _improve_column(pool, first, bounds, diagonal, present, is_even, room):
    """An exact step for the column at pool[first], in place; keeps scores and coefficients current.

    Returns whether the column is not zero, and whether it fills its ball.
    """
    label, n_present, total = int(pool[first]), present.shape[0], 0.0
    for k in range(n_present):
        total += pool[first + 1 + k]
    reach = 1 + room[SCORE, label] + diagonal * total
    for k in range(n_present):
        room[VIOLATION, k] = reach - room[SCORE, present[k]] + diagonal * pool[first + 1 + k]
    if is_even:
        radius = np.sqrt(-bounds[label] * room[COST, 0])
        precision = 4 * np.finfo(pool.dtype).eps
        new_total, is_full = _solve_even_column(room, n_present, radius, diagonal, total, precision)
    else:
        new_total, is_full = _solve_column(room, n_present, np.sqrt(-bounds[label]), diagonal, total)
    room[SCORE, label] -= diagonal * (new_total - total)
    room[NEW, label] = 0
    for k in range(n_present):
        weight = pool.dtype.type(room[WEIGHT, k])
        room[SCORE, present[k]] += diagonal * (room[WEIGHT, k] - pool[first + 1 + k])
        pool[first + 1 + k] = weight
        room[NEW, present[k]] += weight
        room[NEW, label] -= weight
    return new_total > 0, is_full


@njit(cache=True)
def _improve_stored(place, pool, is_stored, bounds, diagonal, present, is_even, room):
    """A step for each column in the pool; those that become zero leave it. Returns how many are left."""
    length, n_kept, n_full = 1 + present.shape[0], 0, 0
    for j in range(place[2]):
        first = place[0] + j * length
        is_stored[int(pool[first])] = True
        is_used, is_full = _improve_column(pool, first, bounds, diagonal, present, is_even, room)
        n_full += is_full
        if is_used:
            for k in range(length):
                pool[place[0] + n_kept * length + k] = pool[first + k]
            n_kept += 1
    place[3] = n_full
    return n_kept


@njit(cache=True)
def _find_fresh(place, fresh, is_stored, bounds, old, diagonal, present, is_even, room):
    """A step for each violated column that is not in the pool; returns how many are not zero."""
    total, lowest, n_fresh = 0.0, FAR, 0
    for k in present:
        total += old[k]
        lowest = min(lowest, room[SCORE, k])
    is_shared = place[2] == IN_PROPORTION and total > 0
    for label in range(bounds.shape[0]):
        holds = is_shared and old[label] < 0
        if bounds[label] < 0 and (holds or room[SCORE, label] + 1 > lowest) and not is_stored[label]:
            first = n_fresh * (1 + present.shape[0])
            fresh[first] = label
            share = -old[label] / total if holds else 0.0
            for k in range(present.shape[0]):
                fresh[first + 1 + k] = share * old[present[k]]
            is_used, is_full = _improve_column(fresh, first, bounds, diagonal, present, is_even, room)
            n_fresh += is_used
            place[3] += is_full
    return n_fresh


@njit(cache=True)
def step_columns(i, pairs, bounds, old, diagonal, room):
    """An exact step for each column of sample i; its new coefficients are in room[NEW].

    pairs : of `PairWeights`
    bounds, old : of the sample; old are the coefficients so far
    room : room[SCORE] holds the scores with the sample's own share, kept current
    """
    places, pool, starts, all_present, fresh, is_stored = pairs
    place, last, present = places[i], places[-1], all_present[starts[i] : starts[i + 1]]
    length, is_even = 1 + present.shape[0], True
    for k in range(present.shape[0]):
        room[COST, k] = bounds[present[k]]
        is_even = is_even and room[COST, k] == room[COST, 0]
    room[NEW] = 0
    n_stored = max(place[2], 0)
    stored = pool[place[0] : place[0] + n_stored * length : length].astype(np.int64)
    n_kept = _improve_stored(place, pool, is_stored, bounds, diagonal, present, is_even, room)
    n_fresh = _find_fresh(place, fresh, is_stored, bounds, old, diagonal, present, is_even, room)
    is_stored[stored] = False
    if n_kept + n_fresh > place[1]:
        first, place[0], place[1] = place[0], last[0], max(n_kept + n_fresh, 2 * place[1])
        last[0] += place[1] * length
        pool[place[0] : place[0] + n_kept * length] = pool[first : first + n_kept * length]
    end = place[0] + n_kept * length
    pool[end : end + n_fresh * length] = fresh[: n_fresh * length]
    place[2] = n_kept + n_fresh

"""The weights of the pairs of one sample in a group ranking: one exact step for each column.

A sample has a weight Z_kl >= 0 for each present label k and each absent label l. Columns are bound to a ball,
sum_k Z_kl^2 / B_k <= |B_l|, and only those that are not zero are kept.
"""

import numpy as np
from numba import njit

FAST = {"contract", "nsz", "nnan", "arcp", "reassoc"}
FAR = 1e30  # beyond any score
SPARE = 4  # times the largest need: whoever outgrows its place moves to one at least twice as large
IN_PROPORTION = -1  # in place of a number of columns: Z_kl = A_k |A_l| / sum of A_k


class PairWeights:
    """The weights of pairs, active columns only, of the samples that need them.

    Attributes
    ----------
    places : int array, shape (n_samples + 1, 3): first entry in the pool, capacity and number of columns of
        each sample; the last row holds the end of the used part of the pool
    pool : float array, for each column its label and the weights of the present labels
    """

    def __init__(self, bounds):
        self.places = np.zeros((len(bounds) + 1, 3), np.int64)
        self.places[:, 2] = IN_PROPORTION
        self.pool = np.empty(0, bounds.dtype)
        self.lengths = 1 + np.count_nonzero(bounds > 0, axis=1)
        self.most = self.lengths * np.count_nonzero(bounds < 0, axis=1)

    def make_room(self, rows):
        """See to it that all columns of `rows` fit, so that compiled code need not ask."""
        needed = SPARE * self.most[rows].sum()
        if self.places[-1, 0] + needed <= len(self.pool):
            return
        live = self.lengths @ self.places[:-1, 1]
        pool = np.empty(int(1.5 * live) + needed, self.pool.dtype)
        _compact(self.places, self.lengths, self.pool, pool)
        self.pool = pool


@njit(cache=True)
def _compact(places, lengths, pool, new_pool):
    """Move what is alive, without gaps and without spare capacity."""
    end = 0
    for i in range(len(lengths)):
        first, _, n_columns = places[i]
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


@njit(cache=True)
def _solve_even_column(violations, radius, diagonal, total, weights):
    """As `_solve_column` for equal costs: max(v - s, 0) times one factor; Newton steps for s, safeguarded."""
    shift, limit = diagonal * total, diagonal * radius
    low, high, factor = 0.0, max(violations.max(), 0.0), 0.0
    for _ in range(50):
        shift = shift if low <= shift <= high else (low + high) / 2
        n_above, push, square = _sums_above(violations, shift)
        norm = np.sqrt(square)
        factor = 1.0 if norm <= limit else limit / norm
        lead = factor * push - shift
        if lead > 0:
            low = shift
        else:
            high = shift
        bend = 0.0 if norm <= limit else push * push / square
        step = lead / (1 + factor * (n_above - bend))
        if abs(step) <= 1e-9 * (1 + shift):
            break
        shift += step
    total = 0.0
    for k in range(violations.shape[0]):
        weights[k] = max(violations[k] - shift, 0.0) * factor / diagonal
        total += weights[k]
    return total


@njit(cache=True)
def _solve_column(violations, costs, radius, diagonal, total, weights):
    """Best weights of one column: maximise <v, z> - diagonal / 2 (|z|^2 + (sum z)^2) within its ball.

    They are max(v - s, 0) / (diagonal + multiplier / cost) with s = diagonal * sum z. `violations` are those
    without the column, `total` is a guess; returns the sum of the weights.
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
    return total


@njit(cache=True)
def unpack(place, pool, bounds, old, scores, present, columns, pairs, slots):
    """Weights of the pairs of one sample, for its active columns and those violated; returns their number."""
    n_present, n_columns = len(present), 0
    first, _, n_stored = place
    slots[:] = -1
    for j in range(n_stored):
        columns[j] = int(pool[first])
        slots[columns[j]] = j
        for k in range(n_present):
            pairs[j, k] = pool[first + 1 + k]
        first += 1 + n_present
    n_columns = max(n_stored, 0)
    total, lowest = 0.0, FAR
    for k in present:
        total += old[k]
        lowest = min(lowest, scores[k])
    for label in range(bounds.shape[0]):
        if bounds[label] < 0 and slots[label] < 0 and (old[label] < 0 or scores[label] + 1 > lowest):
            columns[n_columns] = label
            share = -old[label] / total if n_stored == IN_PROPORTION and old[label] < 0 else 0.0
            for k in range(n_present):
                pairs[n_columns, k] = share * old[present[k]]
            n_columns += 1
    return n_columns


@njit(cache=True)
def sweep_columns(scores, bounds, diagonal, present, columns, pairs):
    """An exact step for each column, one after the other; keeps the scores current."""
    n_present = len(present)
    violations, costs, weights = np.empty(n_present), np.empty(n_present), np.empty(n_present)
    for k in range(n_present):
        costs[k] = bounds[present[k]]
    is_even = costs.min() == costs.max()
    for j in range(len(columns)):
        label, total = columns[j], pairs[j, :n_present].sum()
        reach = 1 + scores[label] + diagonal * total
        for k in range(n_present):
            violations[k] = reach - scores[present[k]] + diagonal * pairs[j, k]
        radius = np.sqrt(-bounds[label])
        if is_even:
            new_total = _solve_even_column(violations, radius * np.sqrt(costs[0]), diagonal, total, weights)
        else:
            new_total = _solve_column(violations, costs, radius, diagonal, total, weights)
        scores[label] -= diagonal * (new_total - total)
        for k in range(n_present):
            scores[present[k]] += diagonal * (weights[k] - pairs[j, k])
            pairs[j, k] = weights[k]


@njit(cache=True)
def pack(place, end, pool, present, columns, pairs, new):
    """Keep the columns that are not zero and sum them up; returns where the used part of the pool ends."""
    n_present, n_kept = len(present), 0
    for j in range(len(columns)):
        n_kept += 1 if pairs[j, :n_present].max() > 0 else 0
    if n_kept > place[1]:
        place[0], place[1] = end, max(n_kept, 2 * place[1])
        end += place[1] * (1 + n_present)
    place[2] = n_kept
    first = place[0]
    new[:] = 0
    for j in range(len(columns)):
        if pairs[j, :n_present].max() > 0:
            pool[first] = columns[j]
            for k in range(n_present):
                pool[first + 1 + k] = pairs[j, k]
                new[columns[j]] -= pool[first + 1 + k]
                new[present[k]] += pool[first + 1 + k]
            first += 1 + n_present
    return end

"""The weights of the pairs of one sample in a group ranking: a step for each column, four at a time.

A sample has a weight Z_kl >= 0 for each present label k and each absent label l. Columns are bound to a ball,
sum_k Z_kl^2 / B_k <= |B_l|, and only those that are not zero are kept.

Four columns take their steps at once. Together they would push the present labels too far; each of them
therefore counts what it pushes there `LANES` times, which is never too little: the objective cannot fall. A
step is then exact for a lower bound of the objective. It takes no more passes than one exact step after the
other, nor would solving a whole sample exactly take fewer.
"""

import numpy as np

from tagrank.resources import compiled
from tagrank.simd import LANES, largest_of, load, splat, square_root, store, sum_of, where_greater

FAST = {"contract", "nsz", "nnan", "arcp", "reassoc"}
FAR = 1e30  # beyond any score
SINGLE_PRECISION, DOUBLE_PRECISION = (4 * float(np.finfo(kind).eps) for kind in (np.float32, np.float64))
SPARE = 4  # times the largest need: a sample that outgrows its place gets one at least twice as large
N_ROLES = 5  # rows of scratch memory, each as long as there are labels
SCORE, NEW, VIOLATION, COST, WEIGHT = range(N_ROLES)
REACH, RADIUS, OLD_TOTAL, NEW_TOTAL, VIOLATIONS = (LANES * role for role in range(5))  # in a workbench
IN_PROPORTION = -1  # in place of a number of columns: Z_kl = A_k |A_l| / sum of A_k
NO_LABEL = -1  # in place of a label, where a group has fewer than `LANES` columns


class PairWeights:
    """The weights of pairs, in memory that grows with the need; only columns that are not zero are kept.

    Attributes
    ----------
    places : int array, shape (n_samples + 1, 4): first entry in the pool, capacity in groups, number of
        columns of each sample, and how many of them fill their balls; the last row holds the end of the used
        part of the pool, and the number of steps so far
    pool : float array, for each group of columns their labels, then their weights, present label by label;
        its beginning is room for a group that no sample has yet
    starts, present : sample i has the present labels ``present[starts[i] : starts[i + 1]]``
    seen : int array, shape (n_labels,): in which step a label was last met in the pool
    violated, workbench : scratch memory, for labels and for what is known of the columns of one group
    """

    def __init__(self, bounds):
        n_present = np.count_nonzero(bounds > 0, axis=1)
        self.lengths = LANES * (1 + n_present)
        self.most = self.lengths * _n_groups(np.count_nonzero(bounds < 0, axis=1))
        self.places = np.zeros((len(bounds) + 1, 4), np.int64)
        self.places[:, 2] = IN_PROPORTION
        self.places[-1, 0] = self.longest = self.lengths.max(initial=0)
        self.pool = np.empty(0, bounds.dtype)
        self.starts = np.concatenate([[0], np.cumsum(n_present)])
        # one layout and no constants among arguments: each kind of argument is compiled anew
        self.present = np.ascontiguousarray(np.nonzero(bounds > 0)[1])
        self.seen, self.violated = np.zeros((2, bounds.shape[1]), np.int64)
        self.workbench = np.empty(VIOLATIONS + self.longest)

    def with_room_for(self, rows):
        """The arrays above, with a pool that all columns of `rows` fit into: compiled code need not ask.

        A plain tuple: the cache of compiled code would break if a class in a signature were renamed.
        """
        needed = SPARE * self.most[rows].sum()
        if self.places[-1, 0] + needed > len(self.pool):
            n_used = self.lengths @ _n_groups(np.maximum(self.places[:-1, 2], 0))
            pool = np.empty(self.longest + int(1.5 * n_used) + needed, self.pool.dtype)
            self.places[-1, 0] = self.longest
            _compact(self.places, self.lengths, self.pool, pool)
            self.pool = pool
        return self.places, self.pool, self.starts, self.present, self.seen, self.violated, self.workbench


def _n_groups(n_columns):
    return (n_columns + LANES - 1) // LANES  # written out in compiled code


@compiled()
def _compact(places, lengths, pool, new_pool):
    """Move what is in use behind places[-1, 0], without gaps and without spare capacity."""
    end = places[-1, 0]
    for i in range(len(lengths)):
        first, n_groups = places[i, 0], (max(places[i, 2], 0) + LANES - 1) // LANES
        size = n_groups * lengths[i]
        for k in range(size):
            new_pool[end + k] = pool[first + k]
        places[i, 0], places[i, 1] = end, n_groups
        end += size
    places[-1, 0] = end


@compiled()
def _solve_even_group(workbench, n_present, cost, diagonal, precision):
    """As `_solve_column` for a group whose present labels have equal costs, in place of the violations.

    The weights are max(v - s, 0) times one factor; Newton steps for s, safeguarded. Returns how many balls
    are full.
    """
    nothing, one, share = splat(0.0), splat(1.0), splat(1.0 / LANES)
    low = high = nothing
    for k in range(n_present):
        violation = load(workbench, VIOLATIONS + LANES * k)
        high = where_greater(violation, high, violation, high)
    limit = splat(LANES * diagonal * np.sqrt(cost)) * load(workbench, RADIUS)
    shift = splat(diagonal) * load(workbench, OLD_TOTAL)
    shift = where_greater(shift, high, high, shift)
    factor = is_full = nothing
    for _ in range(50):
        n_above = push = square = nothing
        for k in range(n_present):
            above = load(workbench, VIOLATIONS + LANES * k) - shift
            n_above = n_above + where_greater(above, nothing, one, nothing)
            above = where_greater(above, nothing, above, nothing)
            push = push + above
            square = square + above * above
        is_full = where_greater(square, limit * limit, one, nothing)
        factor = where_greater(is_full, nothing, limit / square_root(square), one) * share
        turn = where_greater(is_full, nothing, push * push / square, nothing)
        lead = factor * push - shift
        step = lead / (one + factor * (n_above - turn))
        size = where_greater(step, nothing, step, nothing - step)
        if largest_of(size - splat(precision) * (one + shift)) <= 0:
            break
        low, high = where_greater(lead, nothing, shift, low), where_greater(lead, nothing, high, shift)
        middle = (low + high) * splat(0.5)
        shift = shift + step
        shift = where_greater(low, shift, middle, where_greater(shift, high, middle, shift))
    factor = factor / splat(diagonal)
    for k in range(n_present):
        above = load(workbench, VIOLATIONS + LANES * k) - shift
        store(workbench, VIOLATIONS + LANES * k, where_greater(above, nothing, above * factor, nothing))
    return int(sum_of(is_full))


@compiled()
def _solve_uneven_group(workbench, n_present, diagonal, room):
    """As `_solve_even_group`, one column after the other; returns how many balls are full.

    Each column maximises <v, z> - diagonal / 2 (LANES |z|^2 + (sum z)^2) within its ball. Its weights z are
    max(v - s, 0) / (LANES diagonal + multiplier / cost) with s = diagonal * sum z. The violations v are those
    without the column, its old total is a guess.
    """
    n_full, stiffness = 0, LANES * diagonal
    for lane in range(LANES):
        for k in range(n_present):
            room[VIOLATION, k] = workbench[VIOLATIONS + LANES * k + lane]
        radius, shift = workbench[RADIUS + lane], diagonal * workbench[OLD_TOTAL + lane]
        multiplier = excess = 0.0
        for _ in range(30):
            slope = pushed = 0.0
            for k in range(n_present):
                if room[VIOLATION, k] > shift:
                    inverse = 1 / (stiffness + multiplier / room[COST, k])
                    slope += inverse
                    pushed += room[VIOLATION, k] * inverse
            last, shift = shift, diagonal * pushed / (1 + diagonal * slope)
            square = curvature = 0.0
            for k in range(n_present):
                inverse = 1 / (stiffness + multiplier / room[COST, k])
                weight = max(room[VIOLATION, k] - shift, 0.0) * inverse
                room[WEIGHT, k] = weight
                part = weight * weight / room[COST, k]
                square += part
                curvature += part * inverse / room[COST, k]
            excess = np.sqrt(square) / radius - 1
            is_still = abs(shift - last) <= 1e-9 * (1 + abs(shift))
            if is_still and (abs(excess) <= 1e-9 or (multiplier == 0 and excess <= 0)):
                break
            if curvature > 0 and (multiplier > 0 or excess > 0):
                multiplier = max(multiplier + excess * square / curvature, 0.0)
        n_full += multiplier > 0 or excess > 0
        for k in range(n_present):
            weight = room[WEIGHT, k] / (1 + max(excess, 0.0))
            workbench[VIOLATIONS + LANES * k + lane] = weight
    return n_full


@compiled()
def _improve_group(pool, first, bounds, diagonal, present, is_even, room, workbench):
    """A step for the columns of the group at pool[first], in place; keeps scores and coefficients current.

    Returns how many of them fill their balls; the sums of their weights are on the workbench.
    """
    n_present = present.shape[0]
    for lane in range(LANES):
        label = int(pool[first + lane])
        workbench[REACH + lane] = 1 + room[SCORE, label] if label != NO_LABEL else -FAR
        workbench[RADIUS + lane] = np.sqrt(-bounds[label]) if label != NO_LABEL else 1.0
    total = splat(0.0)
    for k in range(n_present):
        total = total + load(pool, first + LANES * (1 + k))
    store(workbench, OLD_TOTAL, total)
    reach = load(workbench, REACH) + splat(diagonal) * total
    for k in range(n_present):
        own = splat(LANES * diagonal) * load(pool, first + LANES * (1 + k))
        store(workbench, VIOLATIONS + LANES * k, reach - splat(room[SCORE, present[k]]) + own)
    if is_even:
        precision = SINGLE_PRECISION if pool.itemsize == 4 else DOUBLE_PRECISION
        n_full = _solve_even_group(workbench, n_present, room[COST, 0], diagonal, precision)
    else:
        n_full = _solve_uneven_group(workbench, n_present, diagonal, room)
    new_total = splat(0.0)
    for k in range(n_present):
        where = first + LANES * (1 + k)
        before = load(pool, where)
        store(pool, where, load(workbench, VIOLATIONS + LANES * k))
        weights = load(pool, where)
        room[SCORE, present[k]] += diagonal * sum_of(weights - before)
        room[NEW, present[k]] += sum_of(weights)
        new_total = new_total + weights
    store(workbench, NEW_TOTAL, new_total)
    for lane in range(LANES):
        label = int(pool[first + lane])
        if label != NO_LABEL:
            room[SCORE, label] -= diagonal * (workbench[NEW_TOTAL + lane] - workbench[OLD_TOTAL + lane])
            room[NEW, label] = -workbench[NEW_TOTAL + lane]
    return n_full


@compiled()
def _keep_used(pool, first, length, workbench, start, n_kept):
    """Append the columns of a group that are not zero to those at pool[start]; returns their number."""
    for lane in range(LANES):
        if pool[first + lane] == NO_LABEL or workbench[NEW_TOTAL + lane] <= 0:
            continue
        source, target = first + lane, start + n_kept // LANES * length + n_kept % LANES
        n_kept += 1
        if target != source:
            for k in range(0, length, LANES):
                pool[target + k] = pool[source + k]
    return n_kept


@compiled()
def _fill_up(pool, first, length, n_columns):
    """Mark the rest of a group that has fewer than `LANES` columns as empty."""
    for lane in range(n_columns, LANES):
        pool[first + lane] = NO_LABEL
        for k in range(LANES, length, LANES):
            pool[first + lane + k] = 0


@compiled(fastmath=FAST)
def _find_violated(bounds, old, lowest, shares_push, seen, step, room, violated):
    """The absent labels that have no column and need one, put into `violated`; returns their number.

    Often there are none, and to find that out takes less time than to find out which.
    """
    n_violated, n_any = 0, 0.0
    for label in range(bounds.shape[0]):
        is_violated = (bounds[label] < 0) & (room[SCORE, label] + 1 > lowest) & (seen[label] != step)
        n_any += 1.0 if is_violated else 0.0
    if not shares_push and n_any == 0:
        return 0
    for label in range(bounds.shape[0]):
        is_violated = (room[SCORE, label] + 1 > lowest) | (shares_push & (old[label] < 0))
        violated[n_violated] = label
        n_violated += (bounds[label] < 0) & is_violated & (seen[label] != step)
    return n_violated


@compiled()
def step_columns(i, pairs, bounds, old, diagonal, room):
    """A step for each column of sample i; its new coefficients are in room[NEW].

    pairs : of `PairWeights`
    bounds, old : of the sample; old are the coefficients so far
    room : room[SCORE] holds the scores with the sample's own share, kept current
    """
    places, pool, starts, all_present, seen, violated, workbench = pairs
    place, last, present = places[i], places[-1], all_present[starts[i] : starts[i + 1]]
    length, is_even, total, beginning = LANES * (1 + present.shape[0]), np.bool_(True), 0.0, np.int64(0)
    for k in range(present.shape[0]):
        room[COST, k] = bounds[present[k]]
        is_even = is_even and room[COST, k] == room[COST, 0]
        total += old[present[k]]
    shares_push = place[2] == IN_PROPORTION and total > 0
    for k in range(room.shape[1]):
        room[NEW, k] = 0
    last[1] += 1
    n_kept = n_full = beginning
    end = place[0] + (max(place[2], 0) + LANES - 1) // LANES * length
    for first in range(place[0], end, length):
        for lane in range(LANES):
            label = int(pool[first + lane])
            if label != NO_LABEL:
                seen[label] = last[1]
        n_full += _improve_group(pool, first, bounds, diagonal, present, is_even, room, workbench)
        n_kept = _keep_used(pool, first, length, workbench, place[0], n_kept)
    lowest = FAR
    for k in present:
        lowest = min(lowest, room[SCORE, k])
    n_violated = _find_violated(bounds, old, lowest, shares_push, seen, last[1], room, violated)
    n_groups = (n_kept + n_violated + LANES - 1) // LANES
    if n_groups > place[1]:  # they do not fit where they are: on to the end of the pool
        first, place[0], place[1] = place[0], last[0], max(n_groups, 2 * place[1])
        last[0] += place[1] * length
        for k in range((n_kept + LANES - 1) // LANES * length):
            pool[place[0] + k] = pool[first + k]
    for start in range(0, n_violated, LANES):
        n_lanes = min(LANES, n_violated - start)
        for lane in range(n_lanes):
            label = violated[start + lane]
            share = max(-old[label], 0.0) / total if shares_push else 0.0
            pool[lane] = label
            for k in range(present.shape[0]):
                pool[LANES * (1 + k) + lane] = share * old[present[k]]
        _fill_up(pool, beginning, length, n_lanes)
        n_full += _improve_group(pool, beginning, bounds, diagonal, present, is_even, room, workbench)
        n_kept = _keep_used(pool, beginning, length, workbench, place[0], n_kept)
    if n_kept % LANES:
        _fill_up(pool, place[0] + n_kept // LANES * length, length, n_kept % LANES)
    place[2], place[3] = n_kept, n_full

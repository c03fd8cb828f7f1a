"""The places of the positives in each row: all that a ranking metric needs, and the formulas.

A row is one sample ranked over its labels or, transposed, one label ranked over the samples. Its entries are
sorted once by falling score; unknown entries take no place. Entries with equal scores share the places
``above + 1 .. upto``, so that no metric depends on the order in which labels or samples are stored.

With a row's positives p on the tied places ``above_p + 1 .. upto_p``, a positives and b negatives:

    AUC               1 - (sum_p (above_p + upto_p + 1) / 2 - a (a + 1) / 2) / (a b)   a tied pair counts 1/2
    pair loss         sum_p (upto_p - hits_p) / (a b)                                  a tied pair counts 1
    average precision mean_p hits_p / upto_p,   hits_p = positives on the places 1 .. upto_p
    11 points         mean_q max { hits_p / upto_p : 10 hits_p >= q a },  q = 0 .. 10  compared in integers
    depth             max_p upto_p
    at k              expected value over all orders of what is tied
"""

from dataclasses import dataclass

import numpy as np

from tagrank.arrays import row_blocks, rows_within


@dataclass(frozen=True)
class PositiveRanks:
    """Places of the positives of some rows, one row after the other, best place first.

    Every row holds at least one positive and one negative.

    Attributes
    ----------
    above : int array, shape (n_positives,), known entries of the row with a strictly higher score
    upto : int array, shape (n_positives,), known entries of the row with at least this score
    starts : int array, shape (n_rows,), where the positives of each row begin
    n_positive, n_negative : int arrays, shape (n_rows,)
    """

    above: np.ndarray
    upto: np.ndarray
    starts: np.ndarray
    n_positive: np.ndarray
    n_negative: np.ndarray

    def total(self, values):
        """Sum over the positives of each row."""
        return np.add.reduceat(values, self.starts)

    def hits(self):
        """For each positive, how many positives of its row stand on the places 1 .. upto."""
        ends_tie = np.append(self.above[1:] != self.above[:-1], True)
        ends_tie[self.starts[1:] - 1] = True
        last_tied = np.flatnonzero(ends_tie)[np.cumsum(ends_tie) - ends_tie]
        return last_tied + 1 - np.repeat(self.starts, self.n_positive)

    def precisions(self):
        """For each positive, the precision of the list cut below it and all that is tied with it."""
        return self.hits() / self.upto


def rank_positives(states, scores):
    """Places of the positives in every row (n_rows, n_columns), which has a positive and a negative."""
    n_rows, n_columns = states.shape
    # nan sorts behind everything, even behind an infinite score
    keys = np.where(states == 0, np.nan, -scores)
    order = np.argsort(keys, axis=1)
    keys = np.take_along_axis(keys, order, axis=1)
    places = np.flatnonzero(np.take_along_axis(states, order, axis=1) > 0)

    begins_tie = np.ones((n_rows, n_columns), dtype=bool)
    np.not_equal(keys[:, 1:], keys[:, :-1], out=begins_tie[:, 1:])
    bounds = np.append(np.flatnonzero(begins_tie), n_rows * n_columns)
    tie = np.searchsorted(bounds, places, side="right") - 1

    n_positive = np.count_nonzero(states > 0, axis=1)
    row_offset = np.repeat(np.arange(n_rows) * n_columns, n_positive)
    return PositiveRanks(
        above=bounds[tie] - row_offset,
        upto=bounds[tie + 1] - row_offset,
        starts=np.cumsum(n_positive) - n_positive,
        n_positive=n_positive,
        n_negative=np.count_nonzero(states < 0, axis=1),
    )


def measure_rows(states, scores, measures):
    """Several measures, functions of PositiveRanks, of every row from one sort: name -> array (n_rows,).

    A row without a positive and a negative, which every order of its entries would serve equally well, is
    nan.
    """
    values = {name: np.full(len(states), np.nan) for name in measures}
    usable = np.flatnonzero((states > 0).any(axis=1) & (states < 0).any(axis=1))
    # small blocks stay in the processor's cache and bound the memory
    for block in row_blocks(len(usable), rows_within(states.shape[1], megabytes=1)):
        rows = usable[block]
        ranks = rank_positives(states[rows], scores[rows])
        for name, measure in measures.items():
            values[name][rows] = measure(ranks)
    return values


def mean_defined(values):
    """Mean of the entries that are not nan; nan when none is left."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else float("nan")


def auc(ranks):
    """Share of (positive, negative) pairs in the right order; a tie counts 1/2."""
    a, b = ranks.n_positive, ranks.n_negative
    twice_wrong = ranks.total(ranks.above + ranks.upto + 1) - a * (a + 1)
    return 1 - twice_wrong / (2 * a * b)


def pair_loss(ranks):
    """Share of (positive, negative) pairs not strictly in the right order; a tie counts 1."""
    return ranks.total(ranks.upto - ranks.hits()) / (ranks.n_positive * ranks.n_negative)


def average_precision(ranks):
    """Mean over the positives of the precision at their place, not interpolated."""
    return ranks.total(ranks.precisions()) / ranks.n_positive


def eleven_point_precision(ranks):
    """Mean of the best precision at recall 0, 0.1, ..., 1 or more."""
    # the closing zero lets the last row end inside the array
    precisions = np.append(ranks.precisions(), 0.0)
    bounds = np.empty((len(ranks.starts), 2), dtype=np.intp)
    bounds[:, 1] = ranks.starts + ranks.n_positive
    total = np.zeros(len(ranks.starts))
    for q in range(11):
        needed = np.maximum(1, -(-q * ranks.n_positive // 10))
        bounds[:, 0] = ranks.starts + needed - 1
        total += np.maximum.reduceat(precisions, bounds.ravel())[::2]
    return total / 11


def depth(ranks):
    """How many places hold all the positives, counted from 1."""
    return np.maximum.reduceat(ranks.upto, ranks.starts)


def precision_at(ranks, k):
    """Expected positives on the first k places, divided by k."""
    return _expected_hits(ranks, k) / k


def recall_at(ranks, k):
    """Expected share of the positives that stand on the first k places."""
    return _expected_hits(ranks, k) / ranks.n_positive


def miss_at_top(ranks):
    """Chance that the first place is not a positive."""
    chance = np.where(ranks.above == 0, ranks.precisions(), 0)
    return 1 - chance[ranks.starts]


def discounted_gain_at(ranks, k):
    """Expected gain of the first k places, discounted by log2(place + 1), over that of a perfect list."""
    k = min(k, int(ranks.upto.max()))
    discounts = np.append(0.0, np.cumsum(1 / np.log2(np.arange(2, k + 2))))
    gain = discounts[np.minimum(ranks.upto, k)] - discounts[np.minimum(ranks.above, k)]
    best = discounts[np.minimum(ranks.n_positive, k)]
    return ranks.total(gain / (ranks.upto - ranks.above)) / best


def _expected_hits(ranks, k):
    return ranks.total(np.clip((k - ranks.above) / (ranks.upto - ranks.above), 0, 1))

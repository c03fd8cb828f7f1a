"""The formulas of the ranking metrics: `PositiveRanks` in, one number a row out.

With a row's positives p on the tied places ``above_p + 1 .. upto_p``, a positives and b negatives:

    AUC               1 - (sum_p (above_p + upto_p + 1) / 2 - a (a + 1) / 2) / (a b)   a tied pair counts 1/2
    pair loss         sum_p (upto_p - hits_p) / (a b)                                  a tied pair counts 1
    average precision mean_p hits_p / upto_p,   hits_p = positives on the places 1 .. upto_p
    11 points         mean_q max { hits_p / upto_p : 10 hits_p >= q a },  q = 0 .. 10  compared in integers
    depth             max_p upto_p
    at k              expected value over all orders of what is tied
"""

import numpy as np


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

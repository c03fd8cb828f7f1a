"""Crammer and Singer's online category ranking (MMP): a perceptron over the pairs of labels in wrong order.

A sample x with scores f = W x is in order if every present label is above every absent one. Otherwise the
pairs (k present, l absent, f_k <= f_l) share an update of total weight tau:

    W_k += tau sum_l share_kl x        W_l -= tau sum_k share_kl x

"uniform" gives all wrong pairs the same share, "worst" all to the lowest present and the highest absent
label. tau is 1, or the share of pairs in wrong order.

Reference: Crammer, Singer: A Family of Additive Online Algorithms for Category Ranking, JMLR 3, 2003.
"""

import numpy as np
from numba import njit

from tagrank.validation import check_magnitude, check_sparse


def learn_samples(W, total, seen, X, states, *, worst, scaled):
    """Visit samples, CSR rows X with int8 states, in their order, and return the number of updates.

    W (n_labels, n_features) is kept current, and `total`, the sum of seen_t * changes, see `averaged`; `seen`
    samples were visited before. `worst` and `scaled`: which pairs share an update, and whether tau is the
    share of wrong pairs.
    """
    check_sparse("X", X)
    check_magnitude("X", X, np.float64)
    return _learn(W, total, seen, X.indptr, X.indices, X.data.astype(np.float64), states, worst, scaled)


def averaged(W, total, seen):
    """The mean of W over all samples seen, each update counted from its sample on."""
    return W - total / max(seen, 1)


@njit(cache=True)
def _learn(W, total, seen, indptr, indices, data, states, worst, scaled):
    n_labels = states.shape[1]
    scores, shares = np.empty(n_labels), np.empty(n_labels)
    n_updates = 0
    for i in range(states.shape[0]):
        start, stop = indptr[i], indptr[i + 1]
        for label in range(n_labels):
            scores[label] = 0.0
            for p in range(start, stop):
                scores[label] += W[label, indices[p]] * data[p]
        tau = _share(scores, states[i], worst, scaled, shares)
        if tau == 0:
            continue
        n_updates += 1
        for label in range(n_labels):
            if shares[label] != 0:
                for p in range(start, stop):
                    change = tau * shares[label] * data[p]
                    W[label, indices[p]] += change
                    total[label, indices[p]] += (seen + i) * change
    return n_updates


@njit(cache=True)
def _share(scores, states, worst, scaled, shares):
    """How much of the update each label gets; returns tau, 0 if all pairs are in order."""
    shares[:] = 0
    n_wrong = n_pairs = 0
    lowest = highest = -1
    for k in range(scores.shape[0]):
        if states[k] > 0:
            lowest = k if lowest < 0 or scores[k] < scores[lowest] else lowest
            for label in range(scores.shape[0]):
                if states[label] < 0:
                    n_pairs += 1
                    if scores[k] <= scores[label]:
                        n_wrong += 1
                        shares[k] += 1
                        shares[label] -= 1
        elif states[k] < 0:
            highest = k if highest < 0 or scores[k] > scores[highest] else highest
    if n_wrong == 0:
        return 0.0
    if worst:
        shares[:] = 0
        shares[lowest], shares[highest] = 1, -1
    else:
        shares /= n_wrong
    return n_wrong / n_pairs if scaled else 1.0

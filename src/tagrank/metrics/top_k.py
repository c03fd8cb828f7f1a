"""Metrics of the first k labels of each sample.

The rules of `tagrank.metrics.ranking` hold. Where a tie crosses the cut, each order of the tied labels is
equally likely and the expected value is returned: a constant score earns what guessing earns.
"""

from functools import partial

from tagrank.metrics import measures
from tagrank.metrics.ranking import mean_over_samples
from tagrank.validation import check_count


def precision_at_k(Y, F, *, k=5):
    """P@k: present labels among the first k, divided by k, mean over samples.

    The divisor stays k where a sample has fewer than k positives or fewer than k known labels.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame, shape (n_samples, n_labels), of 1, 0 and nan (unknown)
    F : array-like, shape (n_samples, n_labels), scores
    k : int, length of the list

    Returns
    -------
    float, higher is better; nan if no sample has a known positive and a known negative
    """
    return mean_over_samples(partial(measures.precision_at, k=check_count("k", k)), Y, F)


def recall_at_k(Y, F, *, k=5):
    """R@k: share of a sample's present labels that are among the first k, mean over samples.

    Parameters and result as for `precision_at_k`.
    """
    return mean_over_samples(partial(measures.recall_at, k=check_count("k", k)), Y, F)


def ndcg_at_k(Y, F, *, k=5):
    """NDCG@k: gains discounted by log2(place + 1) over those of a perfect list, mean over samples.

    Equals ``sklearn.metrics.ndcg_score(Y, F, k=k)`` on complete labels, also with ties, where every sample
    has a positive and a negative. Parameters and result as for `precision_at_k`; 1 is best.
    """
    return mean_over_samples(partial(measures.discounted_gain_at, k=check_count("k", k)), Y, F)

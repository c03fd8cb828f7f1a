"""Metrics of 0/1 predictions, from counts over the known labels.

A ratio 0/0 (nothing present, nothing predicted) is undefined and left out of a mean, as scikit-learn does
with ``zero_division=nan``; if nothing is left the result is nan.
"""

import numpy as np

from tagrank.metrics.inputs import check_predictions
from tagrank.metrics.ranks import mean_defined
from tagrank.validation import check_choice


def f_measure(Y, P, *, average="micro"):
    """F1 = 2 TP / (2 TP + FP + FN) over the known labels; 1 is best.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame, shape (n_samples, n_labels), of 1, 0 and nan (unknown)
    P : array-like, sparse matrix or DataFrame, shape (n_samples, n_labels), predictions 0 or 1
    average : {"micro", "macro", "example"}, counts of the whole matrix; mean over labels; mean over samples

    Returns
    -------
    float; a label or sample with nothing present and nothing predicted is left out; nan if none is left
    """
    check_choice("average", average, ("micro", "macro", "example"))
    axis = {"micro": None, "macro": 0, "example": 1}[average]
    return mean_defined(f_scores(*check_predictions(Y, P), axis=axis))


def hamming_loss(Y, P):
    """Share of the known labels that are predicted wrongly; 0 is best, nan if no label is known.

    Parameters as for `f_measure`. Some papers print it times 100.
    """
    states, predicted = check_predictions(Y, P)
    n_known = np.count_nonzero(states)
    n_wrong = np.count_nonzero((states > 0) & ~predicted) + np.count_nonzero((states < 0) & predicted)
    return n_wrong / n_known if n_known else float("nan")


def f_scores(states, predicted, *, axis):
    """F1 along an axis (None: of the whole matrix); nan where nothing is present and nothing predicted."""
    present = states > 0
    n_hits = np.atleast_1d(np.count_nonzero(present & predicted, axis=axis))
    size = np.count_nonzero(present, axis=axis) + np.count_nonzero(predicted & (states != 0), axis=axis)
    return divide(2 * n_hits, np.atleast_1d(size), empty=np.nan)


def divide(numerator, denominator, *, empty):
    """numerator / denominator, and `empty` where the denominator is 0."""
    answer = np.full(np.shape(denominator), float(empty))
    return np.divide(numerator, denominator, out=answer, where=denominator > 0)

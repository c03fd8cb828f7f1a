"""Which scores are high enough to predict a label: thresholds chosen on held-out scores.

All functions take `states` (n_samples, n_labels; +1 present, -1 absent, 0 unknown) and finite `scores` of the
same shape, and leave unknown entries out. A label is predicted where its score reaches the threshold. Scores
that are equal stand on the same side; a threshold lies half-way between two scores.
"""

import numpy as np


def f1_thresholds(states, scores, *, fallback=np.inf):
    """The threshold of each label that maximises its F1 = 2 TP / (2 TP + FP + FN).

    Returns
    -------
    thresholds : array, shape (n_labels,)
        A label without a known positive, or for which nothing beats predicting it everywhere (its scores tell
        nothing), takes `fallback`.
    """
    values = np.where(states != 0, scores, -np.inf).T
    thresholds, n_predicted = _maximise_f1(values, (states > 0).T)
    is_everywhere = n_predicted == np.count_nonzero(states, axis=0)
    return np.where(is_everywhere | ~np.any(states > 0, axis=0), fallback, thresholds)


def global_threshold(states, scores):
    """The one threshold for all labels that maximises micro-F1; inf if nothing is known to be present."""
    known = states != 0
    if not np.any(states > 0):
        return np.inf
    thresholds, _ = _maximise_f1(scores[known][None], (states[known] > 0)[None])
    return float(thresholds[0])


def cardinality_threshold(states, scores):
    """The one threshold that predicts as many labels as are present; inf if none is known to be present."""
    known = states != 0
    values = -np.sort(-scores[known])
    ends = np.flatnonzero(values > _next(values))
    n_predicted = np.append(0, ends + 1)
    nearest = np.argmin(np.abs(n_predicted - np.count_nonzero(states > 0)))
    if nearest == 0:
        return np.inf
    last = ends[nearest - 1]
    return float(_between(values[last], _next(values)[last]))


def predict_top(scores, n_tags):
    """The `n_tags` highest labels of each sample, (n_samples, n_labels) of 0 and 1; first come first."""
    best = np.argsort(-scores, axis=1, kind="stable")[:, :n_tags]
    predicted = np.zeros(scores.shape, dtype=np.int64)
    np.put_along_axis(predicted, best, 1, axis=1)
    return predicted


def _maximise_f1(values, is_positive):
    """Thresholds of the rows of `values`, and how many entries reach them; -inf is left out."""
    order = np.argsort(-values, axis=1)
    values = np.take_along_axis(values, order, axis=1)
    hits = np.cumsum(np.take_along_axis(is_positive, order, axis=1), axis=1)
    f1 = 2 * hits / (np.arange(1, values.shape[1] + 1) + hits[:, -1:])
    # equal scores cannot be told apart: only the last of them may end the prediction
    f1[values <= _next(values)] = -1
    last = np.argmax(f1, axis=1)[:, None]
    found = np.take_along_axis(values, last, axis=1), np.take_along_axis(_next(values), last, axis=1)
    return _between(*found)[:, 0], last[:, 0] + 1


def _next(values):
    """What follows each value along the last axis; -inf after the last."""
    return np.append(values[..., 1:], np.full((*values.shape[:-1], 1), -np.inf), axis=-1)


def _between(upper, lower):
    """Half-way between two scores, reached by the upper one only; `upper` where lower is -inf."""
    middle = upper / 2 + np.where(np.isfinite(lower), lower, upper) / 2
    return np.where((middle > lower) & (middle <= upper), middle, upper)

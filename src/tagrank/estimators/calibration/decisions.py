"""Which scores are high enough to predict a label: thresholds, and what each threshold is worth.

Which scores are high enough to predict a label: thresholds chosen on held-out scores.

All functions take `states` (n_samples, n_labels; +1 present, -1 absent, 0 unknown) and finite `scores` of the
same shape, and leave unknown entries out. A label is predicted where its score reaches the threshold. Scores
that are equal stand on the same side; a threshold lies half-way between two scores.
"""

from typing import NamedTuple

import numpy as np

from tagrank.estimators.calibration.audit import ratio


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


THRESHOLDS = np.linspace(0, 0.99, 100)
MOST_TIMES = 2.0
CURVE_WIDTHS = (5, 9)  # numbers a point, without and with an audit
NEVER = 2.0  # a threshold that no probability reaches


class Quality(NamedTuple):
    """What deciding by a threshold is worth, measured on samples that the models did not see.

    Attributes
    ----------
    right : share of the labels written that are true; nan if none is
    found : share of the true labels that are written
    per_sample : labels written for a sample
    """

    right: float
    found: float
    per_sample: float


class DecisionCurve:
    """Thresholds, and what each is worth on held-out samples.

    Attributes
    ----------
    points : array, shape (n_thresholds, 5): threshold, mean probability of what reaches it, and the fields of
        `Quality`; or (n_thresholds, 9), where samples were audited: both ends of the intervals of `right` and
        of `found`, too
    """

    def __init__(self, points):
        self.points = np.asarray(points, dtype=np.float64)

    @classmethod
    def measured(cls, states, probabilities, completeness):
        """From held-out probabilities under int8 states, both (n_samples, n_labels).

        Each label that is listed stands for 1 / completeness, shape (n_labels,), true ones.
        """
        rows, labels = np.nonzero(states)
        claimed, present = probabilities[rows, labels], states[rows, labels] > 0
        stands_for = present / np.broadcast_to(completeness, states.shape[1])[labels]
        order = np.argsort(claimed)
        behind = len(order) - np.searchsorted(claimed[order], THRESHOLDS)

        def above(values):
            return np.append(0.0, np.cumsum(values[order[::-1]]))[behind]

        n_rows = max(1, np.count_nonzero(np.any(states != 0, axis=1)))
        with np.errstate(invalid="ignore", divide="ignore"):
            claim, right = above(claimed) / behind, np.minimum(above(stands_for) / behind, 1)
            recall = above(present.astype(float)) / max(1, np.count_nonzero(present))
        points = np.column_stack([THRESHOLDS, claim, right, recall, behind / n_rows])
        points[behind == 0, 1:3] = 1.0
        return cls(points)

    def audited(self, truth, probabilities):
        """What is right and found by audited samples, with intervals; claims stay those of all samples.

        Parameters
        ----------
        truth : bool array, shape (n_audited, n_labels), which labels are true
        probabilities : of the same; 0 where there is nothing to go by
        """
        n_true, told = truth.sum(axis=1), []
        for threshold, claim in self.points[:, :2]:
            is_written = (probabilities >= threshold) & (probabilities > 0)
            n_hits = np.count_nonzero(is_written & truth, axis=1)
            right, found = ratio(n_hits, is_written.sum(axis=1)), ratio(n_hits, n_true)
            share = claim if np.isnan(right.share) else right.share
            told.append([share, 0.0 if np.isnan(found.share) else found.share, *right[1:], *found[1:]])
        told = np.array(told)
        points = np.column_stack([self.points[:, :2], told[:, :2], self.points[:, 4], told[:, 2:]])
        return DecisionCurve(points)

    def best_f1(self):
        """The threshold with the highest expected F1 of everything written, by the probabilities alone.

        Where nothing can be told apart it would be best to write everything; so no more than twice as many
        labels are written as are expected to be true.
        """
        expected, n_written = self.points[:, 1] * self.points[:, 4], self.points[:, 4]
        total = expected[0] + 1e-12
        f1 = np.where(n_written <= MOST_TIMES * total, 2 * expected / (n_written + total), 0.0)
        return float(self.points[np.argmax(f1), 0]) if f1.any() else NEVER

    def for_precision(self, precision):
        """The lowest threshold above which labels are right so often, by their probabilities."""
        enough = np.flatnonzero((self.points[:, 1] >= precision) & (self.points[:, 4] > 0))
        return float(self.points[enough[0], 0]) if len(enough) else NEVER

    def quality(self, threshold):
        """What a threshold is worth."""
        if threshold > self.points[-1, 0]:
            return Quality(float("nan"), 0.0, 0.0)
        return Quality(*map(float, self.points[self._place(threshold), 2:5]))

    @property
    def is_audited(self):
        """Whether audited samples told what is right and found."""
        return self.points.shape[1] == CURVE_WIDTHS[1]

    def intervals(self, threshold):
        """Where `right` and `found` lie by audited samples, a pair of pairs; None where that is not told."""
        if not self.is_audited or threshold > self.points[-1, 0]:
            return None
        right_low, right_high, found_low, found_high = map(float, self.points[self._place(threshold), 5:])
        return (right_low, right_high), (found_low, found_high)

    def _place(self, threshold):
        return min(np.searchsorted(self.points[:, 0], threshold - 1e-9), len(self.points) - 1)

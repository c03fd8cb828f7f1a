"""Which probability is high enough to write a label down, and what that is worth."""

from typing import NamedTuple

import numpy as np

THRESHOLDS = np.linspace(0, 0.99, 100)
MOST_TIMES = 2.0
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
        `Quality`
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
            found = above(present.astype(float)) / max(1, np.count_nonzero(present))
        points = np.column_stack([THRESHOLDS, claim, right, found, behind / n_rows])
        points[behind == 0, 1:3] = 1.0
        return cls(points)

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
        place = min(np.searchsorted(self.points[:, 0], threshold - 1e-9), len(self.points) - 1)
        return Quality(*map(float, self.points[place, 2:]))

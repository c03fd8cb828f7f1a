"""Max-margin label ranking."""

import numpy as np

from tagrank.estimators.base import FLAG, Numbers, stores
from tagrank.estimators.max_margin import MaxMarginEstimator
from tagrank.estimators.targets import warn_nothing_to_rank


class LabelRanker(MaxMarginEstimator):
    """Ranks all labels of a sample: present ones two above absent ones (MLR-L1).

    Minimises ``1/2 sum_l |f_l|^2 + sum_i min_t sum_l C_il max(0, 1 - y_il (f_l(x_i) - t))``: the hinge loss
    with a threshold t of its own for every sample, so that only the order of the labels counts. The
    coefficients of each training sample sum to zero, and the scores have no natural zero. A sample teaches
    something only if it has both a present and an absent label; `OneVsAllSVM` learns single labels.

    `predict` uses a rule learned in training, where the best threshold of every sample is known:
    ``t(x) = a + b * highest score of x``, by least squares. Where every training sample has a label, the
    highest one is always predicted.

    Parameters and further attributes are those of `OneVsAllSVM`.

    Attributes
    ----------
    threshold_rule_ : array (a, b)
    always_predicts_ : bool, whether the highest label is always predicted

    Examples
    --------
    >>> import numpy as np
    >>> from tagrank import LabelRanker
    >>> X = np.array([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0], [0.9, 0.2]])
    >>> tags = [{"sea", "boat"}, {"sea"}, {"street"}, {"street", "car"}]
    >>> ranker = LabelRanker(kernel="linear", C=10).fit(X, tags)
    >>> ranker.classes_[np.argsort(-ranker.decision_function([[0.0, 0.8]]))[0, :2]].tolist()
    ['sea', 'boat']
    """

    stored = stores(threshold_rule_=Numbers("f", (2,)), always_predicts_=FLAG)

    def _loss(self):
        from tagrank.losses.ranking import Ranking

        return Ranking

    def _look_at_bounds(self, bounds):
        warn_nothing_to_rank(bounds)

    def _store(self, problem, solution):
        super()._store(problem, solution)
        has_present, has_absent = np.any(problem.bounds > 0, axis=1), np.any(problem.bounds < 0, axis=1)
        is_mixed = has_present & has_absent
        self.always_predicts_ = not np.any(has_absent & ~has_present)
        self.threshold_rule_ = _fit_line(*solution.thresholds[::-1, is_mixed])

    def choose(self, scores):
        """Labels present, given scores of shape (n_samples, n_labels): those that reach the threshold."""
        highest = scores.max(axis=1, keepdims=True)
        threshold = self.threshold_rule_[0] + self.threshold_rule_[1] * highest
        if self.always_predicts_:
            threshold = np.minimum(threshold, highest)
        return super().choose(scores - threshold)


def _fit_line(x, y):
    """(a, b) of y = a + b x by least squares; flat where x tells nothing."""
    if len(x) == 0:
        return np.zeros(2)
    spread = np.mean((x - x.mean()) ** 2)
    slope = np.mean((x - x.mean()) * (y - y.mean())) / spread if spread > 1e-12 else 0.0
    return np.array([y.mean() - slope * x.mean(), slope])

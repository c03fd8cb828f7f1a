"""Max-margin estimators whose scores go through a sigmoid, label by label."""

import numpy as np

from tagrank.estimators.base import Numbers, stores


class SigmoidScores:
    """Stands before a `MaxMarginEstimator`: ``slope_l f_l(x) + offset_l`` in the place of its scores.

    Slopes go into the coefficients, offsets are the intercept: the machine itself must have none.
    """

    stored = stores(slope_=Numbers("f", ("n_labels",)))

    def _put_sigmoid(self, sigmoid):
        """Change what `_store` left, given the slope and offset of each label."""
        self.slope_, self.intercept_ = sigmoid.slope, sigmoid.offset
        self.dual_coef_ = self.dual_coef_ * self.slope_
        if hasattr(self, "coef_"):
            self.coef_ = self.coef_ * self.slope_[:, None]

    @property
    def _before_sigmoid(self):
        """The coefficients of the machine; 0 where the slope is."""
        machine = np.zeros(self.dual_coef_.shape)
        return np.divide(self.dual_coef_, self.slope_, out=machine, where=self.slope_ > 0)

"""The baseline that does not look: every sample gets the most frequent labels."""

from collections.abc import Mapping

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from tagrank.estimators.answers import AnswersMixin
from tagrank.estimators.calibration.thresholds import predict_top
from tagrank.estimators.costs import make_bounds
from tagrank.estimators.targets import encode_targets, warn_never_positive
from tagrank.validation import check_same_length


class LabelFrequency(AnswersMixin, BaseEstimator):
    """Scores each label by the share of the training samples in which it is present, whatever X is.

    Unknown labels are left out of the share. `predict` gives every sample the most frequent labels, as many
    as a training sample has on average (rounded).

    Attributes
    ----------
    frequencies_ : array, shape (n_labels,)
    classes_ : array, the names of the labels

    Examples
    --------
    >>> from tagrank.estimators import LabelFrequency
    >>> baseline = LabelFrequency().fit([[0], [1], [2]], [{"sea"}, {"sea", "boat"}, {"street"}])
    >>> dict(zip(baseline.classes_, baseline.frequencies_.round(2).tolist()))
    {'boat': 0.33, 'sea': 0.67, 'street': 0.33}
    >>> baseline.predict([[5]]).tolist()
    [[0, 1, 0]]
    """

    def fit(self, X, y, sample_weight=None):
        """Count labels.

        Parameters
        ----------
        X : anything with one row per sample, or a mapping of views to such; only its length counts
        y : labels in any form that `OneVsAllSVM.fit` takes
        sample_weight : array, shape (n_samples,) or (n_samples, n_labels), optional

        Returns
        -------
        self
        """
        targets = encode_targets(y)
        check_same_length(X=range(_count_rows(X)), y=targets.states)
        warn_never_positive(targets)
        weights = make_bounds(targets, sample_weight=sample_weight)
        known = np.abs(weights).sum(axis=0)
        present = np.maximum(weights, 0).sum(axis=0)
        self.frequencies_ = np.divide(present, known, out=np.zeros(len(known)), where=known > 0)
        self.classes_ = targets.classes
        self._one_dimensional = targets.one_dimensional
        return self

    def _scores_of_all(self, X):
        check_is_fitted(self)
        return np.tile(self.frequencies_, (_count_rows(X), 1))

    def choose(self, scores):
        return predict_top(scores, round(self.frequencies_.sum()))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.no_validation = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


def _count_rows(X):
    # scipy's dictionary of keys is a Mapping too
    if isinstance(X, Mapping) and not sparse.issparse(X):
        X = next(iter(X.values()))
    if hasattr(X, "shape"):
        return X.shape[0]
    return len(X) if hasattr(X, "__len__") else len(np.asarray(X))

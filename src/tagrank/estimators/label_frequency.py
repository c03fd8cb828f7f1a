"""The baseline that does not look: every sample gets the most frequent labels."""

from collections.abc import Mapping
from typing import Self

import numpy as np
from scipy import sparse

from tagrank.estimators.base import LabelEstimator, Numbers, stores
from tagrank.estimators.calibration.decisions import predict_top
from tagrank.estimators.compared_rows import PlainRows
from tagrank.estimators.targets import make_bounds, warn_never_positive


class LabelFrequency(LabelEstimator):
    """Scores each label by the share of the training samples in which it is present, and ignores X.

    Unknown labels are left out of the share. `predict` gives every sample the most frequent labels, as many
    as a training sample has on average (rounded).

    Attributes
    ----------
    frequencies_ : array, shape (n_labels,)
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive training sample. They are ranked last and never predicted.

    Examples
    --------
    >>> from tagrank.estimators import LabelFrequency
    >>> baseline = LabelFrequency().fit([[0], [1], [2]], [{"sea"}, {"sea", "boat"}, {"street"}])
    >>> dict(zip(baseline.classes_, baseline.frequencies_.round(2).tolist()))
    {'boat': 0.33, 'sea': 0.67, 'street': 0.33}
    >>> baseline.predict([[5]]).tolist()
    [[0, 1, 0]]
    """

    stored = stores(never_positive_=None, frequencies_=Numbers("f", ("n_labels",)))

    def fit(self, X, y, sample_weight=None) -> Self:
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
        X, targets = self._take(X, y)
        warn_never_positive(targets)
        weights = make_bounds(targets, sample_weight=sample_weight)
        known = np.abs(weights).sum(axis=0)
        present = np.maximum(weights, 0).sum(axis=0)
        self.frequencies_ = np.divide(present, known, out=np.zeros(len(known)), where=known > 0)
        self._name_labels(targets, present == 0)
        return self

    def _check_rows(self, X, *, reset):
        """Only the number of rows counts: that many rows without columns."""
        return np.empty((_count_rows(X.X if isinstance(X, PlainRows) else X), 0))

    def _scores(self, X):
        return np.tile(self.frequencies_, (len(X), 1))

    def choose(self, scores) -> np.ndarray:
        return predict_top(scores, round(self.frequencies_.sum()))

    def restore(self, state):
        super().restore(state)
        self.never_positive_ = self.frequencies_ == 0

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.no_validation = True
        tags.input_tags.allow_nan = True
        return tags


def _count_rows(X):
    # scipy's dictionary of keys is a Mapping too
    if isinstance(X, Mapping) and not sparse.issparse(X):
        X = next(iter(X.values()))
    if hasattr(X, "shape"):
        return X.shape[0]
    return len(X) if hasattr(X, "__len__") else len(np.asarray(X))

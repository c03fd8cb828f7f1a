"""The labels of the nearest sample, filled up from the next ones."""

from dataclasses import dataclass

import numpy as np

from tagrank.estimators.calibration.thresholds import predict_top
from tagrank.estimators.neighbours.neighbor_estimator import NeighborEstimator, shares
from tagrank.validation import check_count

CLEARLY_BELOW = 1e-6  # ties in a group are broken by frequency


@dataclass(kw_only=True, eq=False, repr=False)
class LabelTransfer(NeighborEstimator):
    """Takes over the labels of the nearest training sample, then some of those of the next (JEC).

    The rule of Makadia, Pavlovic and Kumar 2008: first the labels of the nearest sample, the most frequent
    ones in training first; then labels of its other `n_neighbors` - 1 neighbours, by how often they occur
    together in training with the labels taken first, and how often the neighbours have them. How these two
    are combined is not known here, it is the product. All labels get a score: those that no neighbour has
    follow, by their frequency.

    Distances of several views are added, each divided by its mean over training pairs; the paper divides
    by the largest, which one outlier decides. A label that is unknown of the nearest sample is not taken from
    it; neighbours where a label is unknown have no say in how often they have it.

    Parameters
    ----------
    n_transferred : int, default 5
        How many labels `predict` gives every sample.
    kernel : str, Kernel or list of them, default "rbf"
        What distances are measured by: Euclidean for "rbf" and "linear", chi-square for "chi2", the mean of
        those of its terms for a sum of kernels, such as one for each view. With "precomputed", X is a Gram
        matrix.
    gamma : float, optional
        Belongs to the kernel and changes no neighbours.
    n_neighbors : int, default 5
        How many training samples are looked at; all if there are fewer. More give smoother scores.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Attributes
    ----------
    states_ : int8 array, shape (n_samples, n_labels)
        Labels of the training samples: 1 present, -1 absent, 0 unknown.
    frequencies_ : array, shape (n_labels,)
        Shares of the samples where a label is known that have it.
    scales_ : array, shape (n_terms,)
        Mean distances of training samples, by which those of each term of the kernel are divided.
    diagonal_ : array, shape (n_samples,), or None
        Similarities of the training samples with themselves, for kernel="precomputed".
    support_ : int array, shape (n_samples,)
        Indices of the training samples that are kept: all.
    kernel_ : Kernel
        The kernel, with its width fixed by the training samples.
    X_fit_ : array, sparse matrix or mapping of views
        The training samples that predictions are computed from; missing for kernel="precomputed".
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive training sample. They are ranked last and never predicted.
    n_features_in_ : int
        Number of columns of X in `fit`; missing where X was a mapping of views.

    Examples
    --------
    >>> from tagrank.estimators import LabelTransfer
    >>> X = [[0.0], [0.2], [1.0], [1.1]]
    >>> tags = [{"sea", "boat"}, {"sea", "sun"}, {"street"}, {"street", "car"}]
    >>> model = LabelTransfer(n_neighbors=2).fit(X, tags)
    >>> model.classes_[(-model.decision_function([[0.05]])[0]).argsort()].tolist()
    ['sea', 'boat', 'sun', 'street', 'car']
    """

    n_neighbors: int = 5
    n_transferred: int = 5

    def _check_parameters(self):
        super()._check_parameters()
        check_count("n_transferred", self.n_transferred)

    def _scores(self, X):
        indices, _ = self._nearest(X)
        first = self.states_[indices[:, 0]] > 0
        local = shares(*self._votes(indices[:, 1:]))
        present = (self.states_ > 0).astype(np.float64)
        together = first.astype(np.float64) @ (present.T @ present)
        together[~first.any(axis=1)] = 1  # without labels of the nearest only the others speak
        follow = local * together
        follow /= 1 + follow.max(axis=1, keepdims=True)
        scores = np.where(local > 0, 1 + follow + CLEARLY_BELOW * self.frequencies_, self.frequencies_ / 2)
        return np.where(first, 3 + self.frequencies_, scores)

    def choose(self, scores):
        """Labels present: as many as are transferred."""
        return predict_top(scores, self.n_transferred) * ~self.never_positive_

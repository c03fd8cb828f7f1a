"""The share of the nearest samples that have a label."""

from dataclasses import dataclass

import numpy as np

from tagrank.estimators.neighbours.distances import term_weights
from tagrank.estimators.neighbours.neighbor_estimator import NeighborEstimator
from tagrank.validation import check_choice


@dataclass(kw_only=True, eq=False, repr=False)
class NearestNeighbors(NeighborEstimator):
    """Scores a label by the share of the nearest training samples that have it (k-NN).

    The training set as a whole has one vote beside the `n_neighbors`: ``(votes + frequency) / (voters + 1)``.
    So labels with equal votes stand in the order of their frequency, and a label that no neighbour knows is
    scored by it. Neighbours where a label is unknown have no vote for it. `predict` answers labels with half
    of the votes.

    Parameters
    ----------
    voting : {"equal", "similarity"}, default "equal"
        "similarity": a vote weighs exp(-d^2 / mean of d^2 over the neighbours), in proportion.
    kernel : str, Kernel or list of them, default "rbf"
        What distances are measured by: Euclidean for "rbf" and "linear", chi-square for "chi2", the mean of
        those of its terms for a sum of kernels, such as one for each view. With "precomputed", X is a Gram
        matrix.
    gamma : float, optional
        Belongs to the kernel and changes no neighbours.
    n_neighbors : int, default 10
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
    >>> from tagrank.estimators import NearestNeighbors
    >>> X = [[0.0], [0.2], [1.0], [1.1]]
    >>> model = NearestNeighbors(n_neighbors=2).fit(X, [{"sea", "boat"}, {"sea"}, {"street"}, {"street"}])
    >>> dict(zip(model.classes_, model.decision_function([[0.1]])[0].round(2).tolist()))
    {'boat': 0.42, 'sea': 0.83, 'street': 0.17}
    """

    voting: str = "equal"

    def _check_parameters(self):
        super()._check_parameters()
        check_choice("voting", self.voting, ("equal", "similarity"))

    def _scores(self, X):
        indices, distances = self._nearest(X)
        weights = None if self.voting == "equal" else self._similarity(distances)
        present, known = self._votes(indices, weights)
        return (present + self.frequencies_) / (known + 1)

    def _similarity(self, distances):
        """Weights (n_samples, k) of neighbours, of mean 1."""
        squares = (distances @ term_weights(self.kernel_)) ** 2
        widths = squares.mean(axis=1, keepdims=True)
        weights = np.exp(-squares / np.where(widths > 0, widths, 1))
        return weights / weights.mean(axis=1, keepdims=True)

    def choose(self, scores):
        """Labels present: those whose score reaches one half."""
        return ((scores >= 0.5) & ~self.never_positive_).astype(np.int64)

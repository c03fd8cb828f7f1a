"""Labels of all samples, by how likely the sample is to come from each."""

from dataclasses import dataclass, field

import numpy as np

from tagrank.estimators.neighbours.distances import term_weights
from tagrank.estimators.neighbours.neighbor_estimator import NeighborEstimator, shares
from tagrank.kernels.gram import n_rows
from tagrank.validation import check_positive


@dataclass(kw_only=True, eq=False, repr=False)
class RelevanceModel(NeighborEstimator):
    """The mean of a label over all training samples, weighted by a Gaussian of their distance (MBRM).

    The multiple-Bernoulli relevance model of Feng, Manmatha and Lavrenko 2004 on one feature vector a sample
    (theirs are those of the parts of a picture, whose densities are multiplied):

        P(l | x) = sum_j k(x, x_j) P(l | j) / sum_j k(x, x_j),    P(l | j) = (mu [j has l] + n_l) / (mu + n)

    that is (1 - s) times the weighted share of samples that have the label, and s = n / (mu + n) times
    its frequency. k = exp(-(d / bandwidth)^2), where d is the distance of `NearestNeighbors`, whose mean over
    training pairs is one; so the kernel's own width plays no part. Samples where a label is unknown have no
    weight for it. `predict` answers labels that reach one half.

    Parameters
    ----------
    bandwidth : float, default 0.2
        Of the Gaussian, in mean distances. Nearly all weight is on the nearest samples if it is small.
    smoothing : float, default 0.1
        s, from 0 to below 1. The larger it is, the more all samples get the frequent labels.
    kernel : str, Kernel or list of them, default "rbf"
        What distances are measured by: Euclidean for "rbf" and "linear", chi-square for "chi2", the mean of
        those of its terms for a sum of kernels, such as one for each view. With "precomputed", X is a Gram
        matrix.
    gamma : float, optional
        Belongs to the kernel and changes no neighbours.
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
    >>> from tagrank.estimators import RelevanceModel
    >>> X = [[0.0], [0.2], [1.0], [1.1]]
    >>> model = RelevanceModel().fit(X, [{"sea", "boat"}, {"sea"}, {"street"}, {"street"}])
    >>> dict(zip(model.classes_, model.decision_function([[0.05]])[0].round(2).tolist()))
    {'boat': 0.7, 'sea': 0.95, 'street': 0.05}
    """

    bandwidth: float = 0.2
    smoothing: float = 0.1
    # none is left out
    n_neighbors: int = field(default=1, init=False)

    def _check_parameters(self):
        super()._check_parameters()
        check_positive("bandwidth", self.bandwidth)
        if not check_positive("smoothing", self.smoothing, allow_zero=True) < 1:
            raise ValueError(f"smoothing must be a number from 0 to below 1, got {self.smoothing!r}")

    def _scores(self, X):
        present, known = ((self.states_ > 0).astype(np.float64), (self.states_ != 0).astype(np.float64))
        n_samples, terms = n_rows(X), term_weights(self.kernel_)
        found = np.empty((n_samples, present.shape[1]))
        for block in self._blocks(n_samples):
            exponents = -(((self._distances(X, block) @ terms) / self.bandwidth) ** 2)
            weights = np.exp(exponents - exponents.max(axis=1, keepdims=True))
            total = weights @ known
            found[block] = np.where(total > 0, shares(weights @ present, total), self.frequencies_)
        return (1 - self.smoothing) * found + self.smoothing * self.frequencies_

    def choose(self, scores):
        """Labels present: those whose score reaches one half."""
        return ((scores >= 0.5) & ~self.never_positive_).astype(np.int64)

"""The mean of a label over all training samples, near ones counting more: of samples, or of their parts."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from tagrank.arrays import row_blocks, rows_within
from tagrank.estimators.compared_rows import PlainRows
from tagrank.estimators.neighbours.distances import distances_of, fit_distances, term_weights
from tagrank.estimators.neighbours.neighbor_estimator import NeighborEstimator, shares
from tagrank.kernels import Precomputed
from tagrank.kernels.gram import n_rows, take_rows
from tagrank.validation import check_count, check_positive


@dataclass(kw_only=True, eq=False, repr=False)
class RelevanceModel(NeighborEstimator):
    """The mean of a label over all training samples, weighted by a Gaussian of their distance (MBRM).

    The multiple-Bernoulli relevance model of Feng, Manmatha and Lavrenko 2004:

        P(l | x) = sum_j k(x, x_j) P(l | j) / sum_j k(x, x_j),    P(l | j) = (mu [j has l] + n_l) / (mu + n)

    that is (1 - s) times the weighted share of samples that have the label, and s = n / (mu + n) times
    its frequency. k = exp(-(d / bandwidth)^2), where d is the distance of `NearestNeighbors`, whose mean over
    training pairs is one; so the kernel's own width plays no part. Samples where a label is unknown have no
    weight for it. `predict` answers labels that reach one half.

    The published form uses the parts of a picture instead of the whole: rows are `n_regions` parts with the
    same number of columns, one after the other, such as those of ``RegionMoments``; each part a of x has a
    density among the parts b of x_j, and densities are multiplied:

        k(x, x_j) = prod_a mean_b exp(-(d_ab / bandwidth)^2)

    where the mean of d is one over pairs of parts.

    Parameters
    ----------
    bandwidth : float, default 0.2
        Of the Gaussian, in mean distances. Nearly all weight is on the nearest samples if it is small.
    smoothing : float, default 0.1
        s, from 0 to below 1. The larger it is, the more all samples get the frequent labels.
    n_regions : int, default 1
        Number of parts that the columns of each row, or of each view, are cut into.
    kernel : str, Kernel or list of them, default "rbf"
        The distance: Euclidean for "rbf" and "linear", chi-square for "chi2", and for a sum of kernels, such
        as one for each view, the mean of the distances of its terms. With "precomputed", X is a Gram matrix.
    gamma : float, optional
        Width of the kernel; it does not change the neighbours.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Attributes
    ----------
    states_ : int8 array, shape (n_samples, n_labels)
        Labels of the training samples: 1 present, -1 absent, 0 unknown.
    frequencies_ : array, shape (n_labels,)
        For each label, the share of the samples that have it, among those where it is known.
    scales_ : array, shape (n_terms,)
        Mean distances of training samples; the distances of each term of the kernel are divided by these.
    diagonal_ : array, shape (n_samples,), or None
        Similarities of the training samples with themselves, for kernel="precomputed".
    support_ : int array, shape (n_samples,)
        Indices of the stored training samples: all.
    kernel_ : Kernel
        The kernel, with its width fixed by the training samples.
    X_fit_ : array, sparse matrix or mapping of views
        The training samples that predictions are computed from; missing for kernel="precomputed".
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive training sample. They are ranked last and never predicted.
    n_features_in_ : int
        Number of columns of X in `fit`; missing if X was a mapping of views.

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
    n_regions: int = 1
    # none is left out
    n_neighbors: int = field(default=1, init=False)

    def _check_parameters(self):
        super()._check_parameters()
        check_positive("bandwidth", self.bandwidth)
        if not check_positive("smoothing", self.smoothing, allow_zero=True) < 1:
            raise ValueError(f"smoothing must be a number from 0 to below 1, got {self.smoothing!r}")
        check_count("n_regions", self.n_regions)

    def compare(self, X) -> Any:
        return super().compare(X) if self.n_regions == 1 else PlainRows(getattr(X, "X", X))

    def restore(self, state):
        super().restore(state)
        self._check_parts(self.kernel_, self.X_fit_)

    def _check_parts(self, kernel, X):
        """Raise if rows cannot be cut into their parts."""
        if self.n_regions > 1 and isinstance(kernel, Precomputed):
            raise ValueError(
                f"n_regions={self.n_regions} needs rows, got similarities; leave out kernel='precomputed'"
            )
        for rows in X.values() if isinstance(X, dict) else (X,):
            if X is not None and rows.shape[1] % self.n_regions:
                raise ValueError(
                    f"n_regions must divide the number of columns, got {self.n_regions} for {rows.shape[1]}"
                )

    def _measure_rows(self, X):
        if self.n_regions == 1:
            super()._measure_rows(X)
            return
        kernel = self._kernel_for(X)
        self._check_parts(kernel, X)
        self.diagonal_ = None
        self.kernel_, self.scales_ = fit_distances(kernel, parts_of(X, self.n_regions))

    def _scores(self, X):
        present, known = ((self.states_ > 0).astype(np.float64), (self.states_ != 0).astype(np.float64))
        n_samples = n_rows(X)
        weighted_shares = np.empty((n_samples, present.shape[1]))
        for block in self._blocks(n_samples):
            exponents = self._exponents(X, block)
            weights = np.exp(exponents - exponents.max(axis=1, keepdims=True))
            total = weights @ known
            weighted_shares[block] = np.where(total > 0, shares(weights @ present, total), self.frequencies_)
        return (1 - self.smoothing) * weighted_shares + self.smoothing * self.frequencies_

    def _blocks(self, n_samples):
        pairs = len(self.states_) * len(self.scales_) * self.n_regions**2
        return row_blocks(n_samples, rows_within(pairs))

    def _exponents(self, X, block):
        """Logarithms (n_block, n_training) of k."""
        terms, n = term_weights(self.kernel_), self.n_regions
        if n == 1:
            return -(((self._distances(X, block) @ terms) / self.bandwidth) ** 2)
        parts = parts_of(take_rows(X, block), n), parts_of(self.X_fit_, n)
        D = distances_of(self.kernel_, *parts, self.scales_, n_jobs=self.n_jobs) @ terms
        exponents = -((D.reshape(-1, n, len(self.states_), n) / self.bandwidth) ** 2)
        # the number of parts is the same for all samples
        return logsumexp(exponents, axis=3).sum(axis=1)

    def choose(self, scores) -> np.ndarray:
        """Labels present: those whose score reaches one half."""
        return ((scores >= 0.5) & ~self.never_positive_).astype(np.int64)


def parts_of(X, n_parts):
    """The parts of each row of `X`, or of each of its views, as rows of their own."""
    if isinstance(X, dict):
        return {name: parts_of(rows, n_parts) for name, rows in X.items()}
    parts = X.reshape(X.shape[0] * n_parts, X.shape[1] // n_parts)
    return sparse.csr_array(parts) if sparse.issparse(X) else parts

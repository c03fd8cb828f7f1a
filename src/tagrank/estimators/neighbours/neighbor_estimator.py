"""Estimators that look at the training samples nearest to a sample."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone

from tagrank.arrays import row_blocks, rows_within
from tagrank.estimators.base import SMALLEST, Numbers, stores
from tagrank.estimators.compared_rows import ComparedRows, GramRows, PlainRows, Similarities
from tagrank.estimators.kernel_estimator import KNOWN_OF_ROWS, KernelEstimator
from tagrank.estimators.neighbours.distances import (
    ComparedDistances,
    distances_of,
    fit_distances,
    is_euclidean,
    mean_distances,
    nearest_of,
    nearest_rows,
    similarity_distances,
    spread,
    term_weights,
)
from tagrank.estimators.targets import warn_never_positive
from tagrank.kernels import Precomputed
from tagrank.kernels.gram import n_rows, take_rows
from tagrank.resources import limited_threads
from tagrank.validation import check_count

LARGEST_COMPARED = 2**30  # bytes of distances that folds share; above, each fold searches anew


@dataclass(kw_only=True, eq=False, repr=False)
class NeighborEstimator(KernelEstimator):
    """Keeps the training samples, and learns from those that are near each other.

    The distance of two samples is the weighted mean over the terms of the kernel, see
    `tagrank.estimators.neighbours.distances`; `gamma` changes no neighbours. In training no sample is its own
    neighbour, however many coincide. With fewer samples than `n_neighbors`, all of them are neighbours.

    A subclass writes ``_learn()``, called once samples and labels are kept, and ``_scores(X)``; both find
    neighbours with `_nearest`.

    Attributes
    ----------
    states_ : int8 array, shape (n_samples, n_labels): 1 present, -1 absent, 0 unknown, in training
    frequencies_ : array, shape (n_labels,), shares of the samples where a label is known that have it
    scales_ : array, shape (n_terms,), mean distances of training samples
    """

    kernel: Any = "rbf"
    gamma: float | None = None
    n_neighbors: int = 10
    n_jobs: int | None = None

    stored = stores(
        intercept_=None,
        coef_=None,
        dual_coef_=None,
        states_=Numbers("i", ("n_kept", "n_labels")),
        scales_=Numbers("f", ("n_terms",), least=SMALLEST),
        diagonal_=Numbers("f", ("n_kept",), optional=True),
    )

    def fit(self, X, y) -> Self:
        """Learn from training samples.

        Parameters
        ----------
        X : array, sparse matrix or mapping of views, as in `OneVsAllSVM.fit`
        y : labels in any form that `OneVsAllSVM.fit` takes

        Returns
        -------
        self
        """
        X, targets = self._take(X, y)
        warn_never_positive(targets)
        self._name_labels(targets)
        self.states_ = targets.states
        with limited_threads(self.n_jobs):
            self._measure_rows(X)
            self._keep_rows(X)
            self._learn(X)
        return self

    def _learn(self, X):
        """Learn from checked rows; by default nothing."""

    def _check_parameters(self):
        super()._check_parameters()
        check_count("n_neighbors", self.n_neighbors)

    @property
    def frequencies_(self):
        return shares((self.states_ > 0).sum(axis=0), (self.states_ != 0).sum(axis=0))

    @property
    def support_(self):
        """All training samples are kept."""
        return np.arange(len(self.states_))

    def compare(self, X) -> Any:
        X = rows_themselves(X)
        kernel = None if isinstance(X, PlainRows) else self._kernel_for(X)
        if kernel is None or is_euclidean(kernel):
            return X if kernel is None else PlainRows(X)
        if isinstance(kernel, Precomputed):
            return GramRows.of_all(X)
        model, unchecked = clone(self), X
        X = model._check_rows(X, reset=True)
        if n_rows(X) ** 2 * len(kernel.terms) * 4 > LARGEST_COMPARED:
            return PlainRows(unchecked)
        model._measure_rows(X)
        D = distances_of(model.kernel_, X, None, model.scales_, dtype=np.float32, n_jobs=self.n_jobs)
        known = {name: vars(model)[name] for name in (*KNOWN_OF_ROWS, "scales_") if name in vars(model)}
        return ComparedDistances(X, model.kernel_, D, known)

    def _check_rows(self, X, *, reset):
        return super()._check_rows(rows_themselves(X), reset=reset)

    def _measure_rows(self, X):
        """Fix the kernel and the mean distances."""
        self.diagonal_ = None
        if isinstance(X, ComparedRows):
            self.kernel_ = X.kernel
            return
        kernel = self._kernel_for(X)
        if not isinstance(kernel, Precomputed):
            self.kernel_, self.scales_ = fit_distances(kernel, X)
            return
        self.kernel_, K = kernel.fit_gram(X, n_jobs=self.n_jobs)
        self.diagonal_ = K.diagonal().astype(np.float64)
        some = spread(len(K))
        D = similarity_distances(K[np.ix_(some, some)], self.diagonal_[some], self.diagonal_[some])
        self.scales_ = mean_distances(D)

    def _nearest(self, X, *, leave_one_out=False):
        """Indices (n_samples, k) of the nearest training samples, and distances (n_samples, k, n_terms)."""
        k = min(self.n_neighbors, len(self.states_) - leave_one_out)
        if isinstance(X, np.ndarray) and is_euclidean(self.kernel_):
            indices, distances = nearest_rows(
                X, self.X_fit_, k, leave_one_out=leave_one_out, n_jobs=self.n_jobs
            )
            return indices, distances[:, :, None] / self.scales_
        n_samples, weights = n_rows(X), self._term_weights()
        indices = np.empty((n_samples, k), np.int64)
        distances = np.empty((n_samples, k, len(weights)))
        for block in self._blocks(n_samples):
            own = block.start if leave_one_out else None
            D = self._distances(X, block, in_training=leave_one_out)
            indices[block], _ = nearest_of(D[:, :, 0] if len(weights) == 1 else D @ weights, k, own=own)
            distances[block] = np.take_along_axis(D, indices[block][:, :, None], axis=1)
        return indices, distances

    def _term_weights(self):
        """Weights (n_terms,) of the terms of the kernel in the distance."""
        return term_weights(self.kernel_)

    def _blocks(self, n_samples):
        return row_blocks(n_samples, rows_within(len(self.states_) * len(self.scales_)))

    def _distances(self, X, block, *, in_training=False):
        """Scaled distances (n_block, n_training, n_terms) of the samples in `block`."""
        if isinstance(X, ComparedRows | Similarities):
            return X.K[block].astype(np.float64)
        if isinstance(self.kernel_, Precomputed):
            own = self.diagonal_[block] if in_training else None
            return similarity_distances(X[block], self.diagonal_, own) / self.scales_
        return distances_of(self.kernel_, take_rows(X, block), self.X_fit_, self.scales_, n_jobs=self.n_jobs)

    def _some_distances(self, X):
        """Which training samples, at most 1,000, and their scaled distances (n_some, n_some, n_terms)."""
        some = spread(n_rows(X))
        if isinstance(X, ComparedRows):
            return some, X.K[np.ix_(some, some)].astype(np.float64)
        return some, distances_of(self.kernel_, take_rows(X, some), None, self.scales_, n_jobs=self.n_jobs)

    def _votes(self, indices, weights=None):
        """For each sample and label, weights (n, k) of neighbours that have it and of those that know.

        Returns
        -------
        present, known : arrays, shape (n_samples, n_labels)
        """
        n_samples, k = indices.shape
        weights = np.ones(indices.shape) if weights is None else weights
        ends = np.arange(n_samples + 1) * k
        pick = sparse.csr_array(
            (weights.ravel(), indices.ravel(), ends), shape=(n_samples, len(self.states_))
        )
        present = (pick @ sparse.csr_array(self.states_ > 0, dtype=np.float64)).toarray()
        known = np.repeat(weights.sum(axis=1)[:, None], self.states_.shape[1], axis=1)
        if not self.states_.all():
            known -= (pick @ sparse.csr_array(self.states_ == 0, dtype=np.float64)).toarray()
        return present, known

    def stored_state(self):
        return super(KernelEstimator, self).stored_state()

    def restore(self, state):
        super(KernelEstimator, self).restore(state)
        n_columns = getattr(self, "n_features_in_", None)
        is_given = isinstance(self.kernel_, Precomputed)
        n_kept = n_columns if is_given else None if self.X_fit_ is None else n_rows(self.X_fit_)
        if n_kept != len(self.states_):
            raise ValueError(f"{n_kept} training rows do not fit {len(self.states_)} rows of labels")
        if len(self.scales_) != len(self.kernel_.terms) or not np.all(self.scales_ > 0):
            raise ValueError("each term of the kernel must have one positive mean distance")
        if is_given and self.diagonal_ is None:
            raise ValueError("the similarities of training rows with themselves are missing")


def rows_themselves(X):
    """The rows of others' comparisons: similarities of a sum do not tell the distances of its terms."""
    is_foreign = isinstance(X, ComparedRows) and not isinstance(X, ComparedDistances)
    return X.X if is_foreign else X


def shares(present, known):
    """present / known, and 0 where nothing is known."""
    return np.divide(present, known, out=np.zeros(np.shape(present)), where=known > 0)

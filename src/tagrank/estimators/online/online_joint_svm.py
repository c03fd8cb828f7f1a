"""A joint perceptron for streams."""

import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy import sparse

from tagrank.arrays import row_blocks
from tagrank.estimators.base import FLAG, NUMBER, Numbers, Rows, stores
from tagrank.estimators.compared_rows import ComparedRows
from tagrank.estimators.joint.label_vectors import choose_labels
from tagrank.estimators.joint.output_kernels import inverse_roots
from tagrank.estimators.kernel_estimator import KernelEstimator
from tagrank.estimators.online.stream_estimator import StreamEstimator
from tagrank.estimators.targets import warn_labels_never_differ
from tagrank.kernels import Linear, Precomputed, make_kernel
from tagrank.kernels.gram import diagonal_of, gram, n_rows, take_rows
from tagrank.solvers.perceptrons import BLOCK
from tagrank.validation import check_choice, check_flag, check_positive


class KernelRows:
    """Coefficients A (n_kept, n_labels) of the kept rows X, as the joint perceptron reads and adds them.

    `total` is the sum of the coefficients over all samples, None if no average is wanted.
    """

    def __init__(self, kernel, X, A, total):
        self.kernel = kernel
        self.X = X
        self.A = A
        self.total = total

    def read(self, rows):
        scale = self._inverse_lengths(rows)
        products = gram(self.kernel, rows) * scale[:, None] * scale
        if not len(self.A):
            return np.zeros((len(scale), self.A.shape[1])), products
        return scale[:, None] * (gram(self.kernel, rows, self.X) @ self.A), products

    def add(self, rows, changes, seen):
        updated = np.flatnonzero(np.any(changes != 0, axis=1))
        added = take_rows(rows, updated)
        new = changes[updated] * self._inverse_lengths(added)[:, None]
        if self.total is not None:
            self.total = np.concatenate([self.total + len(seen) * self.A, new * seen[updated, None]])
        self.A = np.concatenate([self.A, new])
        self.X = _stack(self.X, added)

    def _inverse_lengths(self, rows):
        if n_rows(rows) == 0:
            return np.zeros(0)
        return inverse_roots(diagonal_of(self.kernel, rows).astype(np.float64))


def _stack(first, second):
    if isinstance(first, Mapping):
        return {view: _stack(first[view], second[view]) for view in first}
    if n_rows(second) == 0:
        return first
    return sparse.vstack([first, second], "csr") if sparse.issparse(first) else np.vstack([first, second])


NEEDS_ROWS = "a stream needs rows and a kernel; similarities can only be learned with fit"
NEEDS_ALL = "form='dual' needs all samples at once: use fit, or form='primal' for a stream"


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineJointSVM(StreamEstimator, KernelEstimator):
    """Learns all labels at once from a stream, each sample seen once (JSVM-Per, a joint perceptron).

    As in `JointSVM` the labels of a sample are one vector v of unit length at which the model W is to point.
    A sample x whose ``<v, W phi(x)> / |W|`` is below `margin` is added: ``W += v phi(x)'``. There is nothing
    to converge to and no certificate; `JointSVM` is the better choice for what fits into memory.

    ``center=False, average=False, shuffle=False`` is the perceptron as published, ``form="dual"`` the paper's
    other one. With kernel="linear" the memory is that of W, however long the stream. With another kernel the
    samples added are kept. The width of a kernel that takes it from data is that of the first chunk.

    Parameters
    ----------
    margin : float, default 0.1
        What ``<v, W phi(x)> / |W|`` must reach, from 0 to below 1. With one that is too large every sample is
        added.
    center : bool, default True
        Take the mean of each label off its +-1 entries; in a stream, the mean of what came so far.
    average : bool, default True
        Predict with the mean of the weights over all samples seen, which depends less on the last samples.
    kernel : {"rbf", "linear", "poly", "chi2", "intersection", "hellinger", "precomputed"} or Kernel, default
        "linear"
        Similarity of two samples. "rbf" suits most dense features, "chi2", "intersection" and "hellinger"
        suit histograms. "linear" trains on the rows themselves, dense or sparse, without a Gram matrix;
        choose it for many rows or many columns. With "precomputed", X is the Gram matrix. Kernels can be
        added, multiplied and put on views: ``Gaussian().on("gist") + ChiSquared().on("sift")``.
    gamma : float, optional
        1 / width of "rbf" and "chi2", and the factor of "poly". The larger gamma, the fewer samples count as
        similar. By default the width is the mean distance of training pairs; if the ranking is poor, try half
        and twice that, together with other values of C.
    form : {"primal", "dual"}, default "primal"
        "primal" adds a sample to W. "dual" is the published dual perceptron: one number for each sample, all
        of which move by the similarities to a sample that misses the margin, which is not divided by the
        length of W. It needs a Gram matrix, and `fit`.
    step : float, for form="dual", default 1.0
        Size of an update; only its ratio to `margin` matters. The primal form would be scaled by it and
        answer the same.
    max_iter : int, default 5
        Maximum number of passes of `fit` over the data; `fit` stops after a pass without an update.
        `partial_fit` makes one pass.
    shuffle : bool, default True
        Visit samples in random order in `fit`. False keeps their order, as published.
    random_state : int, RandomState or None, default None
        Seed of the order in which `fit` visits samples. `partial_fit` keeps the order of the stream.
    n_jobs : int, optional
        Number of threads for predictions and for the Gram matrix of `fit`; all cores by default.

    Attributes
    ----------
    always_predicts_ : bool, whether at least one label is always predicted, as every sample has one
    label_values_ : array, shape (2, n_labels), entries of absent and of present labels in a label vector
    dual_coef_ : array, shape (n_kept, n_labels)
        For kernels other than "linear": ``decision_function(X)`` is ``K(X, X_fit_) @ dual_coef_``.
    X_fit_ : array, sparse matrix or mapping of views
        The samples that were added; for kernels other than "linear".
    support_ : int array, shape (n_support,)
        Indices of the stored samples with a nonzero coefficient; for kernels other than "linear".
    intercept_ : array, shape (n_labels,)
        Zero: append a constant column to X for a bias.
    n_seen_ : int
        Number of samples seen; each pass of `fit` counts a sample again.
    n_updates_ : int
        Number of updates of the weights.
    n_iter_ : int
        Number of passes of `fit`.
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive sample so far. They are ranked last and never predicted.
    stream_ : LabelStream
        State of the labels so far: their names, and how often each was present and known.
    kernel_ : Kernel
        The kernel, with its width fixed by the training samples.
    coef_ : array, shape (n_labels, n_features)
        Weights of the columns; only for kernel="linear".
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    n_features_in_ : int
        Number of columns of X in `fit`; missing if X was a mapping of views.

    Examples
    --------
    >>> from tagrank.estimators import OnlineJointSVM
    >>> model = OnlineJointSVM()
    >>> tags = ["boat", "sea", "street"]
    >>> model = model.partial_fit([[0.0, 1.0], [1.0, 0.0]], [{"sea", "boat"}, {"street"}], classes=tags)
    >>> model = model.partial_fit([[0.1, 0.9]], [{"sea"}])
    >>> model.classes_[model.decision_function([[0.0, 0.8]]).argmax()].item()
    'sea'
    """

    margin: float = field(default=0.1, kw_only=False)
    average: bool = True
    kernel: Any = "linear"
    gamma: float | None = None
    center: bool = True
    form: str = "primal"
    step: float = 1.0
    max_iter: int = 5
    shuffle: bool = True
    random_state: Any = None
    n_jobs: int | None = None

    stored = stores(
        intercept_=None,
        coef_=None,
        dual_coef_=None,
        always_predicts_=FLAG,
        squared_norm=NUMBER,
        weights=Numbers("f", ("n_kept", "n_labels")),
        total=Numbers("f", ("n_kept", "n_labels"), optional=True),
        X_fit_=Rows("n_kept"),
    )

    def partial_fit(self, X, y, classes=None) -> Self:
        if self.form == "dual":
            raise ValueError(NEEDS_ALL)
        if self._is_bound_to_gram():
            raise ValueError(NEEDS_ROWS)
        return super().partial_fit(X, y, classes)

    partial_fit.__doc__ = StreamEstimator.partial_fit.__doc__

    def _check_parameters(self):
        StreamEstimator._check_parameters(self)
        KernelEstimator._check_parameters(self)
        if not isinstance(self.margin, numbers.Real) or not 0 <= self.margin < 1:
            raise ValueError(f"margin must be a number from 0 to below 1, got {self.margin!r}")
        check_flag("center", self.center)
        check_flag("shuffle", self.shuffle)
        check_choice("form", self.form, ("primal", "dual"))
        check_positive("step", self.step)
        if self.form == "dual" and self.margin == 0:
            raise ValueError("margin must be above 0 with form='dual', which learns nothing at 0")

    def _begin(self, stream, X, *, at_once):
        from tagrank.solvers.perceptrons import GramCoefficients, LinearWeights

        for stale in ("coef_", "X_fit_", "dual_coef_", "support_"):
            vars(self).pop(stale, None)
        kernel, n_labels = make_kernel(self.kernel, gamma=self.gamma), len(stream.classes)
        is_dual = self.form == "dual"
        if isinstance(kernel, Linear) and not isinstance(X, ComparedRows) and not is_dual:
            self._weights = LinearWeights(X.shape[1], n_labels, X.dtype, averaged=self.average)
        elif at_once:
            kernel, K = self._fit_gram(X)
            self._weights = GramCoefficients(K, n_labels, averaged=self.average and not is_dual)
        elif isinstance(kernel, Precomputed):
            raise ValueError(NEEDS_ROWS)
        else:
            kernel, none = kernel.fit(X), np.zeros((0, n_labels))
            self._weights = KernelRows(kernel, take_rows(X, slice(0)), none, none if self.average else None)
        self.kernel_, self._squared_norm = kernel, 0.0

    def _learn_all(self, X, states):
        V = self.stream_.vectors(states, center=self.center)
        warn_labels_never_differ(V, states)
        self.always_predicts_ = _always_some(states)
        if self.form == "dual":
            from tagrank.solvers.perceptrons import DualCoefficients

            self._weights = DualCoefficients(self._weights.K, V, averaged=self.average)
            return self._learn_dual
        if self._reads_indices():
            return lambda rows: self._learn(rows, V[rows])
        return lambda rows: self._learn(take_rows(X, rows), V[rows])

    def _learn_next(self, X, states):
        self.always_predicts_ = getattr(self, "always_predicts_", True) and _always_some(states)
        for block in row_blocks(len(states), BLOCK):
            V = self.stream_.next_vectors(states[block], center=self.center)
            self._learn(take_rows(X, block), V)

    def _learn(self, rows, V):
        from tagrank.solvers.perceptrons import learn_block

        n_updates, self._squared_norm = learn_block(self._weights, rows, V, self._squared_norm, self.margin)
        self.n_seen_ += len(V)
        self.n_updates_ += n_updates
        return n_updates

    def _learn_dual(self, rows):
        n_updates = self._weights.learn(rows, self.margin, float(self.step))
        self.n_seen_ += len(rows)
        self.n_updates_ += n_updates
        return n_updates

    def _reads_indices(self):
        from tagrank.solvers.perceptrons import GramCoefficients

        return isinstance(getattr(self, "_weights", None), GramCoefficients)

    def _is_bound_to_gram(self):
        return self._reads_indices() and hasattr(self, "dual_coef_")

    def _finish(self, X):
        """Make of the weights what predictions need."""
        self._name_stream()
        if self._reads_indices():
            self._leave_gram(X)
        weights, stream, n_seen = self._weights, self.stream_, max(self.n_seen_, 1)
        means = stream.means() if self.center else np.zeros(len(stream.classes))
        self.label_values_ = np.array([[-1.0], [1.0]]) - means
        self.intercept_ = np.zeros(len(self.classes_))
        if hasattr(weights, "W"):
            self._squared_norm = weights.squared_norm()
            self.coef_ = np.array((weights.W if weights.total is None else weights.total / n_seen).T)
            return
        self.dual_coef_ = weights.A if weights.total is None else weights.total / n_seen
        self.support_ = np.flatnonzero(np.any(self.dual_coef_ != 0, axis=1))
        if isinstance(weights, KernelRows):
            self.X_fit_ = weights.X

    def _leave_gram(self, X):
        """Coefficients of the samples that were added, so that others can follow them."""
        from tagrank.solvers.perceptrons import LinearWeights

        weights, rows = self._weights, X.X if isinstance(X, ComparedRows) else X
        weights.K = None
        if self.form == "dual":
            weights.finish()
        if rows is None or isinstance(self.kernel_, Precomputed):
            return
        if self.form == "dual" and isinstance(self.kernel_, Linear):
            self._weights = LinearWeights(rows.shape[1], weights.A.shape[1], np.float64, averaged=False)
            self._weights.W = rows.T @ weights.A
            self._weights.total = None if weights.total is None else rows.T @ weights.total
            return
        is_kept = np.any(weights.A != 0, axis=1)
        if weights.total is not None:  # a number of the dual form may return to zero
            is_kept |= np.any(weights.total != 0, axis=1)
        kept = np.flatnonzero(is_kept)
        total = None if weights.total is None else weights.total[kept]
        self._weights = KernelRows(self.kernel_, take_rows(rows, kept), weights.A[kept], total)

    def choose(self, scores) -> np.ndarray:
        """Labels present: of all label vectors, scaled to unit length, the one that agrees best."""
        at_least = int(self.always_predicts_ and not self.never_positive_.all())
        return choose_labels(scores, self.label_values_, at_least=at_least) * ~self.never_positive_

    def stored_state(self):
        if self._reads_indices():
            raise ValueError(NEEDS_ROWS)
        weights, state = self._weights, StreamEstimator.stored_state(self)
        own = {"weights": getattr(weights, "W", getattr(weights, "A", None)), "total": weights.total}
        return state | own | {"X_fit_": getattr(weights, "X", None), "squared_norm": self._squared_norm}

    def restore(self, state):
        from tagrank.solvers.perceptrons import LinearWeights

        own = {name: state.pop(name) for name in ("weights", "total", "X_fit_", "squared_norm")}
        weights, total = own["weights"], own["total"]
        StreamEstimator.restore(self, state)
        if (total is not None) != self.average or (own["X_fit_"] is None) != isinstance(self.kernel_, Linear):
            raise ValueError("the weights do not match the kernel and the parameter average")
        self._squared_norm = own["squared_norm"]
        if own["X_fit_"] is not None:
            self._weights = KernelRows(self.kernel_, own["X_fit_"], weights, total)
        else:
            if len(weights) != self.n_features_in_:
                raise ValueError(f"{len(weights)} weights do not fit {self.n_features_in_} columns")
            self._weights = LinearWeights(len(weights), weights.shape[1], weights.dtype, averaged=False)
            self._weights.W, self._weights.total = weights, total
        self._finish(None)


def _always_some(states):
    """Whether no sample is known to have no label."""
    return not np.any(np.all(states <= 0, axis=1) & np.any(states < 0, axis=1))

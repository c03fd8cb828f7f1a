"""Two models on the same rows whose scores are added up: one kernel model, in two parts."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from tagrank.estimators.base import COUNT, FLAG, NUMBER, Numbers, Value, stores
from tagrank.estimators.kernel_estimator import KNOWN_OF_ROWS, KernelEstimator
from tagrank.kernels.gram import n_rows

SHARED = ("classes_", "_one_dimensional", "never_positive_", "kernel_", "X_fit_")
CERTIFICATE = ("primal_objective_", "dual_objective_", "n_iter_")


@dataclass(kw_only=True, eq=False, repr=False)
class ScoreSum(KernelEstimator):
    """Trains two estimators with the same kernel on the same rows; its score is the weighted sum of theirs.

    A ranker and a classifier err in different places, so that their sum often ranks better than both. Both
    are sums over the training rows, so that their sum is one, too: it costs no more to ask than one model.

    Parameters
    ----------
    first, second : max-margin estimators with the same kernel, such as LabelRanker and OneVsAllLogistic
    first_weight, second_weight : float, what their scores are multiplied with

    Attributes
    ----------
    first_name_, second_name_ : str, the classes
    first_dual_, first_coef_, first_intercept_ : the share of the first model in `dual_coef_`, `coef_` and
        `intercept_`, already weighted
    dual_solution_ : pair
        Those of both models; pass this to `fit` as `start` to continue training.
    duality_gap_ : float
        The larger one of both models.
    primal_objective_ : float
        The sum of both models.
    dual_objective_ : float
        The sum of both models.
    n_iter_ : int
        Passes over the data, of both models together.
    converged_ : bool
        Whether both models reached their `tol`.
    kernel_ : Kernel
        The kernel, with its width fixed by the training samples.
    dual_coef_ : array, shape (n_samples, n_labels)
        ``decision_function(X)`` is ``K(X, X_train) @ dual_coef_ + intercept_``.
    coef_ : array, shape (n_labels, n_features)
        Weights of the columns; only for kernel="linear".
    intercept_ : array, shape (n_labels,)
        Constants that are added to the scores of each label.
    support_ : int array, shape (n_support,)
        Indices of the training samples with a nonzero coefficient.
    X_fit_ : array, sparse matrix or mapping of views
        The training samples that predictions are computed from; missing for kernel="precomputed".
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive training sample. They are ranked last and never predicted.
    n_features_in_ : int
        Number of columns of X in `fit`; missing if X was a mapping of views.
    """

    first: Any = field(default=None, kw_only=False)
    second: Any = field(default=None, kw_only=False)
    first_weight: float = 1.0
    second_weight: float = 1.0

    stored = stores(
        first_name_=Value(str),
        second_name_=Value(str),
        first_intercept_=Numbers("f", ("n_labels",)),
        first_coef_=Numbers("f", ("n_labels", "n_features"), optional=True),
        first_dual_=Numbers("f", ("n_kept", "n_labels"), optional=True),
        primal_objective_=NUMBER,
        dual_objective_=NUMBER,
        duality_gap_=NUMBER,
        n_iter_=COUNT,
        converged_=FLAG,
    )
    unstored_parameters = (*KernelEstimator.unstored_parameters, "first", "second")

    @property
    def kernel(self):
        """That of both."""
        return vars(self).get("kernel_", "rbf") if self.first is None else self.first.kernel

    @property
    def gamma(self):
        """That of both."""
        return None if self.first is None else self.first.gamma

    @property
    def landmarks(self):
        """Those of both."""
        return None if self.first is None else getattr(self.first, "landmarks", None)

    @property
    def visits_rows(self):
        """Whether both do."""
        return all(getattr(model, "visits_rows", False) for model in (self.first, self.second))

    @property
    def n_jobs(self):
        """Threads, as the first one has them."""
        return None if self.first is None else self.first.n_jobs

    @property
    def gram_dtype(self):
        return self.first.gram_dtype

    def fit(self, X, y, sample_weight=None, *, start=None, callback=None, stop=None):
        """Train both, see `MaxMarginEstimator.fit`; `start` is a pair.

        Returns
        -------
        self
        """
        rows = self.compare(X)
        both = [
            clone(model).fit(rows, y, sample_weight, start=solution, callback=callback, stop=stop)
            for model, solution in zip((self.first, self.second), start or (None, None), strict=True)
        ]
        self._join(*both)
        return self

    def first_scores(self, X):
        """What the first model contributes to the scores, shape (n_samples, n_labels)."""
        X = self._check_rows(X, reset=False)
        if self.first_coef_ is not None:
            return np.asarray(X @ self.first_coef_.T) + self.first_intercept_
        parts = self._similarities(X, slice(0, n_rows(X))) @ self.first_dual_[self.support_]
        return parts + self.first_intercept_

    def _join(self, first, second):
        weights = float(self.first_weight), float(self.second_weight)
        self.dual_solution_ = first.dual_solution_, second.dual_solution_
        self.first_name_, self.second_name_ = type(first).__name__, type(second).__name__
        for name in (*SHARED, *KNOWN_OF_ROWS):
            if name in vars(first):
                setattr(self, name, vars(first)[name])
        for name in ("coef_", "dual_coef_", "intercept_"):
            if name in vars(first):
                setattr(self, name, weights[0] * vars(first)[name] + weights[1] * vars(second)[name])
        self.first_intercept_ = weights[0] * first.intercept_
        is_linear = "coef_" in vars(first)
        self.first_coef_ = weights[0] * first.coef_ if is_linear else None
        self.first_dual_ = None if is_linear else weights[0] * first.dual_coef_
        self.support_ = np.flatnonzero(np.any(self.dual_coef_ != 0, axis=1))
        for name in CERTIFICATE:
            setattr(self, name, getattr(first, name) + getattr(second, name))
        self.duality_gap_ = max(first.duality_gap_, second.duality_gap_)
        self.converged_ = first.converged_ and second.converged_

    def stored_state(self):
        state = super().stored_state()
        if self.first_dual_ is not None and state["X_fit_"] is not None:
            state["first_dual_"] = self.first_dual_[self.support_]
        return state

    def restore(self, state):
        first = {name: state.pop(name) for name in ("first_coef_", "first_dual_")}
        super().restore(state)
        vars(self).update(first)
        whole, part = ("coef_", "first_coef_") if "coef_" in vars(self) else ("dual_coef_", "first_dual_")
        if vars(self)[part] is None or vars(self)[part].shape != vars(self)[whole].shape:
            raise ValueError(f"{part} must be a part of {whole} and have its shape")

    def _check_parameters(self):
        """Its models check theirs."""

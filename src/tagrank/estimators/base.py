"""The max-margin estimators: parameters in, a certified solution out."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from tagrank.arrays import row_blocks, rows_within
from tagrank.estimators.answers import AnswersMixin
from tagrank.estimators.costs import make_bounds
from tagrank.estimators.targets import Targets, encode_targets, warn_never_positive
from tagrank.kernels import Linear, Precomputed, make_kernel, reads_views
from tagrank.kernels.gram import gram, n_rows, take_rows
from tagrank.parallel import limited_threads
from tagrank.solvers.solution import SINGLE_PRECISION_TOL
from tagrank.validation import check_count, check_flag, check_positive, check_rows, check_same_length

FLOATS = [np.float64, np.float32]
WORTH_THREADS = 2**17  # size of a problem, below which starting threads costs more than it saves


class MaxMarginEstimator(AnswersMixin, BaseEstimator):
    """What OneVsAllSVM and LabelRanker share; a subclass names its loss.

    The parameters are documented there.
    """

    _known_before_training = ("n_features_in_", "feature_names_in_")

    def __init__(
        self,
        C=1.0,
        *,
        kernel="rbf",
        gamma=None,
        class_weight=None,
        fit_intercept=False,
        tol=1e-3,
        max_iter=1000,
        max_seconds=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X, y, sample_weight=None, *, callback=None):
        """Learn from rows and three-state labels.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features); a mapping of views to such arrays for a
            kernel made of `.on(view)` terms; the Gram matrix for kernel="precomputed"
        y : matrix of 1, 0 and nan (dense, sparse with stored nan, DataFrame), shape (n_samples, n_labels);
            a list of tag sets; or one-dimensional classes
        sample_weight : array, shape (n_samples,) or (n_samples, n_labels), optional
        callback : function of a TracePoint, called while training

        Returns
        -------
        self
        """
        problem = self._pose(X, y, sample_weight)
        return self._solve(problem, callback=callback)

    def path(self, X, y, costs, sample_weight=None):
        """Fitted copies of this estimator for several C: one Gram matrix, each started from the last.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        costs : sequence of float, the values of C; ascending order needs the least work

        Returns
        -------
        list of estimators, in the order of `costs`
        """
        problem, models, start = self._pose(X, y, sample_weight), [], None
        known = {name: vars(self)[name] for name in self._known_before_training if name in vars(self)}
        for cost in costs:
            model = clone(self).set_params(C=cost)
            vars(model).update(known)
            models.append(model._solve(problem, start=start))
            start = model._dual_solution
        return models

    @property
    def _dual_solution(self):
        """What another training can start from."""
        return self.dual_coef_

    def _loss(self):
        raise NotImplementedError(f"{type(self).__name__} must name its loss")

    def _scores_of_all(self, X):
        """K(X, X_train) @ dual_coef_ + intercept_; a label never positive in training scores below all."""
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        with limited_threads(self.n_jobs):
            scores = self._scores(X)
        if self.never_positive_.any() and not self.never_positive_.all():
            known = scores[:, ~self.never_positive_]
            scores[:, self.never_positive_] = known.min(axis=1, keepdims=True) - 1
        return scores

    def choose(self, scores):
        """Labels present, given scores of shape (n_samples, n_labels)."""
        return ((scores >= self._threshold(scores)) & ~self.never_positive_).astype(np.int64)

    def _threshold(self, scores):
        """What a score must reach to be predicted, broadcast against (n_samples, n_labels)."""
        return 0.0

    def _check_rows(self, X, *, reset):
        """Finite rows, or the views of a mapping; a Gram matrix is checked by its kernel."""
        check_rows("X", X)
        kernel = make_kernel(self.kernel, gamma=self.gamma)
        if isinstance(X, Mapping) and not sparse.issparse(X):
            if not X or not reads_views(kernel):
                raise ValueError(
                    f"X is a mapping of views ({', '.join(map(str, X)) or 'empty'}), but {kernel!r} reads "
                    "one array: say which view with kernel.on(view), or hand over that array"
                )
            return {view: check_array(rows, accept_sparse="csr", dtype=FLOATS) for view, rows in X.items()}
        is_gram = reset and isinstance(kernel, Precomputed)
        return validate_data(
            self,
            X,
            accept_sparse=False if is_gram else "csr",
            dtype=FLOATS,
            ensure_all_finite=not is_gram or kernel.trusted,  # otherwise `fit_gram` looks, in threads
            reset=reset,
        )

    def _check_parameters(self):
        """Raise if a parameter that every method has is not what it must be."""
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)
        check_flag("fit_intercept", self.fit_intercept)
        if self.max_seconds is not None:
            check_positive("max_seconds", self.max_seconds)

    def _look_at_labels(self, targets):
        """Before training: say which labels will be ranked last."""
        warn_never_positive(targets, stacklevel=5)

    def _look_at_bounds(self, bounds):
        """Before training: say if there is nothing to learn from (n_samples, n_labels)."""

    def _pose(self, X, y, sample_weight):
        self._check_parameters()
        targets = encode_targets(y)
        X = self._check_rows(X, reset=True)
        check_same_length(X=next(iter(X.values())) if isinstance(X, Mapping) else X, y=targets.states)
        self._look_at_labels(targets)
        bounds = make_bounds(targets, class_weight=self.class_weight, sample_weight=sample_weight)
        self._look_at_bounds(bounds)
        kernel = make_kernel(self.kernel, gamma=self.gamma)
        if isinstance(kernel, Linear):
            return Problem(targets, bounds, X, kernel, _with_constant(X) if self.fit_intercept else X, "rows")
        if isinstance(kernel, Precomputed):
            return Problem(targets, bounds, X, *kernel.fit_gram(X, n_jobs=self.n_jobs), "gram")
        dtype = np.float32 if self.tol >= SINGLE_PRECISION_TOL else None
        kernel, K = kernel.fit_gram(X, dtype=dtype, n_jobs=self.n_jobs)
        return Problem(targets, bounds, X, kernel, K, "gram")

    def _solve(self, problem, *, start=None, callback=None):
        # compiled code takes its time to load, and answers need none of it
        from tagrank.solvers.dual_ascent import solve_dual

        C = check_positive("C", self.C)
        with limited_threads(self.n_jobs if problem.size >= WORTH_THREADS else 1):
            solution = solve_dual(
                problem.data,
                self._loss(),
                C * problem.bounds,
                kind=problem.kind,
                tol=self.tol,
                max_iter=self.max_iter,
                max_seconds=self.max_seconds,
                random_state=check_random_state(self.random_state).randint(2**31 - 1),
                start=start,
                intercept=float(self.fit_intercept and problem.kind == "gram"),
                callback=callback or (_print_progress if self.verbose else None),
            )
        self._store(problem, solution)
        _warn_unless_converged(solution, self.tol)
        return self

    def _store(self, problem, solution):
        for stale in ("coef_", "X_fit_"):
            vars(self).pop(stale, None)
        self.classes_ = problem.targets.classes
        self.never_positive_ = ~np.any(problem.bounds > 0, axis=0)
        self._one_dimensional = problem.targets.one_dimensional
        self.kernel_ = problem.kernel
        self.dual_coef_ = solution.coefficients
        self.support_ = np.flatnonzero(np.any(solution.coefficients != 0, axis=1))
        self.intercept_ = np.zeros(len(self.classes_))
        if problem.kind == "rows":
            self.coef_ = np.ascontiguousarray(solution.weights.T[:, : problem.X.shape[1]])
        if self.fit_intercept:
            self.intercept_ = solution.coefficients.sum(axis=0)
        if not isinstance(problem.kernel, Precomputed):
            self.X_fit_ = problem.X
        self.primal_objective_ = solution.primal
        self.dual_objective_ = solution.dual
        self.duality_gap_ = solution.gap
        self.n_iter_ = solution.n_iter
        self.converged_ = solution.converged
        self.trace_ = solution.trace

    def _scores(self, X):
        if isinstance(self.kernel_, Linear):
            return safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_
        coefficients = self.dual_coef_[self.support_]
        scores = np.empty((n_rows(X), len(self.classes_)))
        for block in row_blocks(len(scores), rows_within(len(self.support_))):
            rows = take_rows(X, block)
            if isinstance(self.kernel_, Precomputed):
                K = rows[:, self.support_]
            else:
                K = gram(self.kernel_, rows, take_rows(self.X_fit_, self.support_), n_jobs=self.n_jobs)
            scores[block] = K @ coefficients
        return scores + self.intercept_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed" or isinstance(self.kernel, Precomputed)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        tags.input_tags.positive_only = self.kernel in ("chi2", "intersection", "hellinger")
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


@dataclass
class Problem:
    """A training problem for C = 1: labels, signed bounds, rows, fitted kernel, and what the engine reads."""

    targets: Targets
    bounds: np.ndarray
    X: object
    kernel: object
    data: object
    kind: str

    @property
    def size(self):
        """How many numbers are worked on between two times that threads wait for each other."""
        return self.bounds.size


def _with_constant(X):
    """`X` with a feature that is always one: its weight is the intercept."""
    ones = np.ones((X.shape[0], 1), dtype=X.dtype)
    return sparse.hstack([X, ones], format="csr") if sparse.issparse(X) else np.hstack([X, ones])


def _print_progress(point):
    print(f"pass {point.n_iter:4d}  {point.seconds:7.2f} s  gap {point.gap:.2e}  primal {point.primal:.6g}")


def _warn_unless_converged(solution, tol):
    if solution.converged:
        return
    advice = {
        "max_iter": "raise max_iter, or loosen tol",
        "max_seconds": "raise max_seconds, or loosen tol",
        "interrupt": "training was interrupted",
        "stop": "training was asked to stop",
    }[solution.stopped_by]
    warnings.warn(
        f"the relative duality gap is {solution.gap:.2e} after {solution.n_iter} passes, "
        f"above tol={tol:g}: {advice}",
        ConvergenceWarning,
        stacklevel=4,
    )

"""The max-margin estimators: parameters in, a certified solution out."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from tagrank.arrays import is_elsewhere, to_host
from tagrank.errors import warn
from tagrank.estimators.base import COUNT, FLAG, NUMBER, Numbers, stores
from tagrank.estimators.compared_rows import LandmarkRows, PlainRows
from tagrank.estimators.kernel_estimator import KNOWN_OF_ROWS, KernelEstimator
from tagrank.estimators.targets import Targets, check_class_weight, make_bounds, warn_never_positive
from tagrank.kernels import Linear
from tagrank.resources import limited_threads
from tagrank.solvers.solution import SINGLE_PRECISION_TOL, TracePoint, check_costs
from tagrank.validation import check_count, check_flag, check_positive

# C times the mean squared entry of rows that nobody scaled: dual ascent hardly moves there
UNSCALED = 100.0
ROWS_LOOKED_AT = 1_000  # for this mean
WORTH_THREADS = 2**17  # size of a problem, below which starting threads costs more than it saves


@dataclass(kw_only=True, eq=False, repr=False)
class MaxMarginEstimator(KernelEstimator):
    """Solves a max-margin problem on its dual, to a duality gap; a subclass names its loss.

    A subclass writes ``_loss()``, which returns a class of `tagrank.losses`; everything else is here.

    Parameters
    ----------
    C : float, default 1.0
        Penalty for violated labels. Larger values fit the training labels more closely, smaller ones give
        smoother scores; try powers of ten from 0.01 to 100.
    kernel : {"rbf", "linear", "poly", "chi2", "intersection", "hellinger", "precomputed"} or Kernel, default
        "rbf"
        Similarity of two samples. "rbf" suits most dense features, "chi2", "intersection" and "hellinger"
        suit histograms. "linear" trains on the rows themselves, dense or sparse, without a Gram matrix;
        choose it for many rows or many columns. With "precomputed", X is the Gram matrix. Kernels can be
        added, multiplied and put on views: ``Gaussian().on("gist") + ChiSquared().on("sift")``.
    gamma : float, optional
        1 / width of "rbf" and "chi2", and the factor of "poly". The larger gamma, the fewer samples count as
        similar. By default the width is the mean distance of training pairs; if the ranking is poor, try half
        and twice that, together with other values of C.
    class_weight : None, "balanced", {1: present, 0: absent} or {label: weight}, default None
        Factors of C. "balanced" gives the present and the absent samples of each label the same total weight,
        which helps if rare labels must be predicted. For one-dimensional y, the keys are class names.
    fit_intercept : bool, default False
        Add a constant feature; its weight is regularized like the others. Worth trying if `predict` matters
        more than the ranking.
    tol : float, default 0.001
        Relative duality gap at which training stops. Lower it to compare objectives; rankings hardly change
        below the default.
    max_iter : int, default 1000
        Maximum number of passes over the data. A warning says if `tol` was not reached.
    max_seconds : float, optional
        Stop training after this many seconds and keep the result with its certificate. Ctrl-C does the same.
    random_state : int, RandomState or None, default None
        Seed of the order in which samples are visited. Pass an int for repeatable results.
    n_jobs : int, optional
        Number of threads; all cores by default.
    verbose : int, default 0
        1 prints the duality gap after every pass.

    Attributes
    ----------
    primal_objective_ : float
        The value of the objective that is minimized, summed over labels.
    dual_objective_ : float
        A lower bound of that value, from the dual problem.
    duality_gap_ : float
        (primal - dual) / primal: the objective is at most this share above the best possible one.
    n_iter_ : int
        Number of passes over the data.
    converged_ : bool
        Whether `tol` was reached.
    trace_ : list of (n_iter, seconds, primal, dual, gap)
        History of the training, one point each time the gap was measured.
    dual_solution_ : array, shape (n_samples, n_labels)
        Pass this to `fit` as `start` to continue training.
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

    C: float = field(default=1.0, kw_only=False)
    kernel: Any = "rbf"
    gamma: float | None = None
    class_weight: Any = None
    fit_intercept: bool = False
    tol: float = 1e-3
    max_iter: int = 1000
    max_seconds: float | None = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    stored = stores(
        primal_objective_=NUMBER,
        dual_objective_=NUMBER,
        duality_gap_=NUMBER,
        n_iter_=COUNT,
        converged_=FLAG,
        trace_=Numbers("f", (None, len(TracePoint._fields))),
    )
    _known_before_training = KNOWN_OF_ROWS

    def fit(self, X, y, sample_weight=None, *, start=None, callback=None, stop=None) -> Self:
        """Learn from rows and three-state labels.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features); a mapping of views to such arrays for a
            kernel made of `.on(view)` terms; the Gram matrix for kernel="precomputed"; or what `compare` made
        y : matrix of 1, 0 and nan (dense, sparse with stored nan, DataFrame), shape (n_samples, n_labels);
            a list of tag sets; or one-dimensional classes
        sample_weight : array, shape (n_samples,) or (n_samples, n_labels), optional
        start : `dual_solution_` of an earlier training, its rows those of `X` and its columns those of `y`;
            zero where nothing was known. It is made feasible for the labels of today, and changes only how
            long the way is
        callback : function of a TracePoint, called while training
        stop : function without arguments, asked while training; when it returns True, training ends with the
            certificate of what was reached

        Returns
        -------
        self
        """
        problem = self._pose(X, y, sample_weight)
        return self._solve(problem, start=start, callback=callback, stop=stop)

    def path(self, X, y, costs, sample_weight=None, *, stop=None) -> Any:
        """Fitted copies of this estimator for several C: one Gram matrix, each started from the last.

        Parameters
        ----------
        X, y, sample_weight, stop : as in `fit`
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
            models.append(model._solve(problem, start=start, stop=stop))
            start = model.dual_solution_
        return models

    @property
    def gram_dtype(self):
        return np.float32 if self.tol >= SINGLE_PRECISION_TOL else None

    @property
    def dual_solution_(self):
        """What another training can start from; for most, the coefficients (n_samples, n_labels)."""
        return vars(self).get("_solution_of_rows", self.dual_coef_)

    def _loss(self):
        """The loss: its name, or what makes it, as `tagrank.solvers.dual_ascent.solve_dual` takes it."""
        raise NotImplementedError(f"{type(self).__name__} must name its loss")

    def _check_parameters(self):
        super()._check_parameters()
        check_positive("C", self.C)
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)
        check_flag("fit_intercept", self.fit_intercept)
        check_class_weight(self.class_weight)
        if self.max_seconds is not None:
            check_positive("max_seconds", self.max_seconds)

    def _look_at_labels(self, targets):
        """Before training: say which labels will be ranked last."""
        warn_never_positive(targets)

    def _look_at_bounds(self, bounds):
        """Before training: say if there is nothing to learn from (n_samples, n_labels)."""

    def _pose(self, X, y, sample_weight):
        if getattr(self, "landmarks", None) is not None:
            X = self.compare(X)
        X, targets = self._take(X, y)
        self._look_at_labels(targets)
        bounds = make_bounds(targets, class_weight=self.class_weight, sample_weight=sample_weight)
        self._look_at_bounds(bounds)
        if isinstance(X, LandmarkRows):
            return MarginProblem(targets, bounds, X, X.kernel, self._rows_with_constant(X.Z), "rows")
        kernel = self._kernel_for(X)
        if isinstance(kernel, Linear) and not isinstance(X, PlainRows):
            return MarginProblem(targets, bounds, X, kernel, self._rows_with_constant(X), "rows")
        return MarginProblem(targets, bounds, X, *self._fit_gram(X), "gram")

    def _rows_with_constant(self, X):
        """The rows that the engine reads: with a feature that is always one, if there is an intercept."""
        X = to_host(X) if is_elsewhere(X) else X
        return _with_constant(X) if self.fit_intercept else X

    def _solve(self, problem, *, start=None, callback=None, stop=None):
        # compiled code takes its time to load, and answers need none of it
        from tagrank.solvers.dual_ascent import solve_dual

        with limited_threads(self.n_jobs if problem.size >= WORTH_THREADS else 1):
            solution = solve_dual(
                problem.data, self._loss(), **self._settings(problem, callback, stop), start=start
            )
        self._store(problem, solution)
        is_unscaled = problem.kind == "rows" and self.C * mean_square(problem.X) >= UNSCALED
        warn_unless_converged(solution, self.tol, is_unscaled=is_unscaled)
        return self

    def _settings(self, problem, callback, stop):
        """What every solver is told."""
        return {
            "bounds": check_costs("C", float(self.C)) * problem.bounds,
            "kind": problem.kind,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "max_seconds": self.max_seconds,
            "random_state": check_random_state(self.random_state).randint(2**31 - 1),
            "intercept": float(self.fit_intercept and problem.kind == "gram"),
            "callback": callback or (_print_progress if self.verbose else None),
            "stop": stop,
        }

    def _store(self, problem, solution):
        self._name_labels(problem.targets, ~np.any(problem.bounds > 0, axis=0))
        for name in ("coef_", "_solution_of_rows"):
            vars(self).pop(name, None)
        self.kernel_ = problem.kernel
        self.dual_coef_ = solution.coefficients
        self.support_ = np.flatnonzero(np.any(solution.coefficients != 0, axis=1))
        self.intercept_ = np.zeros(len(self.classes_))
        if isinstance(problem.X, LandmarkRows):
            weights = solution.weights[: problem.X.shape[1]]
            self.dual_coef_, self.support_ = problem.X.dual_coefficients(weights)
            self._solution_of_rows = solution.coefficients
        elif problem.kind == "rows":
            self.coef_ = np.ascontiguousarray(solution.weights.T[:, : problem.X.shape[1]])
        if self.fit_intercept:
            is_column = problem.kind == "rows"
            self.intercept_ = np.array(
                solution.weights[-1] if is_column else solution.coefficients.sum(axis=0)
            )
        self._keep_rows(problem.X)
        self.primal_objective_ = solution.primal
        self.dual_objective_ = solution.dual
        self.duality_gap_ = solution.gap
        self.n_iter_ = solution.n_iter
        self.converged_ = solution.converged
        self.trace_ = solution.trace

    def stored_state(self):
        rows = [self._trace_row(point) for point in self.trace_]
        width = len(rows[0]) if rows else len(TracePoint._fields)
        return super().stored_state() | {"trace_": np.array(rows, dtype=np.float64).reshape(-1, width)}

    def restore(self, state):
        super().restore(state)
        self.trace_ = [self._trace_point(row) for row in state["trace_"]]

    @staticmethod
    def _trace_row(point):
        """A point of the trace as numbers."""
        return list(point)

    @staticmethod
    def _trace_point(row):
        """The point that `_trace_row` made numbers of."""
        return TracePoint(int(row[0]), *map(float, row[1:]))


@dataclass
class MarginProblem:
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


def mean_square(X):
    """The mean squared entry of dense rows, or of those that stand for them; 0 for sparse ones."""
    X = getattr(X, "Z", X)
    if not isinstance(X, np.ndarray) or not X.size:
        return 0.0
    some = X[:: -(-len(X) // ROWS_LOOKED_AT)]
    return float(np.mean(np.square(some, dtype=np.float64)))


def warn_unless_converged(solution, tol, *, is_unscaled=False):
    """Say that a training ended above its tolerance, and what to do."""
    if solution.converged:
        return
    advice = {
        "max_iter": "raise max_iter, or loosen tol",
        "max_seconds": "raise max_seconds, or loosen tol",
        "interrupt": "training was interrupted",
        "stop": "training was asked to stop",
    }[solution.stopped_by]
    if is_unscaled and solution.stopped_by.startswith("max"):
        advice = f"scale the columns first, for example with sklearn.preprocessing.StandardScaler, {advice}"
    warn(
        f"the relative duality gap is {solution.gap:.2e} after {solution.n_iter} passes, "
        f"above tol={tol:g}: {advice}",
        ConvergenceWarning,
    )

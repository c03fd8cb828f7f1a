"""Support vector machines that rank the samples of each label, by the area under the ROC curve."""

from dataclasses import dataclass, field

import numpy as np

from tagrank.estimators.calibration.calibration import fit_platt, prior_probabilities
from tagrank.estimators.max_margin import WORTH_THREADS, MaxMarginEstimator, warn_unless_converged
from tagrank.estimators.transformations.sigmoid_scores import SigmoidScores
from tagrank.resources import limited_threads
from tagrank.validation import check_magnitude

TOLD = ("tol", "max_iter", "max_seconds", "callback", "stop")


@dataclass(kw_only=True, eq=False, repr=False)
class RankingAreaSVM(SigmoidScores, MaxMarginEstimator):
    """One support vector machine per label for the area under its ROC curve (SVM-perf).

    Minimises for each label ``1/2 |f|^2 + C sum_ij p_i q_j max(0, 1 - f(x_i) + f(x_j))`` over the pairs of a
    sample i that has the label and a sample j that lacks it; p and q are their weights, each divided by its
    sum, so that C costs the mean of all pairs. Unknown labels are in no pair; without pairs f is 0.

    How samples are ranked says nothing of which label is the more probable in one sample. So the scores of a
    label go through a sigmoid, fitted by maximum likelihood on the training samples, with their weights and
    Platt's targets: scores are log-odds ``slope_l f_l(x) + offset_l``. They hold for samples that were
    trained on, and are too sure of others; `CalibratedRanker` and `ProbabilityRanker` mend that.

    The certificate is that of the machines, before the sigmoid. There is no `fit_intercept`, for it would
    cancel out of every pair.

    Parameters
    ----------
    C : float, default 100.0
        Cost of the mean violation of a pair: n times the C of an `OneVsAllSVM` is of the same size.
    kernel : {"rbf", "linear", "poly", "chi2", "intersection", "hellinger", "precomputed"} or Kernel, default
        "rbf"
        How alike two samples are. "rbf" suits most dense features, "chi2", "intersection" and "hellinger"
        suit histograms. "linear" trains on the rows themselves, dense or sparse, without a Gram matrix, and
        is the one for many rows or many columns. With "precomputed", X is the Gram matrix. Kernels can be
        added, multiplied and put on views: ``Gaussian().on("gist") + ChiSquared().on("sift")``.
    gamma : float, optional
        1 / width of "rbf" and "chi2", and the factor of "poly". The larger it is, the fewer samples count as
        alike. By default the width is the mean distance of training pairs; try half and twice that, together
        with other costs, where the ranking is poor.
    class_weight : None, "balanced", {1: present, 0: absent} or {label: weight}, default None
        Cancels out of the pairs, and moves the offsets of the sigmoids only.
    tol : float, default 0.001
        Relative duality gap at which the training of each label stops.
    max_iter : int, default 1000
        Maximum number of rounds: one product with the similarities and one sort each. A warning says if `tol`
        was not reached.
    max_seconds : float, optional
        Stop training after this many seconds and keep the result with its certificate. Ctrl-C does the same.
    random_state : int, RandomState or None, default None
        Not used: there is nothing random in the training.
    n_jobs : int, optional
        Number of threads; all cores by default.
    verbose : int, default 0
        1 prints the duality gap after every pass.

    Attributes
    ----------
    slope_ : array, shape (n_labels,)
        The factor of each label in its sigmoid.
    dual_coef_ : array, shape (n_samples, n_labels)
        Coefficients times `slope_`: ``decision_function(X)`` is ``K(X, X_train) @ dual_coef_ + intercept_``.
    intercept_ : array, shape (n_labels,)
        The offsets of the sigmoids.
    coef_ : array, shape (n_labels, n_features)
        Weights of the columns times `slope_`; only for kernel="linear".
    dual_solution_ : array, shape (n_samples, n_labels)
        The coefficients of the machines before the sigmoid, as `fit` takes them as `start` in another
        training.
    primal_objective_ : float
        The value of the problem that is minimised, summed over labels.
    dual_objective_ : float
        A lower bound of that value, from the dual problem.
    duality_gap_ : float
        (primal - dual) / primal: the objective is at most this share above the best possible one.
    n_iter_ : int
        Number of passes over the data.
    converged_ : bool
        Whether `tol` was reached.
    trace_ : list of (n_iter, seconds, primal, dual, gap)
        How training went, one point each time the gap was measured.
    kernel_ : Kernel
        The kernel, with its width fixed by the training samples.
    support_ : int array, shape (n_support,)
        Indices of the training samples with a coefficient that is not zero.
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
    >>> import numpy as np
    >>> from tagrank import RankingAreaSVM
    >>> X = np.array([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0], [0.9, 0.2]])
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [np.nan, 1]])
    >>> model = RankingAreaSVM(kernel="linear").fit(X, Y)
    >>> model.predict(X).tolist()
    [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> bool(model.duality_gap_ <= model.tol)
    True
    """

    C: float = 100.0
    # it would cancel out of every pair
    fit_intercept: bool = field(default=False, init=False)

    gram_dtype = None  # single precision would show in the sums over all samples

    @property
    def dual_solution_(self):
        return self._before_sigmoid / self.C

    def _solve(self, problem, *, start=None, callback=None, stop=None):
        from tagrank.solvers.ranking_area import solve_ranking_area

        settings = self._settings(problem, callback, stop)
        told = {name: settings[name] for name in TOLD}
        with limited_threads(self.n_jobs if problem.size >= WORTH_THREADS else 1):
            multiply = _products(problem)
            solution = solve_ranking_area(multiply, problem.bounds, float(self.C), start=start, **told)
            if problem.kind == "rows":
                solution.weights = problem.data.T @ solution.coefficients
            self._store(problem, solution)
            scores = multiply(np.ascontiguousarray(solution.coefficients.T)).T
            self._put_sigmoid(fit_platt(problem.bounds, scores, prior_probabilities(problem.bounds)))
        warn_unless_converged(solution, self.tol)
        return self


def _products(problem):
    """The function that multiplies rows (n, n_samples) with the Gram matrix."""
    if problem.kind == "gram":
        K = np.asarray(problem.data, np.float64)
        return lambda rows: rows @ K
    check_magnitude("X", problem.data, np.float64)
    X = problem.data.astype(np.float64)
    return lambda rows: (X @ (X.T @ rows.T)).T

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

    The certificate is that of the machines, before the sigmoid. `class_weight` cancels out of p and q, and
    moves the offsets only.

    Parameters
    ----------
    C : float, default 100.0
        Cost of the mean violation of a pair: n times the C of an `OneVsAllSVM` is of the same size.
    tol : float, default 1e-3
        Relative duality gap at which the training of each label stops.
    max_iter : int, default 1000
        Rounds at most: one product with the similarities and one sort each.

    Other parameters are those of `OneVsAllSVM` without `fit_intercept`; `random_state` is not used.

    Attributes
    ----------
    slope_ : array, shape (n_labels,)
    dual_coef_, coef_ : as in `OneVsAllSVM`, times `slope_`
    intercept_ : array, shape (n_labels,), the offsets

    Other attributes are those of `OneVsAllSVM`.

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

"""One-vs-all support vector machines whose scores are made log-odds, label by label."""

from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot

from tagrank.estimators.calibration.calibration import fit_platt, prior_probabilities
from tagrank.estimators.calibration.held_out import honest_states
from tagrank.estimators.classification.one_vs_all import OneVsAllSVM
from tagrank.estimators.log_odds import LogOdds
from tagrank.estimators.max_margin import WORTH_THREADS
from tagrank.estimators.transformations.sigmoid_scores import SigmoidScores
from tagrank.resources import limited_threads

N_FOLDS = 3


@dataclass(kw_only=True, eq=False, repr=False)
class PlattSVM(LogOdds, SigmoidScores, OneVsAllSVM):
    """One support vector machine per label, and a sigmoid that makes its scores log-odds (Platt).

    Trains as `OneVsAllSVM` does, once on everything and once without each third of the samples. The scores of
    the samples left out fix ``slope_l >= 0`` and ``offset_l`` of every label by maximum likelihood, see
    `tagrank.estimators.calibration.calibration`; the score of a label is ``slope_l f_l(x) + offset_l``, and
    ``1 / (1 + exp(-score))`` its probability. Unknown labels are left out of both. Weights of samples count
    in the machines; the sigmoids count all samples of positive weight alike.

    The certificate is that of the machine trained on everything, before the sigmoid. Where nothing could be
    held out (one sample, or training was stopped) scores are those of the machine.

    There is no `fit_intercept`, for the sigmoid has an offset of its own.

    Parameters
    ----------
    C : float, default 1.0
        Cost of a violated label. Larger values follow the training labels more closely, smaller ones give
        smoother scores; powers of ten from 0.01 to 100 are worth trying.
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
        Factors of the cost. "balanced" gives the present and the absent samples of each label the same total
        weight, which helps where rare labels must be predicted. For one-dimensional y the keys are class
        names.
    tol : float, default 0.001
        Relative duality gap at which training stops. Lower it to compare objectives; rankings hardly change
        below the default.
    max_iter : int, default 1000
        Maximum number of passes over the data. A warning says if `tol` was not reached.
    max_seconds : float, optional
        Stop each of the four trainings after this many seconds and keep the result with its certificate.
    random_state : int, RandomState or None, default None
        Seeds the order in which samples are visited, and the thirds. An int makes results repeatable.
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
    >>> from tagrank import PlattSVM
    >>> X = np.linspace(-1, 1, 40)[:, None]
    >>> Y = np.hstack([X > 0, X < 0.5]).astype(float)
    >>> PlattSVM(random_state=0).fit(X, Y).predict_proba([[0.9]]).round(1).tolist()
    [[1.0, 0.1]]
    """

    # the sigmoid has an offset
    fit_intercept: bool = field(default=False, init=False)

    @property
    def dual_solution_(self):
        return self._before_sigmoid

    def _solve(self, problem, *, start=None, callback=None, stop=None):
        super()._solve(problem, start=start, callback=callback, stop=stop)
        with limited_threads(self.n_jobs if problem.size >= WORTH_THREADS else 1):
            states, scores = self._hold_out(problem, stop)
        if states.any():
            self._put_sigmoid(fit_platt(states, scores, prior_probabilities(np.sign(problem.bounds))))
        else:
            self.slope_ = np.ones(states.shape[1])
        return self

    def _hold_out(self, problem, stop):
        """States and scores (n_samples, n_labels) by machines that did not see the sample."""
        from tagrank.solvers.dual_ascent import solve_dual

        folds, scores = [], np.zeros(problem.bounds.shape)
        for train, test in self._folds(len(scores)):
            part = replace(problem, bounds=problem.bounds[train], data=_cut(problem, train))
            solution = solve_dual(part.data, self._loss(), **self._settings(part, None, stop))
            if solution.stopped_by in ("stop", "interrupt"):
                break
            scores[test] = _score(problem, solution, train, test)
            folds.append((train, test))
        return honest_states(np.sign(problem.bounds), folds), scores

    def _folds(self, n_samples):
        order = check_random_state(self.random_state).permutation(n_samples)
        parts = [np.sort(part) for part in np.array_split(order, N_FOLDS)] if n_samples > 1 else []
        return [(np.setdiff1d(order, part), part) for part in parts if len(part)]


def _cut(problem, rows):
    """What the engine reads of some rows."""
    return problem.data[rows] if problem.kind == "rows" else problem.data[np.ix_(rows, rows)]


def _score(problem, solution, train, test):
    if problem.kind == "rows":
        return safe_sparse_dot(problem.data[test], solution.weights, dense_output=True)
    return problem.data[np.ix_(test, train)] @ solution.coefficients

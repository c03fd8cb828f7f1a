"""Support vector machines whose scores go through a sigmoid, label by label."""

from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot

from tagrank.estimators.base import LogOdds, Numbers, stores
from tagrank.estimators.calibration.calibrated import fit_platt, prior_probabilities
from tagrank.estimators.calibration.held_out import honest_states
from tagrank.estimators.max_margin import WORTH_THREADS, MaxMarginEstimator, warn_unless_converged
from tagrank.estimators.one_vs_all import OneVsAllSVM
from tagrank.resources import limited_threads
from tagrank.validation import check_magnitude


class SigmoidScores:
    """Stands before a `MaxMarginEstimator`: ``slope_l f_l(x) + offset_l`` in the place of its scores.

    Slopes go into the coefficients, offsets are the intercept: the machine itself must have none.
    """

    stored = stores(slope_=Numbers("f", ("n_labels",)))

    def _put_sigmoid(self, sigmoid):
        """Change what `_store` left, given the slope and offset of each label."""
        self.slope_, self.intercept_ = sigmoid.slope, sigmoid.offset
        self.dual_coef_ = self.dual_coef_ * self.slope_
        if hasattr(self, "coef_"):
            self.coef_ = self.coef_ * self.slope_[:, None]

    @property
    def _before_sigmoid(self):
        """The coefficients of the machine; 0 where the slope is."""
        machine = np.zeros(self.dual_coef_.shape)
        return np.divide(self.dual_coef_, self.slope_, out=machine, where=self.slope_ > 0)


N_FOLDS = 3


@dataclass(kw_only=True, eq=False, repr=False)
class PlattSVM(LogOdds, SigmoidScores, OneVsAllSVM):
    """One support vector machine per label, and a sigmoid that makes its scores log-odds (Platt).

    Trains as `OneVsAllSVM` does, once on everything and once without each third of the samples. The scores of
    the samples left out fix ``slope_l >= 0`` and ``offset_l`` of every label by maximum likelihood, see
    `tagrank.estimators.calibration.calibrated`; the score of a label is ``slope_l f_l(x) + offset_l``, and
    ``1 / (1 + exp(-score))`` its probability. Unknown labels are left out of both. Weights of samples count
    in the machines; the sigmoids count all samples of positive weight alike.

    The certificate is that of the machine trained on everything, before the sigmoid. Where nothing could be
    held out (one sample, or training was stopped) scores are those of the machine.

    There is no `fit_intercept`, for the sigmoid has an offset of its own.

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
    tol : float, default 0.001
        Relative duality gap at which training stops. Lower it to compare objectives; rankings hardly change
        below the default.
    max_iter : int, default 1000
        Maximum number of passes over the data, or of Newton steps of the primal engine. A warning says if
        `tol` was not reached.
    max_seconds : float, optional
        Stop each of the four trainings after this many seconds and keep the result with its certificate.
    random_state : int, RandomState or None, default None
        Seed of the order in which samples are visited, and of the thirds. Pass an int for repeatable results.
    n_jobs : int, optional
        Number of threads; all cores by default.
    verbose : int, default 0
        1 prints the duality gap after every pass.
    landmarks : int, optional
        Number of landmarks: rows are compared only with this many training rows, which are chosen to
        represent all of them (Nyström). This takes n x landmarks instead of n x n numbers, and only the
        landmarks are stored. 1,000 are enough for most collections. By default all rows are compared with
        each other.
    engine : {"auto", "dual", "primal"}, default "auto"
        Solver for the linear kernel. "dual" goes from sample to sample; "primal" takes Newton steps on all
        samples, which is far faster if there are many more samples than columns; "auto" chooses by their
        numbers.
    device : str, optional
        Device of torch for dense rows, such as "cuda": similarities are computed and kept there, and labels
        that stand alone are learned there. Arrays of torch or CuPy are worked on where they are. By default
        the CPU.

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
        The coefficients of the machines before the sigmoid; pass this to `fit` as `start` to continue
        training.
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
    kernel_ : Kernel
        The kernel, with its width fixed by the training samples.
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


TOLD = ("tol", "max_iter", "max_seconds", "callback", "stop")


@dataclass(kw_only=True, eq=False, repr=False)
class RankingAreaSVM(SigmoidScores, MaxMarginEstimator):
    """One support vector machine per label for the area under its ROC curve (SVM-perf).

    Minimises for each label ``1/2 |f|^2 + C sum_ij p_i q_j max(0, 1 - f(x_i) + f(x_j))`` over the pairs of a
    sample i that has the label and a sample j that lacks it; p and q are their weights, each divided by its
    sum, so that C costs the mean of all pairs. Unknown labels are in no pair; without pairs f is 0.

    The ranking of samples does not say which label of one sample is more probable. So the scores of a
    label go through a sigmoid, fitted by maximum likelihood on the training samples, with their weights and
    Platt's targets: scores are log-odds ``slope_l f_l(x) + offset_l``. They hold for samples that were
    trained on, and are too sure of others; `CalibratedRanker` and `ProbabilityRanker` mend that.

    The certificate is that of the machines, before the sigmoid. There is no `fit_intercept`, for it would
    cancel out of every pair.

    Parameters
    ----------
    C : float, default 100.0
        Penalty for the mean violation of a pair: n times the C of a `OneVsAllSVM` has about the same effect.
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
        Has no effect on the pairs; it only moves the offsets of the sigmoids.
    tol : float, default 0.001
        Relative duality gap at which the training of each label stops.
    max_iter : int, default 1000
        Maximum number of rounds: one product with the similarities and one sort each. A warning says if `tol`
        was not reached.
    max_seconds : float, optional
        Stop training after this many seconds and keep the result with its certificate. Ctrl-C does the same.
    random_state : int, RandomState or None, default None
        Not used: the training is not random.
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
        The coefficients of the machines before the sigmoid; pass this to `fit` as `start` to continue
        training.
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
    kernel_ : Kernel
        The kernel, with its width fixed by the training samples.
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

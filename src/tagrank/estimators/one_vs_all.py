"""One classifier per label, all labels at once: support vector machines and logistic regressions."""

from dataclasses import dataclass

from tagrank.arrays import is_elsewhere
from tagrank.estimators.base import LogOdds
from tagrank.estimators.max_margin import (
    UNSCALED,
    WORTH_THREADS,
    MaxMarginEstimator,
    mean_square,
    warn_unless_converged,
)
from tagrank.resources import limited_threads
from tagrank.solvers.solution import LARGEST_DIAGONAL, check_costs, check_range
from tagrank.validation import check_choice, check_count

ENGINES = ("auto", "dual", "primal")
FEWEST_ROWS = 1_000  # on which Newton steps are worth their beginning
LARGE_COST = 30.0  # of C, from which on dual ascent takes too long on any number of rows


@dataclass(kw_only=True, eq=False, repr=False)
class OneVsAllEstimator(MaxMarginEstimator):
    """Labels that stand alone: of many rows their weights are learned by Newton steps.

    Parameters
    ----------
    landmarks : training rows that stand for all; None compares all with each other
    engine : "auto", "dual" or "primal"
    device : where dense rows and their similarities are worked on, such as "cuda"
    """

    landmarks: int | None = None
    engine: str = "auto"
    device: str | None = None

    unstored_parameters = (*MaxMarginEstimator.unstored_parameters, "device")
    visits_rows = True
    rows_a_column = 40  # from which on Newton steps on all rows cost less than dual ascent
    rows_a_column_unscaled = 10  # from which on Newton steps arrive where dual ascent does not

    def _check_parameters(self):
        super()._check_parameters()
        check_choice("engine", self.engine, ENGINES)
        if self.landmarks is not None:
            check_count("landmarks", self.landmarks)

    def _takes_primal(self, X):
        """Whether the primal engine trains on such rows."""
        if self.engine != "auto":
            return self.engine == "primal"
        if self.device is not None or is_elsewhere(X):
            return True
        cost, size = float(self.C), mean_square(X)
        fewest = 0 if cost * max(1.0, size) >= LARGE_COST else FEWEST_ROWS
        a_column = self.rows_a_column_unscaled if cost * size >= UNSCALED else self.rows_a_column
        return X.shape[0] >= max(fewest, a_column * X.shape[1])

    def _rows_with_constant(self, X):
        # the primal engine needs no column for it, and no copy of the rows
        return X if self._takes_primal(X) else super()._rows_with_constant(X)

    def _solve(self, problem, *, start=None, callback=None, stop=None):
        if problem.kind != "rows" or not self._takes_primal(problem.X):
            return super()._solve(problem, start=start, callback=callback, stop=stop)
        from tagrank.losses.softened import HINGE, LOGISTIC
        from tagrank.solvers.primal_newton import solve_rows

        size = mean_square(problem.X) * problem.X.shape[1]
        check_range("the mean k(x, x)", size, 0, LARGEST_DIAGONAL)
        settings = self._settings(problem, callback, stop)
        taken = ("tol", "max_iter", "max_seconds", "callback", "stop")
        with limited_threads(self.n_jobs if problem.size >= WORTH_THREADS else 1):
            solution = solve_rows(
                problem.data,
                problem.bounds,
                offset=HINGE if self._loss() == "hinge" else LOGISTIC,
                cost=check_costs("C", float(self.C)),
                has_constant=self.fit_intercept,
                device=self.device,
                start=start,
                **{name: settings[name] for name in taken},
            )
        self._store(problem, solution)
        warn_unless_converged(solution, self.tol, is_unscaled=self.C * mean_square(problem.X) >= UNSCALED)
        return self


class OneVsAllSVM(OneVsAllEstimator):
    """One support vector machine per label, trained together.

    Minimises ``1/2 sum_l |f_l|^2 + sum_il C_il max(0, 1 - y_il f_l(x_i))`` over the labels that are known;
    y is +1 for a present and -1 for an absent label. There is no free bias; see `fit_intercept`.

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
        Maximum number of passes over the data, or of Newton steps of the primal engine. A warning says if
        `tol` was not reached.
    max_seconds : float, optional
        Stop training after this many seconds and keep the result with its certificate. Ctrl-C does the same.
    random_state : int, RandomState or None, default None
        Seed of the order in which samples are visited. Pass an int for repeatable results.
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

    Examples
    --------
    >>> import numpy as np
    >>> from tagrank import OneVsAllSVM
    >>> X = np.array([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0], [0.9, 0.2]])
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [np.nan, 1]])
    >>> OneVsAllSVM(kernel="linear", C=10).fit(X, Y).predict(X).tolist()
    [[1, 0], [1, 0], [0, 1], [0, 1]]
    """

    def _loss(self):
        return "hinge"


@dataclass(kw_only=True, eq=False, repr=False)
class OneVsAllLogistic(LogOdds, OneVsAllEstimator):
    """One logistic regression per label, trained together.

    Minimises ``1/2 sum_l |f_l|^2 + sum_il C_il log(1 + exp(-y_il f_l(x_i)))`` over the labels that are known;
    y is +1 for a present and -1 for an absent label. Scores are log-odds: ``1 / (1 + exp(-f_l(x)))`` is the
    probability of a label, and `predict` answers those that reach 1/2.

    Parameters
    ----------
    C : float, default 1.0
        Penalty for a unit of log-loss. The best C is usually larger than that of an `OneVsAllSVM`, and
        depends on the number of samples.
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
    fit_intercept : bool, default True
        Add a constant feature; its weight is regularized like the others. Most labels are rare, and the
        constant lets the model say so.
    tol : float, default 0.001
        Relative duality gap at which training stops. Lower it to compare objectives; rankings hardly change
        below the default.
    max_iter : int, default 1000
        Maximum number of passes over the data, or of Newton steps of the primal engine. A warning says if
        `tol` was not reached.
    max_seconds : float, optional
        Stop training after this many seconds and keep the result with its certificate. Ctrl-C does the same.
    random_state : int, RandomState or None, default None
        Seed of the order in which samples are visited. Pass an int for repeatable results.
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
    support_ : int array, shape (n_support,)
        Indices of the training samples with a nonzero coefficient: all samples with known labels.
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
    >>> from tagrank import OneVsAllLogistic
    >>> X = np.array([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0], [0.9, 0.2]])
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [np.nan, 1]])
    >>> model = OneVsAllLogistic(kernel="linear", C=10).fit(X, Y)
    >>> model.predict(X).tolist()
    [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> model.predict_proba(X[:1]).round(1).tolist()
    [[0.9, 0.1]]
    """

    fit_intercept: bool = True

    suits_many_rows = True
    rows_a_column = 2
    rows_a_column_unscaled = 0

    def _loss(self):
        return "logistic"

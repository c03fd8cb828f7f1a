"""Estimators that rank the labels of a sample by max-margin: `LabelRanker` and its two relatives."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tagrank.errors import warn
from tagrank.estimators.base import FLAG, Numbers, stores
from tagrank.estimators.max_margin import MaxMarginEstimator
from tagrank.estimators.targets import warn_nothing_to_rank
from tagrank.resources import limited_threads
from tagrank.validation import check_choice, check_count, check_positive


@dataclass(kw_only=True, eq=False, repr=False)
class LabelRanker(MaxMarginEstimator):
    """Ranks all labels of a sample, present labels above absent ones by a margin of 2 (MLR-L1).

    Minimises ``1/2 sum_l |f_l|^2 + sum_i min_t sum_l C_il max(0, 1 - y_il (f_l(x_i) - t))``: the hinge loss
    with a threshold t of its own for every sample, so that only the order of the labels counts. The
    coefficients of each training sample sum to zero, and the scores have no natural zero. A sample teaches
    something only if it has both a present and an absent label; `OneVsAllSVM` learns single labels.

    `predict` uses a rule learned in training, where the best threshold of every sample is known:
    ``t(x) = a + b * highest score of x``, by least squares. Where every training sample has a label, the
    highest one is always predicted.

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
    landmarks : int, optional
        Number of landmarks: rows are compared only with this many training rows, which are chosen to
        represent all of them (Nyström). This takes n x landmarks instead of n x n numbers, and only the
        landmarks are stored. 1,000 are enough for most collections. By default all rows are compared with
        each other.
    device : str, optional
        Device of torch for dense rows, such as "cuda": similarities are computed and kept there. Arrays of
        torch or CuPy are worked on where they are. By default the CPU.

    Attributes
    ----------
    threshold_rule_ : array (a, b)
        `predict` returns the labels whose score reaches ``a + b * highest score of x``.
    always_predicts_ : bool
        Whether the highest label is always predicted, because every training sample has a label.
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
    >>> from tagrank import LabelRanker
    >>> X = np.array([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0], [0.9, 0.2]])
    >>> tags = [{"sea", "boat"}, {"sea"}, {"street"}, {"street", "car"}]
    >>> ranker = LabelRanker(kernel="linear", C=10).fit(X, tags)
    >>> ranker.classes_[np.argsort(-ranker.decision_function([[0.0, 0.8]]))[0, :2]].tolist()
    ['sea', 'boat']
    """

    landmarks: int | None = None
    device: str | None = None

    unstored_parameters = (*MaxMarginEstimator.unstored_parameters, "device")
    visits_rows = True
    stored = stores(threshold_rule_=Numbers("f", (2,)), always_predicts_=FLAG)

    def _check_parameters(self):
        super()._check_parameters()
        if self.landmarks is not None:
            check_count("landmarks", self.landmarks)

    def _loss(self):
        return "ranking"

    def _look_at_bounds(self, bounds):
        warn_nothing_to_rank(bounds)

    def _store(self, problem, solution):
        super()._store(problem, solution)
        has_present, has_absent = np.any(problem.bounds > 0, axis=1), np.any(problem.bounds < 0, axis=1)
        is_mixed = has_present & has_absent
        self.always_predicts_ = not np.any(has_absent & ~has_present)
        self.threshold_rule_ = _fit_line(*solution.thresholds[::-1, is_mixed])

    def choose(self, scores) -> np.ndarray:
        """Labels present, given scores of shape (n_samples, n_labels): those that reach the threshold."""
        highest = scores.max(axis=1, keepdims=True)
        threshold = self.threshold_rule_[0] + self.threshold_rule_[1] * highest
        if self.always_predicts_:
            threshold = np.minimum(threshold, highest)
        return super().choose(scores - threshold)


def _fit_line(x, y):
    """(a, b) of y = a + b x by least squares; flat where x tells nothing."""
    if len(x) == 0:
        return np.zeros(2)
    spread = np.mean((x - x.mean()) ** 2)
    slope = np.mean((x - x.mean()) * (y - y.mean())) / spread if spread > 1e-12 else 0.0
    return np.array([y.mean() - slope * x.mean(), slope])


@dataclass(kw_only=True, eq=False, repr=False)
class IncompleteLabelRanker(LabelRanker):
    """Ranks labels where some present labels are missing in the training data (MLR-GL).

    Minimises ``1/2 sum_l |f_l|^2 + C sum_i sum_l |max(0, 1 - f_k(x_i) + f_l(x_i))|``, where the norm runs
    over the labels k that sample i has, and l over those it has not: a group for each absent label. The
    norm of a group, unlike its sum, grows slowly with what is already violated, so that a label that was
    only forgotten does less harm. With weights the loss of a group is ``sqrt(c_l sum_k c_k violation_k^2)``.

    Absent labels (0) may be present without anybody having said so; unknown ones (nan) are in no group.

    Parameters
    ----------
    C : float, default 1.0
        Penalty for a group. There are as many groups as absent labels, so the same C has a stronger effect
        than in `LabelRanker`: try smaller values.
    solver : {"exact", "paper"}, default "exact"
        "exact" solves the problem and certifies it. "paper" takes the closed-form steps of the dissertation,
        which solve a *modified* problem; `duality_gap_` then tells how far its solution is from the optimum
        of the problem above, and `converged_` only that the coefficients stand still.
    eta : float, optional, for solver="paper"
        Weight of the modified regulariser; half the number of labels by default, the least for which the
        modified problem is sure to be concave. It works like a second cost, and wants to be tuned like one.
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
    landmarks : int, optional
        Number of landmarks: rows are compared only with this many training rows, which are chosen to
        represent all of them (Nyström). This takes n x landmarks instead of n x n numbers, and only the
        landmarks are stored. 1,000 are enough for most collections. By default all rows are compared with
        each other.
    device : str, optional
        Device of torch for dense rows, such as "cuda": similarities are computed and kept there. Arrays of
        torch or CuPy are worked on where they are. By default the CPU.

    Attributes
    ----------
    threshold_rule_ : array (a, b)
        `predict` returns the labels whose score reaches ``a + b * highest score of x``.
    always_predicts_ : bool
        Whether the highest label is always predicted, because every training sample has a label.
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
    >>> from tagrank import IncompleteLabelRanker
    >>> X = np.array([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0], [0.9, 0.2]])
    >>> tags = [{"sea", "boat"}, {"sea"}, {"street"}, {"street", "car"}]
    >>> ranker = IncompleteLabelRanker(kernel="linear").fit(X, tags)
    >>> ranker.classes_[np.argsort(-ranker.decision_function([[0.0, 0.8]]))[0, :2]].tolist()
    ['sea', 'boat']
    """

    solver: str = "exact"
    eta: float | None = None

    def _loss(self):
        return "group_ranking"

    def _check_parameters(self):
        super()._check_parameters()
        check_choice("solver", self.solver, ("exact", "paper"))
        if self.eta is not None:
            check_positive("eta", self.eta)

    @property
    def visits_rows(self):
        """Whether training reads a few rows at a time, as "exact" does."""
        return self.solver == "exact"

    def _solve(self, problem, *, start=None, callback=None, stop=None):
        if self.solver == "exact":
            return super()._solve(problem, start=start, callback=callback, stop=stop)
        from tagrank.solvers.group_steps import solve_paper

        eta = problem.bounds.shape[1] / 2 if self.eta is None else float(self.eta)
        with limited_threads(self.n_jobs):
            solution = solve_paper(problem.data, **self._settings(problem, callback, stop), eta=eta)
        self._store(problem, solution)
        if not solution.converged:
            warn(
                f"after {solution.n_iter} passes of solver='paper' the coefficients still change by more "
                f"than tol={self.tol:g} ({solution.stopped_by}): raise max_iter or eta, or loosen tol",
                ConvergenceWarning,
            )
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class PairwiseRanker(LabelRanker):
    """Ranks labels by all pairs of a present and an absent one, or by the lowest present label.

    The problem that `LabelRanker` (MLR-L1) approximates, for comparison; its optimum is never below that of
    LabelRanker with the same costs. Per sample, with c the costs of its labels, k present and l absent:

    - pairs="all": ``sum_kl sqrt(c_k c_l) max(0, 2 - f_k + f_l)``; memory and time grow with the pairs;
    - pairs="lowest": ``sum_l c_l max(0, 2 - min_k f_k + f_l)``, which costs no more than LabelRanker. In the
      dual only the absent labels are bounded; the value lies between the two others.

    Parameters
    ----------
    C : float, default 1.0
        Penalty for violated labels. Larger values fit the training labels more closely, smaller ones give
        smoother scores; try powers of ten from 0.01 to 100.
    pairs : {"all", "lowest"}, default "all"
        Which pairs of labels are compared, see above. "lowest" is the one for many labels.
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
    landmarks : int, optional
        Number of landmarks: rows are compared only with this many training rows, which are chosen to
        represent all of them (Nyström). This takes n x landmarks instead of n x n numbers, and only the
        landmarks are stored. 1,000 are enough for most collections. By default all rows are compared with
        each other.
    device : str, optional
        Device of torch for dense rows, such as "cuda": similarities are computed and kept there. Arrays of
        torch or CuPy are worked on where they are. By default the CPU.

    Attributes
    ----------
    threshold_rule_ : array (a, b)
        `predict` returns the labels whose score reaches ``a + b * highest score of x``.
    always_predicts_ : bool
        Whether the highest label is always predicted, because every training sample has a label.
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
    >>> from tagrank import LabelRanker, PairwiseRanker
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> Y = np.hstack([X > 0, X < 0.5])
    >>> rankers = [LabelRanker(), PairwiseRanker(pairs="lowest"), PairwiseRanker(pairs="all")]
    >>> values = [ranker.fit(X, Y).primal_objective_ for ranker in rankers]
    >>> values == sorted(values)
    True
    """

    pairs: str = "all"

    def _loss(self):
        return {"all": "pairwise", "lowest": "ranking"}[self.pairs]

    def _check_parameters(self):
        super()._check_parameters()
        check_choice("pairs", self.pairs, ("all", "lowest"))

    def _pose(self, X, y, sample_weight):
        problem = super()._pose(X, y, sample_weight)
        if self.pairs == "lowest":
            problem = replace(problem, bounds=_free_present(problem.bounds))
        return problem


def _free_present(bounds):
    """Bounds of present labels so large that balance with the absent ones never lets them be reached."""
    absent = np.maximum(-bounds, 0).sum(axis=1, keepdims=True)
    return np.where(bounds > 0, np.maximum(bounds, absent), bounds)

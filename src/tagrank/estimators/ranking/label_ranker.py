"""Max-margin label ranking."""

import numpy as np

from tagrank.estimators.base import FLAG, Numbers, stores
from tagrank.estimators.max_margin import MaxMarginEstimator
from tagrank.estimators.targets import warn_nothing_to_rank


class LabelRanker(MaxMarginEstimator):
    """Ranks all labels of a sample: present ones two above absent ones (MLR-L1).

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
    fit_intercept : bool, default False
        Add a constant feature; its weight is regularised like the others. Worth trying where `predict`
        matters more than the ranking.
    tol : float, default 0.001
        Relative duality gap at which training stops. Lower it to compare objectives; rankings hardly change
        below the default.
    max_iter : int, default 1000
        Maximum number of passes over the data. A warning says if `tol` was not reached.
    max_seconds : float, optional
        Stop training after this many seconds and keep the result with its certificate. Ctrl-C does the same.
    random_state : int, RandomState or None, default None
        Seeds the order in which samples are visited. An int makes results repeatable.
    n_jobs : int, optional
        Number of threads; all cores by default.
    verbose : int, default 0
        1 prints the duality gap after every pass.

    Attributes
    ----------
    threshold_rule_ : array (a, b)
        `predict` answers labels that reach ``a + b * highest score of x``.
    always_predicts_ : bool
        Whether the highest label is always predicted, as every training sample has a label.
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
    dual_solution_ : array, shape (n_samples, n_labels)
        What `fit` takes as `start` in another training.
    kernel_ : Kernel
        The kernel, with its width fixed by the training samples.
    dual_coef_ : array, shape (n_samples, n_labels)
        ``decision_function(X)`` is ``K(X, X_train) @ dual_coef_ + intercept_``.
    coef_ : array, shape (n_labels, n_features)
        Weights of the columns; only for kernel="linear".
    intercept_ : array, shape (n_labels,)
        What is added to the scores of each label.
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
    >>> from tagrank import LabelRanker
    >>> X = np.array([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0], [0.9, 0.2]])
    >>> tags = [{"sea", "boat"}, {"sea"}, {"street"}, {"street", "car"}]
    >>> ranker = LabelRanker(kernel="linear", C=10).fit(X, tags)
    >>> ranker.classes_[np.argsort(-ranker.decision_function([[0.0, 0.8]]))[0, :2]].tolist()
    ['sea', 'boat']
    """

    stored = stores(threshold_rule_=Numbers("f", (2,)), always_predicts_=FLAG)

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

    def choose(self, scores):
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

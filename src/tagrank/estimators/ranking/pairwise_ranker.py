"""Max-margin label ranking over pairs of labels: what `LabelRanker` approximates."""

from dataclasses import dataclass, replace

import numpy as np

from tagrank.estimators.ranking.label_ranker import LabelRanker
from tagrank.validation import check_choice


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
        Cost of a violated label. Larger values follow the training labels more closely, smaller ones give
        smoother scores; powers of ten from 0.01 to 100 are worth trying.
    pairs : {"all", "lowest"}, default "all"
        Which pairs of labels are compared, see above. "lowest" is the one for many labels.
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

"""One classifier per label, all labels at once: support vector machines and logistic regressions."""

from dataclasses import dataclass

from tagrank.estimators.base import LogOdds
from tagrank.estimators.max_margin import MaxMarginEstimator


class OneVsAllSVM(MaxMarginEstimator):
    """One support vector machine per label, trained together.

    Minimises ``1/2 sum_l |f_l|^2 + sum_il C_il max(0, 1 - y_il f_l(x_i))`` over the labels that are known;
    y is +1 for a present and -1 for an absent label. There is no free bias; see `fit_intercept`.

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
    >>> from tagrank import OneVsAllSVM
    >>> X = np.array([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0], [0.9, 0.2]])
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [np.nan, 1]])
    >>> OneVsAllSVM(kernel="linear", C=10).fit(X, Y).predict(X).tolist()
    [[1, 0], [1, 0], [0, 1], [0, 1]]
    """

    def _loss(self):
        return "hinge"


@dataclass(kw_only=True, eq=False, repr=False)
class OneVsAllLogistic(LogOdds, MaxMarginEstimator):
    """One logistic regression per label, trained together.

    Minimises ``1/2 sum_l |f_l|^2 + sum_il C_il log(1 + exp(-y_il f_l(x_i)))`` over the labels that are known;
    y is +1 for a present and -1 for an absent label. Scores are log-odds: ``1 / (1 + exp(-f_l(x)))`` is the
    probability of a label, and `predict` answers those that reach 1/2.

    Parameters
    ----------
    C : float, default 1.0
        Cost of a unit of log-loss. The best C is usually larger than that of an `OneVsAllSVM`, and depends on
        the number of samples.
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
    fit_intercept : bool, default True
        Add a constant feature; its weight is regularised like the others. Most labels are rare: without it
        the features have to say so.
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
    support_ : int array, shape (n_support,)
        Indices of the training samples with a coefficient that is not zero: all whose labels are known.
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

    def _loss(self):
        return "logistic"

"""One-vs-all support vector machines, all labels at once."""

from tagrank.estimators.max_margin import MaxMarginEstimator


class OneVsAllSVM(MaxMarginEstimator):
    """One support vector machine per label, trained together.

    Minimises ``1/2 sum_l |f_l|^2 + sum_il C_il max(0, 1 - y_il f_l(x_i))`` over the labels that are known;
    y is +1 for a present and -1 for an absent label. There is no free bias; see `fit_intercept`.

    Parameters
    ----------
    C : float, default 1.0
        Cost of a violated label.
    kernel : {"rbf", "linear", "poly", "chi2", "intersection", "hellinger", "precomputed"} or Kernel
        "linear" trains on the rows themselves, dense or sparse, without a Gram matrix.
    gamma : float, optional
        1 / width of "rbf" and "chi2", the factor of "poly". By default the width is the mean distance of
        training pairs.
    class_weight : None, "balanced", {1: present, 0: absent} or {label: weight}
    fit_intercept : bool, default False
        Add a constant feature; its weight is regularised like the others.
    tol : float, default 1e-3
        Relative duality gap at which training stops.
    max_iter : int, default 1000
        Passes over the data at most.
    max_seconds : float, optional
        Stop then, with the certificate of what was reached. Ctrl-C does the same.
    random_state : int, RandomState or None
        Seeds the order in which samples are visited.
    n_jobs : int, optional
        Threads; all cores by default.
    verbose : int
        1 prints the duality gap after every pass.

    Attributes
    ----------
    dual_coef_ : array, shape (n_samples, n_labels)
        ``decision_function(X)`` is ``K(X, X_train) @ dual_coef_ + intercept_``.
    coef_ : array, shape (n_labels, n_features), for kernel="linear"
    intercept_ : array, shape (n_labels,)
    support_ : array, indices of the training samples with a coefficient that is not zero
    classes_ : array, the names of the labels
    primal_objective_, dual_objective_ : float, summed over labels
    duality_gap_ : float, (primal - dual) / primal
    n_iter_ : int
    converged_ : bool
    trace_ : list of (n_iter, seconds, primal, dual, gap)
    kernel_ : Kernel, with its width fixed
    never_positive_ : bool array, labels without a positive training sample; they are ranked last

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
        from tagrank.losses.hinge import Hinge

        return Hinge

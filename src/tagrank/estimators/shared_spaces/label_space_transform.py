"""Regression onto the principal directions of the labels."""

from dataclasses import dataclass
from typing import Any

from tagrank.estimators.base import Numbers, stores
from tagrank.estimators.regression.ridge_regression import RidgeRegression
from tagrank.estimators.shared_spaces.components import (
    check_components,
    count_components,
    leading_directions,
)


@dataclass(kw_only=True, eq=False, repr=False)
class LabelSpaceTransform(RidgeRegression):
    """Ridge regression onto the principal components of the labels, and back (PLST).

    With the singular vectors V of the centred labels, labels are encoded as ``V'(y - mean)``, regressed on
    the samples, and decoded as ``V z + mean``. Regression is linear in its targets: this is `RidgeRegression`
    with its scores projected onto the span of V.

    Unknown labels count as in `RidgeRegression`.

    Parameters
    ----------
    alpha : float, optional
        The penalty on the size of the weights, as in scikit-learn's `Ridge` and `KernelRidge`. By default
        that of 15 values, over seven powers of ten, which ranks the labels best (image AUC) of samples that
        were left out one at a time; beyond 1,000 samples of 1,000 of them, drawn at random but always the
        same ones. Methods that project the labels choose it before the projection.
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
    n_jobs : int, optional
        Number of threads; all cores by default.
    n_components : int or float, default 0.5
        Number of dimensions of the space, or their share of the labels; cut to the number of labels. Fewer
        dimensions tie the labels together more closely.

    Attributes
    ----------
    components_ : array, shape (n_components, n_labels), V'
    alpha_ : float
        The penalty that was taken.
    dual_coef_ : array, shape (n_samples, n_labels)
        ``decision_function(X)`` is ``K(X, X_train) @ dual_coef_ + intercept_``; missing for kernel="linear".
    support_ : int array, shape (n_support,)
        Indices of the training samples of which some label is known; missing for kernel="linear".
    X_fit_ : array, sparse matrix or mapping of views
        The training samples; missing for kernel="precomputed" and "linear".
    kernel_ : Kernel
        The kernel, with its width fixed by the training samples.
    coef_ : array, shape (n_labels, n_features)
        Weights of the columns; only for kernel="linear".
    intercept_ : array, shape (n_labels,)
        What is added to the scores of each label.
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive training sample. They are ranked last and never predicted.
    n_features_in_ : int
        Number of columns of X in `fit`; missing where X was a mapping of views.

    Examples
    --------
    >>> from tagrank.estimators import LabelSpaceTransform
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [{"sea"}, {"sea"}, {"street"}, {"street"}]
    >>> model = LabelSpaceTransform(n_components=1, kernel="linear").fit(X, Y)
    >>> model.predict([[0.5], [2.5]]).tolist()
    [[1, 0], [0, 1]]
    """

    n_components: Any = 0.5

    stored = stores(components_=Numbers("f", ("n_components", "n_labels")))

    def _check_parameters(self):
        super()._check_parameters()
        check_components(self.n_components)

    def _learn(self, ridge, Y, means):
        n_components = count_components(self.n_components, Y.shape[1])
        V = leading_directions(Y.T @ Y, n_components)
        self.components_ = V.T.copy()
        return ridge.solve(Y @ V, self.alpha_) @ V.T

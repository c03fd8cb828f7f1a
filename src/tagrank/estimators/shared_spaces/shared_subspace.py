"""Regression in which all labels share a subspace of the samples."""

from dataclasses import dataclass
from typing import Any

from tagrank.estimators.base import COUNT, stores
from tagrank.estimators.regression.ridge_regression import RidgeRegression
from tagrank.estimators.shared_spaces.components import (
    check_components,
    count_components,
    leading_directions,
)
from tagrank.validation import check_share


@dataclass(kw_only=True, eq=False, repr=False)
class SharedSubspace(RidgeRegression):
    """Least squares with a subspace in which weights cost little, shared by all labels (MLLS).

    Minimises ``|Y - X U|^2 + alpha |U - P U|^2 + within alpha |P U|^2`` over the weights U and the projection
    P onto a subspace of `n_components` dimensions. The optimum needs two ridge regressions only: with the
    weights U_1 for the penalty alpha and U_0 for within alpha, and V the leading eigenvectors of U_1'U_0, the
    subspace is that of U_0 V, and ``U = U_1 + (U_0 - U_1) V V'``. So it takes any kernel.

    Unknown labels count as in `RidgeRegression`.

    Parameters
    ----------
    within : float, default 0.1
        The penalty of weights in the subspace, as a share of `alpha`; 1 is `RidgeRegression`.
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
        Number of dimensions of the subspace, or their share of the labels; cut to the number of labels.

    Attributes
    ----------
    n_components_ : int, the dimensions that were taken
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
    """

    n_components: Any = 0.5
    within: float = 0.1

    stored = stores(n_components_=COUNT)

    def _check_parameters(self):
        super()._check_parameters()
        check_components(self.n_components)
        check_share("within", self.within)

    def _learn(self, ridge, Y, means):
        strong, weak = (ridge.solve(Y, share * self.alpha_) for share in (1, self.within))
        self.n_components_ = count_components(self.n_components, Y.shape[1])
        V = leading_directions(ridge.inner(strong, weak), self.n_components_)
        return strong + (weak - strong) @ V @ V.T

"""Regression onto the directions of the labels that samples explain best."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tagrank.estimators.base import Numbers, stores
from tagrank.estimators.regression.ridge_regression import RidgeRegression
from tagrank.estimators.shared_spaces.components import check_components, count_components
from tagrank.validation import check_positive


@dataclass(kw_only=True, eq=False, repr=False)
class CanonicalCorrelation(RidgeRegression):
    """Regularised canonical correlation analysis of samples and labels (CCA).

    With the fitted values H Y of `RidgeRegression` on centred labels and ``S = (Y'Y + c I)^-1/2``, the
    canonical directions of the labels are the leading eigenvectors V of ``S Y'HY S``, and their eigenvalues
    the squared correlations; those of the samples are the regressions onto ``Y S V``. Scores are decoded by
    the inverse map, ``V' S^-1``: with all directions the model is that of `RidgeRegression`.

    Unknown labels count as in `RidgeRegression`.

    Parameters
    ----------
    label_penalty : float, default 1.0
        c in units of the mean of the diagonal of Y'Y. Without one, labels of one or two samples, which any
        model fits, take the first directions.
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
    correlations_ : array, shape (n_components,), squared canonical correlations, regularised
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
    label_penalty: float = 1.0

    stored = stores(correlations_=Numbers("f", ("n_components",)))

    def _check_parameters(self):
        super()._check_parameters()
        check_components(self.n_components)
        check_positive("label_penalty", self.label_penalty)

    def _learn(self, ridge, Y, means):
        coefficients = ridge.solve(Y, self.alpha_)
        moments = Y.T @ Y
        values, vectors = np.linalg.eigh(moments)
        roots = np.sqrt(np.maximum(values, 0) + self.label_penalty * (np.mean(values) or 1.0))
        whitening, colouring = (vectors * scale @ vectors.T for scale in (1 / roots, roots))
        explained = whitening @ (Y.T @ ridge.scores(coefficients)) @ whitening
        values, vectors = np.linalg.eigh((explained + explained.T) / 2)
        kept = slice(None, -1 - count_components(self.n_components, len(values)), -1)
        self.correlations_ = values[kept].copy()
        return coefficients @ (whitening @ vectors[:, kept]) @ (vectors[:, kept].T @ colouring)

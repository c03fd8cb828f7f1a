"""Canonical correlation of samples and labels: scores decoded from the space, or machines trained in it."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tagrank.estimators.base import Numbers, stores
from tagrank.estimators.max_margin import warn_unless_converged
from tagrank.estimators.ridge_regression import RidgeRegression, counted_rows
from tagrank.estimators.shared_spaces.regressions_onto_codes import check_components, count_components
from tagrank.estimators.targets import encode_targets
from tagrank.validation import check_choice, check_positive

CLASSIFIERS = ("none", "svm")
TOL = 1e-3  # relative duality gap of the machines
LEAST_CORRELATION = 1e-12  # squared; below, a direction holds nothing but rounding


@dataclass(kw_only=True, eq=False, repr=False)
class CanonicalCorrelation(RidgeRegression):
    """Regularised canonical correlation analysis of samples and labels (CCA).

    With the fitted values H Y of `RidgeRegression` on centred labels and ``S = (Y'Y + c I)^-1/2``, the
    canonical directions of the labels are the leading eigenvectors V of ``S Y'HY S``, and their eigenvalues
    the squared correlations; those of the samples are the regressions onto ``Y S V``. Scores are decoded by
    the inverse map, ``V' S^-1``: with all directions the model is that of `RidgeRegression`.

    With ``classifier="svm"``, the published form, one linear support vector machine per label is trained on
    the projections of the samples instead, each divided by its standard deviation: ``1/2 |w_l|^2 + C sum_i
    max(0, 1 - y_il (w_l'z_i + b_l))``, where b_l is penalized like the weights.

    Unknown labels are filled in first by what `RidgeRegression` on the known ones fits there; the machines
    leave them out.

    Parameters
    ----------
    classifier : {"none", "svm"}, default "none"
        "svm" trains a support vector machine for each label on the projections; "none" decodes scores by the
        inverse of the encoding.
    cost : float, default 1.0
        Penalty C for violated labels of the support vector machines.
    label_penalty : float, default 1.0
        c in units of the mean of the diagonal of Y'Y. Without one, labels of one or two samples, which any
        model fits, take the first directions.
    alpha : float, optional
        Penalty on the squared weights, as in scikit-learn's `Ridge` and `KernelRidge`. By default one of 15
        values, over seven powers of ten: the one that ranks the labels of left-out samples best (image AUC,
        leave-one-out). Beyond 1,000 samples, 1,000 of them are left out, drawn at random but always the same
        ones. For this choice, unknown labels count as the mean of the known ones, and alpha is multiplied by
        the share of known labels. Methods that project the labels choose alpha before the projection.
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
    landmarks : int, optional
        Number of landmarks: rows are compared only with this many training rows, which are chosen to
        represent all of them (Nyström). This takes n x landmarks instead of n x n numbers, and only the
        landmarks are stored. 1,000 are enough for most collections. By default all rows are compared with
        each other.
    n_jobs : int, optional
        Number of threads; all cores by default.
    n_components : int or float, default 0.5
        Number of dimensions of the space, or their share of the labels; at most the number of labels. Fewer
        dimensions link the labels more closely.

    Attributes
    ----------
    correlations_ : array, shape (n_components,), squared canonical correlations, regularised
    alpha_ : float
        The penalty that was used.
    dual_coef_ : array, shape (n_samples, n_labels)
        ``decision_function(X)`` is ``K(X, X_train) @ dual_coef_ + intercept_``; missing for kernel="linear".
    support_ : int array, shape (n_support,)
        Indices of the training samples with a known label; missing for kernel="linear".
    X_fit_ : array, sparse matrix or mapping of views
        The training samples; missing for kernel="precomputed" and "linear".
    kernel_ : Kernel
        The kernel, with its width fixed by the training samples.
    coef_ : array, shape (n_labels, n_features)
        Weights of the columns; only for kernel="linear".
    intercept_ : array, shape (n_labels,)
        Constants that are added to the scores of each label.
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive training sample. They are ranked last and never predicted.
    n_features_in_ : int
        Number of columns of X in `fit`; missing if X was a mapping of views.
    """

    n_components: Any = 0.5
    label_penalty: float = 1.0
    classifier: str = "none"
    cost: float = 1.0

    stored = stores(correlations_=Numbers("f", ("n_components",)))

    def fit(self, X, y) -> Self:
        self._states = None if self.classifier == "none" else encode_targets(y).states
        try:
            super().fit(X, y)
            self.intercept_ = self.intercept_ + vars(self).pop("_shift", 0.0)
        finally:
            del self._states
        return self

    def _check_parameters(self):
        super()._check_parameters()
        check_components(self.n_components)
        check_positive("label_penalty", self.label_penalty)
        check_choice("classifier", self.classifier, CLASSIFIERS)
        check_positive("cost", self.cost)

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
        directions = coefficients @ (whitening @ vectors[:, kept])
        if self.classifier == "none":
            return directions @ (vectors[:, kept].T @ colouring)
        weights, intercepts = self._train(ridge.scores(directions))
        # the fit adds the means of the labels, which machines do not know
        self._shift = intercepts - means
        return directions @ weights

    def _train(self, codes):
        """Weights (n_components, n_labels) and intercepts (n_labels,) of the machines on projections."""
        from tagrank.solvers.dual_ascent import solve_dual

        lengths = np.sqrt(np.mean(codes**2, axis=0))
        lengths[self.correlations_ < LEAST_CORRELATION] = np.inf
        rows = np.column_stack([codes / lengths, np.ones(len(codes))])
        states = self._states[counted_rows(self._states)]
        solution = solve_dual(rows, "hinge", self.cost * states.astype(np.float64), kind="rows", tol=TOL)
        warn_unless_converged(solution, TOL)
        return solution.weights[:-1] / lengths[:, None], solution.weights[-1]

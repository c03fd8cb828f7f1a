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

    Parameters
    ----------
    n_components : int or float, default 0.5
        Dimensions of the space, or their share of the labels; cut to the number of labels.
    label_penalty : float, default 1.0
        c in units of the mean of the diagonal of Y'Y. Without one, labels of one or two samples, which any
        model fits, take the first directions.

    Other parameters, attributes and the rule for unknown labels are those of `RidgeRegression`; the penalty
    is chosen before the projection.

    Attributes
    ----------
    correlations_ : array, shape (n_components,), squared canonical correlations, regularised
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

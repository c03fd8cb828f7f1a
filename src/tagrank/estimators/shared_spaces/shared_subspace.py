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

    Parameters
    ----------
    n_components : int or float, default 0.5
        Dimensions of the subspace, or their share of the labels; cut to the number of labels.
    within : float, default 0.1
        The penalty of weights in the subspace, as a share of `alpha`; 1 is `RidgeRegression`.

    Other parameters, attributes and the rule for unknown labels are those of `RidgeRegression`; `alpha` is
    chosen without the subspace.

    Attributes
    ----------
    n_components_ : int, the dimensions that were taken
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

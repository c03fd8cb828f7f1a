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

    Parameters
    ----------
    n_components : int or float, default 0.5
        Dimensions of the space, or their share of the labels; cut to the number of labels.

    Other parameters, attributes and the rule for unknown labels are those of `RidgeRegression`; the penalty
    is chosen before the projection.

    Attributes
    ----------
    components_ : array, shape (n_components, n_labels), V'

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

"""One nonnegative factorization of samples and labels side by side."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tagrank.estimators.shared_spaces.components import count_components
from tagrank.estimators.shared_spaces.nonnegative import NonnegativeFactorization


@dataclass(kw_only=True, eq=False, repr=False)
class MixedFactorization(NonnegativeFactorization):
    """Codes from samples and labels together (MNMF).

    One factorization ``[a X, (1 - a) Y] ~ H [P, Q]``, nothing below zero, by least squares; X and Y are
    brought to the same total size first. Answers are those of `AsymmetricFactorization`.

    Parameters
    ----------
    n_components : int or float, default 0.5
        Number of parts, or their share of the labels; cut to the numbers of samples and labels.
    balance : float between 0 and 1, default 0.5
        a, the weight of the samples.

    Other parameters, attributes and rules are those of `AsymmetricFactorization`.
    """

    balance: float = 0.5

    def _check_parameters(self):
        super()._check_parameters()
        if not 0 < self.balance < 1:
            raise ValueError(f"balance must lie between 0 and 1, got {self.balance!r}")

    def _factorize(self, X, Y):
        label_weight = (1 - self.balance) / self.balance * _size(X) / (_size(Y) or 1.0)
        both = _beside(X, label_weight * Y)
        wanted = count_components(self.n_components, Y.shape[1])
        if _size(both):
            _, parts = self._solve(both, n_components=min(wanted, *both.shape), init="nndsvda")
        else:
            parts = np.zeros((1, both.shape[1]))
        self.parts_ = parts[:, : X.shape[1]].copy()
        self.label_parts_ = parts[:, X.shape[1] :] / (label_weight or 1.0)


def _beside(X, Y):
    return sparse.hstack([X, Y], format="csr") if sparse.issparse(X) else np.hstack([X, Y])


def _size(matrix):
    """The root of the sum of squares."""
    return np.linalg.norm(matrix.data if sparse.issparse(matrix) else matrix)

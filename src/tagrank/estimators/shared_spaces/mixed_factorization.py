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
    brought to the same total size first. Answers, unknown labels and columns with values below zero are as in
    `AsymmetricFactorization`.

    Parameters
    ----------
    balance : float between 0 and 1, default 0.5
        a, the weight of the samples.
    n_components : int or float, default 0.5
        Number of parts, or their share of the labels; cut to the numbers of samples and labels.
    max_iter : int, default 200
        Maximum number of passes over the factors.
    tol : float, default 0.0001
        A factorization ends when a pass changes it by less, as in scikit-learn's `NMF`.
    random_state : int, RandomState or None, default None
        Seeds the start of the factors. An int makes results repeatable.

    Attributes
    ----------
    parts_ : array, shape (n_components, n_parts)
        P, the parts of the columns of X.
    label_parts_ : array, shape (n_components, n_labels)
        Q, the parts of the labels.
    signed_ : int array
        The columns with values below zero in training, whose negative parts are columns of P too.
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive training sample. They are ranked last and never predicted.
    n_features_in_ : int
        Number of columns of X in `fit`; missing where X was a mapping of views.
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

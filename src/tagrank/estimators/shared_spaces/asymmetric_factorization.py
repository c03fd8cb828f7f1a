"""Nonnegative factorization of the labels, onto which samples are mapped afterwards."""

import numpy as np

from tagrank.estimators.shared_spaces.components import count_components
from tagrank.estimators.shared_spaces.nonnegative import NonnegativeFactorization


class AsymmetricFactorization(NonnegativeFactorization):
    """Codes from the labels alone, then parts of samples for these codes (ANMF).

    First ``Y ~ H Q``, then ``X ~ H P`` for the codes H that were found, nothing below zero, both by least
    squares. A new sample has the codes h >= 0 with ``x ~ h P``, and the scores ``h Q``; one half is the limit
    between present and absent, which `decision_function` moves to zero.

    A column that has values below zero in training is read as two, what is above zero and what is below.
    An unknown label counts as the mean of those of its label that are known, a sample without any known
    label does not count.

    Parameters
    ----------
    n_components : int or float, default 0.5
        Number of parts, or their share of the labels; cut to the number of labels and of samples.
    max_iter : int, default 200
        Passes over the factors at most.
    tol : float, default 1e-4
        A factorization ends when a pass changes it by less, as in scikit-learn's `NMF`.
    random_state : int, RandomState or None, of the start

    Attributes
    ----------
    label_parts_ : array, shape (n_components, n_labels), Q
    parts_ : array, shape (n_components, n_parts), P
    classes_ : array, the names of the labels
    """

    def _factorize(self, X, Y):
        n_components = count_components(self.n_components, min(Y.shape))
        if Y.any():
            H, self.label_parts_ = self._solve(Y, n_components=n_components, init="nndsvda")
        else:
            H, self.label_parts_ = np.ones((len(Y), n_components)), np.zeros((n_components, Y.shape[1]))
        self.parts_ = np.ascontiguousarray(self._codes(X.T, np.ascontiguousarray(H.T)).T)

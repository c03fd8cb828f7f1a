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

    def _factorize(self, X, Y):
        n_components = count_components(self.n_components, min(Y.shape))
        if Y.any():
            H, self.label_parts_ = self._solve(Y, n_components=n_components, init="nndsvda")
        else:
            H, self.label_parts_ = np.ones((len(Y), n_components)), np.zeros((n_components, Y.shape[1]))
        self.parts_ = np.ascontiguousarray(self._codes(X.T, np.ascontiguousarray(H.T)).T)

"""Nonnegative factorizations of samples and labels: parts of columns, codes, and answers."""

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.decomposition import non_negative_factorization
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from tagrank.estimators.base import LabelEstimator, Numbers, stores
from tagrank.estimators.ridge_regression import centred_labels, counted_rows
from tagrank.estimators.shared_spaces.regressions_onto_codes import check_components, count_components
from tagrank.estimators.targets import warn_never_positive
from tagrank.validation import check_count, check_magnitude, check_positive


@dataclass(kw_only=True, eq=False, repr=False)
class NonnegativeFactorization(LabelEstimator):
    """Samples X ~ H P and labels Y ~ H Q with the same codes H, nothing below zero.

    A subclass learns P and Q. New samples are coded with P fixed, and scored by their codes times Q.

    Attributes
    ----------
    parts_ : array, shape (n_components, n_parts), P
    label_parts_ : array, shape (n_components, n_labels), Q
    signed_ : array, the columns with values below zero in training, whose negative parts are columns of P too
    """

    n_components: Any = 0.5
    max_iter: int = 200
    tol: float = 1e-4
    random_state: Any = None

    stored = stores(
        parts_=Numbers("f", ("n_components", "n_parts"), least=0),
        label_parts_=Numbers("f", ("n_components", "n_labels")),
        signed_=Numbers("i", ("n_signed",)),
    )
    column_scaling = "minmax"

    def fit(self, X, y) -> Self:
        """Learn from rows and three-state labels.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)
        y : labels in any form that `OneVsAllSVM.fit` takes

        Returns
        -------
        self
        """
        X, targets = self._take(X, y)
        check_magnitude("X", X, np.float64)
        warn_never_positive(targets)
        counted = counted_rows(targets.states)
        Y, means = centred_labels(targets.states[counted])
        self.signed_ = np.flatnonzero(_least(X) < 0)
        self._factorize(above_and_below(X[counted], self.signed_), (Y + means + 1) / 2)
        self._name_labels(targets)
        return self

    def _check_parameters(self):
        check_components(self.n_components)
        check_count("max_iter", self.max_iter)
        check_positive("tol", self.tol)

    def restore(self, state):
        super().restore(state)
        n_columns = getattr(self, "n_features_in_", 0)
        if self.parts_.shape[1] != n_columns + len(self.signed_):
            raise ValueError(
                f"{self.parts_.shape[1]} parts do not fit {n_columns} columns, {len(self.signed_)} with signs"
            )
        if len(self.signed_) and not 0 <= self.signed_.min() <= self.signed_.max() < n_columns:
            raise ValueError(f"columns with signs must lie among the {n_columns}")

    def _factorize(self, X, Y):
        """Set `parts_` and `label_parts_`, given parts of columns and labels between 0 and 1."""
        raise NotImplementedError(f"{type(self).__name__} must learn its parts")

    def _scores(self, X):
        codes = self._codes(above_and_below(X, self.signed_), self.parts_)
        return 2 * codes @ self.label_parts_ - 1

    def _codes(self, X, parts):
        """H (n_samples, n_components) of X ~ H `parts`."""
        if not parts.any():
            return np.zeros((X.shape[0], len(parts)))
        return self._solve(X, H=parts, n_components=len(parts), update_H=False)[0]

    def _solve(self, X, **more):
        """Both factors by scikit-learn."""
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        with warnings.catch_warnings():
            # codes that change a little are good enough, and `max_iter` is documented
            warnings.simplefilter("ignore", ConvergenceWarning)
            return non_negative_factorization(
                X, max_iter=self.max_iter, tol=self.tol, random_state=seed, **more
            )[:2]


def above_and_below(X, signed):
    """Values above zero and, of the columns `signed`, the sizes of those below."""
    X = X.astype(np.float64)
    if sparse.issparse(X):
        return sparse.hstack([X.maximum(0), (-X[:, signed]).maximum(0)], format="csr")
    return np.hstack([np.maximum(X, 0), np.maximum(-X[:, signed], 0)])


def _least(X):
    """The smallest value of each column."""
    return X.min(axis=0).toarray().ravel() if sparse.issparse(X) else X.min(axis=0)


class AsymmetricFactorization(NonnegativeFactorization):
    """Codes from the labels alone, then parts of samples for these codes (ANMF).

    First ``Y ~ H Q``, then ``X ~ H P`` for the codes H that were found, nothing below zero, both by least
    squares. A new sample has the codes h >= 0 with ``x ~ h P``, and the scores ``h Q``; one half is the limit
    between present and absent, which `decision_function` moves to zero.

    A column that has values below zero in training is read as two, what is above zero and what is below.
    An unknown label counts as the mean of those of its label that are known, a sample without any known
    label does not count. Codes of the known labels alone were tried, and ranked worse more often than better.

    Parameters
    ----------
    n_components : int or float, default 0.5
        Number of parts, or their share of the labels; at most the numbers of samples and labels.
    max_iter : int, default 200
        Maximum number of passes over the factors.
    tol : float, default 0.0001
        Stop when a pass changes the factorization by less than this, as in scikit-learn's `NMF`.
    random_state : int, RandomState or None, default None
        Seed of the first factors. Pass an int for repeatable results.

    Attributes
    ----------
    parts_ : array, shape (n_components, n_parts)
        P, the parts of the columns of X.
    label_parts_ : array, shape (n_components, n_labels)
        Q, the parts of the labels.
    signed_ : int array
        The columns with negative values in training; their negative parts are columns of P, too.
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive training sample. They are ranked last and never predicted.
    n_features_in_ : int
        Number of columns of X in `fit`; missing if X was a mapping of views.
    """

    def _factorize(self, X, Y):
        n_components = count_components(self.n_components, min(Y.shape))
        if Y.any():
            H, self.label_parts_ = self._solve(Y, n_components=n_components, init="nndsvda")
        else:
            H, self.label_parts_ = np.ones((len(Y), n_components)), np.zeros((n_components, Y.shape[1]))
        self.parts_ = np.ascontiguousarray(self._codes(X.T, np.ascontiguousarray(H.T)).T)


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
        Number of parts, or their share of the labels; at most the numbers of samples and labels.
    max_iter : int, default 200
        Maximum number of passes over the factors.
    tol : float, default 0.0001
        Stop when a pass changes the factorization by less than this, as in scikit-learn's `NMF`.
    random_state : int, RandomState or None, default None
        Seed of the first factors. Pass an int for repeatable results.

    Attributes
    ----------
    parts_ : array, shape (n_components, n_parts)
        P, the parts of the columns of X.
    label_parts_ : array, shape (n_components, n_labels)
        Q, the parts of the labels.
    signed_ : int array
        The columns with negative values in training; their negative parts are columns of P, too.
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive training sample. They are ranked last and never predicted.
    n_features_in_ : int
        Number of columns of X in `fit`; missing if X was a mapping of views.
    """

    balance: float = 0.5

    def _check_parameters(self):
        super()._check_parameters()
        if not 0 < self.balance < 1:
            raise ValueError(f"balance must lie between 0 and 1, got {self.balance!r}")

    def _factorize(self, X, Y):
        label_weight = (1 - self.balance) / self.balance * _size(X) / (_size(Y) or 1.0)
        both = _beside(X, label_weight * Y)
        n_components = count_components(self.n_components, Y.shape[1])
        if _size(both):
            _, parts = self._solve(both, n_components=min(n_components, *both.shape), init="nndsvda")
        else:
            parts = np.zeros((1, both.shape[1]))
        self.parts_ = parts[:, : X.shape[1]].copy()
        self.label_parts_ = parts[:, X.shape[1] :] / (label_weight or 1.0)


def _beside(X, Y):
    return sparse.hstack([X, Y], format="csr") if sparse.issparse(X) else np.hstack([X, Y])


def _size(matrix):
    """The root of the sum of squares."""
    return np.linalg.norm(matrix.data if sparse.issparse(matrix) else matrix)

"""Rows that are learned from more than once: compared with each other once, cut into folds as often as asked.

An estimator makes them (`LabelEstimator.compare`), and its `fit`, `path` and `decision_function` take them in
the place of rows. Widths of kernels are those of all rows, also within folds: they know nothing of labels.
"""

from collections.abc import Mapping

import numpy as np
from scipy import sparse
from sklearn.utils import get_tags

from tagrank.arrays import is_elsewhere, part_of
from tagrank.kernels import KernelStack, Sum
from tagrank.kernels.gram import n_rows
from tagrank.kernels.stack import Stack
from tagrank.kernels.stack_files import raise_stack
from tagrank.validation import check_same_length


class PlainRows:
    """Rows as they are, for estimators that gain nothing by comparing them.

    Parameters
    ----------
    X : array, sparse matrix, DataFrame, or a mapping of views to such
    """

    def __init__(self, X):
        self.X = sliceable(X)

    def __len__(self):
        return n_rows(self.X)

    def training(self, rows):
        """The part to train on, given by its indices."""
        return PlainRows(take(self.X, rows))

    def held_out(self, rows, training):
        """Other rows for a model that was trained on the part `training`."""
        return PlainRows(take(self.X, rows))

    def raised(self, power):
        """The same under the kernel raised to a power; rows without a kernel stay as they are."""
        return self


class GramRows(PlainRows):
    """Similarities (n, n) that were computed in advance."""

    @classmethod
    def of_all(cls, K):
        """Similarities of all rows with each other."""
        rows = cls(K)
        if rows.X.ndim != 2 or rows.X.shape[0] != rows.X.shape[1]:
            raise ValueError(f"K must be square, got shape {rows.X.shape}")
        return rows

    def training(self, rows):
        return GramRows(take(self.X, rows, rows))

    def held_out(self, rows, training):
        return GramRows(take(self.X, rows, training))


class ComparedRows(PlainRows):
    """Rows under a kernel whose widths they fixed.

    Parameters
    ----------
    X : checked rows; None for a part of others, whose models answer only for what is held out
    kernel : Kernel, fitted
    K : array or VisitedGram, shape (n, n), its Gram matrix
    known : dict of attributes that an estimator has of such rows, such as `n_features_in_`
    """

    def __init__(self, X, kernel, K, known=None):
        self.X = X
        self.kernel = kernel
        self.K = K
        self.shape = K.shape
        self.known = known or {}

    def __len__(self):
        return len(self.K)

    def training(self, rows):
        return ComparedRows(None, self.kernel, part_of(self.K, rows, rows), self.known)

    def held_out(self, rows, training):
        return Similarities(part_of(self.K, rows, training))

    def raised(self, power):
        if power == 1:
            return self
        if isinstance(self.K, KernelStack):
            parts = tuple(part**power for part in self.kernel.kernels)
            return ComparedRows(
                self.X, Sum(parts, self.kernel.weights), raise_stack(self.K, power), self.known
            )
        return ComparedRows(self.X, self.kernel**power, self.K**power, self.known)


class LandmarkRows(PlainRows):
    """Rows under a kernel that is approximated by similarities to a few of them, the landmarks.

    Parameters
    ----------
    X : checked rows; None for a part of others
    kernel : Kernel, fitted
    Z : array, shape (n, n_columns), whose products with each other approximate the kernel
    landmarks : int array, which of the rows are landmarks; those of X, or of all where X is None
    projection : array, shape (n_landmarks, n_columns): similarities to landmarks times it are the rows of Z
    known : dict of attributes that an estimator has of such rows, such as `n_features_in_`
    """

    def __init__(self, X, kernel, Z, landmarks, projection, known=None):
        self.X, self.kernel, self.Z = X, kernel, Z
        self.landmarks, self.projection = landmarks, projection
        self.known = known or {}

    def __len__(self):
        return len(self.Z)

    @property
    def shape(self):
        """That of the columns that stand for the rows."""
        return self.Z.shape

    def training(self, rows):
        # a landmark brings no label: it may stand for rows of any part
        return LandmarkRows(None, self.kernel, self.Z[rows], self.landmarks, self.projection, self.known)

    def held_out(self, rows, training):
        return Similarities(self.Z[rows] @ self._back())

    def _back(self):
        """What makes similarities to the landmarks of Z: the pseudoinverse of the projection.

        Its columns are at right angles, so that it is P' over their squared lengths.
        """
        lengths = np.einsum("ij,ij->j", self.projection, self.projection, dtype=np.float64)
        return (self.projection.T / lengths[:, None]).astype(self.Z.dtype)

    def dual_coefficients(self, weights):
        """Weights (n_columns, n_labels) as coefficients of the landmarks, and which rows these belong to.

        Of all rows the others have coefficients of zero; of a part only landmarks have some.
        """
        own = self.projection.astype(np.float64) @ weights
        if self.X is None:
            return own, np.arange(len(own))
        coefficients = np.zeros((len(self), own.shape[1]))
        coefficients[self.landmarks] = own
        return coefficients, self.landmarks


class Similarities(PlainRows):
    """Similarities (n_samples, n_training) of rows with those that a model was trained on."""

    def __init__(self, K):
        self.K = K
        self.shape = K.shape

    def __len__(self):
        return len(self.K)


def compare_rows(estimator, X, **where):
    """What an estimator makes of rows that are learned from more than once; one of others makes nothing.

    `where` may say from which `place` similarities come, to an estimator that visits them.
    """
    if isinstance(X, PlainRows):
        return X
    if hasattr(estimator, "compare"):
        return estimator.compare(X, **where)
    return GramRows.of_all(X) if get_tags(estimator).input_tags.pairwise else PlainRows(X)


def rows_for(estimator, rows):
    """Such rows as the estimator takes them: those of others know arrays only."""
    return rows if hasattr(estimator, "compare") else rows.X


def sliceable(X):
    """`X` in a form whose rows can be taken; a DataFrame stays one, for its column names."""
    # sparse first: scipy's dictionary of keys is a Mapping too
    if sparse.issparse(X):
        return X.tocsr()
    if isinstance(X, Mapping):
        return {view: sliceable(rows) for view, rows in X.items()}
    is_kept = hasattr(X, "iloc") or isinstance(X, Stack) or is_elsewhere(X)
    return X if is_kept else np.asarray(X)


def take(X, rows, columns=None):
    """Rows of what `sliceable` gave; with `columns` that block of a matrix."""
    if isinstance(X, Mapping):
        return {view: take(values, rows, columns) for view, values in X.items()}
    if hasattr(X, "iloc"):
        return X.iloc[rows] if columns is None else X.iloc[rows, columns]
    return X[rows] if columns is None else X[np.ix_(rows, columns)]


def side_by_side(X):
    """The views of a mapping as one matrix, in the order of their names; a matrix as it is."""
    # sparse first: scipy's dictionary of keys is a Mapping too
    if sparse.issparse(X) or not isinstance(X, Mapping):
        return X
    check_same_length(**{f"view {name}": view for name, view in X.items()})
    views = [X[name] for name in sorted(X)]
    if any(sparse.issparse(view) for view in views):
        return sparse.hstack([sparse.csr_array(view) for view in views], format="csr")
    return np.hstack([np.asarray(view) for view in views])

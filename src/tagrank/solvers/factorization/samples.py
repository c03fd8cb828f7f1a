"""Samples as a factorization reads them: batches of rows and labels, on the device where it learns."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tagrank.arrays import beside, namespace_of

SPARSE_LABELS = 0.1  # share of present labels below which sparse products are faster
BYTES_ON_DEVICE = 2**32  # rows that take more are moved batch by batch


class Batch(NamedTuple):
    """Rows, labels of zeros and ones, which of them are known (None: all), and the sums of their squares."""

    X: Any
    T: Any
    known: Any
    squares_X: Any
    squares_T: Any


class Samples:
    """Rows (n, d), dense or sparse, and states (n, m) of their labels.

    Parameters
    ----------
    X : array or csr matrix, float32
    states : int8 array of +1, -1 and 0
    like : array of the library and on the device of what is learned
    """

    def __init__(self, X, states, like):
        self.like, self.is_numpy = like, namespace_of(like) is np
        known = states != 0
        self.X = X if self.is_numpy or 4 * np.prod(X.shape) > BYTES_ON_DEVICE else self._dense(X)
        present = states > 0
        is_sparse = self.is_numpy and known.all() and present.mean() < SPARSE_LABELS
        self.T = sparse.csr_array(present, dtype=np.float32) if is_sparse else self._dense(present)
        self.known = None if known.all() else self._dense(known)

    def __len__(self):
        return self.T.shape[0]

    def take(self, rows):
        """The batch of some indices."""
        X, T = self._rows(self.X, rows), self._rows(self.T, rows)
        known = None if self.known is None else self._rows(self.known, rows)
        return Batch(X, T, known, _squares(X), _squares(T))

    def _rows(self, matrix, rows):
        if self.is_numpy:
            return matrix[rows]
        if namespace_of(matrix) is np:
            return self._dense(matrix[rows])
        return matrix[beside(np.asarray(rows), self.like)]

    def _dense(self, matrix):
        values = matrix.toarray() if sparse.issparse(matrix) else matrix
        return beside(np.asarray(values, dtype=np.float32), self.like)


def _squares(matrix):
    values = matrix.data if sparse.issparse(matrix) else matrix
    return (values * values).sum()

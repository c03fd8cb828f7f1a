"""Rows under the linear kernel whose similarities are multiplied by those of their label vectors.

With rows X (n_samples, n_features) and label vectors U (n_samples, n_columns) the Gram matrix of a joint
problem is (X X') * (U U'), entry by entry. Nothing of that size is made here: the model of the coefficients a
is the matrix W = sum_i a_i x_i u_i', and the score of sample i is x_i' W u_i.

W takes n_features x n_columns numbers, and as many in float64 while a solution is certified.
"""

import numpy as np
from numba import get_num_threads
from scipy import sparse

from tagrank.arrays import row_blocks, rows_within
from tagrank.simd import aligned_zeros, padded
from tagrank.solvers.linear_rows import multiply_columns, multiply_rows, plain_csr


class JointRows:
    """Rows X, dense or CSR, and dense U, held as `DenseRows` are; coefficients have shape (n_samples, 1)."""

    block_size = 192
    is_exact = False

    def __init__(self, X, U, dtype):
        self.Weights = SparseWeights if sparse.issparse(X) else DenseWeights
        self.X = X = plain_csr(X) if sparse.issparse(X) else X
        self.U = U
        self.n_samples = X.shape[0]
        self.dtype = dtype
        self.diagonal = self.Weights.squared_lengths(X) * DenseWeights.squared_lengths(U)
        self.model = self.Weights(X.shape[1], U.shape[1], dtype)

    def read(self, rows):
        X, U = self._take(rows, self.dtype)
        corner = self.Weights.products(X)
        corner *= U @ U.T
        return corner, np.einsum("ij,ij->i", self.model.multiply(X), U)[None]

    def add(self, rows, changes):
        changed = np.flatnonzero(changes[0])
        X, U = self._take(rows[changed], self.dtype)
        self.model.add(X, changes[0, changed, None].astype(self.dtype) * U)

    def round_scores(self):
        """Weights are rounded to `dtype` from the start."""

    def scores(self):
        return self._scores(self.model)

    def recompute(self, coefficients):
        """Scores of all samples in float64, from weights anew from the coefficients."""
        exact = self.Weights(self.X.shape[1], self.U.shape[1], np.dtype(np.float64))
        for block in self._blocks():
            X, U = self._take(block, np.float64)
            exact.add(X, coefficients[block] * U)
        self.model.W[:] = exact.W
        return self._scores(exact)

    def _scores(self, weights):
        scores = np.empty((1, self.n_samples), weights.W.dtype)
        for block in self._blocks():
            X, U = self._take(block, weights.W.dtype)
            np.einsum("ij,ij->i", weights.multiply(X), U, out=scores[0, block])
        return scores

    def _take(self, rows, dtype):
        return self.X[rows].astype(dtype, copy=False), self.U[rows].astype(dtype, copy=False)

    def _blocks(self):
        width = self.U.shape[1] + (0 if sparse.issparse(self.X) else self.X.shape[1])
        return row_blocks(self.n_samples, rows_within(width, megabytes=4))


class DenseWeights:
    """W (n_features, n_columns), and its products with dense rows."""

    def __init__(self, n_features, n_columns, dtype):
        self.W = np.zeros((n_features, n_columns), dtype)

    @staticmethod
    def squared_lengths(X):
        return np.einsum("ij,ij->i", X, X, dtype=np.float64)

    @staticmethod
    def products(X):
        return X @ X.T

    def multiply(self, X):
        return X @ self.W

    def add(self, X, changes):
        """W += X' changes."""
        self.W += X.T @ changes


class SparseWeights:
    """W (n_groups, n_features, group width), a group of columns a thread, and its products with CSR rows."""

    def __init__(self, n_features, n_columns, dtype):
        width = padded(-(-n_columns // get_num_threads()))
        self.n_columns = n_columns
        self.W = aligned_zeros((-(-n_columns // width), n_features, width), dtype)

    @staticmethod
    def squared_lengths(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()

    @staticmethod
    def products(X):
        return (X @ X.T).toarray()

    def multiply(self, X):
        n_groups, _, width = self.W.shape
        answer = np.empty((X.shape[0], n_groups * width), self.W.dtype)
        multiply_rows(X.indptr, X.indices, X.data, 0, self.W, answer)
        return answer[:, : self.n_columns]

    def add(self, X, changes):
        """W += X' changes."""
        multiply_columns(X.indptr, X.indices, X.data, changes, self.W)

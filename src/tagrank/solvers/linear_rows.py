"""Rows under the linear kernel, and the weights W = A X that give the scores of any samples.

- `DenseRows`: visited in blocks, as a Gram matrix is;
- `SparseRows`: visited one at a time by the loss itself;
- `JointRows`: rows whose similarities are multiplied by those of their label vectors.

Coefficients have shape (n_samples, n_labels), scores and changes (n_labels, n_samples).

With rows X (n_samples, n_features) and label vectors U (n_samples, n_columns) the Gram matrix of a joint
problem is (X X') * (U U'), entry by entry. Nothing of that size is made here: the model of the coefficients a
is the matrix W = sum_i a_i x_i u_i', and the score of sample i is x_i' W u_i. It takes n_features x n_columns
numbers, and as many in float64 while a solution is certified.
"""

import numpy as np
from numba import get_num_threads
from scipy import sparse

from tagrank.arrays import row_blocks, rows_within
from tagrank.resources import compiled, share_out
from tagrank.simd import add_to_rows, aligned_zeros, multiply_row, padded
from tagrank.validation import check_sparse

ENOUGH_PRODUCTS = 200_000  # of two numbers, for a thread to be worth its start


class DenseRows:
    """Dense rows X (n_samples, n_features) under the linear kernel; weights W (n_labels, n_features)."""

    block_size = 192
    is_exact = False

    def __init__(self, X, n_labels, dtype):
        self.X = X
        self.n_samples = X.shape[0]
        self.dtype = dtype
        self.diagonal = np.einsum("ij,ij->i", X, X, dtype=np.float64)
        self.W = np.zeros((n_labels, X.shape[1]), dtype=dtype)

    def read(self, rows):
        X = self.X[rows].astype(self.dtype, copy=False)
        return X @ X.T, self.W @ X.T

    def add(self, rows, changes):
        self.W += changes.astype(self.dtype, copy=False) @ self.X[rows].astype(self.dtype, copy=False)

    def round_scores(self):
        """Weights are rounded to `dtype` from the start."""

    def scores(self):
        return self._scores(self.W)

    def recompute(self, coefficients):
        """Scores of all samples in float64, from weights anew from the coefficients."""
        W = np.zeros(self.W.shape)
        for block in self._blocks():
            W += coefficients[block].T @ self.X[block].astype(np.float64, copy=False)
        self.W[:] = W
        self.weights = W.T
        return self._scores(W)

    def _scores(self, W):
        scores = np.empty((len(W), self.n_samples), dtype=W.dtype)
        for block in self._blocks():
            scores[:, block] = W @ self.X[block].T.astype(W.dtype, copy=False)
        return scores

    def _blocks(self):
        return row_blocks(self.n_samples, rows_within(self.X.shape[1]))


class SparseRows:
    """Sparse rows X (CSR) under the linear kernel, and the weights W (n_groups, n_features, group width).

    The labels are cut into groups, one for each thread that may work on them alone.
    """

    def __init__(self, X, n_labels, dtype, n_groups=1):
        self.X = X = plain_csr(X)
        self.n_samples = X.shape[0]
        self.n_labels = n_labels
        self.diagonal = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
        with np.errstate(over="ignore"):  # the engine refuses what is so large
            self.squared_norms = self.diagonal.astype(dtype)
        width = padded(-(-n_labels // n_groups))
        self.W = aligned_zeros((-(-n_labels // width), X.shape[1], width), dtype)

    def scores_of(self, block):
        """Scores (n_labels, block length) of consecutive samples."""
        n_groups, _, width = self.W.shape
        scores = np.empty((block.stop - block.start, n_groups * width), dtype=self.W.dtype)
        multiply_rows(self.X.indptr, self.X.indices, self.X.data, block.start, self.W, scores)
        return np.ascontiguousarray(scores[:, : self.n_labels].T)

    def recompute(self, coefficients):
        """Weights anew from the coefficients, summed in float64, some labels in each thread."""
        part = padded(-(-self.n_labels // get_num_threads()))
        W = aligned_zeros((-(-self.n_labels // part), self.X.shape[1], part), np.float64)
        multiply_columns(self.X.indptr, self.X.indices, self.X.data, coefficients, W)
        self.weights = np.concatenate(W, axis=1)[:, : self.n_labels]
        for group, weights in enumerate(self.W):
            of_group = self.weights[:, group * self.W.shape[2] : (group + 1) * self.W.shape[2]]
            weights[:, : of_group.shape[1]] = of_group


def plain_csr(X):
    """`X` along whose parts compiled code may walk: contiguous, all indices within its columns."""
    if X.format != "csr" or X.dtype.kind != "f":
        raise ValueError(f"X must hold floats in CSR format, got {X.dtype} in {X.format.upper()} format")
    check_sparse("X", X)
    parts = (np.ascontiguousarray(part) for part in (X.data, X.indices, X.indptr))
    return sparse.csr_array(tuple(parts), shape=X.shape)


def multiply_rows(indptr, indices, data, first, W, scores):
    """scores = X[first : first + len(scores)] @ W for sparse rows."""
    least = max(1, ENOUGH_PRODUCTS // (1 + scores.shape[1] * len(data) // max(1, len(indptr) - 1)))
    share_out(_multiply_rows, len(scores), indptr, indices, data, first, W, scores, least=least)


@compiled()
def _multiply_rows(indptr, indices, data, first, W, scores, start, stop):
    n_groups, _, width = W.shape
    for b in range(start, stop):
        begin, end = indptr[first + b], indptr[first + b + 1]
        for group in range(n_groups):
            out = scores[b, group * width : (group + 1) * width]
            multiply_row(W[group], indices, data, begin, end, out)


def multiply_columns(indptr, indices, data, A, W):
    """W += X.T @ A for sparse rows, the groups of labels beside each other."""
    share_out(_multiply_columns, len(W), indptr, indices, data, A, W)


@compiled()
def _multiply_columns(indptr, indices, data, A, W, start, stop):
    width = W.shape[2]
    for group in range(start, stop):
        row, first = np.zeros(width, W.dtype), group * width
        for i in range(A.shape[0]):
            is_zero = True
            for k in range(min(width, A.shape[1] - first)):
                row[k] = A[i, first + k]
                is_zero = is_zero and row[k] == 0
            if not is_zero:
                add_to_rows(W[group], indices, data, indptr[i], indptr[i + 1], row)


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

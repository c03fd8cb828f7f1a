"""Three ways to hold the data of a linear-in-coefficients model; same losses, same answer.

A holder keeps what is needed to read the current scores of any samples, and brings it up to date after their
coefficients changed:

- `GramScores`: the Gram matrix K and the scores F = A K of all samples;
- `DenseRows`: the rows X and the weights W = A X;
- `SparseRows`: the same for sparse rows, visited one at a time by the loss itself.

Coefficients have shape (n_samples, n_labels), for a visit reads all labels of a sample. Scores and changes
have shape (n_labels, n_samples): then the change of one coefficient is one run along a row of K.
"""

import numpy as np
from numba import njit, prange
from scipy import sparse

from tagrank.arrays import beside, namespace_of, row_blocks, rows_within, to_host
from tagrank.simd import add_to_rows, aligned_zeros, multiply_row, padded

FAST = {"contract", "nsz", "arcp", "reassoc"}


class GramScores:
    """Gram matrix K (n_samples, n_samples) and the scores of all samples.

    With an `intercept` every similarity counts as K + intercept; the share of that constant in the scores is
    one number per label, kept apart in `offset`, and K stays as it is.
    K may live on a device (torch or cupy): the scores then live there too, and only the scores and the
    changes of one block cross to the host.
    On the host the scores are float64, and exact, until `round_scores` trades digits for speed.
    """

    block_size = 192

    def __init__(self, K, n_labels, dtype, intercept=0.0):
        self.K = K
        self.intercept = intercept
        self.offset = np.zeros(n_labels)
        self.xp = namespace_of(K)
        self.n_samples = K.shape[0]
        self.dtype = dtype
        self.diagonal = to_host(self.xp.diagonal(K)).astype(np.float64) + intercept
        self.is_exact = self.xp is np
        F = np.zeros((n_labels, self.n_samples), dtype=np.float64 if self.is_exact else dtype)
        self.F = beside(F, K)

    def read(self, rows):
        """Corner K[rows][:, rows] and scores (n_labels, len(rows)) of some samples, on the host."""
        if self.xp is np:
            corner = np.empty((len(rows), len(rows)), self.dtype)
            scores = np.empty((len(self.F), len(rows)), self.dtype)
            _gather_block(self.K, self.F, rows, corner, scores)
        else:
            index = beside(rows, self.K)
            corner = np.ascontiguousarray(to_host(self.K[index][:, index]), dtype=self.dtype)
            scores = np.ascontiguousarray(to_host(self.F[:, index]))
        if self.intercept:
            corner += self.dtype.type(self.intercept)
            scores += self.offset[:, None].astype(self.dtype)
        return corner, scores

    def add(self, rows, changes):
        """Bring the scores up to date after the coefficients of `rows` changed."""
        self.offset += self.intercept * changes.sum(axis=1)
        if self.xp is np:
            _add_product(self.F, changes.astype(self.F.dtype, copy=False), rows, self.K)
        else:
            index = beside(rows, self.K)
            changes = beside(changes, self.K, dtype=self.F.dtype)
            self.F += changes @ beside(self.K[index], self.K, dtype=self.F.dtype)

    def scores(self):
        F = to_host(self.F)
        return F + self.offset[:, None].astype(F.dtype) if self.intercept else F

    def round_scores(self):
        """Go on in the precision `dtype`: products take less time, but a certificate needs `recompute`."""
        if self.F.dtype != self.dtype:
            self.F, self.is_exact = self.F.astype(self.dtype), False

    def recompute(self, coefficients):
        """Scores of all samples in float64, anew from the coefficients."""
        F = np.zeros(coefficients.shape[::-1])
        changed = np.flatnonzero(np.any(coefficients != 0, axis=1))
        for block in row_blocks(len(changed), self.block_size):
            rows = changed[block]
            A = np.ascontiguousarray(coefficients[rows].T)
            if self.xp is np:
                _add_product(F, A, rows, self.K)
            else:
                F += A @ to_host(self.K[beside(rows, self.K)]).astype(np.float64, copy=False)
        self.F[:] = F if self.xp is np else beside(F, self.K, dtype=self.F.dtype)
        self.offset = self.intercept * coefficients.sum(axis=0)
        return F + self.offset[:, None] if self.intercept else F


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
        if X.format != "csr" or X.dtype.kind != "f":
            raise ValueError(f"X must hold floats in CSR format, got {X.dtype} in {X.format.upper()} format")
        if X.nnz and not 0 <= X.indices.min() <= X.indices.max() < X.shape[1]:
            raise ValueError(f"the column indices of X must lie within its {X.shape[1]} columns")
        # compiled code walks along plain memory
        parts = (np.ascontiguousarray(part) for part in (X.data, X.indices, X.indptr))
        self.X = sparse.csr_array(tuple(parts), shape=X.shape)
        self.n_samples = X.shape[0]
        self.n_labels = n_labels
        self.diagonal = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
        self.squared_norms = self.diagonal.astype(dtype)
        width = padded(-(-n_labels // n_groups))
        self.W = aligned_zeros((-(-n_labels // width), X.shape[1], width), dtype)

    def scores_of(self, block):
        """Scores (n_labels, block length) of consecutive samples."""
        n_groups, _, width = self.W.shape
        scores = np.empty((block.stop - block.start, n_groups * width), dtype=self.W.dtype)
        _multiply_rows(self.X.indptr, self.X.indices, self.X.data, block.start, self.W, scores)
        return np.ascontiguousarray(scores[:, : self.n_labels].T)

    def recompute(self, coefficients):
        """Weights anew from the coefficients, summed in float64."""
        W = aligned_zeros(self.W.shape, np.float64)
        _multiply_columns(self.X.indptr, self.X.indices, self.X.data, coefficients, W)
        self.W[:] = W
        self.weights = np.concatenate(W, axis=1)[:, : self.n_labels]


def _add_product(F, changes, rows, K):
    """F += changes @ K[rows], with products in the precision of `changes`."""
    if K.dtype.itemsize > changes.dtype.itemsize:
        K, rows = _take_rows(K, rows, np.empty((len(rows), K.shape[1]), changes.dtype)), np.arange(len(rows))
    _add_sparse_product(F, changes, rows, K)


@njit(cache=True, parallel=True)
def _take_rows(K, rows, out):
    """K[rows] in the precision of `out`."""
    for b in prange(rows.shape[0]):
        out[b] = K[rows[b]]
    return out


@njit(cache=True, parallel=True)
def _gather_block(K, F, rows, corner, scores):
    n_rows = rows.shape[0]
    for b in prange(n_rows):
        for c in range(n_rows):
            corner[b, c] = K[rows[b], rows[c]]
    for label in prange(F.shape[0]):
        for b in range(n_rows):
            scores[label, b] = F[label, rows[b]]


@njit(cache=True, fastmath=FAST)
def _add_four(target, d0, k0, d1, k1, d2, k2, d3, k3):
    for j in range(target.shape[0]):
        target[j] += d0 * k0[j] + d1 * k1[j] + d2 * k2[j] + d3 * k3[j]


@njit(cache=True, fastmath=FAST)
def _add_scaled(target, factor, source):
    for j in range(target.shape[0]):
        target[j] += factor * source[j]


@njit(cache=True, parallel=True, fastmath=FAST)
def _add_sparse_product(F, changes, rows, K):
    """F += changes @ K[rows], touching only the entries of `changes` that are not zero."""
    n_labels, n_rows = changes.shape
    n_samples = F.shape[1]
    where = np.empty((n_labels, n_rows), np.int32)
    count = np.zeros(n_labels, np.int32)
    for label in range(n_labels):
        for b in range(n_rows):
            if changes[label, b] != 0:
                where[label, count[label]] = b
                count[label] += 1
    width = 1024
    for tile in prange((n_samples + width - 1) // width):
        start = tile * width
        stop = min(n_samples, start + width)
        for label in range(n_labels):
            target = F[label, start:stop]
            p = 0
            while p + 4 <= count[label]:
                b0, b1, b2, b3 = where[label, p : p + 4]
                _add_four(
                    target,
                    changes[label, b0], K[rows[b0], start:stop],
                    changes[label, b1], K[rows[b1], start:stop],
                    changes[label, b2], K[rows[b2], start:stop],
                    changes[label, b3], K[rows[b3], start:stop],
                )  # fmt: skip
                p += 4
            while p < count[label]:
                b = where[label, p]
                _add_scaled(target, changes[label, b], K[rows[b], start:stop])
                p += 1


@njit(cache=True, parallel=True)
def _multiply_rows(indptr, indices, data, first, W, scores):
    """scores = X[first : first + len(scores)] @ W for sparse rows."""
    n_groups, _, width = W.shape
    for b in prange(scores.shape[0]):
        start, stop = indptr[first + b], indptr[first + b + 1]
        for group in range(n_groups):
            out = scores[b, group * width : (group + 1) * width]
            multiply_row(W[group], indices, data, start, stop, out)


@njit(cache=True)
def _multiply_columns_of_group(indptr, indices, data, A, W, first):
    row = np.zeros(W.shape[1], W.dtype)
    stop = min(first + W.shape[1], A.shape[1])
    for i in range(A.shape[0]):
        row[: stop - first] = A[i, first:stop]
        if np.any(row != 0):
            add_to_rows(W, indices, data, indptr[i], indptr[i + 1], row)


@njit(cache=True, parallel=True)
def _multiply_columns(indptr, indices, data, A, W):
    """W += X.T @ A for sparse rows, the groups of labels beside each other."""
    for group in prange(W.shape[0]):
        _multiply_columns_of_group(indptr, indices, data, A, W[group], group * W.shape[2])

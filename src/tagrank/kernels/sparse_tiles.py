"""Tiles of the product of sparse rows with a dense matrix."""

import numpy as np
from numba import njit

from tagrank.simd import aligned_zeros, multiply_row, padded


def multiply_tile(X, W, rows, columns):
    """(X @ W)[rows, columns] for CSR rows X and dense W; several Python threads may do so at a time."""
    n_columns = columns.stop - columns.start
    part = aligned_zeros((len(W), padded(n_columns)), W.dtype)
    part[:, :n_columns] = W[:, columns]
    answer = np.empty((rows.stop - rows.start, part.shape[1]), W.dtype)
    _multiply_rows(X.indptr, X.indices, X.data, rows.start, part, answer)
    return answer[:, :n_columns]


@njit(cache=True, nogil=True)
def _multiply_rows(indptr, indices, data, first, W, out):
    for b in range(out.shape[0]):
        multiply_row(W, indices, data, indptr[first + b], indptr[first + b + 1], out[b])

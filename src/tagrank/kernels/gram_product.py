"""The product of two Gram matrices, entry by entry, one of which need never exist as a whole; its tiles."""

import numpy as np
from numba import njit

from tagrank.kernels.gram import TILE, run_tiles, upper_tiles
from tagrank.simd import aligned_zeros, multiply_row, padded

PATCH = 32  # a patch of so many rows and columns is turned inside the first-level cache


def multiply_gram(K, other, scale, *, n_jobs=None):
    """scale_i K_ij other_ij scale_j, tile by tile, in the precision of `scale` (n_samples,).

    `other` is a function of two slices (rows, columns): that part of the other matrix. Of K, symmetric, nan
    and inf are found on the way.
    """
    product = np.empty(K.shape, scale.dtype)

    def fill(tile):
        rows, columns = tile
        part = np.empty((rows.stop - rows.start, columns.stop - columns.start), scale.dtype)
        # infinity may stand beside a zero; it is told apart below
        with np.errstate(invalid="ignore", over="ignore"):
            np.multiply(other(rows, columns), K[tile], out=part, casting="same_kind")
        total = _scale(part, scale[rows], scale[columns])
        product[tile] = part
        if rows != columns:
            _transpose(part, product[columns, rows])
        return total

    sums = run_tiles(fill, upper_tiles(len(K), TILE), n_jobs)
    if not np.isfinite(sums).all() and not np.isfinite(product).all():
        raise ValueError("K must be finite, got nan or inf; check the features it was computed from")
    return product


@njit(cache=True, nogil=True, fastmath={"contract", "nsz", "reassoc"})
def _scale(part, by_row, by_column):
    """Scale a tile in place; returns the sum of its entries, which tells nan and inf."""
    total = part.dtype.type(0)
    for r in range(part.shape[0]):
        row = part[r]
        for c in range(row.shape[0]):
            row[c] *= by_row[r] * by_column[c]
            total += row[c]
    return total


@njit(cache=True, nogil=True)
def _transpose(part, out):
    """out = part.T in patches, three times as fast as numpy."""
    n_rows, n_columns = part.shape
    for top in range(0, n_rows, PATCH):
        for left in range(0, n_columns, PATCH):
            for r in range(top, min(top + PATCH, n_rows)):
                for c in range(left, min(left + PATCH, n_columns)):
                    out[c, r] = part[r, c]


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

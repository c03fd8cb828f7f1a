"""Gram matrices, evaluated tile by tile.

The matrix is cut into square tiles that several threads fill. A tile needs a few rows at a time, so beside
the output only O(tile) memory is used; of a symmetric matrix the tiles on and above the diagonal are
computed, and each is written to both halves. BLAS is held to one thread inside: the tiles are the parallel
work.

So is the product of two Gram matrices, entry by entry, one of which need never exist as a whole.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations_with_replacement, product

import numpy as np
from scipy import sparse

from tagrank.arrays import row_blocks
from tagrank.resources import compiled, count_threads, limited_threads
from tagrank.simd import aligned_zeros, multiply_row, padded
from tagrank.validation import check_same_length, check_sparse

TILE = 512
DIAGONAL_BLOCK = 32
PATCH = 32  # a patch of so many rows and columns is turned inside the first-level cache


def gram(kernel, X, Z=None, *, out=None, dtype=None, n_jobs=None):
    """Similarities of the rows of `X` with each other, or with the rows of `Z`.

    Parameters
    ----------
    kernel : Kernel
        With its width fixed (see `Kernel.fit`).
    X, Z : array or sparse matrix of shape (n_x, n_features), (n_z, n_features), or mapping of views to such
    out : array of shape (n_x, n_z), optional
        Where to write the result.
    dtype : float32 or float64, optional
        Of the computation and the result; by default that of `X`, float64 unless `X` is float32.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Returns
    -------
    K : array of shape (n_x, n_z)
    """
    if not kernel.fixed:
        raise ValueError(f"{kernel!r} takes its width from training rows: call kernel.fit(X_train) first")
    K = evaluate(kernel.compute, X, Z, out=out, dtype=dtype, n_jobs=n_jobs)
    if Z is None:
        np.fill_diagonal(K, diagonal_of(kernel, X, dtype=K.dtype))
    return K


def diagonal_of(kernel, X, *, dtype=None):
    """`kernel.diagonal` of rows in any format, block by block."""
    X, dtype = sliceable(X), float_type(X, dtype)
    blocks = (as_rows(take_rows(X, rows), dtype) for rows in row_blocks(n_rows(X), TILE))
    return np.concatenate([kernel.diagonal(block) for block in blocks])


def evaluate(compute, X, Z=None, *, out=None, dtype=None, n_jobs=None):
    """`compute(rows of X, rows of Z)` tile by tile; symmetric in its arguments when `Z` is None."""
    dtype = float_type(X, dtype)
    symmetric = Z is None
    X = sliceable(X)
    Z = X if symmetric else sliceable(Z)
    _check_same_columns(X, Z)
    if out is None:
        out = np.empty((n_rows(X), n_rows(Z)), dtype)
    elif out.shape != (n_rows(X), n_rows(Z)):
        raise ValueError(f"out must have shape {(n_rows(X), n_rows(Z))}, got {out.shape}")

    def fill(tile):
        rows, columns = tile
        left = as_rows(take_rows(X, rows), dtype)
        if symmetric and rows == columns:
            out[rows, rows] = mirrored(compute(left, left))
            return
        out[rows, columns] = compute(left, as_rows(take_rows(Z, columns), dtype))
        if symmetric:
            out[columns, rows] = out[rows, columns].T

    whole = product(row_blocks(n_rows(X), TILE), row_blocks(n_rows(Z), TILE))
    run_tiles(fill, upper_tiles(n_rows(X), TILE) if symmetric else list(whole), n_jobs)
    return out


def upper_tiles(n_samples, size):
    """Pairs of slices (rows, columns) that cover a square matrix on and above its diagonal."""
    return list(combinations_with_replacement(row_blocks(n_samples, size), 2))


def run_tiles(work, tiles, n_jobs=None):
    """Call `work` on every tile, in threads; returns the answers in order."""
    n_threads = min(count_threads(n_jobs), len(tiles))
    if n_threads <= 1:
        with limited_threads(n_jobs):
            return [work(tile) for tile in tiles]
    with limited_threads(1), ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, tiles))


def sliceable(X):
    """`X` in a format whose rows can be sliced: array, CSR, or a mapping of views to such."""
    if isinstance(X, Mapping):
        views = {view: sliceable(values) for view, values in X.items()}
        check_same_length(**views)
        return views
    if sparse.issparse(X):
        check_sparse("X", X)
        return X.tocsr()
    return np.asarray(X)


def n_rows(X):
    """Number of samples of an array, a sparse matrix or a mapping of views."""
    if isinstance(X, Mapping):
        return n_rows(next(iter(X.values())))
    return X.shape[0]


def take_rows(X, rows):
    """The samples `rows` (a slice or indices) of an array, a sparse matrix or a mapping of views."""
    if isinstance(X, Mapping):
        return {view: take_rows(values, rows) for view, values in X.items()}
    return X[rows]


def as_rows(X, dtype):
    """`X` as plain C-ordered writable floats (or CSR): one memory layout, so compiled code compiles once."""
    if isinstance(X, Mapping):
        return {view: as_rows(values, dtype) for view, values in X.items()}
    if sparse.issparse(X):
        return X.astype(dtype, copy=False)
    return np.require(X, dtype, ["C", "W", "E"])


def float_type(X, dtype=None):
    """float32 if asked for or if `X` is float32 throughout, else float64."""
    if dtype is not None:
        dtype = np.dtype(dtype)
        if dtype not in (np.float32, np.float64):
            raise ValueError(f"dtype must be float32 or float64, got {dtype}")
        return dtype
    arrays = X.values() if isinstance(X, Mapping) else [X]
    single = all(getattr(array, "dtype", None) == np.float32 for array in arrays)
    return np.dtype(np.float32 if single else np.float64)


def _check_same_columns(X, Z):
    if isinstance(X, Mapping) or isinstance(Z, Mapping):
        if not (isinstance(X, Mapping) and isinstance(Z, Mapping)):
            raise TypeError("X and Z must both be arrays or both be mappings of views")
        for view in X.keys() & Z.keys():
            if X[view].shape[1:] != Z[view].shape[1:]:
                shapes = f"{X[view].shape} and {Z[view].shape}"
                raise ValueError(
                    f"view {view!r} must have the same number of columns in X and Z, got {shapes}"
                )
        return
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions (samples, features), got shape {X.shape}")
    if X.shape[1:] != Z.shape[1:]:
        raise ValueError(f"X and Z must have the same number of columns, got {X.shape} and {Z.shape}")


def mirrored(tile):
    """The upper half of a square tile written over its lower half."""
    upper = np.triu(tile)
    return upper + np.triu(tile, 1).T


def multiply_gram(K, other, scale, *, n_jobs=None):
    """scale_i K_ij other_ij scale_j, tile by tile, in the precision of `scale` (n_samples,).

    `other` is a function of two slices (rows, columns): that part of the other matrix. Of K, symmetric, nan
    and inf are found on the way.
    """
    whole = np.empty(K.shape, scale.dtype)

    def fill(tile):
        rows, columns = tile
        part = np.empty((rows.stop - rows.start, columns.stop - columns.start), scale.dtype)
        # infinity may stand beside a zero; it is told apart below
        with np.errstate(invalid="ignore", over="ignore"):
            np.multiply(other(rows, columns), K[tile], out=part, casting="same_kind")
        total = _scale(part, scale[rows], scale[columns])
        whole[tile] = part
        if rows != columns:
            _transpose(part, whole[columns, rows])
        return total

    sums = run_tiles(fill, upper_tiles(len(K), TILE), n_jobs)
    if not np.isfinite(sums).all() and not np.isfinite(whole).all():
        raise ValueError("K must be finite, got nan or inf; check the features it was computed from")
    return whole


@compiled(fastmath={"contract", "nsz", "reassoc"})
def _scale(part, by_row, by_column):
    """Scale a tile in place; returns the sum of its entries, which tells nan and inf."""
    total = part.dtype.type(0)
    for r in range(part.shape[0]):
        row = part[r]
        for c in range(row.shape[0]):
            row[c] *= by_row[r] * by_column[c]
            total += row[c]
    return total


@compiled()
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


@compiled()
def _multiply_rows(indptr, indices, data, first, W, out):
    for b in range(out.shape[0]):
        multiply_row(W, indices, data, indptr[first + b], indptr[first + b + 1], out[b])

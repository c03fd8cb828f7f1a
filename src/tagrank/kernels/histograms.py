"""Kernels of histograms, rows of non-negative numbers, and compiled sums over the bins of two tiles of them.

Chi-square distances need one division a bin as written. Two identities make them cheap:

    (x - z)^2 / (x + z) = x + z - 4 x z / (x + z),      x z / (x + z) = 1 / (1/x + 1/z),

so that with reciprocals u = 1/x, v = 1/z taken once a tile, what is left for each bin of a pair of rows is
1 / (u + v), and four such fractions are brought to one denominator and share one division. Reciprocals are
scaled to [1 / limit, limit], whose fourth powers neither overflow nor vanish; an empty bin gets `limit`, and
is thereby wrong by at most 1 / limit^2 of the largest bin: far below rounding.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tagrank.kernels.gram import mirrored
from tagrank.kernels.kernel import Kernel
from tagrank.kernels.vectors import Exponential, check_squares, inner_products, squared_norms
from tagrank.resources import compiled
from tagrank.validation import check_choice

# Columns taken at a time: four packed rows of a chunk stay in the first-level cache.
CHUNK = 1024
LANES = 64
LIMITS = {np.dtype(np.float32): 1e9, np.dtype(np.float64): 1e75}


@dataclass(repr=False, eq=False)
class ChiSquared(Exponential):
    """exp(-d / width) with d = sum_t (x_t - z_t)^2 / (x_t + z_t), where 0 / 0 = 0.

    With `whole_vector=True`, d = |x - z|^2 / |x + z|^2. See Exponential for the width.

    Parameters
    ----------
    gamma : float, optional
        1 / width. By default the width is the mean distance of training pairs, fixed by `fit`.
    whole_vector : bool, default False
        Compare whole vectors instead of adding up columns: d = |x - z|^2 / |x + z|^2.
    """

    whole_vector: bool = False

    def __post_init__(self):
        super().__post_init__()
        check_choice("whole_vector", self.whole_vector, (False, True))

    def distances(self, X, Z):
        _check_not_negative(X, Z)
        return _whole_vector_distances(X, Z) if self.whole_vector else chi_square_distances(X, Z)


@dataclass(repr=False, eq=False)
class Intersection(Kernel):
    """sum_t min(x_t, z_t)."""

    def compute(self, X, Z):
        _check_not_negative(X, Z)
        return intersections(X, Z)

    def diagonal(self, X):
        _check_not_negative(X)
        return np.asarray(X.sum(axis=1)).ravel()


@dataclass(repr=False, eq=False)
class Hellinger(Kernel):
    """sum_t sqrt(x_t z_t)."""

    def compute(self, X, Z):
        _check_not_negative(X, Z)
        roots = np.sqrt(X)
        return inner_products(roots, roots if Z is X else np.sqrt(Z))

    def diagonal(self, X):
        _check_not_negative(X)
        return np.asarray(X.sum(axis=1)).ravel()


def _whole_vector_distances(X, Z):
    check_squares(X, Z)
    products = inner_products(X, Z)
    products *= 2
    squares = squared_norms(X)[:, None] + squared_norms(Z)
    total = squares + products
    # two zero rows coincide
    total[total == 0] = 1
    np.subtract(squares, products, out=products)
    products /= total
    return np.maximum(products, 0, out=products)


def _check_not_negative(*arrays):
    for X in arrays:
        values = X.data if sparse.issparse(X) else X
        if values.size and values.min() < 0:
            raise ValueError(
                f"histogram kernels need rows without negative numbers, got {values.min():.6g}; "
                "use Gaussian or Linear, or shift the features"
            )


def chi_square_distances(X, Z):
    """sum_t (x_t - z_t)^2 / (x_t + z_t) for all rows of `X` and `Z`, shape (n_x, n_z)."""
    limit, number = LIMITS[X.dtype], X.dtype.type
    largest = max(_largest(X), _largest(Z), float(np.finfo(X.dtype).tiny))

    def pack(rows):
        packed = _padded(rows)
        _invert(packed, number(1 / largest), number(1 / limit), number(1 / limit**2))
        return packed

    D = _over_chunks(_add_harmonic_sums, pack, X, Z)
    D *= -4 / limit
    D *= largest
    D += np.asarray(X.sum(axis=1)).reshape(-1, 1)
    D += np.asarray(Z.sum(axis=1)).reshape(-1)
    return np.maximum(D, 0, out=D)


def intersections(X, Z):
    """sum_t min(x_t, z_t) for all rows of `X` and `Z`, shape (n_x, n_z)."""
    return _over_chunks(_add_minima, _padded, X, Z)


def _over_chunks(add_sums, pack, X, Z):
    """Pack a chunk of columns of both tiles and add its sums; rows go in pairs, hence an even number."""
    sums = np.zeros((_even(X.shape[0]), _even(Z.shape[0])), X.dtype)
    for start in range(0, X.shape[1], CHUNK):
        left = pack(_dense_columns(X, start))
        right = left if Z is X else pack(_dense_columns(Z, start))
        add_sums(left, right, sums, Z is X)
    sums = sums[: X.shape[0], : Z.shape[0]]
    return mirrored(sums) if Z is X else sums


def _dense_columns(X, start):
    chunk = X[:, start : start + CHUNK]
    return chunk.toarray() if sparse.issparse(chunk) else np.ascontiguousarray(chunk)


def _largest(X):
    values = X.data if sparse.issparse(X) else X
    return float(values.max()) if values.size else 0.0


def _even(count):
    return count + count % 2


def _padded(rows):
    n_columns = -(-rows.shape[1] // LANES) * LANES
    packed = np.zeros((_even(rows.shape[0]), n_columns), rows.dtype)
    packed[: rows.shape[0], : rows.shape[1]] = rows
    return packed


@compiled(fastmath=True, error_model="numpy")
def _invert(packed, scale, numerator, floor):
    """packed = numerator / max(scale * packed, floor), in place."""
    for i in range(packed.shape[0]):
        row = packed[i]
        for t in range(row.shape[0]):
            row[t] = numerator / max(row[t] * scale, floor)


@compiled(fastmath=True, error_model="numpy", inline="always")
def _four_fractions(s0, s1, s2, s3):
    """1/s0 + 1/s1 + 1/s2 + 1/s3 with one division."""
    first, second = s0 * s1, s2 * s3
    return ((s0 + s1) * second + (s2 + s3) * first) / (first * second)


@compiled(fastmath=True, error_model="numpy")
def _add_harmonic_sums(U, V, sums, symmetric):
    """Add sum_t 1 / (u_t + v_t); two rows against two, so that each load serves twice."""
    w = U.shape[1] // 4
    for i in range(0, U.shape[0], 2):
        a, b = U[i], U[i + 1]
        for j in range(i if symmetric else 0, V.shape[0], 2):
            c, d = V[j], V[j + 1]
            ac = ad = bc = bd = U.dtype.type(0)
            for t in range(w):
                a0, a1, a2, a3 = a[t], a[t + w], a[t + 2 * w], a[t + 3 * w]
                b0, b1, b2, b3 = b[t], b[t + w], b[t + 2 * w], b[t + 3 * w]
                c0, c1, c2, c3 = c[t], c[t + w], c[t + 2 * w], c[t + 3 * w]
                d0, d1, d2, d3 = d[t], d[t + w], d[t + 2 * w], d[t + 3 * w]
                ac += _four_fractions(a0 + c0, a1 + c1, a2 + c2, a3 + c3)
                ad += _four_fractions(a0 + d0, a1 + d1, a2 + d2, a3 + d3)
                bc += _four_fractions(b0 + c0, b1 + c1, b2 + c2, b3 + c3)
                bd += _four_fractions(b0 + d0, b1 + d1, b2 + d2, b3 + d3)
            sums[i, j] += ac
            sums[i, j + 1] += ad
            sums[i + 1, j] += bc
            sums[i + 1, j + 1] += bd


@compiled(fastmath=True, error_model="numpy")
def _add_minima(U, V, sums, symmetric):
    """Add sum_t min(u_t, v_t); two rows against two, so that each load serves twice."""
    for i in range(0, U.shape[0], 2):
        a, b = U[i], U[i + 1]
        for j in range(i if symmetric else 0, V.shape[0], 2):
            c, d = V[j], V[j + 1]
            ac = ad = bc = bd = U.dtype.type(0)
            for t in range(U.shape[1]):
                ac += min(a[t], c[t])
                ad += min(a[t], d[t])
                bc += min(b[t], c[t])
                bd += min(b[t], d[t])
            sums[i, j] += ac
            sums[i, j + 1] += ad
            sums[i + 1, j] += bc
            sums[i + 1, j + 1] += bd

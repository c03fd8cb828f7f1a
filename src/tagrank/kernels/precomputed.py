"""Is a matrix a Gram matrix? Told by one pass over its tiles and a few products with a vector, uncopied."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tagrank.arrays import row_blocks
from tagrank.kernels.gram import float_type, run_tiles, upper_tiles
from tagrank.kernels.kernel import Kernel

TILE = 256
# relative to the largest entry: more is another matrix, not rounding
ASYMMETRY = {np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-6}
# in units of the mean diagonal: below minus this, K is clearly indefinite
INDEFINITE = 1e-2
LANCZOS_STEPS = 32
LARGEST_PART = 512


def check_gram(K, *, check_finite=True, n_jobs=None) -> Any:
    """`K` as a float array, or a ValueError that says why it is not a Gram matrix.

    Of a large matrix symmetry and eigenvalues are checked on a random principal part, which is positive
    semidefinite if the whole is: the check stays far cheaper than any training.

    Parameters
    ----------
    K : array of shape (n, n)
        Finite, symmetric up to rounding, without clearly negative eigenvalues. A small matrix that is
        slightly asymmetric is replaced by the mean of itself and its transpose; otherwise no copy is made.
    check_finite : bool
        False if the caller has looked for nan and inf already.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Returns
    -------
    K : array of shape (n, n), float32 or float64
    """
    K = np.asarray(K, float_type(K))
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"K must be square, got shape {K.shape}")
    if K.shape[0] == 0:
        raise ValueError("K must have at least one row, got shape (0, 0)")
    if check_finite and not _is_finite(K, n_jobs):
        raise ValueError("K must be finite, got nan or inf; check the features it was computed from")
    part = _principal_part(K)
    asymmetry, largest, smallest_eigenvalue = _scan(part)
    if asymmetry > ASYMMETRY[K.dtype] * largest:
        raise ValueError(
            f"K must be symmetric, got entries K[i, j] and K[j, i] that differ by {asymmetry:.3g}"
        )
    _check_eigenvalue(K, min(smallest_eigenvalue, float(K.diagonal().min())))
    if largest > 0:
        _check_eigenvalue(K, largest * _smallest_ritz_value(part, largest))
    if part is K and asymmetry > 16 * np.finfo(K.dtype).eps * largest:
        return (K + K.T) / 2
    return K


def _is_finite(K, n_jobs):
    """Sums tell in one pass without a copy, unless they overflow."""

    def sum_rows(rows):
        with np.errstate(invalid="ignore", over="ignore"):
            return K[rows].sum()

    sums = run_tiles(sum_rows, list(row_blocks(len(K), LARGEST_PART)), n_jobs)
    return bool(np.isfinite(sums).all() or np.isfinite(K).all())


def _principal_part(K):
    n_samples = K.shape[0]
    if n_samples <= LARGEST_PART:
        return K
    rows = np.sort(np.random.default_rng(0).choice(n_samples, LARGEST_PART, replace=False))
    return K[np.ix_(rows, rows)]


def _check_eigenvalue(K, bound):
    """`bound` is an upper bound of the smallest eigenvalue."""
    if bound < -INDEFINITE * abs(float(K.diagonal().mean(dtype=np.float64))):
        raise ValueError(
            f"K must be positive semidefinite, but its smallest eigenvalue is at most {bound:.4g}; "
            "make similarities of distances by exp(-distance / width), or add what is missing to the diagonal"
        )


def _scan(K):
    """Largest asymmetry, largest absolute entry, smallest eigenvalue of the worst 2 x 2 minors."""
    diagonal = K.diagonal().astype(np.float64)
    roots = np.sqrt(np.maximum(diagonal, 0)).astype(K.dtype)

    def scan_tile(tile):
        rows, columns = tile
        # nan and inf pass through to the maxima, where they are recognised
        with np.errstate(invalid="ignore", over="ignore"):
            upper = K[rows, columns]
            asymmetry = np.abs(upper - K[columns, rows].T).max()
            sizes = np.abs(upper)
            largest = sizes.max()
            sizes -= roots[rows, None] * roots[columns]
            i, j = np.unravel_index(np.argmax(sizes), sizes.shape)
            minor = _smallest_of_minor(diagonal[rows][i], diagonal[columns][j], float(upper[i, j]))
        return asymmetry, largest, minor if rows.start + i != columns.start + j else diagonal[rows][i]

    scans = np.array([scan_tile(tile) for tile in upper_tiles(K.shape[0], TILE)], np.float64)
    return scans[:, 0].max(), scans[:, 1].max(), min(scans[:, 2].min(), diagonal.min())


def _smallest_of_minor(a, c, b):
    """The smaller eigenvalue of [[a, b], [b, c]]."""
    return (a + c) / 2 - np.hypot((a - c) / 2, b)


def _smallest_ritz_value(K, largest):
    """The smallest eigenvalue of K / largest in a small Krylov space: never below the true one (Lanczos).

    The start has sum zero: the leading eigenvector of most similarities is nearly constant, and would hide
    the other end of the spectrum.
    """
    n_samples = K.shape[0]
    n_steps = min(n_samples, LANCZOS_STEPS)
    basis = np.zeros((n_steps, n_samples), K.dtype)
    vector = np.random.default_rng(0).standard_normal(n_samples).astype(K.dtype)
    vector -= vector.mean()
    images = np.zeros_like(basis)
    for step in range(n_steps):
        for _ in range(2):
            vector -= basis[:step].T @ (basis[:step] @ vector)
        norm = np.linalg.norm(vector)
        if norm <= 1e-6:
            basis, images = basis[:step], images[:step]
            break
        basis[step] = vector / norm
        images[step] = K @ (basis[step] / K.dtype.type(largest))
        vector = images[step].copy()
    projected = basis.astype(np.float64) @ images.T.astype(np.float64)
    return float(np.linalg.eigvalsh((projected + projected.T) / 2)[0]) if len(basis) else 0.0


@dataclass(repr=False, eq=False)
class Precomputed(Kernel):
    """X holds similarities: (n, n) among the training samples, (n_x, n) of other samples with them.

    Parameters
    ----------
    trusted : whether the matrix comes from a kernel and need not be checked to be a Gram matrix
    """

    trusted: bool = False

    combines = False

    def diagonal(self, X):
        return X.diagonal()

    def fit_gram(self, X, *, out=None, dtype=None, n_jobs=None, check_finite=True):
        """`X` itself, checked to be a Gram matrix; converted only if `dtype` differs."""
        K = X if self.trusted else check_gram(X, check_finite=check_finite, n_jobs=n_jobs)
        return self, K if dtype is None else K.astype(dtype, copy=False)

    def __call__(self, X, Z=None):
        return X

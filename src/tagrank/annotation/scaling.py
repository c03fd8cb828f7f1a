"""Scaling of feature columns, decided by the kernel that reads them.

Kernels of vectors compare columns by their numbers, so a column in grams must not drown one in tons: each is
brought to mean 0 and deviation 1. Kernels of histograms read counts and shares, which have their scale
already, and sparse rows would lose their zeros: both stay as they are. A method without a kernel says itself
what its columns need (`LabelEstimator.column_scaling`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tagrank.data.label_matrix import Matrix
from tagrank.kernels import Kernel, reads_views
from tagrank.kernels.structure import leaves_of

SCALINGS = ("auto", "standard", "minmax", "none")
# columns that vary less count as constant: divided by their width, other rows would overflow
NARROWEST = 1e-100


@dataclass(frozen=True)
class Scaler:
    """(x - offset) / width, column by column, cut to 0 ... 1 if `clip`.

    Attributes
    ----------
    offset, width : arrays, shape (n_columns,); no width is zero
    clip : bool
    """

    offset: np.ndarray
    width: np.ndarray
    clip: bool = False

    def apply(self, X: Matrix) -> Matrix:
        """The rows `X` scaled, in their own precision."""
        if sparse.issparse(X):
            return X.multiply(1 / self.width).tocsr().astype(X.dtype)
        scaled = ((X - self.offset) / self.width).astype(X.dtype, copy=False)
        return np.clip(scaled, 0, 1, out=scaled) if self.clip else scaled


def fit_scaler(
    X: Matrix, scaling: str, kernel: Kernel | None, view: str, *, without_kernel: str = "none"
) -> Scaler | None:
    """The scaler for the finite columns of one view, or None where they stay as they are.

    `kernel` is what will read them, None for a method without one; it may ask for them as `view`.
    `without_kernel` is what "auto" means for dense columns where there is none.
    """
    if scaling == "auto" and sparse.issparse(X):
        return None
    if scaling == "auto" and kernel is None:
        scaling = without_kernel
    if scaling == "none":
        return None
    scaler = _minmax(X) if scaling == "minmax" else _standard(X)
    if scaling != "auto":
        return scaler
    chosen = _vector_columns(kernel, view, X.shape[1])
    if not chosen.any():
        return None
    return Scaler(np.where(chosen, scaler.offset, 0.0), np.where(chosen, scaler.width, 1.0))


def fit_scalers(
    views: Mapping[str, Matrix], kernel: Kernel | None, scaling: str = "auto", *, without_kernel: str = "none"
) -> dict[str, Scaler | None]:
    """The scaler of each view, see `fit_scaler`."""
    return {
        name: fit_scaler(X, scaling, kernel, name, without_kernel=without_kernel) for name, X in views.items()
    }


def scale_views(
    views: Mapping[str, Matrix], kernel: Kernel | None, *, without_kernel: str = "none"
) -> Matrix | dict[str, Matrix]:
    """Views scaled for a kernel, and arranged as it reads them."""
    scalers = fit_scalers(views, kernel, without_kernel=without_kernel)
    return arrange_views(views, scalers, by_view=kernel is not None and reads_views(kernel))


def arrange_views(
    views: Mapping[str, Matrix], scalers: Mapping[str, Scaler | None], *, by_view: bool
) -> Matrix | dict[str, Matrix]:
    """Scaled views as an estimator reads them: by name if its kernel names them, else side by side."""
    scaled = dict(views)
    for name, scaler in scalers.items():
        if scaler is not None:
            scaled[name] = scaler.apply(views[name])
    if by_view:
        return scaled
    matrices = list(scaled.values())
    if len(matrices) == 1:
        return matrices[0]
    if any(sparse.issparse(matrix) for matrix in matrices):
        return sparse.hstack([sparse.csr_array(matrix) for matrix in matrices], format="csr")
    return np.hstack(matrices)


def _standard(X: Matrix) -> Scaler:
    if sparse.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        variance = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
        return Scaler(np.zeros(X.shape[1]), _no_zeros(np.sqrt(np.maximum(variance, 0))))
    mean = X.mean(axis=0, dtype=np.float64)
    deviation = X.std(axis=0, dtype=np.float64)
    # a constant column has a deviation of a few roundings
    constant = X.max(axis=0) == X.min(axis=0)
    return Scaler(mean, _no_zeros(np.where(constant, 0, deviation)))


def _minmax(X: Matrix) -> Scaler:
    if sparse.issparse(X):
        return Scaler(np.zeros(X.shape[1]), _no_zeros(np.abs(X).max(axis=0).toarray().ravel()))
    lowest, highest = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    return Scaler(lowest, _no_zeros(highest - lowest), clip=True)


def _no_zeros(width: np.ndarray) -> np.ndarray:
    return np.where(width >= NARROWEST, width, 1.0)


def _vector_columns(kernel: Kernel | None, view: str, n_columns: int) -> np.ndarray:
    """Which columns of a view are read by kernels of vectors only."""
    chosen = np.ones(n_columns, dtype=bool)
    for part, place in leaves_of(kernel):
        if isinstance(place, str):
            place = slice(None) if place == view else slice(0)
        if not getattr(part, "compares_vectors", False):
            chosen[list(place) if isinstance(place, tuple) else place] = False
    return chosen

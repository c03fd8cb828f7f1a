"""Scaling of feature columns, decided by the kernel that reads them.

Kernels of vectors compare columns by their numbers, so a column in grams must not drown one in tons: each is
brought to mean 0 and deviation 1. Kernels of histograms read counts and shares, which have their scale
already, and sparse rows would lose their zeros: both stay as they are. A method without a kernel says itself
what its columns need (`LabelEstimator.column_scaling`).

Counts, such as those of words, are more for longer texts. Whether they are best read as they are, as rows of
unit length, or weighted by how rare a column is (tf-idf), is chosen by cross-validation (`count_scalers`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tagrank.array_files import blocks_of_rows, hold_rows, join_columns
from tagrank.data.label_matrix import Matrix
from tagrank.kernels import Kernel, reads_views
from tagrank.kernels.structure import leaves_of

UNIT, TF_IDF = "unit", "tf-idf"
SCALINGS = ("auto", "standard", "minmax", UNIT, TF_IDF, "none")
SCALING_WORDS = {UNIT: "rows of unit length", TF_IDF: "tf-idf"}
# dense columns of whole numbers with at least this share of zeros are counts
ZEROS_OF_COUNTS = 0.5
# columns that vary less count as constant: divided by their width, other rows would overflow
NARROWEST = 1e-100


@dataclass(frozen=True)
class Scaler:
    """(x - offset) / width, column by column, cut to 0 ... 1 if `clip`; then rows of length 1 if `unit`.

    Attributes
    ----------
    offset, width : arrays, shape (n_columns,); no width is zero
    clip, unit : bool
    """

    offset: np.ndarray
    width: np.ndarray
    clip: bool = False
    unit: bool = False

    def apply(self, X: Matrix) -> Matrix:
        """The rows `X` scaled, in their own precision; see `hold_rows` for those of a file."""
        if sparse.issparse(X):
            scaled = X.multiply(1 / self.width).tocsr().astype(_float_type(X))
            return _of_unit_length(scaled) if self.unit else scaled
        scaled_blocks = (self._scaled(block) for block in blocks_of_rows(X))
        return hold_rows(scaled_blocks, X.shape, _float_type(X), made_of=[X])

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        scaled = ((X - self.offset) / self.width).astype(_float_type(X), copy=False)
        scaled = np.clip(scaled, 0, 1, out=scaled) if self.clip else scaled
        return _of_unit_length(scaled) if self.unit else scaled


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
    if scaling in SCALING_WORDS:
        return _by_length(X, scaling)
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


def count_scalers(
    views: Mapping[str, Matrix], kernel: Kernel | None, scaling: str = "auto"
) -> dict[str, Scaler | None]:
    """Scalers by their names, the usual one first, to choose among where the only view holds counts.

    Empty where there is nothing to try: other rows, several views, a kernel that reads counts as they are, or
    a `scaling` that somebody asked for.
    """
    if scaling != "auto" or len(views) != 1 or kernel is None:
        return {}
    (name, X), *_ = views.items()
    if not _are_counts(X) or not _vector_columns(kernel, name, X.shape[1]).all():
        return {}
    usual = fit_scaler(X, "auto", kernel, name)
    by_length = {scaling: _by_length(X, scaling) for scaling in SCALING_WORDS}
    return {"none" if usual is None else "standard": usual} | by_length


def scale_views(
    views: Mapping[str, Matrix], kernel: Kernel | None, scaling: str = "auto", *, without_kernel: str = "none"
) -> Matrix | dict[str, Matrix]:
    """Views scaled for a kernel, and arranged as it reads them."""
    scalers = fit_scalers(views, kernel, scaling, without_kernel=without_kernel)
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
    return join_columns(matrices)


def _standard(X: Matrix) -> Scaler:
    if sparse.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        variance = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
        return Scaler(np.zeros(X.shape[1]), _no_zeros(np.sqrt(np.maximum(variance, 0))))
    mean, variance = _moments(X)
    # a constant column has a deviation of a few roundings
    constant = X.max(axis=0) == X.min(axis=0)
    return Scaler(mean, _no_zeros(np.where(constant, 0, np.sqrt(variance))))


def _moments(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the columns in float64, block after block, joined as Chan et al. (1979) do."""
    n_rows, mean, variance = 0, np.full(X.shape[1], np.nan), np.full(X.shape[1], np.nan)
    for block in blocks_of_rows(X):
        own_mean, own_variance = block.mean(axis=0, dtype=np.float64), block.var(axis=0, dtype=np.float64)
        n_rows += len(block)
        if (share := len(block) / n_rows) == 1:
            mean, variance = own_mean, own_variance
            continue
        step = own_mean - mean
        mean = mean + share * step
        variance = (1 - share) * variance + share * own_variance + (1 - share) * share * step**2
    return mean, variance


def _minmax(X: Matrix) -> Scaler:
    if sparse.issparse(X):
        return Scaler(np.zeros(X.shape[1]), _no_zeros(np.abs(X).max(axis=0).toarray().ravel()))
    lowest, highest = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    return Scaler(lowest, _no_zeros(highest - lowest), clip=True)


def _by_length(X: Matrix, scaling: str) -> Scaler:
    """Rows of unit length, for tf-idf with columns that count more the rarer they are."""
    width = np.ones(X.shape[1])
    if scaling == TF_IDF:
        n_rows, n_with = X.shape[0], _n_not_zero(X)
        width = 1 / (1 + np.log((1 + n_rows) / (1 + n_with)))
    return Scaler(np.zeros(X.shape[1]), width, unit=True)


def _n_not_zero(X: Matrix) -> np.ndarray:
    """How many entries of each column are not zero."""
    if sparse.issparse(X):
        return np.asarray((X != 0).sum(axis=0)).ravel()
    counts = np.zeros(X.shape[1], dtype=np.int64)
    for block in blocks_of_rows(X):
        counts += np.count_nonzero(block, axis=0)
    return counts


def _of_unit_length(X: Matrix) -> Matrix:
    """Rows divided by their lengths; those of zeros stay."""
    squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)
    lengths = np.sqrt(np.asarray(squares, dtype=np.float64)).ravel()
    factors = np.divide(1, lengths, out=np.ones(len(lengths)), where=lengths > 0)
    if sparse.issparse(X):
        return (sparse.diags_array(factors) @ X).tocsr().astype(X.dtype)
    return (X * factors[:, None]).astype(X.dtype, copy=False)


def _are_counts(X: Matrix) -> bool:
    """Whether entries are zero or above, and most are zero; dense ones must be whole numbers, too."""
    entries = X.data if sparse.issparse(X) else X
    if not entries.size or entries.min() < 0:
        return False
    if sparse.issparse(X):
        return True
    if (X.size - np.count_nonzero(X)) / X.size < ZEROS_OF_COUNTS:
        return False
    return all(bool(np.all(np.floor(block) == block)) for block in blocks_of_rows(X))


def _float_type(X: Matrix) -> np.dtype:
    return X.dtype if X.dtype.kind == "f" else np.dtype(np.float64)


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

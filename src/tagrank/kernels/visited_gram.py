"""Gram matrices of which few rows are at hand: they are read from a file, or computed, when they are visited.

Training visits a few hundred rows at a time, so that it can do without the others. A part of such a matrix,
as a fold needs it, and a power are views of it: nothing is copied.
"""

import errno
import os
import tempfile
import weakref
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tagrank.array_files import large_files_folder
from tagrank.arrays import row_blocks, rows_within
from tagrank.kernels.gram import diagonal_of, float_type, gram, mirrored, n_rows, sliceable, take_rows

BAND = 1_024  # rows, whose similarities to as many others are a page of a file each
PIECE = 8 * BAND  # rows that a band is compared with at a time
PLACES = ("memory", "shared", "file", "computed")


@dataclass(frozen=True)
class VisitedGram:
    """Similarities, or a part of them, whose rows are at hand only while they are visited.

    Indexed with rows it answers an array, with ``np.ix_(rows, columns)`` another one of these.

    Parameters
    ----------
    source : `RowsInMemory`, `RowsInFile` or `ComputedRows`
    rows, columns : int arrays, which of its rows and columns this one has
    power : to which every similarity is raised
    """

    source: Any
    rows: np.ndarray
    columns: np.ndarray
    power: int = 1

    ndim = 2

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.rows), len(self.columns)

    @property
    def dtype(self) -> np.dtype:
        """Of the similarities."""
        return self.source.dtype

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple):
            rows, columns = (np.ravel(part) for part in index)
            return replace(self, rows=self.rows[rows], columns=self.columns[columns])
        rows = self.rows[index]
        fetched = self.source.fetch(rows)
        if not self._has_all_columns:
            fetched = fetched[:, self.columns]
        return fetched**self.power if self.power != 1 else fetched

    def __pow__(self, exponent: int) -> "VisitedGram":
        return replace(self, power=self.power * int(exponent))

    def __matmul__(self, A: np.ndarray) -> np.ndarray:
        blocks = row_blocks(len(self), rows_within(len(self.columns)))
        return np.concatenate([self[block] @ A for block in blocks])

    def diagonal(self) -> np.ndarray:
        """k(x, x) of each row, of a matrix whose rows are its columns."""
        return self.source.diagonal[self.rows] ** self.power

    @property
    def _has_all_columns(self) -> bool:
        return len(self.columns) == len(self.source.diagonal)


class RowsInMemory:
    """Similarities in memory, whose parts for folds are read out of it and not copied.

    Parameters
    ----------
    K : array, shape (n, n)
    """

    def __init__(self, K):
        self.K, self.dtype, self.diagonal = K, K.dtype, K.diagonal().copy()

    def fetch(self, rows):
        """Some rows of the matrix."""
        return self.K[rows]


class ComputedRows:
    """Similarities that are computed each time.

    Parameters
    ----------
    kernel : Kernel, fitted
    X : rows in any format
    dtype : of the similarities
    n_jobs : threads
    """

    def __init__(self, kernel, X, dtype, n_jobs=None):
        self.kernel, self.X, self.dtype, self.n_jobs = kernel, X, dtype, n_jobs
        self.diagonal = diagonal_of(kernel, X, dtype=dtype)

    def fetch(self, rows):
        """Some rows of the matrix."""
        K = gram(self.kernel, take_rows(self.X, rows), self.X, dtype=self.dtype, n_jobs=self.n_jobs)
        # of a row with itself more digits are known than of others
        K[np.arange(len(rows)), rows] = self.diagonal[rows]
        return K


class RowsInFile:
    """Similarities in a file without a name, which goes with this object.

    Parameters
    ----------
    kernel, X, dtype, n_jobs : as for `ComputedRows`
    """

    def __init__(self, kernel, X, dtype, n_jobs=None):
        self.dtype = np.dtype(dtype)
        self.diagonal = diagonal_of(kernel, X, dtype=dtype)
        self.row_bytes = len(self.diagonal) * self.dtype.itemsize
        folder = large_files_folder()
        try:
            self.file = tempfile.TemporaryFile(  # noqa: SIM115  open as long as this object is
                buffering=0, prefix="tagrank-similarities-", dir=folder
            )
            weakref.finalize(self, self.file.close)
            self._fill(kernel, X, n_jobs)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
                raise
            raise OSError(
                error.errno,
                f"{error.strerror}: the similarities of {len(self.diagonal):,} samples go to {folder}; make "
                "room, or set TMPDIR to another folder",
            ) from error

    def _fill(self, kernel, X, n_jobs):
        """Each similarity is computed once and written twice."""
        n_samples = len(self.diagonal)
        if hasattr(os, "posix_fallocate"):  # a full disk is told at once
            os.posix_fallocate(self.file.fileno(), 0, max(1, n_samples * self.row_bytes))
        for band in row_blocks(n_samples, BAND):
            left = take_rows(X, band)
            for start in range(band.start, n_samples, PIECE):
                piece = slice(start, min(start + PIECE, n_samples))
                K = gram(kernel, left, take_rows(X, piece), dtype=self.dtype, n_jobs=n_jobs)
                if start == band.start:
                    n_own = band.stop - band.start
                    own = mirrored(K[:, :n_own])
                    np.fill_diagonal(own, self.diagonal[band])
                    K[:, :n_own] = own
                self._write(K, band.start, start)
                self._write(np.ascontiguousarray(K.T), start, band.start)

    def _write(self, K, first_row, first_column):
        at = first_row * self.row_bytes + first_column * self.dtype.itemsize
        for number, row in enumerate(K):
            self.file.seek(at + number * self.row_bytes)
            left = memoryview(row).cast("B")
            while left:
                left = left[self.file.write(left) :]

    def fetch(self, rows):
        """Some rows of the matrix."""
        K = np.empty((len(rows), len(self.diagonal)), self.dtype)
        for row, out in zip(rows, K, strict=True):
            self.file.seek(int(row) * self.row_bytes)
            left = memoryview(out).cast("B")
            while left:
                n_read = self.file.readinto(left)
                if not n_read:
                    raise OSError(errno.EIO, "the file of the similarities is too short; train again")
                left = left[n_read:]
        return K


SOURCES = {"file": RowsInFile, "computed": ComputedRows}


def visit_gram(kernel, X, *, place, dtype=None, n_jobs=None):
    """The fitted kernel and its Gram matrix on the rows `X`, a `VisitedGram`.

    Parameters
    ----------
    kernel : Kernel
    X : array or sparse matrix of shape (n, n_features), or mapping of views to such
    place : "shared", "file" or "computed", where rows of it come from
    dtype : float32 or float64, by default that of `X`
    n_jobs : threads
    """
    X, everything = sliceable(X), np.arange(n_rows(X))
    if place == "shared":
        kernel, K = kernel.fit_gram(X, dtype=dtype, n_jobs=n_jobs)
        source = RowsInMemory(K)
    else:
        kernel = kernel.fit(X)
        source = SOURCES[place](kernel, X, float_type(X, dtype), n_jobs)
    return kernel, VisitedGram(source, everything, everything)

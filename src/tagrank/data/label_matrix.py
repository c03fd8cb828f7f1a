"""Label matrices in three states, dense or sparse; sparse ones in which untagged rows take no memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from tagrank.labels import encode_present, fill_unknown_rows, is_tag_sets, label_states
from tagrank.validation import check_sparse

Matrix: TypeAlias = Any  # a dense ndarray or a scipy csr_array, shape (n_samples, n_columns)
Pairs: TypeAlias = tuple[np.ndarray, np.ndarray]  # rows and columns of the same length


@dataclass(frozen=True)
class LabelMatrix:
    """Labels of 1, 0 and nan.

    Attributes
    ----------
    stored : ndarray or csr_array, shape (n_rows, n_tags)
    unknown_rows : bool array, shape (n_rows,): rows that are unknown throughout, and empty in `stored`. Most
        pictures of a large collection are untagged: one nan for each of their tags would fill the memory.
    """

    stored: Matrix
    unknown_rows: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return self.stored.shape

    def full(self) -> Matrix:
        """The labels as an ndarray or csr_array in which every unknown label is a stored nan."""
        return fill_unknown_rows(self.stored, self.unknown_rows)

    def states(self) -> np.ndarray:
        """The labels as int8: +1 present, -1 absent, 0 unknown."""
        states = label_states(self.stored)
        states[self.unknown_rows] = 0
        return states

    def take_rows(self, chosen: Any) -> "LabelMatrix":
        """Some rows: indices, a mask or a slice."""
        return LabelMatrix(self.stored[chosen], self.unknown_rows[chosen])

    def take_columns(self, chosen: Any) -> "LabelMatrix":
        """Some columns."""
        return LabelMatrix(self.stored[:, chosen], self.unknown_rows)

    def unknown_by_row(self) -> np.ndarray:
        """How many labels of each row are unknown."""
        n_rows, n_tags = self.shape
        return np.bincount(unknown_pairs(self.stored)[0], minlength=n_rows) + self.unknown_rows * n_tags

    def wholly_unknown(self) -> np.ndarray:
        """Which rows have no known label; never a row of a matrix without columns."""
        return (self.unknown_by_row() == self.shape[1]) & (self.shape[1] > 0)


def as_labels(Y: Any) -> LabelMatrix:
    """`Y`, in any form that `tagrank.labels` describes, checked, and copied where it has to change."""
    if isinstance(Y, LabelMatrix):
        return Y
    if is_tag_sets(Y):
        present, _, unknown_rows = encode_present(Y)
        return LabelMatrix(present, unknown_rows)
    stored = _as_matrix(Y)
    unknown_rows = np.zeros(stored.shape[0], dtype=bool)
    if sparse.issparse(stored):
        unknown_rows = LabelMatrix(stored, unknown_rows).wholly_unknown()
        if unknown_rows.any():
            stored.data[np.repeat(unknown_rows, np.diff(stored.indptr))] = 0
            stored.eliminate_zeros()
    return LabelMatrix(stored, unknown_rows)


def as_label_matrix(Y: Any) -> Matrix:
    """`Y` as float64 ndarray or canonical csr_array of 1, 0 and nan, copied where it has to change."""
    return as_labels(Y).full() if isinstance(Y, LabelMatrix) or is_tag_sets(Y) else _as_matrix(Y)


def _as_matrix(Y: Any) -> Matrix:
    if sparse.issparse(Y):
        check_sparse("Y", Y)
        Y = sparse.csr_array(Y, dtype=np.float64, copy=True)
        Y.sum_duplicates()
        label_states(Y.data.reshape(1, -1))
        Y.eliminate_zeros()
        return Y
    states = label_states(Y)
    labels = (states == 1).astype(np.float64)
    labels[states == 0] = np.nan
    return labels


def stack_labels(pieces: Sequence[LabelMatrix]) -> LabelMatrix:
    """The rows of all pieces, one below the other."""
    stored = [piece.stored for piece in pieces]
    if any(map(sparse.issparse, stored)):
        whole = sparse.vstack([sparse.csr_array(matrix) for matrix in stored], format="csr")
    else:
        whole = np.concatenate(stored)
    return LabelMatrix(whole, np.concatenate([piece.unknown_rows for piece in pieces]))


def positive_pairs(Y: Matrix) -> Pairs:
    """Rows and columns of the labels that are present, ordered by row."""
    return _pairs(Y, lambda values: values == 1)


def unknown_pairs(Y: Matrix) -> Pairs:
    """Rows and columns of the labels that are stored as unknown, ordered by row."""
    return _pairs(Y, np.isnan)


def _pairs(Y: Matrix, condition: Any) -> Pairs:
    if not sparse.issparse(Y):
        rows, columns = np.nonzero(condition(Y))
        return rows, columns
    chosen = condition(Y.data)
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    return rows[chosen], Y.indices[chosen].astype(np.intp)


def columns_by_row(pairs: Pairs, n_rows: int) -> list[np.ndarray]:
    """The columns of each row, of pairs that are ordered by row."""
    ends = np.cumsum(np.bincount(pairs[0], minlength=n_rows))
    return np.split(pairs[1], ends)[:n_rows]


def labels_from_pairs(positive: Pairs, unknown: Pairs, shape: tuple[int, int]) -> Matrix:
    """A csr_array with 1 at `positive` and nan at `unknown`; the two may not overlap."""
    values = np.concatenate([np.ones(len(positive[0])), np.full(len(unknown[0]), np.nan)])
    rows = np.concatenate([positive[0], unknown[0]])
    columns = np.concatenate([positive[1], unknown[1]])
    return sparse.csr_array((values, (rows, columns)), shape=shape)

"""Label matrices, dense or sparse, as coordinates of the labels that are present and that are unknown."""

from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from tagrank.labels import encode_tag_sets, is_tag_sets, label_states

Matrix: TypeAlias = Any  # a dense ndarray or a scipy csr_array, shape (n_samples, n_columns)
Pairs: TypeAlias = tuple[np.ndarray, np.ndarray]  # rows and columns of the same length


def as_label_matrix(Y: Any) -> Matrix:
    """`Y` as float64 ndarray or canonical csr_array of 1, 0 and nan, copied where it has to change.

    Takes what `tagrank.labels` describes: dense, sparse, a DataFrame, or a list of tag sets.
    """
    if is_tag_sets(Y):
        return encode_tag_sets(Y)[0]
    if sparse.issparse(Y):
        Y = sparse.csr_array(Y, dtype=np.float64, copy=True)
        Y.sum_duplicates()
        label_states(Y.data.reshape(1, -1))
        Y.eliminate_zeros()
        return Y
    states = label_states(Y)
    labels = (states == 1).astype(np.float64)
    labels[states == 0] = np.nan
    return labels


def positive_pairs(Y: Matrix) -> Pairs:
    """Rows and columns of the labels that are present, ordered by row."""
    return _pairs(Y, lambda values: values == 1)


def unknown_pairs(Y: Matrix) -> Pairs:
    """Rows and columns of the labels that are unknown, ordered by row."""
    return _pairs(Y, np.isnan)


def _pairs(Y: Matrix, wanted: Any) -> Pairs:
    if not sparse.issparse(Y):
        rows, columns = np.nonzero(wanted(Y))
        return rows, columns
    chosen = wanted(Y.data)
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    return rows[chosen], Y.indices[chosen].astype(np.intp)


def labels_from_pairs(positive: Pairs, unknown: Pairs, shape: tuple[int, int]) -> Matrix:
    """A csr_array with 1 at `positive` and nan at `unknown`; the two may not overlap."""
    values = np.concatenate([np.ones(len(positive[0])), np.full(len(unknown[0]), np.nan)])
    rows = np.concatenate([positive[0], unknown[0]])
    columns = np.concatenate([positive[1], unknown[1]])
    return sparse.csr_array((values, (rows, columns)), shape=shape)


def wholly_unknown(Y: Matrix) -> np.ndarray:
    """Which rows have no known label, shape (n_samples,); never a row of a matrix without columns."""
    return (np.bincount(unknown_pairs(Y)[0], minlength=Y.shape[0]) == Y.shape[1]) & (Y.shape[1] > 0)

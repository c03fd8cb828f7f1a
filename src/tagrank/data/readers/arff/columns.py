"""From nominal codes to columns of numbers."""

from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse

from tagrank.data.label_matrix import Matrix
from tagrank.data.readers.arff.header import Attribute


def encode_columns(values: Matrix, attributes: Sequence[Attribute]) -> tuple[Matrix, list[str]]:
    """Numbers and no/yes attributes as one column each, other nominal attributes as one column a value.

    Parameters
    ----------
    values : ndarray or csr_array, shape (n_rows, n_attributes), codes for nominal values
    attributes : one for each column

    Returns
    -------
    encoded : the same kind of matrix, shape (n_rows, n_columns)
    names : list of str, one for each column
    """
    names = [name for attribute in attributes for name in _column_names(attribute)]
    if all(_is_ready(attribute) for attribute in attributes):
        return values, names
    by_column = values.tocsc() if sparse.issparse(values) else values
    pieces = [
        by_column[:, [j]] if _is_ready(attribute) else _expand(by_column[:, [j]], attribute)
        for j, attribute in enumerate(attributes)
    ]
    if sparse.issparse(values):
        return sparse.hstack([sparse.csc_array(piece) for piece in pieces], format="csr"), names
    return np.hstack(pieces), names


def _is_ready(attribute: Attribute) -> bool:
    return attribute.kind == "numeric" or attribute.truth == (0, 1)


def _column_names(attribute: Attribute) -> list[str]:
    if attribute.kind == "numeric" or attribute.truth is not None:
        return [attribute.name]
    return [f"{attribute.name}={value}" for value in attribute.values]


def _expand(column: Matrix, attribute: Attribute) -> np.ndarray:
    codes = column.toarray() if sparse.issparse(column) else column
    known = ~np.isnan(codes)
    if attribute.truth is not None:
        columns = np.array(attribute.truth, dtype=np.float64)[np.where(known, codes, 0).astype(int)]
    else:
        columns = (codes == np.arange(len(attribute.values))).astype(np.float64)
    return np.where(known, columns, np.nan)


def first_place(values: Matrix, is_wrong: Callable[[np.ndarray], np.ndarray]) -> tuple[int, int] | None:
    """Row and column of the first (stored) value that `is_wrong`, or None."""
    if sparse.issparse(values):
        entries = values.tocoo()
        rows, columns, stored = entries.row, entries.col, entries.data
        hits = np.nonzero(is_wrong(stored))[0]
        return (int(rows[hits[0]]), int(columns[hits[0]])) if len(hits) else None
    places = np.argwhere(is_wrong(values))
    return (int(places[0, 0]), int(places[0, 1])) if len(places) else None

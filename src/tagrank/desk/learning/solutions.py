"""Dual solutions that are carried from one training to the next, and from fold to fold.

Most coefficients of a ranking are zero, so they are kept as sparse matrices (n, n_tags). Of a sum of two
models there are two.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tagrank.desk.learning.folds import OUTSIDE

Solution = tuple[sparse.csr_array, ...]


@dataclass(frozen=True)
class Solutions:
    """What a training leaves to the next.

    Attributes
    ----------
    ids : of the pictures, ascending
    tags : names of the tags
    folds : the fold of each picture, see `deal`
    of_folds : the solution of each fold, zero where it did not see the picture; empty where none is known
    of_all : the solution of the last model; empty where none is known
    """

    ids: np.ndarray
    tags: list[str]
    folds: np.ndarray
    of_folds: Sequence[Solution] = ()
    of_all: Solution = ()

    def carried(self, ids: np.ndarray, tags: Sequence[str]) -> "Solutions":
        """The same for other pictures and tags: what is new starts at zero."""
        if np.array_equal(ids, self.ids) and list(tags) == self.tags:
            return self
        _, here, there = np.intersect1d(self.ids, ids, assume_unique=True, return_indices=True)
        row_of = np.full(len(self.ids), -1)
        row_of[here] = there
        places = {tag: place for place, tag in enumerate(tags)}
        column_of = np.array([places.get(tag, -1) for tag in self.tags], dtype=int)

        def carry(solution: Solution) -> Solution:
            return tuple(_moved(one, row_of, column_of, (len(ids), len(tags))) for one in solution)

        folds = np.full(len(ids), OUTSIDE, dtype=np.int8)
        folds[there] = self.folds[here]
        return Solutions(ids, list(tags), folds, [carry(one) for one in self.of_folds], carry(self.of_all))

    def only_folds(self) -> "Solutions":
        """Without anything to start from, for another model."""
        return Solutions(self.ids, self.tags, self.folds)


def _moved(
    matrix: sparse.csr_array, row_of: np.ndarray, column_of: np.ndarray, shape: tuple[int, int]
) -> sparse.csr_array:
    entries = matrix.tocoo()
    rows, columns = row_of[entries.row], column_of[entries.col]
    kept = (rows >= 0) & (columns >= 0)
    return sparse.csr_array((entries.data[kept], (rows[kept], columns[kept])), shape=shape)


def solution_of(model: Any, rows: np.ndarray, n_rows: int) -> Solution:
    """That of a model which was trained on some of `n_rows` rows; empty for a method that has none."""
    found = getattr(model, "dual_solution_", ())
    parts = found if isinstance(found, tuple) else (found,)
    return tuple(_spread(np.asarray(part), rows, n_rows) for part in parts)


def _spread(values: np.ndarray, rows: np.ndarray, n_rows: int) -> sparse.csr_array:
    part = sparse.csr_array(values.astype(np.float32))
    lengths = np.zeros(n_rows, dtype=part.indptr.dtype)
    lengths[rows] = np.diff(part.indptr)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return sparse.csr_array((part.data, part.indices, indptr), shape=(n_rows, values.shape[1]))


def start_from(solution: Solution, rows: np.ndarray) -> Any:
    """What `fit` takes as its start, for a training on some rows; None for an empty solution."""
    if not solution:
        return None
    dense = tuple(part[rows].toarray() for part in solution)
    return dense if len(dense) > 1 else dense[0]


def mean_of_folds(solutions: Sequence[Solution], folds: np.ndarray) -> Solution:
    """The mean over the folds that saw a row: what a model of other rows may start from."""
    if not solutions or not all(solutions):
        return ()
    n_seen = np.sum([folds != number for number in range(len(solutions))], axis=0)
    weights = sparse.diags_array((1 / np.maximum(n_seen, 1)).astype(np.float32))
    return tuple(sparse.csr_array(weights @ sum(parts)) for parts in zip(*solutions, strict=True))

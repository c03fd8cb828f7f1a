"""Dual solutions that are carried from one training to the next, and from fold to fold."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tagrank.desk.learning.folds import OUTSIDE

# of a sum of two models there is a pair; of a model that starts from nothing, None
Solution = Any


@dataclass(frozen=True)
class Solutions:
    """What a training leaves to the next.

    Attributes
    ----------
    ids : of the pictures, ascending
    tags : names of the tags
    folds : the fold of each picture, see `deal`
    of_folds : the solution of each fold, (n, n_tags), zero where it did not see the picture
    of_all : the solution of the last model
    """

    ids: np.ndarray
    tags: list[str]
    folds: np.ndarray
    of_folds: Sequence[Solution]
    of_all: Solution

    def carried(self, ids: np.ndarray, tags: Sequence[str]) -> "Solutions":
        """The same for other pictures and tags: what is new starts at zero."""
        if np.array_equal(ids, self.ids) and list(tags) == self.tags:
            return self
        _, here, there = np.intersect1d(self.ids, ids, assume_unique=True, return_indices=True)
        places = {tag: place for place, tag in enumerate(self.tags)}
        columns = [(places[tag], j) for j, tag in enumerate(tags) if tag in places]
        old, new = (np.array([pair[k] for pair in columns], dtype=int) for k in (0, 1))

        def carry(values: np.ndarray) -> np.ndarray:
            carried = np.zeros((len(ids), len(tags)), dtype=np.float32)
            carried[np.ix_(there, new)] = values[np.ix_(here, old)]
            return carried

        folds = np.full(len(ids), OUTSIDE, dtype=np.int8)
        folds[there] = self.folds[here]
        of_folds = [each(one, carry) for one in self.of_folds]
        return Solutions(ids, list(tags), folds, of_folds, each(self.of_all, carry))


def each(solution: Solution, change: Callable[[np.ndarray], np.ndarray]) -> Solution:
    """The solution with a function applied to its array, or to each of its two."""
    if solution is None:
        return None
    return tuple(map(change, solution)) if isinstance(solution, tuple) else change(solution)


def of_training_rows(solution: Solution, rows: np.ndarray, n_rows: int) -> Solution:
    """The solution of some rows, written among all rows."""

    def spread(values: np.ndarray) -> np.ndarray:
        whole = np.zeros((n_rows, values.shape[1]), dtype=np.float32)
        whole[rows] = values
        return whole

    return each(solution, spread)


def mean_of_folds(solutions: Sequence[Solution], folds: np.ndarray) -> Solution:
    """The mean over the folds that saw a row: what a model of more rows may start from."""
    if not solutions or any(one is None for one in solutions):
        return None
    seen = np.array([folds != number for number in range(len(solutions))]).sum(axis=0)
    weights = (1 / np.maximum(seen, 1)).astype(np.float32)[:, None]
    if isinstance(solutions[0], tuple):
        return tuple(sum(parts) * weights for parts in zip(*solutions, strict=True))
    return sum(solutions) * weights

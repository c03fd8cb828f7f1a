"""Pictures that are unlike all others, or unlike the others of their tag, by the rows of their features."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tagrank.array_files import hold_rows
from tagrank.data.label_matrix import Matrix
from tagrank.estimators.neighbours.distances import nearest_rows

NEIGHBOURS = 5  # by whose mean distance it is told how far away a picture is
LEAST_PICTURES = 12  # of fewer it cannot be told what is usual
_WHISKER = 1.5


def unit_rows(views: Sequence[Matrix]) -> np.ndarray:
    """The views of pictures side by side, each of unit length, float32; in a file where they are large."""
    n_rows = views[0].shape[0]
    parts = [view.toarray() if hasattr(view, "toarray") else view for view in views]
    width = sum(part.shape[1] for part in parts)
    blocks = (
        np.concatenate([_of_unit_length(piece) for piece in pieces], axis=1)
        for pieces in zip(*map(_blocks(width), parts), strict=True)
    )
    return hold_rows(blocks, (n_rows, width), np.dtype(np.float32), made_of=parts)


def _blocks(width: int) -> Callable[[np.ndarray], Iterator[np.ndarray]]:
    """A function that cuts the rows of every view in the same places."""
    step = max(1, 2**22 // max(1, width))
    return lambda part: (part[start : start + step] for start in range(0, len(part), step))


def _of_unit_length(rows: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


def nearest_others(
    rows: np.ndarray, n_neighbours: int, *, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest other rows of each row, and their distances, shape (n, n_neighbours) or fewer columns."""
    n_neighbours = min(n_neighbours, len(rows) - 1)
    return nearest_rows(rows, rows, n_neighbours, leave_one_out=True, n_jobs=n_jobs)


def isolation(neighbours: np.ndarray, distances: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """How far away each picture is: the mean distance to the nearest ones outside of its group, shape (n,).

    `groups` is a number for each picture, the same for near-duplicates, which are no company. nan where the
    neighbours are too few.
    """
    is_outside = groups[neighbours] != groups[: len(neighbours), None]
    place = np.cumsum(is_outside, axis=1)
    is_used = is_outside & (place <= NEIGHBOURS)
    counts = is_used.sum(axis=1)
    sums = (distances * is_used).sum(axis=1)
    return np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)


def far_out(distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows that are unusually far away, the farthest first, and for all rows how far in usual distances.

    Unusual is what lies beyond Tukey's upper fence, the upper quartile and one and a half times the distance
    of the quartiles, on a logarithmic scale.
    """
    known = distances[np.isfinite(distances) & (distances > 0)]
    if len(known) < LEAST_PICTURES:
        return np.zeros(0, np.intp), np.full(len(distances), np.nan)
    lower, middle, upper = np.quantile(np.log(known), (0.25, 0.5, 0.75))
    fence = np.exp(upper + _WHISKER * (upper - lower))
    rows = np.flatnonzero(np.nan_to_num(distances) > fence)
    return rows[np.argsort(-distances[rows], kind="stable")], distances / np.exp(middle)


def unlike_their_tags(
    rows: np.ndarray,
    states: np.ndarray,
    *,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[tuple[int, int, float]]:
    """Pictures that are unusually far from the others of one of their tags.

    Parameters
    ----------
    rows : array, shape (n, n_columns), of unit length
    states : int array, shape (n, n_tags), 1 where a picture has a tag
    n_jobs : int, optional, number of threads
    progress : callable, optional, called with the tags done and their number

    Returns
    -------
    list of (row, column of the tag, distance in usual distances of the tag), the farthest first
    """
    found: list[tuple[int, int, float]] = []
    for column in range(states.shape[1]):
        members = np.flatnonzero(states[:, column] > 0)
        if len(members) >= LEAST_PICTURES:
            _, distances = nearest_others(np.asarray(rows[members]), NEIGHBOURS, n_jobs=n_jobs)
            chosen, relative = far_out(distances.mean(axis=1))
            found += [(int(members[i]), column, float(relative[i])) for i in chosen]
        if progress is not None:
            progress(column + 1, states.shape[1])
    return sorted(found, key=lambda entry: -entry[2])

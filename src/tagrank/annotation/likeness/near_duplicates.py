"""Groups of pictures that are almost the same: found by an embedding, confirmed by their details.

The candidates are the nearest neighbours of every picture under the rows of its features, and those whose
coarse layout is nearest to that of its mirror image, which not all features see through. What they have in
common is the correlation of their details, see `alignment`. How large that is for pictures that are not
the same is learned from the collection itself, from two sets of pairs: pictures with neighbours that are
farther away than any candidate, and pictures with candidates that are turned upside down. Each set gives a
tail probability by the exponential law of excesses over a high threshold, the larger one counts, and the
procedure of Benjamini and Hochberg (1995) tells which pairs are near-duplicates, so that at most one in
a hundred is expected to be wrong.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from tagrank.annotation.likeness.alignment import compare_pairs
from tagrank.array_files import blocks_of_rows
from tagrank.estimators.neighbours.distances import nearest_rows

PairProgress = Callable[[int, int], None] | None

CANDIDATES, FARTHER = 10, 10  # neighbours that may be the same, and those beyond that teach what others are
MIRRORED = 5  # candidates by the mirror image
MOST_COMPARED, FEW_PICTURES = 2000, 200  # pairs that teach it, of each set; of fewer pictures several each
LEAST_COMPARED = 50  # with fewer nothing is learned
MOST_WRONG = 0.01  # of the pairs that are called near-duplicates
# whatever the collection is like: with less than half of the variance in common pictures are not almost the
# same, and with nine tenths they are
LEAST_LIKENESS, SURE_LIKENESS = 0.5**0.5, 0.9**0.5
_TAIL = 0.1
_LAYOUT = 8  # fields along a side of a coarse layout


@dataclass(frozen=True)
class NearGroup:
    """Pictures that are almost the same, or the same.

    Attributes
    ----------
    rows : int array, at least two, in their order
    likeness : for each its correlation with the picture of the group that it resembles most; 1 for a copy
    certainty : for each the expected share of true near-duplicates among pairs as alike; 1 for a copy
    is_copy : for each whether another picture of the group has the same content
    """

    rows: np.ndarray
    likeness: np.ndarray
    certainty: np.ndarray
    is_copy: np.ndarray


def first_of_content(keys: Sequence[bytes]) -> np.ndarray:
    """For each picture the first one with the same key, shape (n,)."""
    first: dict[bytes, int] = {}
    return np.array([first.setdefault(key, row) for row, key in enumerate(keys)], dtype=np.intp)


def find_groups(
    miniatures: np.ndarray,
    neighbours: np.ndarray,
    first: np.ndarray,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: PairProgress = None,
) -> list[NearGroup]:
    """Groups of almost the same pictures, the most certain first.

    Parameters
    ----------
    miniatures : array, shape (n, side * side)
    neighbours : int array, shape (n_distinct, n_neighbours): for each different picture the nearest others,
        nearest first, as numbers of different pictures
    first : int array, shape (n,), see `first_of_content`
    seed : int, for the pairs by which one learns what accidents are
    n_jobs : int, optional, number of threads
    progress : callable, optional, called with the pairs done and their number

    Returns
    -------
    list of NearGroup
    """
    distinct = np.unique(first)
    is_all = len(distinct) == len(first)
    mirrored = _mirrored_neighbours(miniatures if is_all else miniatures[distinct], n_jobs)
    pairs = distinct[
        np.unique(np.concatenate([*map(_pairs, (neighbours[:, :CANDIDATES], mirrored))]), axis=0)
    ]
    likeness = compare_pairs(miniatures, pairs, n_jobs=n_jobs, progress=progress)
    certainty = certainties(likeness, _accidents(miniatures, neighbours, distinct, seed, n_jobs))
    is_near = certainty > 0
    return _grouped(first, pairs[is_near], likeness[is_near], certainty[is_near])


def _pairs(nearest: np.ndarray) -> np.ndarray:
    """Each pair of a picture and one of those beside it, the lower number first, shape (n_pairs, 2)."""
    pairs = np.stack([np.repeat(np.arange(len(nearest)), nearest.shape[1]), nearest.ravel()], axis=1)
    return np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1).astype(np.intp)


def _mirrored_neighbours(miniatures: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """For each picture those whose coarse layout is nearest to that of its mirror image."""
    layouts = np.concatenate([_layouts(block) for block in blocks_of_rows(miniatures)])
    mirrored = np.ascontiguousarray(layouts[:, :, ::-1])
    n_neighbours = min(MIRRORED, len(layouts))
    of_mirrored, of_all = (one.reshape(len(one), -1) for one in (mirrored, layouts))
    return nearest_rows(of_mirrored, of_all, n_neighbours, n_jobs=n_jobs)[0]


def _layouts(miniatures: np.ndarray) -> np.ndarray:
    """Means of the fields of pictures, of mean 0 and unit length, shape (n, _LAYOUT, _LAYOUT)."""
    side = round(miniatures.shape[1] ** 0.5)
    size = side // _LAYOUT
    fields = miniatures.reshape(-1, _LAYOUT, size, _LAYOUT, size).mean(axis=(2, 4), dtype=np.float32)
    fields -= fields.mean(axis=(1, 2), keepdims=True)
    return fields / np.maximum(np.linalg.norm(fields, axis=(1, 2), keepdims=True), 1)


def _accidents(
    miniatures: np.ndarray, neighbours: np.ndarray, distinct: np.ndarray, seed: int, n_jobs: int | None
) -> tuple[np.ndarray, ...]:
    """Correlations of pairs that are not the same picture, one array for each way to find such pairs."""
    rng = np.random.default_rng(seed)
    n_pictures, n_neighbours = neighbours.shape
    if not n_neighbours:
        return ()
    # a few pictures take turns with several neighbours each
    some = np.repeat(np.sort(rng.permutation(n_pictures)[:MOST_COMPARED]), 1 + FEW_PICTURES // n_pictures)
    start = CANDIDATES if n_neighbours > CANDIDATES else n_neighbours // 2
    farther = rng.integers(start, n_neighbours, len(some))
    nearer = rng.integers(0, min(CANDIDATES, n_neighbours), len(some))
    return tuple(
        compare_pairs(
            miniatures,
            distinct[np.unique(np.stack([some, neighbours[some, ranks]], axis=1), axis=0)],
            upside_down=upside_down,
            n_jobs=n_jobs,
        )
        for ranks, upside_down in ((farther, False), (nearer, True))
    )


def certainties(likeness: np.ndarray, accidents: Sequence[np.ndarray]) -> np.ndarray:
    """For each pair the share of true ones among all that are as alike; 0 for pairs that are not the same.

    Parameters
    ----------
    likeness : array, shape (n_pairs,), correlations
    accidents : arrays of correlations of pairs that are not the same
    """
    chances = [tail_probabilities(likeness, found) for found in accidents if len(found) >= LEAST_COMPARED]
    wrong = adjusted(np.max(chances, axis=0)) if chances else np.ones(len(likeness))
    wrong = np.where(likeness >= SURE_LIKENESS, np.minimum(wrong, MOST_WRONG), wrong)
    is_near = (wrong <= MOST_WRONG) & (likeness >= LEAST_LIKENESS)
    return np.where(is_near, 1 - wrong, 0.0)


def tail_probabilities(values: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """How probable correlations as large as these are, given a sample of accidents.

    Above its upper tenth the sample is taken for exponential on the scale of Fisher's transformation, its
    mean excess told by the median, which a few true duplicates in the sample cannot move far.
    """
    transformed, known = (np.arctanh(np.clip(numbers, -0.9999, 0.9999)) for numbers in (values, sample))
    start = np.quantile(known, 1 - _TAIL)
    excess = max(float(np.median(known[known >= start] - start)) / np.log(2), 0.01)
    return np.where(transformed > start, _TAIL * np.exp(-(transformed - start) / excess), 1.0)


def adjusted(chances: np.ndarray) -> np.ndarray:
    """The expected share of accidents among all that are as improbable: p-values to q-values."""
    order = np.argsort(chances)[::-1]
    n_values = len(chances)
    shares = chances[order] * n_values / np.arange(n_values, 0, -1)
    answers = np.empty(n_values)
    answers[order] = np.minimum(np.minimum.accumulate(shares), 1.0) if n_values else shares
    return answers


def _grouped(
    first: np.ndarray, pairs: np.ndarray, likeness: np.ndarray, certainty: np.ndarray
) -> list[NearGroup]:
    """Pictures that pairs connect, and those of the same content."""
    n_pictures = len(first)
    rows = np.arange(n_pictures)
    ends = np.concatenate([np.stack([rows, first], axis=1), pairs])
    graph = sparse.coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n_pictures, n_pictures))
    _, labels = connected_components(graph, directed=False)
    best_likeness, best_certainty = np.zeros(n_pictures), np.zeros(n_pictures)
    for side in (0, 1):
        np.maximum.at(best_likeness, pairs[:, side], likeness)
        np.maximum.at(best_certainty, pairs[:, side], certainty)
    best_likeness, best_certainty = best_likeness[first], best_certainty[first]
    is_copy = np.bincount(first, minlength=n_pictures)[first] > 1
    best_likeness[is_copy] = best_certainty[is_copy] = 1.0
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    found = [members for members in np.split(order, starts[1:]) if len(members) > 1]
    groups = [NearGroup(one, best_likeness[one], best_certainty[one], is_copy[one]) for one in found]
    return sorted(groups, key=lambda group: (-group.certainty.min(), -group.likeness.min(), group.rows[0]))

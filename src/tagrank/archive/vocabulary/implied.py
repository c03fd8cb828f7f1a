"""What follows for every picture from what was said of some of its tags.

A yes to a tag is a yes to all above it, a no to a tag a no to all below it. Of each cell let P be the time of
the latest yes to it or to a tag below it, N that of the latest no to it or to a tag above it: it is present
if P > N, absent if N > P. What holds then never contradicts itself: a tag above has no smaller P and no
larger N. What the folder lists is a yes that is older than every decision; a skip says nothing, and counts
only where nothing follows.
"""

from dataclasses import dataclass

import numpy as np

from tagrank.archive.records import SparseStates
from tagrank.archive.vocabulary.reading import Columns, expanded

# of a cell that is not listed, or not decided
NONE = 9


@dataclass(frozen=True)
class Explicit:
    """What was said, ordered by picture and column, each pair once.

    Attributes
    ----------
    pictures, columns : int64 arrays
    listed : 1, 0 or `NONE`
    answers : 1, 0, -1 or `NONE`
    times : int64 array, larger for later decisions; 0 for a cell that was not decided
    """

    pictures: np.ndarray
    columns: np.ndarray
    listed: np.ndarray
    answers: np.ndarray
    times: np.ndarray

    @property
    def states(self) -> np.ndarray:
        """What was said itself: +1, -1 or 0."""
        return np.where(self.answers != NONE, self.answers, np.where(self.listed == 1, 1, 0))


def join_synonyms(cells: np.ndarray) -> Explicit:
    """Rows of picture, column, listed, answer and time; of synonyms the latest answer counts."""
    cells = cells[np.lexsort((cells[:, 4], cells[:, 1], cells[:, 0]))]
    is_first = np.ones(len(cells), dtype=bool)
    is_first[1:] = np.any(cells[1:, :2] != cells[:-1, :2], axis=1)
    starts = np.flatnonzero(is_first)
    last = np.append(starts[1:], len(cells))[: len(starts)] - 1
    listed = np.where(cells[:, 2] == NONE, -1, cells[:, 2])
    listed = np.maximum.reduceat(listed, starts) if len(starts) else listed
    pictures, columns, _, answers, times = cells[last].T
    return Explicit(pictures, columns, np.where(listed < 0, NONE, listed), answers, times)


def imply(said: Explicit, columns: Columns) -> SparseStates:
    """The cells that are listed, decided, or follow from others."""
    n_columns = max(1, len(columns.names))
    ids, rows = np.unique(said.pictures, return_inverse=True)
    own, states = rows * n_columns + said.columns, said.states
    is_yes, is_no = states == 1, (states == -1)
    yes_from, yes_to = _spread(own, said.columns, is_yes, columns.starts, columns.above)
    no_from, no_to = _spread(own, said.columns, is_no, *columns.turned())
    keys = np.unique(np.concatenate([own, yes_to, no_to]))
    # listed is 1, decisions are larger, nothing is 0
    times, latest = said.times + 1, np.zeros((2, len(keys)), dtype=np.int64)
    for time, source, target in ((latest[0], yes_from, yes_to), (latest[1], no_from, no_to)):
        np.maximum.at(time, np.searchsorted(keys, target), times[source])
    place = np.searchsorted(keys, own)
    found = np.sign(latest[0] - latest[1]).astype(np.int8)
    own_states, is_decided = np.zeros(len(keys), dtype=np.int8), latest.max(axis=0) > 1
    own_states[place] = states
    is_decided[place] |= said.answers != NONE
    is_listed = np.zeros(len(keys), dtype=bool)
    is_listed[place] = said.listed == 1
    return SparseStates(
        ids[keys // n_columns],
        keys % n_columns,
        found,
        is_decided,
        is_listed,
        (found != 0) & (found != own_states),
    )


def find_conflicts(said: Explicit, columns: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Places of a yes and of a no to a tag above it, in the same picture."""
    n_columns = max(1, len(columns.names))
    _, rows = np.unique(said.pictures, return_inverse=True)
    own, states = rows * n_columns + said.columns, said.states
    source, target = _spread(own, said.columns, states == 1, columns.starts, columns.above)
    # ordered by picture and column, so `own` ascends
    place = np.minimum(np.searchsorted(own, target), len(own) - 1) if len(own) else target
    is_conflict = (own[place] == target) & (states[place] == -1)
    return source[is_conflict], place[is_conflict]


def _spread(
    own: np.ndarray, columns: np.ndarray, chosen: np.ndarray, starts: np.ndarray, others: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Sources and keys of all cells that the chosen ones speak about: themselves, and related ones."""
    sources = np.flatnonzero(chosen)
    owners, places = expanded(starts, columns[sources])
    related = sources[owners]
    targets = own[related] - columns[related] + others[places]
    return np.concatenate([sources, related]), np.concatenate([own[sources], targets])

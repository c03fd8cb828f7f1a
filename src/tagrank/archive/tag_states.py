"""The cells of an archive as arrays: what was said, and what follows from it for every picture.

A yes to a tag is a yes to all above it, a no to a tag a no to all below it. Of each cell let P be the time of
the latest yes to it or to a tag below it, N that of the latest no to it or to a tag above it: it is present
if P > N, absent if N > P. What holds then never contradicts itself: a tag above has no smaller P and no
larger N. What the folder lists is a yes that is older than every decision; a skip says nothing, and counts
only where nothing follows.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tagrank.archive.records import ANSWER_WORDS, STATE_WORDS, Cell, Conflict, SparseStates, TagState
from tagrank.archive.tag_columns import Columns, expanded, read_columns, read_vocabulary

# of a cell that is not listed, or not decided
NONE = 9
_CHUNK = 50_000
_FEW = 500
_CELLS = f"SELECT picture, tag, coalesce(listed, {NONE}), coalesce(answer, {NONE}), 0 FROM cells WHERE true"
# with the place of each decision in the order of time, which is that of its number unless copies were merged
_TIMED = f"""
    SELECT cells.picture, cells.tag, coalesce(listed, {NONE}), cells.answer,
    row_number() OVER (ORDER BY at, decision) FROM cells
    LEFT JOIN decisions ON decisions.id = decision LEFT JOIN batches ON batches.id = batch
    WHERE cells.answer IS NOT NULL
"""
_UNDECIDED = f"SELECT picture, tag, listed, {NONE}, 0 FROM cells WHERE answer IS NULL AND listed IS NOT NULL"


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
    implied = np.sign(latest[0] - latest[1]).astype(np.int8)
    own_states, is_decided = np.zeros(len(keys), dtype=np.int8), latest.max(axis=0) > 1
    own_states[place] = states
    is_decided[place] |= said.answers != NONE
    is_listed = np.zeros(len(keys), dtype=bool)
    is_listed[place] = said.listed == 1
    return SparseStates(
        ids[keys // n_columns],
        keys % n_columns,
        implied,
        is_decided,
        is_listed,
        (implied != 0) & (implied != own_states),
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


def read_states(
    connection: sqlite3.Connection,
    ids: Sequence[int] | np.ndarray | None = None,
    *,
    columns: Columns | None = None,
    only: Iterable[int] | None = None,
) -> SparseStates:
    """The cells of these pictures, or of all that are there.

    Parameters
    ----------
    columns : as `read_columns` gives them, where they were read before
    only : columns of which states are wanted; those of others may be missing or wrong
    """
    vocabulary = read_vocabulary(connection) if columns is None else columns.vocabulary
    if vocabulary.is_plain and only is None:
        return _states(_read_cells(connection, (_CELLS,), ids, None))
    columns = read_columns(connection) if columns is None else columns
    return imply(read_explicit(connection, columns, ids, only), columns)


def read_explicit(
    connection: sqlite3.Connection,
    columns: Columns,
    ids: Sequence[int] | np.ndarray | None = None,
    only: Iterable[int] | None = None,
) -> Explicit:
    """What was said itself; with `only` of these columns and of all that have to do with them."""
    numbers = None if only is None else columns.numbers(columns.related(only))
    cells = _read_cells(connection, (_TIMED, _UNDECIDED), ids, numbers)
    cells[:, 1] = columns.column_of[np.clip(cells[:, 1], 0, len(columns.column_of) - 1)]
    return join_synonyms(cells[cells[:, 1] >= 0])


def _read_cells(
    connection: sqlite3.Connection,
    queries: Sequence[str],
    ids: Sequence[int] | np.ndarray | None,
    tags: list[int] | None,
) -> np.ndarray:
    """Rows of five numbers, of pictures and tags with these numbers."""
    condition, values = "", list[str]()
    if ids is not None and len(ids) <= _FEW:
        condition += " AND cells.picture IN (SELECT value FROM json_each(?))"
        values.append(json.dumps([int(number) for number in ids]))
    if tags is not None:
        condition += " AND cells.tag IN (SELECT value FROM json_each(?))"
        values.append(json.dumps(tags))
    cells = np.concatenate([_as_array(connection.execute(query + condition, values)) for query in queries])
    if ids is not None and len(ids) <= _FEW:
        return cells
    if ids is None:
        there = connection.execute("SELECT id FROM pictures WHERE NOT is_gone ORDER BY id").fetchall()
        ids = np.array(there, dtype=np.int64).reshape(-1)
    return cells[np.isin(cells[:, 0], ids)]


def _as_array(cursor: sqlite3.Cursor) -> np.ndarray:
    """The rows of numbers that a query gives; a few at a time, as they take room as objects."""
    pieces = [np.empty((0, 5), dtype=np.int64)]
    while rows := cursor.fetchmany(_CHUNK):
        pieces.append(np.array(rows, dtype=np.int64))
    return np.concatenate(pieces)


def _states(cells: np.ndarray) -> SparseStates:
    pictures, tags, listed, answers, _ = cells.T
    is_decided = answers != NONE
    states = np.where(is_decided, answers, listed).astype(np.int8)
    return SparseStates(pictures.copy(), tags - 1, states, is_decided, listed == 1)


def implied_cells(
    connection: sqlite3.Connection, columns: Columns, places: Sequence[tuple[int, int]]
) -> tuple[Cell, ...]:
    """The cells of these pictures and columns as they are now; those of no column are left out."""
    cells = read_states(connection, sorted({picture for picture, _ in places}), columns=columns)
    pairs = zip(cells.pictures.tolist(), cells.columns.tolist(), strict=True)
    place_of = {pair: number for number, pair in enumerate(pairs)}

    def cell(picture: int, column: int) -> Cell:
        number = place_of.get((picture, column))
        if number is None:
            return Cell(picture, columns.names[column], STATE_WORDS[0], False)
        return Cell(
            picture,
            columns.names[column],
            STATE_WORDS[int(cells.states[number])],
            bool(cells.is_decided[number]),
            bool(cells.is_implied[number]),
        )

    return tuple(cell(*place) for place in places if place[1] >= 0)


def read_tag_states(connection: sqlite3.Connection, picture: int) -> dict[str, TagState]:
    """What is known of one picture, by tag."""
    columns = read_columns(connection)
    said = read_explicit(connection, columns, [picture])
    cells = imply(said, columns)
    people = _read_people(connection, picture, columns)
    place = {column: number for number, column in enumerate(said.columns.tolist())}
    states = {}
    for number, column in enumerate(cells.columns.tolist()):
        tag, own = columns.names[column], place.get(column)
        answer = NONE if own is None else int(said.answers[own])
        states[tag] = TagState(
            STATE_WORDS[int(cells.states[number])],
            None if answer == NONE else ANSWER_WORDS[answer],
            None if answer == NONE else people.get(column),
            bool(cells.is_listed[number]),
            _because(said, columns, column, int(cells.states[number])) if cells.is_implied[number] else None,
        )
    return states


def _read_people(connection: sqlite3.Connection, picture: int, columns: Columns) -> dict[int, str]:
    """Who decided about each column of a picture last."""
    rows = connection.execute(
        "SELECT cells.tag, who FROM cells JOIN decisions ON decisions.id = decision "
        "JOIN batches ON batches.id = batch WHERE cells.picture = ? ORDER BY at, decision",
        (picture,),
    )
    return {int(columns.column_of[tag]): who for tag, who in rows if tag < len(columns.column_of)}


def _because(said: Explicit, columns: Columns, column: int, state: int) -> str:
    """The tag of the same picture from which a state follows: the one of the latest answer."""
    above, tag = columns.vocabulary.above, columns.names[column]
    reasons = [
        (int(said.times[number]), columns.names[other])
        for number, other in enumerate(said.columns.tolist())
        if said.states[number] == state
        and (
            tag in above.get(columns.names[other], ())
            if state > 0
            else columns.names[other] in above.get(tag, ())
        )
    ]
    return max(reasons)[1]


def read_conflicts(connection: sqlite3.Connection, limit: int) -> tuple[list[Conflict], int]:
    """What people said that cannot both be true, the latest first, at most `limit`; and how many."""
    columns = read_columns(connection)
    if not columns.vocabulary.parents:
        return [], 0
    said = read_explicit(connection, columns)
    yes, no = find_conflicts(said, columns)
    order = np.argsort(-np.maximum(said.times[yes], said.times[no]), kind="stable")
    return [_conflict(connection, said, columns, yes[j], no[j]) for j in order[:limit]], len(yes)


def _conflict(
    connection: sqlite3.Connection, said: Explicit, columns: Columns, yes: int, no: int
) -> Conflict:
    picture = int(said.pictures[yes])
    (name,) = connection.execute("SELECT name FROM pictures WHERE id = ?", (picture,)).fetchone()
    people = _read_people(connection, picture, columns)
    present, absent = int(said.columns[yes]), int(said.columns[no])
    return Conflict(
        picture,
        name,
        columns.names[present],
        people.get(present) if said.answers[yes] != NONE else None,
        columns.names[absent],
        people.get(absent, ""),
        STATE_WORDS[1] if said.times[yes] > said.times[no] else STATE_WORDS[-1],
    )

"""What is listed and decided, as arrays, and as the labels from which a model learns.

A picture with a tag that is present is tagged: its other tags are absent, as everywhere. One without is
unknown throughout. Decisions override single cells: yes is present, no absent, skip unknown.
"""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tagrank.archive.pictures import read_picture_table
from tagrank.archive.records import DecidedCollection, SparseStates, TagCounts
from tagrank.data.collection import Collection
from tagrank.data.label_matrix import LabelMatrix, labels_from_pairs
from tagrank.files import FileError

_CHUNK = 50_000
_FEW = 500
# of a cell that is not listed, or not decided
_NONE = 9


def read_tags(connection: sqlite3.Connection, path: Path) -> list[str]:
    """The names of all tags; their places never change."""
    rows = connection.execute("SELECT id, name FROM tags ORDER BY id").fetchall()
    if [number for number, _ in rows] != list(range(1, len(rows) + 1)):
        raise FileError(path, "is damaged (tags are missing); restore it from a copy")
    return [name for _, name in rows]


def read_states(
    connection: sqlite3.Connection, ids: Sequence[int] | np.ndarray | None = None
) -> SparseStates:
    """The cells of these pictures, or of all that are there."""
    query = f"SELECT picture, tag, coalesce(listed, {_NONE}), coalesce(answer, {_NONE}) FROM cells"
    if ids is not None and len(ids) <= _FEW:
        marks = ",".join("?" * len(ids))
        return _states(
            _as_array(connection.execute(f"{query} WHERE picture IN ({marks})", [int(i) for i in ids]))
        )
    cells = _as_array(connection.execute(query))
    if ids is None:
        there = connection.execute("SELECT id FROM pictures WHERE NOT is_gone ORDER BY id").fetchall()
        ids = np.array(there, dtype=np.int64).reshape(-1)
    return _states(cells[np.isin(cells[:, 0], ids)])


def _as_array(cursor: sqlite3.Cursor) -> np.ndarray:
    """The rows of four numbers that a query gives; a few at a time, as they take room as objects."""
    pieces = [np.empty((0, 4), dtype=np.int64)]
    while rows := cursor.fetchmany(_CHUNK):
        pieces.append(np.array(rows, dtype=np.int64))
    return np.concatenate(pieces)


def _states(cells: np.ndarray) -> SparseStates:
    pictures, tags, listed, answers = cells.T
    is_decided = answers != _NONE
    states = np.where(is_decided, answers, listed).astype(np.int8)
    return SparseStates(pictures.copy(), tags - 1, states, is_decided, listed == 1)


def read_tag_counts(connection: sqlite3.Connection, path: Path) -> TagCounts:
    """How often each tag is present, and was answered."""
    tags, cells = read_tags(connection, path), read_states(connection)

    def count(chosen: np.ndarray) -> np.ndarray:
        return np.bincount(cells.columns[chosen], minlength=len(tags))

    answers = [count(cells.is_decided & (cells.states == state)) for state in (1, -1, 0)]
    return TagCounts(tags, count(cells.states == 1), *answers)


def read_labels(connection: sqlite3.Connection, folder: Path, path: Path) -> DecidedCollection:
    """All pictures that are there, with labels in three states."""
    pictures, tags, cells = (
        read_picture_table(connection),
        read_tags(connection, path),
        read_states(connection),
    )
    is_known = np.array(
        [
            known
            for (known,) in connection.execute("SELECT is_known FROM pictures WHERE NOT is_gone ORDER BY id")
        ],
        dtype=bool,
    )
    rows = np.searchsorted(pictures.ids, cells.pictures)
    labels = make_labels(rows, cells, is_known, len(tags))
    collection = Collection(
        views={"pictures": [str(folder / name) for name in pictures.names]},
        labels=labels,
        tags=tags,
        names=pictures.names,
        name=folder.absolute().name,
    )
    return DecidedCollection(
        collection, pictures.ids, (rows[cells.is_decided], cells.columns[cells.is_decided])
    )


def make_labels(rows: np.ndarray, cells: SparseStates, is_known: np.ndarray, n_tags: int) -> LabelMatrix:
    """The labels of `cells` in their `rows`; all others are absent in a row that is known or tagged."""
    shape = (len(is_known), n_tags)
    was_tagged = _any_in_row(rows[cells.is_listed], len(is_known))
    is_tagged = _any_in_row(rows[cells.states == 1], len(is_known))
    # one whose listed tags were all rejected is like one that nobody tagged
    is_complete = is_tagged | (is_known & ~was_tagged)
    is_partial = ~is_complete & _any_in_row(rows[cells.states != 0], len(is_known))
    gaps = np.ones((is_partial.sum(), n_tags), dtype=bool)
    in_partial = is_partial[rows] & (cells.states != 0)
    gaps[(np.cumsum(is_partial) - 1)[rows[in_partial]], cells.columns[in_partial]] = False
    gap_rows, gap_columns = np.nonzero(gaps)
    is_skipped = is_complete[rows] & (cells.states == 0)
    unknown = (
        np.concatenate([rows[is_skipped], np.flatnonzero(is_partial)[gap_rows]]),
        np.concatenate([cells.columns[is_skipped], gap_columns]),
    )
    is_present = cells.states == 1
    labels = labels_from_pairs((rows[is_present], cells.columns[is_present]), unknown, shape)
    return LabelMatrix(labels, ~is_complete & ~is_partial)


def _any_in_row(rows: np.ndarray, n_rows: int) -> np.ndarray:
    return np.bincount(rows, minlength=n_rows) > 0

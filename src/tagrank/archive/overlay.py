"""Decisions laid over pictures as a folder was read, whatever the pictures are called by now."""

import os
import sqlite3
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tagrank.annotation.bank.picture_keys import Source
from tagrank.archive.archive import Archive
from tagrank.archive.labels import make_labels
from tagrank.archive.records import SparseStates
from tagrank.archive.scan import (
    Found,
    Known,
    as_before,
    match_pictures,
    read_keys,
    read_known,
    read_layout,
    state_of,
)
from tagrank.data.collection import Collection, DecidedLabel
from tagrank.data.label_matrix import positive_pairs, unknown_pairs


class _Decided(NamedTuple):
    picture: int
    tag: str
    answer: int


def decided_collection(
    collection: Collection, folder: str | os.PathLike, database: str | os.PathLike | None = None
) -> Collection:
    """A collection that was read from a folder, with what was decided about it; nothing is written.

    Tags that were accepted are present, rejected ones absent, skipped ones unknown; a picture with an
    accepted tag is tagged. Tags of new names come last. `Collection.decided` lists what was decided.

    Parameters
    ----------
    collection : with the view "pictures" (paths) and names
    folder, database : as for `Archive.open`
    """
    with Archive.open(folder, database=database, read_only=True) as archive:
        known, layout, decided = archive.read(
            lambda connection: (read_known(connection), read_layout(connection), _read(connection))
        )
    collection = as_before(collection, folder, layout)
    rows = _rows_of(collection, known, {cell.picture for cell in decided})
    return _lay_over(
        collection, [(rows[cell.picture], *cell[1:]) for cell in decided if cell.picture in rows]
    )


def _read(connection: sqlite3.Connection) -> list[_Decided]:
    query = "SELECT picture, name, answer FROM cells JOIN tags ON tags.id = tag WHERE answer IS NOT NULL"
    return list(map(_Decided._make, connection.execute(f"{query} ORDER BY picture, tag")))


def _rows_of(collection: Collection, known: list[Known], wanted: set[int]) -> dict[int, int]:
    """The rows of the wanted pictures. Contents are read only where names and files do not tell."""
    names, paths = list(collection.names or ()), collection.view("pictures")
    row_of = {name: row for row, name in enumerate(names)}
    rows = {
        picture.id: row_of[picture.name]
        for picture in known
        if picture.name in row_of
        and not picture.is_gone
        and _is_unchanged(picture, paths[row_of[picture.name]])
    }
    if wanted <= rows.keys():
        return rows
    taken = set(rows.values())
    others = [row for row in range(len(names)) if row not in taken]
    found = [
        Found(names[row], source.key, "", row)
        for row, source in zip(others, read_keys([paths[row] for row in others], True, None), strict=True)
        if isinstance(source, Source)
    ]
    matches = match_pictures([picture for picture in known if picture.id not in rows], found)
    return rows | {old.id: new.row for old, new in (*matches.same, *matches.moved, *matches.changed)}


def _is_unchanged(picture: Known, path: str | Path) -> bool:
    return bool(picture.file_state) and picture.file_state == state_of(str(path))


def _lay_over(collection: Collection, decided: list[tuple[int, str, int]]) -> Collection:
    tags = list(dict.fromkeys([*collection.tags, *(tag for _, tag, _ in decided)]))
    column = {tag: j for j, tag in enumerate(tags)}
    stored = collection.label_matrix.stored
    pieces = [np.empty((0, 4), dtype=np.int64)]
    for (rows, columns), state in ((positive_pairs(stored), 1), (unknown_pairs(stored), 0)):
        pieces.append(np.column_stack([rows, columns, np.full(len(rows), state), np.zeros(len(rows), int)]))
    if decided:
        pieces.append(np.array([(row, column[tag], answer, 1) for row, tag, answer in decided]))
    rows, columns, states, is_decided = np.concatenate(pieces).T
    # of two entries for a cell the decision comes last, and counts
    places, listed = rows * len(tags) + columns, np.concatenate(pieces[:2])
    last = len(places) - 1 - np.unique(places[::-1], return_index=True)[1]
    is_listed = np.isin(places[last], listed[:, 0] * len(tags) + listed[:, 1])
    cells = SparseStates(
        rows[last], columns[last], states[last].astype(np.int8), is_decided[last] == 1, is_listed
    )
    is_known = ~collection.label_matrix.unknown_rows
    labels = make_labels(cells.pictures, cells, is_known & (len(collection.tags) > 0), len(tags))
    names, before = (
        collection.names or (),
        set(zip(listed[:, 0].tolist(), listed[:, 1].tolist(), strict=True)),
    )
    return collection.replaced(
        labels=labels,
        tags=tags,
        decided=[
            DecidedLabel(names[row], tag, answer == 1 and (row, column[tag]) in before)
            for row, tag, answer in decided
        ],
    )

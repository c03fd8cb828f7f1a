"""What a look at the folder found is written down, in one transaction."""

import sqlite3

import numpy as np

from tagrank.archive.decisions import listed_tag_number
from tagrank.archive.pictures import count_present
from tagrank.archive.records import Scan
from tagrank.archive.scan import (
    DATES,
    LAYOUT,
    OF_CAMERA,
    FolderState,
    Found,
    Known,
    Matches,
    listed_cells,
    match_pictures,
    read_known,
)
from tagrank.archive.vocabulary.reading import path_of, read_changes, read_listed_parents
from tagrank.data.problems import Problem
from tagrank.data.vocabulary import fold
from tagrank.errors import ArgumentError


def record_scan(connection: sqlite3.Connection, state: FolderState) -> Scan:
    """Bring pictures, tags and listed cells to what the folder holds; decisions stay as they are."""
    matches = match_pictures(read_known(connection), state.found)
    _record_pictures(connection, matches, state)
    _record_listed(connection, state)
    problems = (*state.problems, *_record_parents(connection, state))
    connection.executemany(
        "INSERT OR REPLACE INTO settings VALUES (?, ?)",
        [(LAYOUT, state.collection.layout), (DATES, OF_CAMERA)],
    )
    return Scan(
        added=[picture.name for picture in matches.added],
        moved=[(old.name, new.name) for old, new in matches.moved],
        changed=[new.name for _, new in matches.changed],
        gone=[old.name for old in matches.gone],
        returned=[new.name for old, new in matches.same if old.is_gone],
        problems=problems,
        n_pictures=len(state.found),
    )


def _record_pictures(connection: sqlite3.Connection, matches: Matches, state: FolderState) -> None:
    connection.executemany(
        "UPDATE pictures SET is_gone = 1 WHERE id = ?", [(old.id,) for old in matches.gone]
    )
    renewed = [pair for pair in matches.same if pair[0].is_gone or pair[0].file_state != pair[1].file_state]
    for old, new in (*renewed, *matches.moved, *matches.changed):
        _renew(connection, old, new)
    again = [pair for pair in (*matches.same, *matches.moved) if pair[1].name in state.facts]
    connection.executemany(
        "UPDATE pictures SET date = ? WHERE id = ?",
        [(state.facts[new.name].date, old.id) for old, new in again],
    )
    for old, new in matches.changed:
        width, height, date = state.facts[new.name]
        connection.execute(
            "UPDATE pictures SET is_changed = 1, width = ?, height = ?, date = ? WHERE id = ?",
            (width, height, date, old.id),
        )
    rows = []
    for new in matches.added:
        width, height, date = state.facts[new.name]
        rows.append((new.name, _folder(new.name), new.key, new.file_state, date, width, height))
    connection.executemany(
        "INSERT INTO pictures (name, folder, key, file_state, date, width, height) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        rows,
    )


def _renew(connection: sqlite3.Connection, old: Known, new: Found) -> None:
    connection.execute(
        "UPDATE pictures SET name = ?, folder = ?, key = ?, file_state = ?, is_gone = 0 WHERE id = ?",
        (new.name, _folder(new.name), new.key, new.file_state, old.id),
    )


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _record_listed(connection: sqlite3.Connection, state: FolderState) -> None:
    """Write down the listed tags, as far as they differ from what is written."""
    collection = state.collection
    ids = np.full(len(collection), -1, dtype=np.int64)
    numbers = dict(connection.execute("SELECT name, id FROM pictures WHERE NOT is_gone"))
    for found in state.found:
        ids[found.row] = numbers[found.name]
    tags = {tag: listed_tag_number(connection, tag) for tag in collection.tags}
    cells = listed_cells(collection, tags, ids)
    before = np.array(
        connection.execute(
            "SELECT picture, tag, listed FROM cells WHERE listed IS NOT NULL AND picture IN "
            "(SELECT id FROM pictures WHERE NOT is_gone) ORDER BY picture, tag"
        ).fetchall(),
        dtype=np.int64,
    ).reshape(-1, 3)
    old, new = set(map(tuple, before.tolist())), set(map(tuple, cells.tolist()))
    connection.executemany(
        "UPDATE cells SET listed = NULL WHERE picture = ? AND tag = ?", [cell[:2] for cell in old - new]
    )
    connection.executemany(
        "INSERT INTO cells (picture, tag, listed) VALUES (?, ?, ?) ON CONFLICT (picture, tag) "
        "DO UPDATE SET listed = excluded.listed",
        sorted(new - old),
    )
    connection.execute("DELETE FROM cells WHERE listed IS NULL AND answer IS NULL")
    _record_known_rows(connection, ids, collection.known_rows())
    touched = {picture for picture, _, _ in old ^ new}
    count_present(connection, touched)


def _record_parents(connection: sqlite3.Connection, state: FolderState) -> list[Problem]:
    """Write down what the levels of keywords say of tags, if there is room for all of it."""
    parents, problems = state.parents, list[Problem]()
    try:
        fold(read_changes(connection), parents)
    except ArgumentError as error:
        reason = f"the levels of hierarchical keywords are left out: {error}"
        parents, problems = (), [Problem(path_of(connection), reason)]
    old, new = set(read_listed_parents(connection)), set(parents)
    connection.executemany("DELETE FROM listed_parents WHERE tag = ? AND parent = ?", sorted(old - new))
    connection.executemany("INSERT INTO listed_parents VALUES (?, ?)", sorted(new - old))
    return problems


def _record_known_rows(connection: sqlite3.Connection, ids: np.ndarray, is_known: np.ndarray) -> None:
    before = dict(connection.execute("SELECT id, is_known FROM pictures WHERE NOT is_gone"))
    rows = zip(ids.tolist(), is_known.tolist(), strict=True)
    changed = [(int(known), number) for number, known in rows if number >= 0 and before[number] != known]
    connection.executemany("UPDATE pictures SET is_known = ? WHERE id = ?", changed)

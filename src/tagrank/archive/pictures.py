"""Pictures as the database knows them."""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tagrank.archive.names import is_inside
from tagrank.archive.records import (
    ANSWER_WORDS,
    STATE_WORDS,
    Picture,
    PictureTable,
    TagState,
)
from tagrank.archive.vocabulary.reading import read_vocabulary
from tagrank.archive.vocabulary.states import read_states
from tagrank.archive.vocabulary.states import read_tag_states as read_implied_states
from tagrank.files import FileError

_COLUMNS = "id, name, folder, date, key, width, height, n_present > 0, is_gone, is_reviewed, is_changed"


def read_picture_table(connection: sqlite3.Connection) -> PictureTable:
    """All pictures that are there."""
    rows = connection.execute(
        "SELECT id, name, key, date, n_present > 0, is_reviewed, is_changed FROM pictures "
        "WHERE NOT is_gone ORDER BY id"
    ).fetchall()
    ids, names, keys, dates, *flags = zip(*rows, strict=True) if rows else [()] * 7
    is_tagged, is_reviewed, is_changed = (np.array(flag, dtype=bool) for flag in flags)
    if (tagged := read_tagged(connection)) is not None:
        is_tagged = np.isin(np.array(ids, dtype=np.int64), tagged)
    return PictureTable(
        np.array(ids, dtype=np.int64),
        list(map(_inside, names)),
        list(keys),
        list(dates),
        is_tagged,
        is_reviewed,
        is_changed,
    )


def read_pictures_of(connection: sqlite3.Connection, ids: Sequence[int], folder: Path) -> list[Picture]:
    """The pictures of these numbers, in that order; LookupError for one that was never there."""
    pictures = [_read_picture(connection, number, folder) for number in ids]
    if (tagged := read_tagged(connection, [picture.id for picture in pictures])) is None:
        return pictures
    having = set(tagged.tolist())
    return [replace(picture, is_tagged=picture.id in having) for picture in pictures]


def _read_picture(connection: sqlite3.Connection, number: int, folder: Path) -> Picture:
    row = connection.execute(f"SELECT {_COLUMNS} FROM pictures WHERE id = ?", (number,)).fetchone()
    if row is None:
        raise LookupError(f"there is no picture {number}")
    id_, name, inner, date, key, width, height, *flags = row
    path = folder / _inside(name)
    return Picture(id_, name, path, inner, date, key, width, height, *map(bool, flags))


def _inside(name: str) -> str:
    if not is_inside(name):
        raise FileError(name, "lies outside the folder; this database is not one of tagrank")
    return name


def read_tagged(connection: sqlite3.Connection, ids: Sequence[int] | None = None) -> np.ndarray | None:
    """The numbers of the pictures with any tag; None where `n_present` tells, as no tag means another."""
    if read_vocabulary(connection).is_plain:
        return None
    cells = read_states(connection, ids)
    return np.unique(cells.pictures[cells.states == 1])


def read_tag_states(connection: sqlite3.Connection, picture: int) -> dict[str, TagState]:
    """What is listed or decided of one picture, or follows from it, by tag."""
    if not read_vocabulary(connection).is_plain:
        return read_implied_states(connection, picture)
    rows = connection.execute(
        "SELECT tags.name, coalesce(cells.answer, listed, 0), cells.answer, who, coalesce(listed, 0) "
        "FROM cells JOIN tags ON tags.id = cells.tag LEFT JOIN decisions ON decisions.id = decision "
        "LEFT JOIN batches ON batches.id = batch WHERE cells.picture = ? ORDER BY cells.tag",
        (picture,),
    )
    return {
        name: TagState(
            STATE_WORDS[state], None if answer is None else ANSWER_WORDS[answer], who, bool(listed)
        )
        for name, state, answer, who, listed in rows
    }


def count_present(connection: sqlite3.Connection, pictures: Iterable[int]) -> None:
    """Note anew how many tags of these pictures are present."""
    connection.executemany(
        "UPDATE pictures SET n_present = (SELECT count(*) FROM cells WHERE picture = pictures.id "
        "AND coalesce(answer, listed) = 1) WHERE id = ?",
        [(picture,) for picture in pictures],
    )

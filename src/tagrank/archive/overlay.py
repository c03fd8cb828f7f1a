"""Decisions laid over pictures as a folder was read, whatever the pictures are called by now."""

import os
import sqlite3
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tagrank.annotation.bank.feature_bank import read_keys
from tagrank.archive.archive import Archive
from tagrank.archive.audits import read_audited
from tagrank.archive.decisions import read_decided
from tagrank.archive.pictures import make_labels
from tagrank.archive.scan import (
    FolderPicture,
    KnownPicture,
    as_before,
    match_pictures,
    read_known,
    read_layout,
    state_of,
)
from tagrank.archive.tag_columns import columns_of, read_vocabulary
from tagrank.archive.tag_states import NONE, imply, join_synonyms
from tagrank.data.collection import Collection, DecidedLabel
from tagrank.data.label_matrix import positive_pairs, unknown_pairs
from tagrank.data.vocabulary import TagVocabulary
from tagrank.data.writers.originals import before_exports
from tagrank.errors import warn


class _Decided(NamedTuple):
    picture: int
    tag: str
    answer: int
    time: int


def decided_collection(
    collection: Collection,
    folder: str | os.PathLike,
    database: str | os.PathLike | None = None,
    *,
    follow_links: bool = False,
) -> Collection:
    """A collection that was read from a folder, with what was decided about it; nothing is written.

    Tags that were accepted are present, rejected ones absent, skipped ones unknown; a picture with an
    accepted tag is tagged. Tags of new names come last. `Collection.decided` lists what was decided, and
    `Collection.audited` names the pictures of an audit.

    Parameters
    ----------
    collection : with the view "pictures" (paths) and names
    folder, database : as for `Archive.open`
    follow_links : as it was read
    """
    with Archive.open(folder, database=database, read_only=True) as archive:
        # a file that was named is meant
        if database is None and (note := archive.told_of_others()):
            warn(f"{note}; they are used; no_decisions ignores them")
        known, layout, decided, vocabulary, ever, audited = archive.read(
            lambda connection: (
                read_known(connection),
                read_layout(connection),
                _read(connection),
                read_vocabulary(connection),
                read_decided(connection),
                read_audited(connection).tolist(),
            )
        )
    collection = as_before(collection, folder, layout, follow_links=follow_links)
    collection = before_exports(collection, folder, ever)
    rows = _rows_of(collection, known, {*audited, *(cell.picture for cell in decided)})
    cells = [(rows[cell.picture], *cell[1:]) for cell in decided if cell.picture in rows]
    is_audited = np.zeros(len(collection), dtype=bool)
    is_audited[[rows[picture] for picture in audited if picture in rows]] = True
    return _lay_over(collection, cells, vocabulary, is_audited)


def _read(connection: sqlite3.Connection) -> list[_Decided]:
    query = (
        "SELECT cells.picture, name, cells.answer, row_number() OVER (ORDER BY at, decision) FROM cells "
        "JOIN tags ON tags.id = cells.tag "
        "LEFT JOIN decisions ON decisions.id = decision LEFT JOIN batches ON batches.id = batch "
        "WHERE cells.answer IS NOT NULL ORDER BY cells.picture, cells.tag"
    )
    return list(map(_Decided._make, connection.execute(query)))


def _rows_of(collection: Collection, known: list[KnownPicture], numbers: set[int]) -> dict[int, int]:
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
    if numbers <= rows.keys():
        return rows
    known_rows = set(rows.values())
    others = [row for row in range(len(names)) if row not in known_rows]
    unmatched = [
        FolderPicture(names[row], source.key, "", row)
        for row, source in zip(others, read_keys([paths[row] for row in others], True, None), strict=True)
        if not isinstance(source, OSError)
    ]
    matches = match_pictures([picture for picture in known if picture.id not in rows], unmatched)
    return rows | {old.id: new.row for old, new in (*matches.same, *matches.moved, *matches.changed)}


def _is_unchanged(picture: KnownPicture, path: str | Path) -> bool:
    return bool(picture.file_state) and picture.file_state == state_of(str(path))


def _lay_over(
    collection: Collection,
    decided: list[tuple[int, str, int, int]],
    vocabulary: TagVocabulary,
    is_audited: np.ndarray,
) -> Collection:
    """The collection with what was decided (row, tag, answer and time), and with all that follows."""
    words = list(dict.fromkeys([*collection.tags, *(tag for _, tag, *_ in decided)]))
    number = {word: j for j, word in enumerate(words, 1)}
    columns, stored = columns_of(words, vocabulary), collection.label_matrix.stored
    pieces = [
        np.column_stack([rows, places + 1, np.full(len(rows), state), np.full((len(rows), 2), [NONE, 0])])
        for (rows, places), state in ((positive_pairs(stored), 1), (unknown_pairs(stored), 0))
    ]
    answers = [(row, number[tag], NONE, answer, time) for row, tag, answer, time in decided]
    cells = np.concatenate([*pieces, np.array(answers, dtype=np.int64).reshape(-1, 5)])
    cells[:, 1] = columns.column_of[cells[:, 1]]
    implied = imply(join_synonyms(cells[cells[:, 1] >= 0]), columns)
    names, is_confirmed = collection.names or (), (implied.states == 1) & implied.is_listed
    known, n_tags = _known_rows(collection), len(columns.names)
    was_tagged = np.isin(np.arange(len(collection)), implied.pictures[implied.is_listed])
    return collection.replaced(
        labels=make_labels(implied.pictures, implied, known, n_tags, is_audited),
        tags=columns.names,
        decided=[
            DecidedLabel(names[implied.pictures[j]], columns.names[implied.columns[j]], bool(is_confirmed[j]))
            for j in np.flatnonzero(implied.is_decided)
        ],
        audited=[names[row] for row in np.flatnonzero(is_audited & was_tagged).tolist()],
        implies=[(tag, one) for tag, above in vocabulary.above.items() for one in sorted(above)],
    )


def _known_rows(collection: Collection) -> np.ndarray:
    return ~collection.label_matrix.unknown_rows & (len(collection.tags) > 0)

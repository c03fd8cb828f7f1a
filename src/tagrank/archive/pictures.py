"""Pictures as the database knows them, and the labels from which a model learns.

A picture with a tag that is present is tagged: its other tags are absent, as everywhere. One without is
unknown throughout, unless an audit found that it has none. Decisions override single cells: yes is present,
no absent, skip unknown. What follows from them by the vocabulary is derived here, and never stored.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tagrank.archive.audits import read_audited
from tagrank.archive.names import is_inside
from tagrank.archive.records import (
    ANSWER_WORDS,
    STATE_WORDS,
    ArchivedPicture,
    Contents,
    DecidedCollection,
    PictureTable,
    SparseStates,
    TagCounts,
    TagState,
)
from tagrank.archive.tag_columns import read_columns, read_vocabulary
from tagrank.archive.tag_states import read_states
from tagrank.archive.tag_states import read_tag_states as read_implied_states
from tagrank.data.collection import Collection
from tagrank.data.label_matrix import LabelMatrix, labels_from_pairs
from tagrank.data.writers.tags import PictureTags
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
        np.isin(np.array(ids, dtype=np.int64), read_audited(connection)),
    )


def read_pictures_of(
    connection: sqlite3.Connection, ids: Sequence[int], folder: Path
) -> list[ArchivedPicture]:
    """The pictures of these numbers, in that order; LookupError for one that was never there."""
    pictures = [_read_picture(connection, number, folder) for number in ids]
    if (tagged := read_tagged(connection, [picture.id for picture in pictures])) is None:
        return pictures
    having = set(tagged.tolist())
    return [replace(picture, is_tagged=picture.id in having) for picture in pictures]


def _read_picture(connection: sqlite3.Connection, number: int, folder: Path) -> ArchivedPicture:
    row = connection.execute(f"SELECT {_COLUMNS} FROM pictures WHERE id = ?", (number,)).fetchone()
    if row is None:
        raise LookupError(f"there is no picture {number}")
    id_, name, inner, date, key, width, height, *flags = row
    path = folder / _inside(name)
    return ArchivedPicture(id_, name, path, inner, date, key, width, height, *map(bool, flags))


def _inside(name: str) -> str:
    if not is_inside(name):
        raise FileError(name, "is outside the folder; this database was not made by tagrank")
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


def read_tags(connection: sqlite3.Connection) -> list[str]:
    """The names of all tags, without synonyms and deleted ones."""
    return read_columns(connection).names


def read_contents(connection: sqlite3.Connection) -> Contents:
    """Pictures, tags, states and vocabulary."""
    columns = read_columns(connection)
    return Contents(
        read_picture_table(connection),
        columns.names,
        read_states(connection, columns=columns),
        columns.vocabulary,
    )


def read_tag_counts(connection: sqlite3.Connection) -> TagCounts:
    """How often each tag is present, and was answered."""
    columns = read_columns(connection)
    tags, cells = columns.names, read_states(connection, columns=columns)
    is_answered = cells.is_decided & ~cells.is_implied

    def count(chosen: np.ndarray) -> np.ndarray:
        return np.bincount(cells.columns[chosen], minlength=len(tags))

    answers = [count(is_answered & (cells.states == state)) for state in (1, -1, 0)]
    return TagCounts(tags, count(cells.states == 1), *answers)


def read_labels(connection: sqlite3.Connection, folder: Path) -> DecidedCollection:
    """All pictures that are there, with labels in three states."""
    pictures, columns = read_picture_table(connection), read_columns(connection)
    tags, cells = columns.names, read_states(connection, columns=columns)
    is_known = np.array(
        [
            known
            for (known,) in connection.execute("SELECT is_known FROM pictures WHERE NOT is_gone ORDER BY id")
        ],
        dtype=bool,
    )
    rows = np.searchsorted(pictures.ids, cells.pictures)
    labels = make_labels(rows, cells, is_known, len(tags), pictures.is_audited)
    # pictures without a listed tag tell nothing about how complete tags are where somebody tagged
    is_audited = pictures.is_audited & _any_in_row(rows[cells.is_listed], len(is_known))
    collection = Collection(
        views={"pictures": [str(folder / name) for name in pictures.names]},
        labels=labels,
        tags=tags,
        names=pictures.names,
        name=folder.absolute().name,
        audited=[pictures.names[row] for row in np.flatnonzero(is_audited)],
    )
    return DecidedCollection(
        collection, pictures.ids, (rows[cells.is_decided], cells.columns[cells.is_decided])
    )


def read_picture_tags(connection: sqlite3.Connection) -> list[PictureTags]:
    """Every picture that is there with its tags; all that leaves the archive is read here."""
    pictures, tags, cells, _ = read_contents(connection)
    file_states = dict(connection.execute("SELECT id, file_state FROM pictures WHERE NOT is_gone"))
    decided = {picture for (picture,) in connection.execute("SELECT DISTINCT picture FROM decisions")}
    order = np.lexsort((cells.columns, cells.pictures))
    starts = np.searchsorted(cells.pictures[order], pictures.ids, "left")
    ends = np.searchsorted(cells.pictures[order], pictures.ids, "right")
    names = np.array(tags, dtype=object)
    rows = []
    for i, number in enumerate(pictures.ids.tolist()):
        chosen = order[starts[i] : ends[i]]
        words, states = names[cells.columns[chosen]], cells.states[chosen]
        is_decided = cells.is_decided[chosen]
        rows.append(
            PictureTags(
                number,
                pictures.names[i],
                pictures.keys[i],
                file_states[number],
                present=tuple(words[states == 1]),
                accepted=frozenset(words[(states == 1) & is_decided]),
                unlisted=frozenset(words[(states == 1) & ~cells.is_listed[chosen]]),
                rejected=frozenset(words[(states == -1) & is_decided]),
                was_decided=number in decided,
            )
        )
    return rows


def make_labels(
    rows: np.ndarray, cells: SparseStates, is_known: np.ndarray, n_tags: int, is_audited: np.ndarray
) -> LabelMatrix:
    """The labels of `cells` in their `rows`; others are absent in a row that is known, tagged or audited."""
    shape = (len(is_known), n_tags)
    was_tagged = _any_in_row(rows[cells.is_listed], len(is_known))
    is_tagged = _any_in_row(rows[cells.states == 1], len(is_known))
    # one whose listed tags were all rejected is like one that nobody tagged
    is_complete = is_tagged | (is_known & ~was_tagged) | is_audited
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

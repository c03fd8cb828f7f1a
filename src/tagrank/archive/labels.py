"""What is listed and decided, as arrays, and as the labels from which a model learns.

A picture with a tag that is present is tagged: its other tags are absent, as everywhere. One without is
unknown throughout. Decisions override single cells: yes is present, no absent, skip unknown. What follows
from them by the vocabulary is derived here, and never stored.
"""

import sqlite3
from pathlib import Path

import numpy as np

from tagrank.archive.pictures import read_picture_table
from tagrank.archive.records import Contents, DecidedCollection, PictureTags, SparseStates, TagCounts
from tagrank.archive.vocabulary.reading import read_columns
from tagrank.archive.vocabulary.states import read_states
from tagrank.data.collection import Collection
from tagrank.data.label_matrix import LabelMatrix, labels_from_pairs


def read_tags(connection: sqlite3.Connection, path: Path) -> list[str]:
    """The names of all tags, without synonyms and deleted ones."""
    return read_columns(connection, path).names


def read_contents(connection: sqlite3.Connection, path: Path) -> Contents:
    """Pictures, tags, states and vocabulary."""
    columns = read_columns(connection, path)
    return Contents(
        read_picture_table(connection),
        columns.names,
        read_states(connection, columns=columns),
        columns.vocabulary,
    )


def read_tag_counts(connection: sqlite3.Connection, path: Path) -> TagCounts:
    """How often each tag is present, and was answered."""
    columns = read_columns(connection, path)
    tags, cells = columns.names, read_states(connection, columns=columns)
    is_answered = cells.is_decided & ~cells.is_implied

    def count(chosen: np.ndarray) -> np.ndarray:
        return np.bincount(cells.columns[chosen], minlength=len(tags))

    answers = [count(is_answered & (cells.states == state)) for state in (1, -1, 0)]
    return TagCounts(tags, count(cells.states == 1), *answers)


def read_labels(connection: sqlite3.Connection, folder: Path, path: Path) -> DecidedCollection:
    """All pictures that are there, with labels in three states."""
    pictures, columns = read_picture_table(connection), read_columns(connection, path)
    tags, cells = columns.names, read_states(connection, columns=columns)
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


def read_picture_tags(connection: sqlite3.Connection, path: Path) -> list[PictureTags]:
    """Every picture that is there with its tags; all that leaves the archive is read here."""
    pictures, tags, cells, _ = read_contents(connection, path)
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

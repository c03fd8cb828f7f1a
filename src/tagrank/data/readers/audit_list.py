"""Audits: which rows to look at, and lists of rows whose tags were all looked at.

Rows are drawn in the order of a hash of their names. The hash knows nothing of tags and pictures, so the
first rows of that order are a random sample; it is the same every time, so nothing has to be stored, and the
rows that were looked at already are the first of it.

A list is a ``.csv`` file with the columns ``image`` (or ``name``) and ``tags``, as `tagrank audit` writes it.
A row that stands in it has exactly these tags. What was listed before is known from the data themselves.
"""

import os
from collections.abc import Mapping, Sequence
from hashlib import blake2b

import numpy as np

from tagrank.data.collection import Collection, DecidedLabel
from tagrank.data.label_matrix import (
    LabelMatrix,
    columns_by_row,
    labels_from_pairs,
    positive_pairs,
    unknown_pairs,
)
from tagrank.data.readers.csv import read_rows
from tagrank.data.readers.table import COLUMN_NAMES, check_separator, choose_separator, split_tags
from tagrank.errors import did_you_mean, warn
from tagrank.files import MAX_BYTES, FileError
from tagrank.labels import duplicates

_SALT = b"tagrank audit"
_SHOWN = 5


def audit_order(names: Sequence[str]) -> np.ndarray:
    """The places of the names in the order in which they are audited, shape (n,)."""
    return np.argsort([_place(name) for name in names], kind="stable")


def _place(name: str) -> int:
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=7, person=_SALT).digest()
    return int.from_bytes(digest, "big")


def with_row_names(collection: Collection) -> Collection:
    """Rows without names are called by their numbers in the data, whatever is left out afterwards."""
    if collection.names is not None:
        return collection
    return collection.replaced(names=[f"row {i}" for i in range(len(collection))])


def read_audit_list(
    path: str | os.PathLike, *, separator: str | None = None, max_bytes: int = MAX_BYTES
) -> dict[str, list[str]]:
    """Names of rows, each with all its tags.

    Parameters
    ----------
    path : a ``.csv`` file, perhaps ``.gz``
    separator : between the tags of a cell; default: ``|``, or what is certain to be one
    max_bytes : how large the file may be
    """
    rows = read_rows(path, only_lists=True, max_bytes=max_bytes)
    names = rows.names if rows.roles.name is not None else rows.images
    if rows.roles.tag_list is None or not (names or not rows.count):
        raise FileError(path, f"expected the columns {COLUMN_NAMES}, as 'tagrank audit -o' writes them")
    if not rows.count:
        raise FileError(path, "names no picture; expected a line for each audited picture")
    if twice := duplicates(names):
        raise FileError(path, f"names some pictures twice, such as {twice[0]!r}; keep one line for each")
    if separator is None:
        separator = choose_separator(rows.tag_cells, os.fspath(path))
    split = check_separator(separator)
    tags = [list(dict.fromkeys(split_tags(cell, split))) for cell in rows.tag_cells]
    return dict(zip(names, tags, strict=True))


def with_audited(
    collection: Collection, path: str | os.PathLike, *, separator: str | None = None
) -> Collection:
    """The collection with what a list of audited rows says.

    Rows of the list have exactly the tags that stand there; tags that the collection does not know are new
    ones, and come last. `Collection.audited` names them, but for those that had no tag before: they tell
    nothing about how complete tags are where somebody tagged.

    Parameters
    ----------
    collection : as it was read; rows without names are called "row 0", "row 1" and so on
    path, separator : as in `read_audit_list`
    """
    audited, collection = read_audit_list(path, separator=separator), with_row_names(collection)
    row_of = {name: row for row, name in enumerate(collection.names or ())}
    _check_names(audited, row_of, path)
    tags = list(dict.fromkeys([*collection.tags, *(tag for many in audited.values() for tag in many)]))
    _tell_new_tags(tags[len(collection.tags) :], collection, path)
    listed = _listed_tags(collection, audited, row_of)
    return collection.replaced(
        labels=_with_exactly(collection, {row_of[name]: many for name, many in audited.items()}, tags),
        tags=tags,
        decided=[
            *(label for label in collection.decided if label.name not in audited),
            *(
                DecidedLabel(name, tag, False)
                for name, many in audited.items()
                for tag in sorted(listed[name] ^ set(many))
            ),
        ],
        audited=list(dict.fromkeys([*collection.audited, *(name for name in audited if listed[name])])),
    )


def _listed_tags(
    collection: Collection, audited: Mapping[str, list[str]], row_of: Mapping[str, int]
) -> dict[str, set[str]]:
    """What was listed in each audited row: what is present, unless a decision found it."""
    found = {(label.name, label.tag) for label in collection.decided if not label.is_confirmed}
    rows = [row_of[name] for name in audited]
    columns = columns_by_row(positive_pairs(collection.label_matrix.take_rows(rows).stored), len(rows))
    return {
        name: {tag for tag in (collection.tags[j] for j in present) if (name, tag) not in found}
        for name, present in zip(audited, columns, strict=True)
    }


def _with_exactly(
    collection: Collection, audited: Mapping[int, list[str]], tags: Sequence[str]
) -> LabelMatrix:
    """The labels, in which the rows of `audited` have exactly these tags."""
    stored, column = collection.label_matrix.stored, {tag: j for j, tag in enumerate(tags)}
    is_audited = np.zeros(len(collection), dtype=bool)
    is_audited[list(audited)] = True
    (rows, columns), unknown = (
        (rows[~is_audited[rows]], columns[~is_audited[rows]])
        for rows, columns in (positive_pairs(stored), unknown_pairs(stored))
    )
    pairs = [(row, column[tag]) for row, many in audited.items() for tag in many]
    added = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    positive = np.concatenate([rows, added[0]]), np.concatenate([columns, added[1]])
    labels = labels_from_pairs(positive, unknown, (len(collection), len(tags)))
    return LabelMatrix(labels, collection.label_matrix.unknown_rows & ~is_audited)


def _check_names(
    audited: Mapping[str, list[str]], row_of: Mapping[str, int], path: str | os.PathLike
) -> None:
    unknown = [name for name in audited if name not in row_of]
    if unknown:
        shown = ", ".join(map(repr, unknown[:_SHOWN])) + (", ..." if len(unknown) > _SHOWN else "")
        raise FileError(
            path,
            f"names {len(unknown):,} of {len(audited):,} that the data do not have: {shown}"
            f"{did_you_mean(unknown[0], row_of)}",
        )


def _tell_new_tags(new: Sequence[str], collection: Collection, path: str | os.PathLike) -> None:
    if new and len(collection.tags):
        near = did_you_mean(new[0], collection.tags)
        more = f" and {len(new) - 1:,} more are new tags" if len(new) > 1 else " is a new tag"
        warn(f"{os.fspath(path)}: {new[0]!r}{more}, which no row had before{near}")

"""The tags of one picture in three states, before there are columns for them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tagrank.data.collection import Collection
from tagrank.data.label_matrix import (
    LabelMatrix,
    columns_by_row,
    labels_from_pairs,
    positive_pairs,
    unknown_pairs,
)
from tagrank.validation import check_choice

_NONE: frozenset[str] = frozenset()


class Marks(NamedTuple):
    """What is known about one picture.

    Attributes
    ----------
    present : the tags it has
    unknown : the tags about which nothing is known; None if that is all of them. All others are absent.
    """

    present: tuple[str, ...] = ()
    unknown: frozenset[str] | None = None

    def joined(self, other: "Marks") -> "Marks":
        """Both together: present in either, unknown only where both know nothing."""
        present = tuple(dict.fromkeys((*self.present, *other.present)))
        if self.unknown is None or other.unknown is None:
            unknown = self.unknown if other.unknown is None else other.unknown
        else:
            unknown = self.unknown & other.unknown
        return Marks(present, None if unknown is None else unknown.difference(present))


def marks_from_list(
    tags: Iterable[str] | None, unknown: Iterable[str] | None = None, *, empty: str = "unknown"
) -> Marks:
    """What a list of tags says: those that are not in it are absent; None says nothing.

    Tags in `unknown` are neither present nor absent. Without that, an empty list means `empty`, "unknown" or
    "absent".
    """
    check_choice("empty", empty, ("unknown", "absent"))
    present = tuple(dict.fromkeys(tags or ()))
    if tags is None or (not present and unknown is None and empty == "unknown"):
        return Marks()
    return Marks(present, frozenset(unknown).difference(present) if unknown else _NONE)


def encode_marks(marks: Sequence[Marks], tags: Sequence[str] | None = None) -> tuple[LabelMatrix, list[str]]:
    """Label matrix and tags of some pictures, all tags in sorted order unless `tags` are wanted."""
    if tags is None:
        tags = sorted({tag for row in marks for tag in (*row.present, *(row.unknown or ()))})
    position = {tag: j for j, tag in enumerate(tags)}
    present = [[position[tag] for tag in row.present if tag in position] for row in marks]
    unknown = [[position[tag] for tag in row.unknown or () if tag in position] for row in marks]
    labels = labels_from_pairs(_pairs(present), _pairs(unknown), (len(marks), len(tags)))
    return LabelMatrix(labels, np.array([row.unknown is None for row in marks], dtype=bool)), list(tags)


def _pairs(columns: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    rows = np.repeat(np.arange(len(columns)), [len(found) for found in columns])
    return rows, np.array([j for found in columns for j in found], dtype=np.intp)


def marks_of(collection: Collection) -> Iterator[Marks]:
    """What a collection knows about each of its rows."""
    labels = collection.label_matrix
    present = _by_row(positive_pairs(labels.stored), collection)
    unknown = _by_row(unknown_pairs(labels.stored), collection)
    unknown_rows = labels.unknown_by_row() == len(collection.tags)
    for has, lacks, is_unknown in zip(present, unknown, unknown_rows, strict=True):
        yield Marks(tuple(has), None if is_unknown else frozenset(lacks))


def _by_row(pairs: tuple[np.ndarray, np.ndarray], collection: Collection) -> Iterator[list[str]]:
    for columns in columns_by_row(pairs, len(collection)):
        yield [collection.tags[j] for j in columns]

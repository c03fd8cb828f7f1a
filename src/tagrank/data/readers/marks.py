"""The tags of a picture in three states, before there are columns for them; and of all in a folder."""

import re
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
from tagrank.data.picture_folder import PictureFolder
from tagrank.files import FileError, naming
from tagrank.validation import check_choice

_NONE: frozenset[str] = frozenset()
UNLISTED = "unlisted"
_SURROGATE = re.compile("[\ud800-\udfff]")
_PART_WORD = re.compile(r"(?<![a-z])(train|val|test)(ing|id|idation)?(?![a-z])", re.IGNORECASE)


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
    present = tuple(dict.fromkeys(whole_texts(tags or ())))
    if tags is None or (not present and unknown is None and empty == "unknown"):
        return Marks()
    return Marks(present, frozenset(whole_texts(unknown)).difference(present) if unknown else _NONE)


def whole_texts(tags: Iterable[str]) -> list[str]:
    """Tags without lone surrogates, which come from JSON or from folders whose names are not Unicode.

    Bytes of such names are read as Latin-1, in which old archives have them.
    """
    listed = list(tags)
    try:
        "".join(listed).encode()
    except UnicodeEncodeError:
        return [_SURROGATE.sub(_as_text, tag) for tag in listed]
    return listed


def _as_text(surrogate: re.Match[str]) -> str:
    byte = ord(surrogate[0]) - 0xDC00
    return chr(byte) if 0xA0 <= byte <= 0xFF else "\N{REPLACEMENT CHARACTER}"


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
    rows = np.repeat(np.arange(len(columns)), [len(row) for row in columns])
    return rows, np.array([j for row in columns for j in row], dtype=np.intp)


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


def part_in(text: str) -> str:
    """The word train, val or test in a file's name, or nothing."""
    match = _PART_WORD.search(text)
    return match[1].casefold() if match else ""


class TagTable:
    """Pictures of a folder with their tags in three states; listed without a tag means `empty`."""

    def __init__(self, folder: PictureFolder, *, empty: str = "unknown") -> None:
        self._folder, self._empty = folder, empty
        self._marks: dict[str, Marks] = {}
        self._parts: dict[str, str] = {}

    def add(self, name: str, tags: Iterable[str] | Marks | None, *, part: str = "") -> None:
        """Note the tags of a picture, by its name relative to the folder, and its part; None knows nothing.

        What is noted twice is joined, and its first part is kept.
        """
        marks = tags if isinstance(tags, Marks) else marks_from_list(tags, empty=self._empty)
        known = self._marks.get(name)
        self._marks[name] = marks if known is None else known.joined(marks)
        kept = self._parts.setdefault(name, part)
        if kept != part:
            self._folder.problems.add(
                self._folder.path(name), f"is listed as {part!r} too; it stays in {kept!r}"
            )

    def add_listed(
        self, listed: str, tags: Iterable[str] | Marks | None, *, part: str = "", hint: str = ""
    ) -> None:
        """As `add`, for the picture that a list means; one that cannot be found becomes a problem.

        `PictureFolder.find` looks for it, first in the folder that is a `hint`.
        """
        for guess in (f"{hint}/{listed}", listed) if hint else (listed,):
            try:
                return self.add(self._folder.find(guess), tags, part=part)
            except LookupError as error:
                reason = str(error)
        self._folder.problems.add(self._folder.path(listed), reason)

    def add_unlisted(self) -> None:
        """Note all other pictures of the folder as untagged."""
        for name in self._folder.pictures:
            self._marks.setdefault(name, Marks())

    def collection(self, *, tags: Sequence[str] | None = None) -> Collection:
        """The pictures in the order in which they were noted; the columns are `tags`, or all, sorted."""
        if not self._marks:
            first_problem = "; ".join(str(problem) for problem in self._folder.problems.listed()[:1])
            raise FileError(
                self._folder.root,
                "has no pictures; expected files such as JPEG, PNG, TIFF, WebP, AVIF, HEIC or raw"
                + (f" ({first_problem})" if first_problem else ""),
            )
        wanted = None if tags is None else list(dict.fromkeys(whole_texts(tags)))
        labels, columns = encode_marks(list(self._marks.values()), wanted)
        parts = [self._parts.get(name) or UNLISTED for name in self._marks]
        with naming(self._folder.root):
            return Collection(
                views={"pictures": [self._folder.path(name) for name in self._marks]},
                labels=labels,
                tags=columns,
                names=list(self._marks),
                part=parts if any(self._parts.values()) else None,
                name=self._folder.root.absolute().name,
                problems=self._folder.problems.listed(),
            )

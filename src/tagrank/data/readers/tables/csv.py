"""CSV in two shapes: ``image,tags`` with ``|`` between tags, or columns of features beside one column a tag.

Columns are separated by commas, or by semicolons or tabs where the header line has no comma.

In a row that lists tags, the tags that are not listed are absent; a row without any is unknown throughout. A
column of its own says 1, 0, or nothing (or ?) where a tag is unknown. A tag that contains the separator is
written with a backslash before it, see `tagrank.data.readers.tables.table`.
"""

import csv
import math
import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

from tagrank.data.collection import Collection
from tagrank.data.label_matrix import LabelMatrix
from tagrank.data.readers.tables.table import Roles, bare_cell, find_roles, split_tags
from tagrank.files import (
    MAX_BYTES,
    ROW_BYTES,
    WORD_BYTES,
    FileError,
    MemoryBound,
    longest_line,
    naming,
    open_text,
)
from tagrank.labels import encode_present
from tagrank.validation import check_choice

_LABELS = {"1": 1.0, "1.0": 1.0, "0": 0.0, "0.0": 0.0, "": math.nan, "?": math.nan, "nan": math.nan}
_HEADERS = "image,tags for a list of pictures, or names of features and tag:NAME for each tag"


class _Rows:
    """What the rows of a file hold, column by role."""

    def __init__(self, bound: MemoryBound) -> None:
        self.bound = bound
        self.images: list[str] = []
        self.names: list[str] = []
        self.part: list[str] = []
        self.tag_sets: list[list[str]] = []
        self.labels, self.features = array("d"), array("d")
        self.count = 0

    def append(
        self, fields: list[str], roles: Roles, header: list[str], separator: str, missing: str
    ) -> None:
        n_numbers = 3 * len(roles.tag_columns) + len(roles.features)
        self.bound.add(8 * n_numbers + ROW_BYTES * (roles.image is not None or roles.tag_list is not None))
        for position, column in (
            (roles.image, self.images),
            (roles.name, self.names),
            (roles.part, self.part),
        ):
            if position is not None:
                column.append(bare_cell(fields[position]))
                self.bound.add(WORD_BYTES + len(fields[position]))
        if roles.tag_list is not None:
            self.tag_sets.append(split_tags(bare_cell(fields[roles.tag_list]), separator))
            self.bound.add(WORD_BYTES * len(self.tag_sets[-1]))
        self.labels.extend(_label(fields[j], header[j]) for j in roles.tag_columns)
        self.features.extend(_number(fields[j], header[j], missing) for j in roles.features)
        self.count += 1


class _NoNumber(ValueError):
    """Text where a number of a feature is expected."""


def _label(text: str, column: str) -> float:
    try:
        return _LABELS[text.strip()]
    except KeyError:
        raise ValueError(
            f"tag {column!r} must be 1 (present), 0 (absent) or empty (unknown), got {text!r}"
        ) from None


def _number(text: str, column: str, missing: str) -> float:
    try:
        value = float(text)
    except ValueError:
        if text.strip() not in ("", "?"):
            raise _NoNumber(
                f"feature {column!r} must be a number, got {text!r}; leave the column out of the file, or "
                f"pass drop=[{column!r}] to read_csv"
            ) from None
        value = math.nan
    if missing == "error" and not math.isfinite(value):
        raise ValueError(
            f"feature {column!r} has no finite value ({text!r}); fill it in, leave the row out of the file, "
            "or pass missing='nan' to read_csv to keep it"
        )
    return value


def read_csv(
    path: str | os.PathLike,
    *,
    tags: Sequence[str] = (),
    separator: str = "|",
    delimiter: str | None = None,
    empty: str = "unknown",
    missing: str = "error",
    encoding: str = "utf-8-sig",
    max_bytes: int = MAX_BYTES,
    **columns: Any,
) -> Collection:
    """Read a CSV file with a header line.

    Parameters
    ----------
    path : the file, perhaps ``.gz``; picture paths in it are relative to its folder
    tags : the tags wanted from a list of tags; default: all, sorted
    separator : between the tags of a list
    delimiter : between columns; by default a comma, or the semicolon or tab of a header line without commas
    empty : {"unknown", "absent"}, what an empty list of tags means
    missing : {"error", "nan"}, what a missing feature value gives
    encoding, max_bytes : how to decode the file, and how large it may be when unpacked
    **columns : roles of columns, where they differ from the convention, as in `find_roles`:
        image_column, tags_column, name_column, part_column, tag_columns, tag_prefix, drop

    Returns
    -------
    collection : with the views "pictures" (paths) and "features", as far as the file has them
    """
    check_choice("missing", missing, ("error", "nan"))
    rows = _Rows(MemoryBound(path, max_bytes))
    with open_text(path, encoding=encoding, newline="", max_bytes=max_bytes) as stream:
        table = Table(stream, delimiter, max_bytes=max_bytes)
        roles, header = None, list[str]()
        try:
            header = read_header(table)
            rows.bound.add(4 * WORD_BYTES * len(header))
            roles = find_roles(header, **columns)
            for fields in table:
                if len(fields) == len(header):
                    rows.append(fields, roles, header, separator, missing)
                elif fields:
                    raise ValueError(f"expected {len(header)} values, got {len(fields)}")
        except (csv.Error, ValueError) as error:
            if isinstance(error, (FileError, UnicodeDecodeError)):
                raise
            hint = _header_hint(roles, header) if isinstance(error, _NoNumber) else ""
            raise FileError(path, f"{error}{hint}", line=table.line) from None
    if not any(header):
        raise FileError(path, f"the file is empty; expected a header line: {_HEADERS}")
    with naming(path):
        return _collection(rows, roles, header, Path(path), tags, empty)


class Table:
    """The rows of a file as lists of text; see `read_csv` for the delimiter."""

    def __init__(self, stream: IO[str], delimiter: str | None = None, *, max_bytes: int = MAX_BYTES) -> None:
        first = next(stream, "")
        if delimiter is None:
            delimiter = next((mark for mark in ",;\t" if mark in first), ",")
        self._rows = csv.reader(self._lines(chain([first], stream)), delimiter=delimiter, strict=True)
        self._longest = self._room = longest_line(max_bytes)

    @property
    def line(self) -> int:
        return max(1, self._rows.line_num)

    def __iter__(self) -> Iterator[list[str]]:
        for row in self._rows:
            yield row
            self._room = self._longest

    def _lines(self, lines: Iterable[str]) -> Iterator[str]:
        # a quotation mark without its partner makes one row of many lines
        for line in lines:
            self._room -= len(line)
            if self._room < 0:
                problem = f"a row of more than {self._longest:,} characters"
                raise ValueError(f"{problem}; is a quotation mark missing? If not, pass a larger max_bytes")
            yield line


def read_header(table: Table) -> list[str]:
    """The names of the columns in the first line; none in an empty file."""
    return [bare_cell(column.strip()) for column in next(iter(table), [])]


def _header_hint(roles: Roles | None, header: list[str]) -> str:
    """What to say of a file in whose header nothing is known."""
    if roles is None or roles.tags or roles.tag_list is not None or roles.image is not None:
        return ""
    shown = ",".join(header[:5]) + (",..." if len(header) > 5 else "")
    return f"; its header is {shown}, but {_HEADERS} was expected"


def _collection(
    rows: _Rows, roles: Roles, header: list[str], path: Path, tags: Sequence[str], empty: str
) -> Collection:
    views: dict[str, Any] = {}
    if roles.image is not None:
        views["pictures"] = [str(path.parent / image) for image in rows.images]
    if roles.features:
        views["features"] = np.asarray(rows.features).reshape(rows.count, len(roles.features))
    if not views:
        raise ValueError(
            "has neither a column 'image' with paths of pictures nor columns of features; a collection needs "
            "at least one view"
        )
    labels: Any = np.asarray(rows.labels).reshape(rows.count, len(roles.tag_columns))
    names = roles.tags
    if roles.tag_list is not None:
        present, names, unknown_rows = encode_present(rows.tag_sets, tags=list(tags) or None, empty=empty)
        labels = LabelMatrix(present, unknown_rows)
    return Collection(
        views=views,
        labels=labels,
        tags=names,
        names=(rows.names if roles.name is not None else rows.images) or None,
        part=rows.part if roles.part is not None else None,
        name=path.name.partition(".")[0],
        feature_names={"features": [header[j] for j in roles.features]} if roles.features else {},
    )

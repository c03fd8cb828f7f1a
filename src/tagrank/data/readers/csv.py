"""CSV in two shapes: ``image,tags`` with ``|`` between tags, or columns of features beside one column a tag.

Columns are separated by commas, or by semicolons or tabs where the header line has no comma. What separates
the tags of a cell is found out where it is not given, see `tagrank.data.readers.table`.

In a row that lists tags, the tags that are not listed are absent; a row without any is unknown throughout. A
column of its own says 1, 0, or nothing (or ?) where a tag is unknown. A tag that contains the separator is
written with a backslash before it, see `tagrank.data.readers.table`.
"""

import csv
import math
import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse

from tagrank.arrays import row_blocks
from tagrank.data.collection import Collection, feature_names_of
from tagrank.data.label_matrix import LabelMatrix, Matrix, columns_by_row, positive_pairs
from tagrank.data.picture_files import PICTURE_SUFFIXES
from tagrank.data.readers.table import (
    TAG_PREFIX,
    Roles,
    bare_cell,
    check_separator,
    choose_separator,
    find_roles,
    format_number,
    join_tags,
    protect_cell,
    relative_picture,
    row_writer,
    split_tags,
)
from tagrank.files import (
    MAX_BYTES,
    ROW_BYTES,
    WORD_BYTES,
    FileError,
    MemoryBound,
    atomic_write,
    longest_line,
    naming,
    open_text,
)
from tagrank.labels import duplicates, encode_present
from tagrank.validation import check_choice

_LABELS = {"1": 1.0, "1.0": 1.0, "0": 0.0, "0.0": 0.0, "": math.nan, "?": math.nan, "nan": math.nan}
_HEADERS = "image,tags for a list of pictures, or names of features and tag:NAME for each tag"


class ListedRows:
    """What the rows of a file hold, column by role; tags stay as they were written until `collection`."""

    def __init__(self, path: Path, header: list[str], roles: Roles, bound: MemoryBound) -> None:
        self.path, self.header, self.roles = path, header, roles
        self._bound = bound
        self.images: list[str] = []
        self.names: list[str] = []
        self.part: list[str] = []
        self.tag_cells: list[str] = []
        self.labels, self.features = array("d"), array("d")
        self.count = 0

    def append(self, fields: list[str], missing: str) -> None:
        """Add a row; `missing` says what a missing feature value gives."""
        roles, header = self.roles, self.header
        n_numbers = 3 * len(roles.tag_columns) + len(roles.features)
        self._bound.add(8 * n_numbers + ROW_BYTES * (roles.image is not None or roles.tag_list is not None))
        for position, column in (
            (roles.image, self.images),
            (roles.name, self.names),
            (roles.part, self.part),
            (roles.tag_list, self.tag_cells),
        ):
            if position is not None:
                column.append(bare_cell(fields[position]))
                self._bound.add(WORD_BYTES + len(fields[position]))
        self.labels.extend(_label(fields[j], header[j]) for j in roles.tag_columns)
        self.features.extend(_number(fields[j], header[j], missing) for j in roles.features)
        self.count += 1

    def collection(self, *, separator: str, tags: Sequence[str] = (), empty: str = "unknown") -> Collection:
        """The collection of these rows; see `read_csv`."""
        views: dict[str, Any] = {}
        roles = self.roles
        if roles.image is not None:
            views["pictures"] = [str(self.path.parent / image) for image in self.images]
        if roles.features:
            views["features"] = np.asarray(self.features).reshape(self.count, len(roles.features))
        if not views:
            raise ValueError(
                "has neither a column 'image' with paths of pictures nor columns of features; a collection "
                "needs at least one view"
            )
        labels: Any = np.asarray(self.labels).reshape(self.count, len(roles.tag_columns))
        names = roles.tags
        if roles.tag_list is not None:
            tag_sets = self._tag_sets(separator)
            present, names, unknown_rows = encode_present(tag_sets, tags=list(tags) or None, empty=empty)
            labels = LabelMatrix(present, unknown_rows)
        return Collection(
            views=views,
            labels=labels,
            tags=names,
            names=(self.names if roles.name is not None else self.images) or None,
            part=self.part if roles.part is not None else None,
            name=self.path.name.partition(".")[0],
            feature_names={"features": [self.header[j] for j in roles.features]} if roles.features else {},
        )

    def _tag_sets(self, separator: str) -> list[list[str]]:
        sets = []
        for cell in self.tag_cells:
            sets.append(split_tags(cell, separator))
            self._bound.add(WORD_BYTES * len(sets[-1]))
        return sets


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
    separator: str | None = None,
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
    separator : between the tags of a list; default: ``|``, or what is certain to be one
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
    if separator is not None:
        separator = check_separator(separator)
    rows = read_rows(
        path, delimiter=delimiter, missing=missing, encoding=encoding, max_bytes=max_bytes, **columns
    )
    with naming(path):
        if separator is None:
            separator = choose_separator(rows.tag_cells, os.fspath(path))
        return rows.collection(tags=tags, separator=separator, empty=empty)


def read_rows(
    path: str | os.PathLike,
    *,
    only_lists: bool = False,
    delimiter: str | None = None,
    missing: str = "error",
    encoding: str = "utf-8-sig",
    max_bytes: int = MAX_BYTES,
    **columns: Any,
) -> ListedRows:
    """The rows of a CSV file, see `read_csv`; with `only_lists`, columns such as captions are left out."""
    check_choice("missing", missing, ("error", "nan"))
    bound = MemoryBound(path, max_bytes)
    with open_text(path, encoding=encoding, newline="", max_bytes=max_bytes) as stream:
        table = _CsvRows(stream, delimiter, max_bytes=max_bytes)
        rows, header = None, list[str]()
        try:
            header = [bare_cell(column.strip()) for column in next(iter(table), [])]
            bound.add(4 * WORD_BYTES * len(header))
            roles = find_roles(header, **columns)
            rows = ListedRows(Path(path), header, replace(roles, features=[]) if only_lists else roles, bound)
            for fields in table:
                if len(fields) == len(header):
                    rows.append(fields, missing)
                elif fields:
                    raise ValueError(f"expected {len(header)} values, got {len(fields)}{_width_hint(rows)}")
        except (csv.Error, ValueError) as error:
            if isinstance(error, (FileError, UnicodeDecodeError)):
                raise
            hint = _header_hint(rows) if rows is not None and isinstance(error, _NoNumber) else ""
            raise FileError(path, f"{error}{hint}", line=table.line) from None
    if not any(header) or rows is None:
        raise FileError(path, f"the file is empty; expected a header line: {_HEADERS}")
    return rows


class _CsvRows:
    """The rows of a file as lists of text; see `read_csv` for the delimiter."""

    def __init__(self, stream: IO[str], delimiter: str | None = None, *, max_bytes: int = MAX_BYTES) -> None:
        first, self._n_above = next(stream, ""), 0
        if delimiter is None and first[:4].casefold() == "sep=" and len(first.rstrip()) == 5:
            # some spreadsheet programs write "sep=;" above the header
            delimiter, first, self._n_above = first[4], next(stream, ""), 1
        if delimiter is None:
            delimiter = next((mark for mark in ",;\t" if mark in first), ",")
        self._rows = csv.reader(self._lines(chain([first], stream)), delimiter=delimiter, strict=True)
        self._longest = self._room = longest_line(max_bytes)

    @property
    def line(self) -> int:
        return self._n_above + max(1, self._rows.line_num)

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


def _width_hint(rows: ListedRows) -> str:
    """What to do about tags in columns of their own where the header has one column for them."""
    return "" if rows.roles.tag_list is None else "; write several tags as sky|sea in one column"


def _header_hint(rows: ListedRows) -> str:
    """What to say of a file in whose header nothing is known."""
    if rows.roles.tags or rows.roles.tag_list is not None or rows.roles.image is not None:
        return ""
    return f"; {describe_header(rows.header)}, but {_HEADERS} was expected"


def describe_header(header: list[str]) -> str:
    """What the first line of a file says, or that it is no header but names a picture already."""
    shown = ",".join(header[:5]) + (",..." if len(header) > 5 else "")
    if any(os.path.splitext(cell)[1].casefold() in PICTURE_SUFFIXES for cell in header):
        return f"there is no header line above {shown}"
    return f"its header is {shown}"


def write_csv(
    collection: Collection,
    path: str | os.PathLike,
    *,
    layout: str | None = None,
    separator: str = "|",
    empty: str = "unknown",
) -> None:
    """Write a collection as CSV that `read_csv` reads back.

    Parameters
    ----------
    collection : Collection with picture paths, one matrix of features, or both
    path : the file to write, perhaps ``.gz``; picture paths below its folder become relative to it
    layout : {"tags", "columns"}, a list of tags or one column a tag; default: a list if all is pictures
    separator : between the tags of a list
    empty : {"unknown", "absent"}, what an empty list of tags means; rows for which it is not true are refused
    """
    if layout is None:
        layout = "tags" if list(collection.views) == ["pictures"] else "columns"
    check_choice("layout", layout, ("tags", "columns"))
    as_list = layout == "tags"
    about = _about_columns(collection, Path(path))
    X, names = _features(collection)
    tags = ["tags"] if as_list else [f"{TAG_PREFIX}{tag}" for tag in collection.tags]
    if twice := duplicates([*about, *names, *tags]):
        raise ValueError(f"columns need different names, got twice: {', '.join(twice[:5])}")
    tag_cells = _tag_lists(collection, separator, empty) if as_list else _label_cells(collection)
    with atomic_write(path, text=True) as stream:
        writer = row_writer(stream)
        writer.writerow(map(protect_cell, [*about, *names, *tags]))
        about_cells = zip(*about.values(), strict=True) if about else repeat((), len(collection))
        for parts in zip(about_cells, _cells(X), tag_cells, strict=True):
            writer.writerow(chain(*parts))


def _about_columns(collection: Collection, path: Path) -> dict[str, Sequence[str]]:
    columns: dict[str, Sequence[str]] = {}
    if "pictures" in collection.views:
        columns["image"] = [relative_picture(picture, path.parent) for picture in collection.view("pictures")]
    elif collection.names is not None:
        columns["name"] = collection.names
    if collection.part is not None:
        columns["part"] = collection.part.tolist()
    return {name: list(map(protect_cell, column)) for name, column in columns.items()}


def _features(collection: Collection) -> tuple[Matrix, list[str]]:
    matrices = [name for name in collection.views if name != "pictures"]
    if len(matrices) > 1:
        raise ValueError(f"CSV holds one view of features, got {', '.join(matrices)}; write NPZ instead")
    if not matrices:
        return np.empty((len(collection), 0)), []
    return collection.view(matrices[0]), feature_names_of(collection, matrices[0])


def _cells(matrix: Matrix) -> Iterator[list[str]]:
    for block in row_blocks(matrix.shape[0], 1000):
        rows = matrix[block].toarray() if sparse.issparse(matrix) else matrix[block]
        for row in np.asarray(rows, dtype=np.float64).tolist():
            yield [format_number(value, missing="") for value in row]


def _label_cells(collection: Collection) -> Iterator[list[str]]:
    for block in row_blocks(len(collection), 1000):
        yield from _cells(collection.label_matrix.take_rows(block).full())


def _tag_lists(collection: Collection, separator: str, empty: str) -> Iterator[list[str]]:
    check_choice("empty", empty, ("unknown", "absent"))
    texts = [join_tags([tag], separator) for tag in collection.tags]
    rows, columns = positive_pairs(collection.label_matrix.stored)
    n_unknown = collection.label_matrix.unknown_by_row()
    listed = columns_by_row((rows, columns), len(collection))
    n_present = np.array([len(present) for present in listed], dtype=int)
    n_expected = np.where((n_present == 0) & (empty == "unknown"), len(collection.tags), 0)
    if len(wrong := np.flatnonzero(n_unknown != n_expected)):
        raise ValueError(
            f"row {wrong[0]} does not fit a list of tags, in which what is not listed is absent and an empty "
            f"list is {empty}; pass layout='columns' or another meaning of empty"
        )
    return ([protect_cell(separator.join(texts[j] for j in present))] for present in listed)

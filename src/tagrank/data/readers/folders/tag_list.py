"""A folder with lists of its pictures: ``tags.csv``, ``tags.jsonl`` or ``tags.json``.

``train_tags.csv`` and ``test_tags.csv`` also say which part a picture belongs to. Where there is none of
these, any ``.jsonl`` or ``.json`` file of the folder that begins as such a list is taken. Pictures that are
not listed are untagged.
"""

import os
from collections.abc import Iterator

from tagrank.data.collection import Collection
from tagrank.data.picture_folder import PictureFolder
from tagrank.data.readers.csv import ListedRows, describe_header, read_rows
from tagrank.data.readers.jsonl import PictureRecord, read_records
from tagrank.data.readers.marks import TagTable, marks_of, part_in
from tagrank.data.readers.table import COLUMN_NAMES, SEPARATOR, check_separator, choose_separator
from tagrank.files import MAX_BYTES, FileError, naming

_ENDINGS = (".csv", ".jsonl", ".json")
_N_PROBE_CHARACTERS = 2**16


def has_tag_list(folder: PictureFolder) -> bool:
    """Whether there is such a list."""
    return bool(find_tag_lists(folder))


def find_tag_lists(folder: PictureFolder) -> list[str]:
    """The names of the lists in the folder."""
    here = [name for name in folder.files if "/" not in name and _stem_and_ending(name)[1] in _ENDINGS]
    named = [name for name in here if _stem_and_ending(name)[0].rpartition("_")[2] == "tags"]
    return named or [name for name in here if _is_list(folder.path(name))]


def _stem_and_ending(name: str) -> tuple[str, str]:
    return os.path.splitext(name.casefold().removesuffix(".gz"))


def _is_list(path: str) -> bool:
    if path.casefold().endswith((".csv", ".gz")):
        return False
    try:
        with open(path, "rb") as stream:
            beginning = stream.read(_N_PROBE_CHARACTERS).lstrip(b"\xef\xbb\xbf \t\r\n")
    except OSError:
        return False
    start = b"[" if path.casefold().endswith(".json") else b"{"
    return beginning.startswith(start) and b'"image"' in beginning and b'"tags"' in beginning


def read_tag_list(
    folder: PictureFolder,
    *,
    separator: str | None = None,
    empty: str = "unknown",
    max_bytes: int = MAX_BYTES,
) -> Collection:
    """The pictures that are listed, in that order, then all others as untagged.

    The `separator` of the tags in CSV files is ``|`` by default, or what is certain to be one. A picture that
    is listed without a tag is `empty`, "unknown" or "absent". No list may be larger than `max_bytes`, nor
    what is made of it in memory.
    """
    lists = find_tag_lists(folder)
    if not lists:
        raise FileError(folder.root, "no list of tags here; expected tags.csv, tags.jsonl or tags.json")
    # of train_tags.csv and test_tags.csv, train comes first
    lists.sort(key=lambda name: (part_in(name) != "train", name))
    separator = None if separator is None else check_separator(separator)
    tables = {name: _read_csv_list(folder.path(name), max_bytes) for name in lists if _is_csv(name)}
    if tables and separator is None:
        separator = _common_separator(tables, folder)
    table = TagTable(folder, empty=empty)
    for name in lists:
        if name in tables:
            records = _csv_records(tables[name], separator or SEPARATOR, empty)
        else:
            records = read_records(folder.path(name), empty=empty, max_bytes=max_bytes)
        for record in records:
            table.add_listed(record.image, record.marks, part=record.part or part_in(name))
    table.add_unlisted()
    return table.collection()


def _is_csv(name: str) -> bool:
    return _stem_and_ending(name)[1] == ".csv"


def _read_csv_list(path: str, max_bytes: int) -> ListedRows:
    rows = read_rows(path, only_lists=True, max_bytes=max_bytes)
    has_tags = rows.roles.tag_list is not None or bool(rows.roles.tags)
    if rows.roles.image is None or not (has_tags or len(rows.header) == 1):
        raise FileError(path, f"{describe_header(rows.header)}; expected the columns {COLUMN_NAMES}")
    return rows


def _common_separator(tables: dict[str, ListedRows], folder: PictureFolder) -> str:
    """That of all lists of a folder together: one of them alone may be too short to tell."""
    first = folder.path(next(iter(tables)))
    place = first if len(tables) == 1 else f"{first} and {len(tables) - 1:,} more"
    with naming(first):
        return choose_separator([cell for rows in tables.values() for cell in rows.tag_cells], place)


def _csv_records(rows: ListedRows, separator: str, empty: str) -> Iterator[PictureRecord]:
    with naming(rows.path):
        collection = rows.collection(separator=separator, empty=empty)
    images = [os.path.relpath(picture, rows.path.parent) for picture in collection.view("pictures")]
    parts = [""] * len(images) if collection.part is None else list(map(str, collection.part))
    for image, marks, part in zip(images, marks_of(collection), parts, strict=True):
        yield PictureRecord(image, marks, part)

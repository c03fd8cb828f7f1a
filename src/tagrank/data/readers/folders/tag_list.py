"""A folder with lists of its pictures: ``tags.csv``, ``tags.jsonl`` or ``tags.json``.

``train_tags.csv`` and ``test_tags.csv`` also say which part a picture belongs to. Where there is none of
these, any ``.jsonl`` or ``.json`` file of the folder that begins as such a list is taken. Pictures that are
not listed are untagged.
"""

import csv
import os
from collections.abc import Iterator

from tagrank.data.collection import Collection
from tagrank.data.pictures.folder import PictureFolder
from tagrank.data.readers.folders.tag_table import TagTable, part_in
from tagrank.data.readers.marks import marks_of
from tagrank.data.readers.tables.csv import Table, read_csv, read_header
from tagrank.data.readers.tables.jsonl import PictureRecord, read_records
from tagrank.data.readers.tables.table import find_roles
from tagrank.files import MAX_BYTES, FileError, open_text

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


def read_tag_list(folder: PictureFolder, *, empty: str = "unknown", max_bytes: int = MAX_BYTES) -> Collection:
    """The pictures that are listed, in that order, then all others as untagged.

    One that is listed without a tag is `empty`, "unknown" or "absent". No list may be larger than
    `max_bytes`, nor what is made of it in memory.
    """
    lists = find_tag_lists(folder)
    if not lists:
        raise FileError(folder.root, "no list of tags here; expected tags.csv, tags.jsonl or tags.json")
    table = TagTable(folder, empty=empty)
    # of train_tags.csv and test_tags.csv, train comes first
    for name in sorted(lists, key=lambda name: (part_in(name) != "train", name)):
        for record in _records(folder.path(name), empty, max_bytes):
            table.add_listed(record.image, record.marks, part=record.part or part_in(name))
    table.add_unlisted()
    return table.collection()


def _records(path: str, empty: str, max_bytes: int) -> Iterator[PictureRecord]:
    if _stem_and_ending(path)[1] != ".csv":
        yield from read_records(path, empty=empty, max_bytes=max_bytes)
        return
    collection = read_csv(path, empty=empty, drop=_other_columns(path, max_bytes), max_bytes=max_bytes)
    if "pictures" not in collection.views:
        raise FileError(path, "expected a column 'image' with the paths of pictures")
    images = [os.path.relpath(picture, os.path.dirname(path)) for picture in collection.view("pictures")]
    parts = [""] * len(images) if collection.part is None else list(map(str, collection.part))
    for image, marks, part in zip(images, marks_of(collection), parts, strict=True):
        yield PictureRecord(image, marks, part)


def _other_columns(path: str, max_bytes: int) -> list[str]:
    """Columns such as captions, which say nothing about tags."""
    with open_text(path, newline="", max_bytes=max_bytes) as stream:
        try:
            header = read_header(Table(stream, max_bytes=max_bytes))
            return [header[j] for j in find_roles(header).features]
        except (csv.Error, ValueError):
            # read_csv says what is wrong
            return []

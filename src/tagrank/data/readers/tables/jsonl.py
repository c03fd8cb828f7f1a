"""JSON lines: one picture a line, ``{"image": "a.jpg", "tags": ["sky", "sea"]}``.

In a line with tags, those that are not listed are absent. A line without any is unknown throughout, unless it
also has a list ``"unknown"``: that names exactly the tags about which nothing is known. ``"part"`` may hold a
word such as "train"; other keys are ignored. A ``.json`` file may hold the same objects in one list.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tagrank.data.collection import Collection
from tagrank.data.readers.json_files import parse_json, read_lists
from tagrank.data.readers.marks import Marks, encode_marks, marks_from_list, marks_of
from tagrank.data.readers.tables.csv_writer import relative_picture
from tagrank.files import (
    MAX_BYTES,
    ROW_BYTES,
    WORD_BYTES,
    FileError,
    MemoryBound,
    atomic_write,
    naming,
    open_text,
)


class PictureRecord(NamedTuple):
    """One picture of a list: its path as it was written there, its tags and its part."""

    image: str
    marks: Marks
    part: str


def read_jsonl(
    path: str | os.PathLike,
    *,
    tags: Sequence[str] | None = None,
    empty: str = "unknown",
    max_bytes: int = MAX_BYTES,
) -> Collection:
    """Read a list of pictures.

    Parameters
    ----------
    path : the file, perhaps ``.gz``; picture paths in it are relative to its folder
    tags : the tags wanted; default: all, sorted
    empty : {"unknown", "absent"}, what an empty list of tags means
    max_bytes : how large the file may be when unpacked

    Returns
    -------
    collection : with the view "pictures" (paths)
    """
    records = list(read_records(path, empty=empty, max_bytes=max_bytes))
    if not records:
        raise FileError(path, 'lists no picture; expected lines such as {"image": "a.jpg", "tags": ["sky"]}')
    labels, columns = encode_marks([record.marks for record in records], tags)
    folder = Path(path).parent
    with naming(path):
        return Collection(
            views={"pictures": [str(folder / record.image) for record in records]},
            labels=labels,
            tags=columns,
            names=[record.image for record in records],
            part=[record.part for record in records] if any(record.part for record in records) else None,
            name=Path(path).name.partition(".")[0],
        )


def read_records(
    path: str | os.PathLike, *, empty: str = "unknown", max_bytes: int = MAX_BYTES
) -> Iterator[PictureRecord]:
    """The pictures of a ``.jsonl`` file, or of a ``.json`` file with one list."""
    bound = MemoryBound(path, max_bytes)
    for line, value in _values(path, max_bytes):
        try:
            record = _record(value, empty)
        except ValueError as error:
            raise FileError(path, str(error), line=line) from None
        bound.add(ROW_BYTES + WORD_BYTES * (len(record.marks.present) + len(record.marks.unknown or ())))
        yield record


def _values(path: str | os.PathLike, max_bytes: int) -> Iterable[tuple[int | None, Any]]:
    if not os.fspath(path).removesuffix(".gz").casefold().endswith(".json"):
        with open_text(path, max_bytes=max_bytes) as stream:
            for line, text in enumerate(stream, 1):
                if text.strip():
                    yield line, parse_json(text, path, line=line)
        return
    for key, values in read_lists(path, max_bytes=max_bytes):
        if key:
            raise FileError(
                path, f"expected one list of pictures with their tags, got an object with {key!r}"
            )
        yield from ((None, value) for value in values)


def _record(value: Any, empty: str) -> PictureRecord:
    if not isinstance(value, dict) or not isinstance(value.get("image"), str) or not value["image"]:
        raise ValueError(f'expected an object with "image" and "tags", got {json.dumps(value)[:60]}')
    part = value.get("part", "")
    if not isinstance(part, str):
        raise ValueError(f"part must be a word, got {json.dumps(part)[:60]}")
    marks = marks_from_list(_tags(value, "tags"), _tags(value, "unknown"), empty=empty)
    return PictureRecord(value["image"], marks, part)


def _tags(value: dict[str, Any], key: str) -> list[str] | None:
    tags = value.get(key)
    if tags is None:
        return None
    if not isinstance(tags, list) or not all(isinstance(tag, str) and tag.strip() for tag in tags):
        raise ValueError(f"{key} must be a list of texts that are not blank, got {json.dumps(tags)[:60]}")
    return tags


def write_jsonl(collection: Collection, path: str | os.PathLike) -> None:
    """Write the pictures of a collection with their tags and parts; `read_jsonl` reads the same back.

    Parameters
    ----------
    collection : Collection with the view "pictures" (paths) and no other
    path : the file to write, perhaps ``.gz``; picture paths below its folder become relative to it
    """
    if list(collection.views) != ["pictures"]:
        raise ValueError(f"JSON lines hold pictures, got the views {', '.join(collection.views)}; write NPZ")
    folder = Path(path).parent
    with atomic_write(path, text=True) as stream:
        for i, marks in enumerate(marks_of(collection)):
            line: dict[str, Any] = {"image": relative_picture(collection.view("pictures")[i], folder)}
            line["tags"] = None if marks.unknown is None else list(marks.present)
            if marks.unknown or (marks.unknown is not None and not marks.present):
                line["unknown"] = sorted(marks.unknown)
            if collection.part is not None:
                line["part"] = str(collection.part[i])
            stream.write(json_line(line))


def json_line(value: Any) -> str:
    """`value` as one line; names that are no Unicode (lone surrogates) are escaped and read back."""
    return escaped(json.dumps(value, ensure_ascii=False)) + "\n"


def escaped(text: str) -> str:
    r"""The text with those bytes of a file's name that are no Unicode as ``\udc..``, as JSON has them."""
    return text.encode(errors="backslashreplace").decode()

"""JSON lines: one picture a line, ``{"image": "a.jpg", "tags": ["sky", "sea"]}``; and JSON within bounds.

In a line with tags, those that are not listed are absent. A line without any is unknown throughout, unless it
also has a list ``"unknown"``: that names exactly the tags about which nothing is known. ``"part"`` may hold a
word such as "train"; other keys are ignored. A ``.json`` file may hold the same objects in one list. Long
files are read entry by entry, and errors name the file.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

from tagrank.data.collection import Collection
from tagrank.data.readers.marks import Marks, encode_marks, marks_from_list, marks_of
from tagrank.data.readers.table import relative_picture
from tagrank.files import (
    MAX_BYTES,
    ROW_BYTES,
    WORD_BYTES,
    FileError,
    MemoryBound,
    atomic_write,
    naming,
    open_bounded,
    open_text,
)

_CHUNK, _LONGEST_ENTRY = 2**20, 2**22
_BLANKS = " \t\r\n"
# of those that the end of a text may cut: false, Infinity, \\u00e9\\u00e9
_LONGEST_MARK = 12
_DECODER = json.JSONDecoder()


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
        raise FileError(path, 'has no pictures; expected lines such as {"image": "a.jpg", "tags": ["sky"]}')
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


def read_lists(path: str | os.PathLike, *, max_bytes: int = MAX_BYTES) -> Iterator[tuple[str, Iterator[Any]]]:
    """The lists of a JSON file, each with its key; the key is empty where the whole file is one list.

    The entries come one after the other, so that no more than one of them is in memory. Values in an object
    that are no lists are passed over.
    """
    with open_bounded(path, max_bytes=max_bytes) as stream:
        encoding = json.detect_encoding(stream.read(4))
    with open_text(path, encoding=encoding, max_bytes=max_bytes) as text:
        source = _JsonText(text, path)
        if source.next_mark() == "[":
            yield from _one_list("", source)
        else:
            source.expect("{")
            for _ in source.between("}"):
                key = source.value()
                source.expect(":")
                if source.next_mark() == "[":
                    yield from _one_list(str(key), source)
                else:
                    source.value()
        if source.next_mark():
            source.fail("more than one value")


def _one_list(key: str, source: "_JsonText") -> Iterator[tuple[str, Iterator[Any]]]:
    source.expect("[")
    entries = (source.value() for _ in source.between("]"))
    yield key, entries
    # what the caller left
    for _ in entries:
        pass


class _JsonText:
    """JSON text of which only the part that is being read is held."""

    def __init__(self, stream: IO[str], path: str | os.PathLike) -> None:
        self._stream, self._path, self._text, self._position = stream, path, "", 0

    def fail(self, reason: str, position: int | None = None) -> NoReturn:
        place = self._position if position is None else position
        raise FileError(self._path, f"not JSON ({reason} at {self._text[place : place + 30]!r})")

    def next_mark(self) -> str:
        """The next character that is not blank; nothing at the end."""
        while True:
            while self._position < len(self._text) and self._text[self._position] in _BLANKS:
                self._position += 1
            if self._position < len(self._text) or not self._read_more():
                return self._text[self._position : self._position + 1]

    def expect(self, mark: str) -> None:
        if self.next_mark() != mark:
            self.fail(f"expected {mark!r}")
        self._position += 1

    def between(self, end: str) -> Iterator[None]:
        """Once for each place where an entry begins, until the mark `end` was read."""
        if self.next_mark() != end:
            yield
            while self.next_mark() == ",":
                self._position += 1
                yield
        self.expect(end)

    def value(self) -> Any:
        self.next_mark()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._position)
            except json.JSONDecodeError as error:
                self._grow(error)
                continue
            except (ValueError, RecursionError) as error:
                self.fail(str(error))
            length = end - self._position
            # a number that ends with the text may go on
            if end < len(self._text) or not self._read_more():
                self._position += length
                return value

    def _grow(self, error: json.JSONDecodeError) -> None:
        is_cut = error.pos > len(self._text) - _LONGEST_MARK or error.msg.startswith("Unterminated string")
        if is_cut and len(self._text) - self._position > _LONGEST_ENTRY:
            self.fail(f"an entry of more than {_LONGEST_ENTRY:,} characters")
        if not is_cut or not self._read_more():
            self.fail(error.msg, error.pos)

    def _read_more(self) -> bool:
        # twice as much each time: an entry is parsed again when it turns out to be longer
        chunk = self._stream.read(max(_CHUNK, len(self._text) - self._position))
        self._text, self._position = self._text[self._position :] + chunk, 0
        return bool(chunk)


def parse_json(text: str | bytes, path: str | os.PathLike, *, line: int | None = None) -> Any:
    """The value in `text`, which stands in `path`."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(path, f"not JSON ({error})", line=line) from None

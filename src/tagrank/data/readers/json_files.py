"""JSON from files: entry by entry, within bounds, and errors that name the file."""

import json
import os
from collections.abc import Iterator
from typing import IO, Any, NoReturn

from tagrank.files import MAX_BYTES, FileError, open_bounded, open_text

_CHUNK, _LONGEST_ENTRY = 2**20, 2**22
_BLANKS = " \t\r\n"
# of those that the end of a text may cut: false, Infinity, \\u00e9\\u00e9
_LONGEST_MARK = 12
_DECODER = json.JSONDecoder()


def read_lists(path: str | os.PathLike, *, max_bytes: int = MAX_BYTES) -> Iterator[tuple[str, Iterator[Any]]]:
    """The lists of a JSON file, each with its key; the key is empty where the whole file is one list.

    The entries come one after the other, so that no more than one of them is in memory. Values in an object
    that are no lists are passed over.
    """
    with open_bounded(path, max_bytes=max_bytes) as stream:
        encoding = json.detect_encoding(stream.read(4))
    with open_text(path, encoding=encoding, max_bytes=max_bytes) as text:
        source = _Source(text, path)
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


def _one_list(key: str, source: "_Source") -> Iterator[tuple[str, Iterator[Any]]]:
    source.expect("[")
    entries = (source.value() for _ in source.between("]"))
    yield key, entries
    # what the caller left
    for _ in entries:
        pass


class _Source:
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

"""What a list says: answers one by one, as `export` writes them, or pictures with their tags.

An answer is a line with a picture, a tag and "yes", "no" or "skip". A picture with a list of tags says "yes"
to each of them and nothing of others; in a CSV file a column such as ``tag:sky`` says yes with 1, no with 0.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from tagrank.archive.records import ANSWERS, STATE_WORDS
from tagrank.data.readers.json_files import parse_json
from tagrank.data.readers.tables.table import TAG_PREFIX, bare_cell, split_tags
from tagrank.files import ROW_BYTES, FileError, MemoryBound

_BY_STATE = {STATE_WORDS[state]: answer for answer, state in ANSWERS.items()}
_COLUMN_WORDS = {"1": "yes", "1.0": "yes", "0": "no", "0.0": "no", "": None, "?": None, "nan": None}
_EXPECTED = "expected name, tag and answer (or image and tags)"


class ListedAnswer(NamedTuple):
    """One answer of a list.

    Attributes
    ----------
    line : where it stands
    name, content : the picture's name, and the key of its content in hexadecimal digits or ""
    tag, answer, who : as they stand there; who may be ""
    is_listed : whether it comes from a list of tags, where a tag that is present already is nothing new
    """

    line: int
    name: str
    content: str
    tag: str
    answer: str
    who: str
    is_listed: bool


def read_csv_answers(lines: Iterable[str], path: str) -> Iterator[ListedAnswer]:
    """The answers in a CSV file."""
    reader = csv.DictReader(lines)
    try:
        for row in reader:
            if None in row or None in row.values():
                raise FileError(path, f"has a line of another length; {_EXPECTED}", line=reader.line_num)
            cells = {column.casefold(): bare_cell(cell) for column, cell in row.items()}
            if "tags" in cells:
                cells["tags"] = split_tags(cells["tags"], "|")  # type: ignore[assignment]
            yield from _answers(cells, path, reader.line_num)
            yield from _column_answers(row, cells, path, reader.line_num)
    except csv.Error as error:
        raise FileError(path, f"is not CSV ({error})", line=reader.line_num) from None


def read_json_answers(lines: Iterable[str], path: str) -> Iterator[ListedAnswer]:
    """The answers in a file of JSON lines."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            value = parse_json(line, path, line=number)
            if not isinstance(value, dict):
                raise FileError(path, f"{_EXPECTED}, got {line[:60]!r}", line=number)
            yield from _answers(value, path, number)


def bounded(answers: Iterable[ListedAnswer], path: str, max_bytes: int) -> list[ListedAnswer]:
    """All answers, unless they take more than `max_bytes` in memory."""
    bound, kept = MemoryBound(path, max_bytes), []
    for answer in answers:
        bound.add(ROW_BYTES)
        kept.append(answer)
    return kept


def _answers(values: Mapping[str, Any], path: str, line: int) -> Iterator[ListedAnswer]:
    name = values.get("name") or values.get("image")
    texts = [name, *(values.get(key, "") for key in ("content", "tag", "answer", "state", "by"))]
    if not name or not all(isinstance(text, str) for text in texts):
        raise FileError(path, f"{_EXPECTED} as texts, got {str(dict(values))[:80]}", line=line)
    _, content, tag, answer, state, who = texts
    if tags := values.get("tags"):
        yield from _listed(name, tags, path, line)
    elif tag:
        answer = answer or _BY_STATE.get(state, state)
        if answer not in ANSWERS:
            raise FileError(path, f"an answer is one of {', '.join(ANSWERS)}, got {answer[:40]!r}", line=line)
        yield ListedAnswer(line, name, content, tag, answer, who, False)


def _listed(name: str, tags: Any, path: str, line: int) -> Iterator[ListedAnswer]:
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise FileError(path, f"tags must be a list of texts, got {str(tags)[:60]}", line=line)
    for tag in dict.fromkeys(tags):
        yield ListedAnswer(line, name, "", tag, "yes", "", True)


def _column_answers(
    row: Mapping[str, str], cells: Mapping[str, Any], path: str, line: int
) -> Iterator[ListedAnswer]:
    name = cells.get("name") or cells.get("image")
    for column, cell in row.items():
        if not column.startswith(TAG_PREFIX):
            continue
        if cell.strip() not in _COLUMN_WORDS:
            raise FileError(path, f"{column!r} must be 1, 0 or empty, got {cell[:40]!r}", line=line)
        if answer := _COLUMN_WORDS[cell.strip()]:
            yield ListedAnswer(line, str(name), "", column[len(TAG_PREFIX) :], answer, "", True)

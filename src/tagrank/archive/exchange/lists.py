"""Decisions as a list: a line for each tag of a picture that somebody decided, as it stands."""

import csv
import io
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tagrank.archive.archive import Archive
from tagrank.archive.records import ANSWER_WORDS, STATE_WORDS
from tagrank.archive.vocabulary.reading import read_vocabulary
from tagrank.data.readers.tables.jsonl import json_line
from tagrank.data.readers.tables.table import protect_cell
from tagrank.validation import check_choice

COLUMNS = ("name", "content", "tag", "state", "answer", "by", "at", "queue")
_DECIDED = """
    SELECT pictures.name, hex(key), tags.name, cells.answer, who, at, queue, decision
    FROM cells JOIN pictures ON pictures.id = cells.picture JOIN tags ON tags.id = cells.tag
    JOIN decisions ON decisions.id = decision JOIN batches ON batches.id = batch
    ORDER BY pictures.name, pictures.id, cells.tag
"""


def decided_rows(archive: Archive) -> list[dict[str, str]]:
    """A dict of `COLUMNS` for each tag of a picture that was decided."""
    return archive.read(_read_rows)


def export_lines(archive: Archive, format: str) -> Iterator[str]:
    """The lines of a list in "csv" or "jsonl", each with its end."""
    return list_lines(decided_rows(archive), format)


def list_lines(rows: Iterable[Mapping[str, str]], format: str) -> Iterator[str]:
    """The same for rows that were read before."""
    return FORMATS[check_choice("format", format, tuple(FORMATS))](rows)


def _read_rows(connection: sqlite3.Connection) -> list[dict[str, str]]:
    """Decisions by the names that tags have now; of synonyms the latest one."""
    vocabulary, latest = read_vocabulary(connection), dict[tuple[str, str, str], tuple[Any, ...]]()
    for name, content, word, *rest in connection.execute(_DECIDED):
        tag, row = vocabulary.name(word), tuple(rest)
        key = name, content, tag
        if tag not in vocabulary.deleted and (key not in latest or _time(latest[key]) < _time(row)):
            latest[key] = row
    return [dict(zip(COLUMNS, _values(*key, *row[:-1]), strict=True)) for key, row in latest.items()]


def _time(row: tuple[Any, ...]) -> tuple[str, int]:
    _, _, at, _, decision = row
    return at, decision


def _values(name: str, content: str, tag: str, answer: int, *rest: str) -> tuple[str, ...]:
    return name, content.lower(), tag, STATE_WORDS[answer], ANSWER_WORDS[answer], *rest


def _csv_lines(rows: Iterable[Mapping[str, str]]) -> Iterator[str]:
    yield ",".join(COLUMNS) + "\n"
    for row in rows:
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerow(map(protect_cell, row.values()))
        yield stream.getvalue()


def _json_lines(rows: Iterable[Mapping[str, str]]) -> Iterator[str]:
    return map(json_line, rows)


FORMATS: dict[str, Callable[[Iterable[Mapping[str, str]]], Iterator[str]]] = {
    "csv": _csv_lines,
    "jsonl": _json_lines,
}

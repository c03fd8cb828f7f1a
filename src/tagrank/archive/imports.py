"""A list is compared with what an archive holds; what differs is recorded, all of it or nothing.

A list has answers one by one, as `export` writes them, or pictures with their tags. An answer is a line
with a picture, a tag and "yes", "no" or "skip". A picture with a list of tags says "yes" to each of them and
nothing of others; in a CSV file a column such as ``tag:sky`` says yes with 1, no with 0.
"""

import csv
import io
import os
import secrets
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import IO, Any, NamedTuple

from tagrank.archive.archive import Archive
from tagrank.archive.decisions import record_answers
from tagrank.archive.names import Request, checked_tag
from tagrank.archive.pictures import read_tag_states
from tagrank.archive.records import ANSWERS, STATE_WORDS, STATES, Answer, TagState
from tagrank.archive.tag_columns import read_vocabulary
from tagrank.data.readers.jsonl import parse_json
from tagrank.data.readers.table import TAG_PREFIX, bare_cell, split_tags
from tagrank.errors import ArgumentError
from tagrank.files import MAX_BYTES, ROW_BYTES, FileError, MemoryBound, Problem, ProblemLog, open_text
from tagrank.validation import check_choice

_BY_STATE = {STATE_WORDS[state]: answer for answer, state in ANSWERS.items()}
_COLUMN_WORDS = {"1": "yes", "1.0": "yes", "0": "no", "0.0": "no", "": None, "?": None, "nan": None}
_EXPECTED = "expected name, tag and answer (or image and tags)"
_NOBODY = "import"
_MOST_PROBLEMS = 1000


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
                raise FileError(
                    path, f"has a line with another number of columns; {_EXPECTED}", line=reader.line_num
                )
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


_READERS = {"csv": read_csv_answers, "jsonl": read_json_answers}


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
            raise FileError(
                path, f"answer must be one of {', '.join(ANSWERS)}, got {answer[:40]!r}", line=line
            )
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


@dataclass(frozen=True)
class Change:
    """A difference: what an archive holds about a tag of a picture, and what it becomes."""

    picture: int
    name: str
    tag: str
    before: str
    after: str
    answer: str
    who: str


@dataclass(frozen=True)
class Import:
    """What a list changed, or would change.

    Attributes
    ----------
    changes : the differences
    problems : lines that could not be used, and why
    n_read : answers in the list
    dry_run : whether nothing was recorded
    """

    changes: Sequence[Change]
    problems: Sequence[Problem]
    n_read: int
    dry_run: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        changes = [
            {"name": change.name, "tag": change.tag, "before": change.before, "after": change.after}
            for change in self.changes
        ]
        return {
            "changes": changes,
            "problems": [vars(problem) for problem in self.problems],
            "answers": self.n_read,
            "applied": not self.dry_run,
        }


def import_answers(
    archive: Archive,
    source: str | os.PathLike | bytes,
    *,
    format: str | None = None,
    who: str | None = None,
    dry_run: bool = False,
    max_bytes: int = MAX_BYTES,
) -> Import:
    """Record the answers of a list that an archive does not have yet.

    Parameters
    ----------
    archive : whose folder was looked at
    source : the path of a list, perhaps ``.gz``, or its bytes
    format : "csv" or "jsonl"; default: by the ending of the path
    who : whose answers they are; default: as the list says, else "import"
    dry_run : only tell the differences
    max_bytes : how large the list may be
    """
    path = "the list" if isinstance(source, bytes) else os.fspath(source)
    format = format or os.path.splitext(path.removesuffix(".gz"))[1][1:]
    read = _READERS[check_choice("format", format, tuple(_READERS))]
    with _opened(source, max_bytes) as lines:
        answers = bounded(read(lines, path), path, max_bytes)
    problems = ProblemLog()
    changes = archive.read(lambda connection: _differences(connection, answers, who, path, problems))
    if changes and not dry_run:
        archive.write_answers(lambda connection: _record(connection, changes))
    return Import(changes, problems.listed()[:_MOST_PROBLEMS], len(answers), dry_run)


def _opened(source: str | os.PathLike | bytes, max_bytes: int) -> AbstractContextManager[IO[str]]:
    if not isinstance(source, bytes):
        return open_text(source, newline="", max_bytes=max_bytes)
    try:
        return nullcontext(io.StringIO(source.decode("utf-8-sig"), newline=""))
    except UnicodeDecodeError:
        raise FileError("the list", "is not UTF-8 text; save it as UTF-8") from None


def _differences(
    connection: sqlite3.Connection,
    answers: Sequence[ListedAnswer],
    who: str | None,
    path: str,
    problems: ProblemLog,
) -> list[Change]:
    places = _Places(connection)
    changes: dict[tuple[int, str], Change] = {}
    for answer in answers:
        try:
            picture, name = places.find(answer)
            tag = places.tag(answer.tag)
        except (LookupError, ArgumentError) as error:
            problems.add(path, f"line {answer.line}: {str(error)[:200]}")
            continue
        state, decided = places.state(picture, tag)
        after = ANSWERS[answer.answer]
        if after == (state if answer.is_listed else decided):
            changes.pop((picture, tag), None)
            continue
        person = who or answer.who or _NOBODY
        changes[picture, tag] = Change(
            picture, name, tag, STATE_WORDS[state], STATE_WORDS[after], answer.answer, person
        )
    return list(changes.values())


class _Places:
    """Pictures by name and content, tags by name, and what is known of both."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._by_name: dict[str, tuple[int, str]] = {}
        self._by_content: dict[str, list[tuple[int, str]]] = defaultdict(list)
        # where a name is taken again, the picture that is there counts
        for number, name, content in connection.execute(
            "SELECT id, name, hex(key) FROM pictures ORDER BY is_gone DESC, id"
        ):
            self._by_name[name] = number, content.lower()
            self._by_content[content.lower()].append((number, name))
        self._tags = dict(connection.execute("SELECT name, id FROM tags"))
        self._vocabulary = read_vocabulary(connection)
        self._derived: dict[int, dict[str, TagState]] = {}

    def find(self, answer: ListedAnswer) -> tuple[int, str]:
        """Number and name of the picture that is meant: of that content, else of that name."""
        number, content = self._by_name.get(answer.name, (None, ""))
        same = self._by_content.get(answer.content.lower(), ()) if answer.content else ()
        if number is not None and (content == answer.content.lower() or not same):
            return number, answer.name
        if len(same) == 1:
            return same[0]
        raise LookupError(f"there is no picture {answer.name!r}")

    def tag(self, name: str) -> str:
        """The tag for which a name stands, or that of a new tag."""
        tag = self._vocabulary.name(name if name in self._tags else checked_tag(name))
        if tag in self._vocabulary.deleted:
            raise LookupError(f"the tag {tag!r} was deleted")
        return tag

    def state(self, picture: int, tag: str) -> tuple[int, int | None]:
        """State, and answer or None, of a cell."""
        if not self._vocabulary.is_plain:
            return self._derived_state(picture, tag)
        row = self._connection.execute(
            "SELECT coalesce(answer, listed, 0), answer FROM cells WHERE picture = ? AND tag = ?",
            (picture, self._tags.get(tag, 0)),
        ).fetchone()
        return (0, None) if row is None else row

    def _derived_state(self, picture: int, tag: str) -> tuple[int, int | None]:
        if picture not in self._derived:
            self._derived[picture] = read_tag_states(self._connection, picture)
        state = self._derived[picture].get(tag)
        if state is None:
            return 0, None
        return STATES[state.state], None if state.answer is None else ANSWERS[state.answer]


def _record(connection: sqlite3.Connection, changes: Sequence[Change]) -> list[Any]:
    """One batch for each person."""
    by_person: dict[str, list[Answer]] = defaultdict(list)
    for change in changes:
        by_person[change.who].append(Answer(change.picture, change.tag, change.answer))
    return [
        record_answers(connection, answers, Request(f"import {secrets.token_hex(16)}", who, queue="import"))
        for who, answers in by_person.items()
    ]

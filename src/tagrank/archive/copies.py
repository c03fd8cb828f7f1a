"""Copies of the file with the decisions: made while a desk is open, put back, and merged with another's.

A merge takes over the steps of another copy that are not here yet. A step is known by the random word of its
request, a picture by its content, a tag by its name. Steps keep their times, and the latest one about a cell
holds, so that it does not matter which copy is merged into which, nor how often.
"""

import os
import sqlite3
import stat
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from tagrank.archive.archive import Archive
from tagrank.archive.decisions import listed_tag_number, refresh_pictures, restore_cell, withdraw
from tagrank.archive.names import Request, checked_tag, is_inside
from tagrank.archive.storage.database import Database, check_database_files
from tagrank.archive.storage.place import DeskLock
from tagrank.archive.tag_changes import checked_change
from tagrank.data.vocabulary import TagChange
from tagrank.errors import ArgumentError
from tagrank.files import FileError, Problem, ProblemLog

_BESIDE = ("-wal", "-shm", "-journal")
_KEY_BYTES = 16


def copy_database(source: Path, target: Path) -> int:
    """Write a copy of one moment, whole or not at all; how many decisions are in it.

    The source may be written to meanwhile. It is refused unless it holds exactly the tables of an archive.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    os.close(descriptor)
    try:
        with (
            closing(Database(source, read_only=True)) as database,
            database.reading() as connection,
            closing(sqlite3.connect(name, isolation_level=None)) as copy,
        ):
            connection.backup(copy)
            # one file, whatever the source wrote beside itself
            copy.execute("PRAGMA journal_mode = DELETE")
            (verdict,) = copy.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise FileError(source, f"is damaged ({str(verdict)[:200]}); use another backup")
            (n_decisions,) = copy.execute("SELECT count(*) FROM decisions").fetchone()
        with open(name, "rb+") as stream:
            os.fsync(stream.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except BaseException:
        for end in ("", *_BESIDE):
            with suppress(OSError):
                os.unlink(name + end)
        raise
    return int(n_decisions)


def restore_database(source: Path, target: Path) -> tuple[int, Path | None]:
    """Put a copy in the place of an archive's file; how many decisions it holds, and where the old one is.

    Refused while a desk has the archive open. The old file is kept beside it, however damaged it is.
    """
    if os.path.lexists(target) and source.resolve() == target.resolve():
        raise FileError(source, "is the file to be replaced; name a backup of it")
    with closing(DeskLock(target)):
        new = target.with_name(f".{target.name}.restored")
        n_decisions = copy_database(source, new)
        if target.is_file() and not target.is_symlink():
            # others who share the archive may go on reading and writing it
            os.chmod(new, stat.S_IMODE(target.stat().st_mode))
        kept = _put_aside(target) if os.path.lexists(target) else None
        os.replace(new, target)
    return n_decisions, kept


def _umask() -> int:
    """What new files are closed for; a temporary one is closed for all others."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _put_aside(path: Path) -> Path:
    with suppress(sqlite3.Error, FileError):
        check_database_files(path)  # SQLite follows whatever lies beside it
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    stamp = datetime.now().strftime("%Y-%m-%d-%H%M%S-%f")
    kept = path.with_name(f"{path.stem}-until-{stamp}{path.suffix}")
    for end in ("", *_BESIDE):
        with suppress(FileNotFoundError):
            os.replace(f"{path}{end}", f"{kept}{end}")
    return kept


class _BatchRow(NamedTuple):
    id: int
    request: str
    who: str
    at: str
    queue: str
    undoes: int | None
    is_unmarked: int


class _PictureRow(NamedTuple):
    name: str
    folder: str
    key: bytes
    date: str
    width: int
    height: int


@dataclass
class _Copy:
    """What another file holds: steps in the order of time, and by their numbers what was said in them."""

    batches: list[_BatchRow]
    answers: dict[int, list[tuple[int, str, int, int]]]
    reviews: dict[int, list[int]]
    changes: dict[int, list[TagChange]]
    pictures: dict[int, _PictureRow]


@dataclass(frozen=True)
class Merge:
    """What was taken over from another copy, or would be.

    Attributes
    ----------
    n_steps, n_answers, n_tag_changes, n_undone : steps that were new, what was said in them, and steps that
        are taken back now
    n_unknown : pictures that are not here; what was said of them waits until they come
    people : whose steps these are
    problems : what could not be taken over, and why
    dry_run : whether nothing was recorded
    """

    n_steps: int
    n_answers: int
    n_tag_changes: int
    n_undone: int
    n_unknown: int
    people: Sequence[str]
    problems: Sequence[Problem]
    dry_run: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "steps": self.n_steps,
            "answers": self.n_answers,
            "tag_changes": self.n_tag_changes,
            "undone": self.n_undone,
            "unknown_pictures": self.n_unknown,
            "people": list(self.people),
            "problems": [vars(problem) for problem in self.problems],
            "applied": not self.dry_run,
        }


class _NotKept(LookupError):
    """Ends a step that is not to be kept; carries what it would have done."""

    def __init__(self, merge: Merge) -> None:
        super().__init__("dry run")
        self.merge = merge


def merge_copy(archive: Archive, path: str | os.PathLike, *, dry_run: bool = False) -> Merge:
    """Take over the steps of another copy that are not here yet; all of them, or an error and none.

    Parameters
    ----------
    archive : may be written to, also with `dry_run`, which leaves it as it was
    path : the other file; it is only read, and refused unless it is one of an archive
    dry_run : only tell what would be taken over
    """
    with closing(Database(Path(path), read_only=True)) as database, database.reading() as connection:
        copy = _read_copy(connection, os.fspath(path))

    def work(connection: sqlite3.Connection) -> list[Merge]:
        done = _Merger(connection, copy, os.fspath(path)).run(dry_run)
        if dry_run:
            raise _NotKept(done)
        return [done]

    try:
        return archive.write(work)[0]
    except _NotKept as ended:
        return ended.merge


def _read_copy(connection: sqlite3.Connection, path: str) -> _Copy:
    query = "SELECT id, request, who, at, queue, undoes, is_unmarked FROM batches ORDER BY at, id"
    batches = [_BatchRow(*row) for row in connection.execute(query)]
    for batch in batches:
        _check_batch(batch, path)
    answers: dict[int, list[tuple[int, str, int, int]]] = defaultdict(list)
    for batch, *answer in connection.execute(
        "SELECT batch, picture, tags.name, answer, before FROM decisions JOIN tags ON tags.id = tag "
        "WHERE answer IS NOT NULL ORDER BY decisions.id"
    ):
        answers[batch].append(tuple(answer))
    reviews: dict[int, list[int]] = defaultdict(list)
    for batch, picture in connection.execute("SELECT batch, picture FROM reviews"):
        reviews[batch].append(picture)
    changes: dict[int, list[TagChange]] = defaultdict(list)
    for batch, *change in connection.execute("SELECT batch, kind, tag, other FROM tag_changes ORDER BY id"):
        changes[batch].append(TagChange(*change))
    pictures = {
        number: _PictureRow(*row)
        for number, *row in connection.execute(
            "SELECT id, name, folder, key, date, width, height FROM pictures"
        )
    }
    return _Copy(batches, answers, reviews, changes, pictures)


def _check_batch(batch: _BatchRow, path: str) -> None:
    """Raise for words and times that no tagrank wrote: a time in the future would win for ever."""
    try:
        Request(batch.request, batch.who, queue=batch.queue)
        at = datetime.fromisoformat(batch.at)
        is_past = at.tzinfo is not None and at <= datetime.now(UTC) + timedelta(days=1)
    except (ArgumentError, ValueError) as error:
        raise FileError(path, f"has a step that tagrank did not record ({error}); use another copy") from None
    if not is_past:
        raise FileError(
            path,
            f"has a step of {batch.at[:40]!r}, which is in the future; correct the clock of this machine",
        )


class _Merger:
    """One merge, inside a transaction."""

    def __init__(self, connection: sqlite3.Connection, copy: _Copy, path: str) -> None:
        self._connection, self._copy, self._path = connection, copy, path
        self._own = dict(connection.execute("SELECT request, id FROM batches"))
        self._problems, self._numbers, self._n_unknown = ProblemLog(), dict[int, int | None](), 0
        self._by_key: dict[bytes, list[tuple[bool, int, str]]] = defaultdict(list)
        for number, name, key, is_gone in connection.execute("SELECT id, name, key, is_gone FROM pictures"):
            self._by_key[key].append((bool(is_gone), number, name))

    def run(self, dry_run: bool) -> Merge:
        """Take over what is new."""
        said = [
            batch for batch in self._copy.batches if batch.undoes is None and batch.request not in self._own
        ]
        cells: set[tuple[int, int]] = set()
        reviewed: set[int] = set()
        n_answers = n_changes = 0
        for batch in said:
            number = self._own[batch.request] = self._add_batch(batch)
            new = self._add_answers(batch.id, number)
            cells |= set(new)
            n_answers += len(new)
            n_changes += self._add_changes(batch.id, number)
            reviewed |= self._add_reviews(batch.id, number)
        for picture, tag in sorted(cells):
            self._connection.execute(
                "INSERT INTO cells (picture, tag) VALUES (?, ?) ON CONFLICT DO NOTHING", (picture, tag)
            )
            restore_cell(self._connection, picture, tag)
        undone = [batch for batch in self._copy.batches if batch.undoes is not None and self._undo(batch)]
        refresh_pictures(self._connection, reviewed | {picture for picture, _ in cells})
        people = sorted({batch.who for batch in (*said, *undone)})
        return Merge(
            len(said),
            n_answers,
            n_changes,
            len(undone),
            self._n_unknown,
            people,
            self._problems.listed(),
            dry_run,
        )

    def _add_batch(self, batch: _BatchRow, undoes: int | None = None) -> int:
        # the number of a model means nothing here
        added = self._connection.execute(
            "INSERT INTO batches (request, who, at, queue, undoes, is_unmarked) VALUES (?, ?, ?, ?, ?, ?)",
            (batch.request, batch.who, batch.at, batch.queue, undoes, batch.is_unmarked),
        )
        return int(added.lastrowid or 0)

    def _add_answers(self, batch: int, number: int) -> list[tuple[int, int]]:
        cells = []
        for picture, tag, answer, before in self._copy.answers.get(batch, ()):
            cell = self._picture(picture), self._tag(tag)
            if cell[0] is None or cell[1] is None:
                continue
            self._connection.execute(
                "INSERT INTO decisions (batch, picture, tag, answer, before) VALUES (?, ?, ?, ?, ?)",
                (number, *cell, answer, before),
            )
            cells.append((cell[0], cell[1]))
        return cells

    def _add_changes(self, batch: int, number: int) -> int:
        n_added = 0
        for change in self._copy.changes.get(batch, ()):
            try:
                checked = checked_change(change)
            except ArgumentError as error:
                self._problems.add(self._path, str(error)[:200])
                continue
            self._connection.execute(
                "INSERT INTO tag_changes (batch, kind, tag, other) VALUES (?, ?, ?, ?)", (number, *checked)
            )
            n_added += 1
        return n_added

    def _add_reviews(self, batch: int, number: int) -> set[int]:
        pictures = {self._picture(picture) for picture in self._copy.reviews.get(batch, ())}
        known = {picture for picture in pictures if picture is not None}
        self._connection.executemany(
            "INSERT INTO reviews (batch, picture) VALUES (?, ?)", [(number, one) for one in sorted(known)]
        )
        return known

    def _undo(self, batch: _BatchRow) -> bool:
        """Take a step back that the other copy took back and that still stands here."""
        requests = {one.id: one.request for one in self._copy.batches}
        undone = self._own.get(requests.get(batch.undoes or 0, ""))
        query = "SELECT 1 FROM batches WHERE undoes = ?1 OR (id = ?1 AND undoes IS NOT NULL)"
        if batch.request in self._own or undone is None:
            return False
        if self._connection.execute(query, (undone,)).fetchone() is not None:
            return False
        self._own[batch.request] = number = self._add_batch(batch, undone)
        withdraw(self._connection, number, undone)
        return True

    def _tag(self, name: str) -> int | None:
        row = self._connection.execute("SELECT id FROM tags WHERE name = ?", (name,)).fetchone()
        if row is not None:
            return int(row[0])
        try:
            return listed_tag_number(self._connection, checked_tag(name))
        except ArgumentError as error:
            self._problems.add(self._path, str(error)[:200])
            return None

    def _picture(self, number: int) -> int | None:
        """The number here of a picture there; one that is not here is noted as gone, until it comes."""
        if number not in self._numbers:
            picture = self._copy.pictures.get(number)
            self._numbers[number] = None if picture is None else self._match(picture)
        return self._numbers[number]

    def _match(self, picture: _PictureRow) -> int | None:
        same = self._by_key.get(picture.key, ())
        if same:
            return min(same, key=lambda one: (one[2] != picture.name, one))[1]
        if not is_inside(picture.name) or len(picture.key) != _KEY_BYTES:
            self._problems.add(self._path, f"has a picture with an invalid name: {picture.name[:80]!r}")
            return None
        added = self._connection.execute(
            "INSERT INTO pictures (name, folder, key, file_state, date, width, height, is_gone) "
            "VALUES (?, ?, ?, '', ?, ?, ?, 1)",
            (picture.name, picture.name.rpartition("/")[0], picture.key, *picture[3:]),
        )
        self._n_unknown += 1
        number = int(added.lastrowid or 0)
        self._by_key[picture.key].append((True, number, picture.name))
        return number

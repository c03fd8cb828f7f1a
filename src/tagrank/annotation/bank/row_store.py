"""Rows of features on disk: one SQLite file, whole after a crash, shared by processes that run at once.

A row is kept under the content of its picture and the fingerprint of its set of features, so that it is found
again whatever the file is called. Nothing in the file can run code: it holds keys and compressed numbers.
Here is also how a picture gets its key: the same content is described once.
"""

import hashlib
import os
import sqlite3
import stat
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from tagrank.data.picture_files import MAX_FILE_BYTES
from tagrank.errors import warn
from tagrank.progress import Progress

FILE_NAME = "rows-1.sqlite"
SECONDS_A_DAY = 86_400
_MAX_ROW_BYTES = 2**27
# how long one process waits for another that is writing
_WAIT_SECONDS = 60.0
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
# A file written so recently could change again without a change of its time stamp.
_SETTLED_NS = 2_000_000_000
# files whose content is noted together
_BATCH = 256
_SCHEMA = """
PRAGMA trusted_schema = OFF;
CREATE TABLE IF NOT EXISTS rows (
    picture BLOB, feature TEXT, packed BLOB, PRIMARY KEY (picture, feature));
CREATE TABLE IF NOT EXISTS features (
    feature TEXT PRIMARY KEY, used INTEGER, seconds REAL DEFAULT 0, n_timed INTEGER DEFAULT 0);
CREATE TABLE IF NOT EXISTS pictures (picture BLOB PRIMARY KEY, used INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS files (path BLOB PRIMARY KEY, state TEXT, picture BLOB) WITHOUT ROWID;
"""


PictureLike = str | os.PathLike | np.ndarray


class CacheWarning(UserWarning):
    """A problem with the cache folder; the work continues without it."""


class StoreDamage(Exception):
    """Part of the store could not be read and was dropped; what it held must be computed anew."""


def pack_row(row: np.ndarray) -> bytes:
    """A float32 row, compressed; most histograms are mostly zero. The stream carries a checksum."""
    return zlib.compress(np.ascontiguousarray(row, dtype="<f4").tobytes(), 1)


def unpack_row(packed: bytes) -> np.ndarray:
    """The row that `pack_row` packed; ValueError if it is damaged."""
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(packed, _MAX_ROW_BYTES)
    except zlib.error as error:
        raise ValueError(f"a damaged row ({error})") from None
    if not stream.eof or len(data) % 4:
        raise ValueError(f"a row of {len(data):,} bytes that is not whole")
    return np.frombuffer(data, dtype="<f4")


class RowStore:
    """Packed rows by feature and picture, and contents of files seen before; in memory without a folder.

    A folder that cannot be written to (full, read-only) is reported by one `CacheWarning`, and what comes
    after is kept in memory: what the folder holds already can still be read.
    """

    def __init__(self, folder: Path | None) -> None:
        self._path = None if folder is None else folder / FILE_NAME
        # read in turn; the last one is written to
        self._databases: list[sqlite3.Connection] = []
        # (picture, feature) of rows that cannot be used, nor removed from a file that is read-only
        self._damaged: set[tuple[bytes, str]] = set()
        self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; what was in memory is forgotten."""
        for database in self._databases:
            database.close()
        self._databases = []

    @property
    def is_on_disk(self) -> bool:
        """Whether rows that are saved now will be there next time."""
        return self._path is not None

    def features_of(self, picture: bytes) -> set[str]:
        """The features whose rows are known for a picture."""
        found = self._read("SELECT feature FROM rows WHERE picture = ?", picture)
        return {feature for (feature,) in found if (picture, feature) not in self._damaged}

    def rows(
        self, feature: str, pictures: Sequence[bytes], *, n_columns: int | None = None
    ) -> Iterator[np.ndarray]:
        """The rows of pictures, all of one length, `n_columns` where it is known, and finite.

        StoreDamage where one is missing or damaged; all that are damaged are then dropped at once.
        """
        for picture in pictures:
            row = self._row(feature, picture)
            n_columns = n_columns or len(row)
            if len(row) == 0 or len(row) != n_columns:
                self._drop_damaged(feature, pictures)
                raise StoreDamage(f"a row of {len(row)} columns, others have {n_columns}")
            yield row

    def _row(self, feature: str, picture: bytes) -> np.ndarray:
        """The row of a picture; without any column if it is missing or damaged."""
        found = self._read("SELECT packed FROM rows WHERE picture = ? AND feature = ?", picture, feature)
        try:
            row = unpack_row(found[-1][0])
        except (ValueError, TypeError, IndexError):
            return np.empty(0, dtype=np.float32)
        return row if np.isfinite(row).all() else row[:0]

    def _drop_damaged(self, feature: str, pictures: Sequence[bytes]) -> None:
        lengths = {picture: len(self._row(feature, picture)) for picture in pictures}
        # of several lengths any may be the wrong one
        is_mixed = len(set(lengths.values()) - {0}) > 1
        damaged = [
            (picture, feature)
            for picture, length in lengths.items()
            if (is_mixed or length == 0) and feature in self.features_of(picture)
        ]
        if damaged:
            self._damaged.update(damaged)
            self._write("DELETE FROM rows WHERE picture = ? AND feature = ?", damaged)
            warn(
                f"{len(damaged):,} rows in the cache {self._path} were damaged and are computed again",
                CacheWarning,
            )

    def save_rows(self, rows: Sequence[tuple[bytes, str, bytes]]) -> None:
        """Keep (picture, feature, packed row) triples: all of them, or none if the process dies meanwhile."""
        self._write("INSERT OR REPLACE INTO rows VALUES (?, ?, ?)", rows)
        self._damaged.difference_update((picture, feature) for picture, feature, _ in rows)

    def add_seconds(self, timings: Iterable[tuple[str, float, int]]) -> None:
        """Add (feature, seconds, number of pictures) to what was measured before."""
        self._note(
            "INSERT INTO features (feature, seconds, n_timed) VALUES (?, ?, ?) ON CONFLICT (feature) "
            "DO UPDATE SET seconds = seconds + excluded.seconds, n_timed = n_timed + excluded.n_timed",
            list(timings),
        )

    def seconds_a_picture(self, feature: str) -> float:
        """The mean of all that was measured, nan if nothing was."""
        # in a damaged file they may be anything; to `total` what is no number is 0
        found = self._read("SELECT total(seconds), total(n_timed) FROM features WHERE feature = ?", feature)
        n_timed = sum(count for _, count in found)
        return sum(seconds for seconds, _ in found) / n_timed if n_timed else float("nan")

    def known_file(self, path: bytes, state: str) -> bytes | None:
        """The content key of a file that was seen in the same state before."""
        found = self._read("SELECT picture FROM files WHERE path = ? AND state = ?", path, state)
        return found[0][0] if found and isinstance(found[0][0], bytes) else None

    def remember_files(self, files: Sequence[tuple[bytes, str, bytes]]) -> None:
        """Note (path, state, content key) of files."""
        self._note("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", files)

    def mark_used(self, features: Iterable[str], pictures: Iterable[bytes]) -> None:
        """Note that rows were asked for today, so that `prune` spares them."""
        today = int(time.time() // SECONDS_A_DAY)
        self._note(
            "INSERT INTO features (feature, used) VALUES (?, ?) "
            "ON CONFLICT (feature) DO UPDATE SET used = excluded.used",
            [(feature, today) for feature in features],
        )
        # what was asked for today already is not written again
        self._note(
            "INSERT INTO pictures VALUES (?, ?) ON CONFLICT (picture) DO UPDATE SET used = excluded.used "
            "WHERE used IS NOT excluded.used",
            ((picture, today) for picture in pictures),
        )

    def prune(self, *, days: float) -> None:
        """Drop rows whose picture or whose feature was not asked for in so many days, and give room back."""
        oldest = [(int(time.time() // SECONDS_A_DAY - days),)]
        self._write("DELETE FROM pictures WHERE used < ?", oldest)
        self._write("DELETE FROM features WHERE coalesce(used, 0) < ?", oldest)
        self._write(
            "DELETE FROM rows WHERE picture NOT IN (SELECT picture FROM pictures) "
            "OR feature NOT IN (SELECT feature FROM features)",
            [()],
        )
        self._write("DELETE FROM files WHERE picture NOT IN (SELECT picture FROM pictures)", [()])
        # it needs room itself; without, what became free is filled again later
        with suppress(sqlite3.OperationalError):
            self._databases[-1].execute("VACUUM")

    def leave_disk(self, error: Exception) -> None:
        """Warn, and keep in memory what is saved from now on."""
        warn(
            f"the cache {self._path} cannot be used ({error}); new features are kept in memory only. "
            "Make room or name another folder (TAGRANK_CACHE) to have them next time",
            CacheWarning,
        )
        self._path = None
        self._databases.append(_connect(":memory:"))

    def _open(self) -> None:
        if self._path is None:
            self._databases.append(_connect(":memory:"))
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._databases.append(_connect(self._path))
        except (OSError, sqlite3.DatabaseError) as error:
            self._replace(error)

    def _read(self, query: str, *values: Any) -> list[Any]:
        records = []
        for database in list(self._databases):
            try:
                records += database.execute(query, values).fetchall()
            except sqlite3.DatabaseError as error:
                self._drop(database, error)
                raise StoreDamage(str(error)) from error
        return records

    def _note(self, query: str, values: Iterable[tuple[Any, ...]]) -> None:
        """Write what can be done without, if it can be written."""
        with suppress(sqlite3.DatabaseError), self._databases[-1] as database:
            database.executemany(query, values)

    def _write(self, query: str, values: Sequence[tuple[Any, ...]]) -> None:
        try:
            with self._databases[-1] as database:
                database.executemany(query, values)
        except sqlite3.DatabaseError as error:
            if _is_damage(error):
                self._drop(self._databases[-1], error)
            else:
                self.leave_disk(error)
            with self._databases[-1] as database:
                database.executemany(query, values)

    def _drop(self, database: sqlite3.Connection, error: sqlite3.DatabaseError) -> None:
        """Go on without a database that cannot be read."""
        self._databases.remove(database)
        database.close()
        self._replace(error)

    def _replace(self, error: Exception) -> None:
        """Another database for one that failed: a new file if the old one is damaged, or memory."""
        if self._path is None or not _is_damage(error):
            return self.leave_disk(error)
        warn(f"{self._path} is damaged ({error}); a new one is started", CacheWarning)
        try:
            for leftover in (self._path, self._path.with_name(f"{self._path.name}-journal")):
                leftover.unlink(missing_ok=True)
            self._databases.append(_connect(self._path))
        except (OSError, sqlite3.DatabaseError) as second_error:
            self.leave_disk(second_error)


def _connect(path: Path | str) -> sqlite3.Connection:
    database = sqlite3.connect(os.fspath(path), timeout=_WAIT_SECONDS)
    try:
        database.executescript(_SCHEMA)
    except BaseException:
        database.close()
        raise
    return database


def _is_damage(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _DAMAGED


@dataclass(frozen=True, slots=True)
class KeyedPicture:
    """A picture to describe, with the key of its content.

    Attributes
    ----------
    picture : path, or uint8 array of shape (height, width, 3)
    key : 16 bytes that stand for its content
    state : size and time of the file when its content was looked at; None for an array
    """

    picture: str | np.ndarray
    key: bytes
    state: str | None = None


def identify_pictures(
    pictures: Sequence[PictureLike], store: RowStore, progress: Progress | None = None
) -> list[KeyedPicture | OSError]:
    """Every picture with the key of its content, or the error of looking at it.

    Files that have not changed since the store saw them are not read.
    """
    sources: list[KeyedPicture | OSError] = []
    new_files: list[tuple[bytes, str, bytes]] = []
    for number, picture in enumerate(pictures, 1):
        try:
            sources.append(_identify(picture, store, new_files))
        except OSError as error:
            sources.append(error)
        if len(new_files) >= _BATCH or number == len(pictures):
            store.remember_files(new_files)
            new_files.clear()
        if progress is not None:
            progress(number, len(pictures), "looking at pictures")
    return sources


def file_state(path: str) -> str:
    """Size, time and number of a file in a word; OSError unless it is a plain file of a picture's size."""
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode):
        raise OSError("not a file")
    if found.st_size > MAX_FILE_BYTES:
        # one of nothing but holes takes no room on the disk, and hours to read
        raise OSError(f"a file of {found.st_size:,} bytes; at most {MAX_FILE_BYTES:,} are read")
    return f"{found.st_size}:{found.st_mtime_ns}:{found.st_ino}"


def content_key(picture: PictureLike) -> bytes:
    """16 bytes that stand for the content of a file or an array; OSError unless it is a plain file."""
    if isinstance(picture, np.ndarray):
        digest = hashlib.blake2b(f"{picture.dtype}{picture.shape}".encode(), digest_size=16)
        digest.update(np.ascontiguousarray(picture).tobytes())
        return digest.digest()
    file_state(os.fsdecode(picture))
    with open(picture, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).digest()


def _identify(
    picture: PictureLike, store: RowStore, new_files: list[tuple[bytes, str, bytes]]
) -> KeyedPicture:
    if isinstance(picture, np.ndarray):
        return KeyedPicture(np.ascontiguousarray(picture), content_key(picture))
    path = os.path.abspath(os.fsdecode(picture))
    state = file_state(path)
    name = os.fsencode(path)
    key = store.known_file(name, state)
    if key is None:
        key = content_key(path)
        if os.stat(path).st_mtime_ns < time.time_ns() - _SETTLED_NS:
            new_files.append((name, state, key))
    return KeyedPicture(path, key, state)

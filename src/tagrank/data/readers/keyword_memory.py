"""Keywords of files that were read before: a folder that is looked at again costs its new files only.

They are kept in one SQLite file in the cache folder of the user, never beside the pictures, by the path of a
file and its size, time and number. What cannot be read from it or written to it is read from the files again.
"""

import json
import os
import sqlite3
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from tagrank.data.readers.xmp import Keywords, MarkedKeywords
from tagrank.data.user_folders import cache_folder

# raised whenever the same file gives other keywords
FILE_NAME = "keywords-1.sqlite"
# a file written so recently could change again without a change of its time stamp
_SETTLED_NS = 2_000_000_000
_BATCH = 512
_WAIT_SECONDS = 10.0
_SCHEMA = """
PRAGMA trusted_schema = OFF;
CREATE TABLE IF NOT EXISTS keywords (path BLOB PRIMARY KEY, state TEXT, words TEXT) WITHOUT ROWID;
"""


class KeywordMemory:
    """The keywords of files by path and state.

    Parameters
    ----------
    folder : where they are kept; None remembers nothing
    """

    def __init__(self, folder: Path | None) -> None:
        self._path = None if folder is None else folder / FILE_NAME
        self._new: list[tuple[bytes, str, str]] = []
        self._database = None if self._path is None else self._open(self._path)

    @classmethod
    def of_cache(cls, cache: bool | str | os.PathLike) -> Self:
        """For a `cache` as everywhere: the user's folder, another one, or none."""
        if cache is False:
            return cls(None)
        return cls(cache_folder() if cache is True else Path(cache))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._save()
        if self._database is not None:
            self._database.close()
            self._database = None

    def read(self, path: str, reader: Callable[[str], MarkedKeywords]) -> MarkedKeywords:
        """What `reader` makes of a file, or made of it when it was as it is now."""
        state = None if self._database is None else _state(path)
        if state is None:
            return reader(path)
        name = os.fsencode(os.path.abspath(path))
        if (known := self._known(name, state)) is not None:
            return known
        keywords = reader(path)
        if int(state.split(":")[1]) < time.time_ns() - _SETTLED_NS:
            self._new.append((name, state, json.dumps([*keywords.all, *keywords.machine])))
            if len(self._new) >= _BATCH:
                self._save()
        return keywords

    def _known(self, name: bytes, state: str) -> MarkedKeywords | None:
        rows = self._execute("SELECT words FROM keywords WHERE path = ? AND state = ?", (name, state))
        try:
            lists = [tuple(words) for words in json.loads(rows[0][0])]
        except (IndexError, ValueError, TypeError, RecursionError):
            return None
        if len(lists) != 4 or not all(isinstance(word, str) for words in lists for word in words):
            return None
        return MarkedKeywords(Keywords(*lists[:2]), Keywords(*lists[2:]))

    def _save(self) -> None:
        new, self._new = self._new, []
        if new and self._database is not None:
            # a full disk, or another process that writes for long: they are read again next time
            with suppress(sqlite3.Error), self._database:
                self._database.executemany("INSERT OR REPLACE INTO keywords VALUES (?, ?, ?)", new)

    def _execute(self, query: str, values: tuple[Any, ...]) -> list[Any]:
        if self._database is None:
            return []
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.Error:
            self._database.close()
            self._database = None if self._path is None else self._anew(self._path)
            return []

    def _open(self, path: Path) -> sqlite3.Connection | None:
        database = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            database = sqlite3.connect(path, timeout=_WAIT_SECONDS)
            database.executescript(_SCHEMA)
        except sqlite3.OperationalError:
            return None
        except sqlite3.DatabaseError:
            if database is not None:
                database.close()
            return self._anew(path)
        except OSError:
            return None
        return database

    def _anew(self, path: Path) -> sqlite3.Connection | None:
        """An empty file in the place of one that is damaged; None where that cannot be."""
        try:
            for leftover in (path, path.with_name(f"{path.name}-journal")):
                leftover.unlink(missing_ok=True)
            database = sqlite3.connect(path, timeout=_WAIT_SECONDS)
            database.executescript(_SCHEMA)
        except (OSError, sqlite3.Error):
            return None
        return database


def _state(path: str) -> str | None:
    """Size, time and number of a plain file in a word; None for anything else."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return f"{found.st_size}:{found.st_mtime_ns}:{found.st_ino}" if stat.S_ISREG(found.st_mode) else None

"""What this user keeps about an archive, outside of its folder, which may have come from anybody.

Each archive that the user opened has a folder of a random name below the state of the user. It is found by
the real path of the database together with the word by which the database calls itself. That word alone opens
nothing: whoever had a copy of the archive knows it. Where a known word turns up at another path, and nothing
is left at the old one, people are asked whether the archive moved.
"""

import json
import os
import re
import secrets
import shutil
import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tagrank.data.user_folders import state_folder
from tagrank.files import FileError, atomic_write

Run = Callable[[Callable[[sqlite3.Connection], Any]], Any]
# the setting with the word by which an archive calls itself
IDENTITY = "identity"
_WORD = re.compile("[0-9a-f]{16,64}")
_FACTS, _ADDRESS = "archive.json", "address.json"
_LONGEST = 2**16


class Settings:
    """Texts by key; `read` and `write` run a function with a connection."""

    def __init__(self, read: Run, write: Run) -> None:
        self._read, self._write = read, write

    def get(self, key: str) -> str | None:
        """The text of `key`, None if there is none."""
        query = "SELECT value FROM settings WHERE key = ?"
        row = self._read(lambda connection: connection.execute(query, (key,)).fetchone())
        return None if row is None else str(row[0])

    def set(self, key: str, value: str | None) -> None:
        """Keep a text; None forgets it."""
        if value is None:
            self._write(lambda connection: _execute(connection, "DELETE FROM settings WHERE key = ?", key))
        else:
            change = "INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)"
            self._write(lambda connection: _execute(connection, change, key, value))


def _execute(connection: sqlite3.Connection, change: str, *values: Any) -> None:
    connection.execute(change, values)


class _KnownArchive(NamedTuple):
    """A folder of the user, the real path of the database that it is about, and the word in that."""

    folder: Path
    database: str
    identity: str


class OwnState:
    """What this user keeps about one archive: models, password and sign-ins.

    Parameters
    ----------
    database : the file of the archive
    settings : of that file, with the word by which it calls itself
    """

    def __init__(self, database: Path, settings: Settings) -> None:
        self._database, self._settings = database, settings
        self._entry: _KnownArchive | None = None

    @property
    def is_known(self) -> bool:
        """Whether this user opened the archive before, at this place, or made it."""
        word = self._word()
        return self._entry is not None or (word is not None and is_known(self._database, word))

    @property
    def folder(self) -> Path:
        """Where it is kept; from now on the archive `is_known`."""
        return self.remember().folder

    def remember(self) -> _KnownArchive:
        """Note that this user made the archive, or opened it knowingly."""
        if self._entry is None:
            self._entry = _find(self._database, self._identity()) or self._make()
        return self._entry

    def moved_from(self) -> Path | None:
        """Where an archive of the same word lay, which is gone from there; None if there is none."""
        moved = None if self.is_known else self._moved()
        return None if moved is None else Path(moved.database)

    def move(self) -> None:
        """Take over what is kept about the archive at `moved_from`; ask the user first."""
        if (moved := self._moved()) is not None:
            self._entry = _write(moved._replace(database=os.path.realpath(self._database)))

    def forget(self) -> None:
        """Remove what is kept about an archive that will be gone at once."""
        if self._entry is not None:
            shutil.rmtree(self._entry.folder)
            self._entry = None

    def write_address(self, address: str) -> None:
        """Note where the desk of the archive listens."""
        with atomic_write(self.folder / _ADDRESS, text=True) as file:
            json.dump({"address": address, "machine": socket.gethostname()}, file)

    def forget_address(self) -> None:
        """The desk of the archive is closed."""
        if self._entry is not None:
            (self._entry.folder / _ADDRESS).unlink(missing_ok=True)

    def _word(self) -> str | None:
        word = self._settings.get(IDENTITY)
        return word if word is not None and _WORD.fullmatch(word) else None

    def _identity(self) -> str:
        """The word by which the archive calls itself; whoever made it knows it, too."""
        if (word := self._word()) is None:
            word = secrets.token_hex(16)
            self._settings.set(IDENTITY, word)
        return word

    def _make(self) -> _KnownArchive:
        folder = state_folder("archives", secrets.token_hex(16))
        return _write(_KnownArchive(folder, os.path.realpath(self._database), self._identity()))

    def _moved(self) -> _KnownArchive | None:
        word, place = self._word(), os.path.realpath(self._database)
        return next(
            (
                entry
                for entry in _entries()
                if entry.identity == word and entry.database != place and not os.path.lexists(entry.database)
            ),
            None,
        )


def is_known(database: Path, word: str) -> bool:
    """Whether this user opened an archive that calls itself so, at this place."""
    return _find(database, word) is not None


def address_of(database: Path) -> str:
    """Where a desk of this user with that database listens on this machine; "" if none is known."""
    place, machine = os.path.realpath(database), socket.gethostname()
    addresses = (_read(entry.folder / _ADDRESS) for entry in _entries() if entry.database == place)
    return next(
        (one["address"] for one in addresses if one.get("machine") == machine and one.get("address")), ""
    )


def _find(database: Path, word: str) -> _KnownArchive | None:
    entry_key = os.path.realpath(database), word
    return next((entry for entry in _entries() if (entry.database, entry.identity) == entry_key), None)


def _entries() -> Iterator[_KnownArchive]:
    try:
        folder = state_folder("archives")
    except (FileError, OSError):
        # where the user can keep nothing, nothing is known
        return
    for name in sorted(os.listdir(folder)):
        facts = _read(folder / name / _FACTS)
        if facts.keys() >= {"database", "identity"}:
            yield _KnownArchive(folder / name, facts["database"], facts["identity"])


def _write(entry: _KnownArchive) -> _KnownArchive:
    with atomic_write(entry.folder / _FACTS, text=True) as file:
        json.dump({"database": entry.database, "identity": entry.identity}, file)
    return entry


def _read(path: Path) -> dict[str, str]:
    """The texts of a JSON file; nothing where it is missing or damaged."""
    with suppress(OSError, ValueError, RecursionError):
        with open(path, "rb") as file:
            facts = json.loads(file.read(_LONGEST))
        if isinstance(facts, dict) and all(isinstance(value, str) for value in facts.values()):
            return facts
    return {}

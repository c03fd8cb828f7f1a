"""What a server keeps beside the decisions: texts by key, and who is signed in."""

import sqlite3
import time
from collections.abc import Callable
from typing import Any

Run = Callable[[Callable[[sqlite3.Connection], Any]], Any]


class Settings:
    """Texts by key; `read` and `write` run a function with a connection."""

    def __init__(self, read: Run, write: Run) -> None:
        self._read, self._write = read, write

    def get(self, key: str) -> str | None:
        """The text of `key`, None if there is none."""
        query = "SELECT value FROM settings WHERE key = ?"
        found = self._read(lambda connection: connection.execute(query, (key,)).fetchone())
        return None if found is None else str(found[0])

    def set(self, key: str, value: str | None) -> None:
        """Keep a text; None forgets it."""
        if value is None:
            self._write(lambda connection: _execute(connection, "DELETE FROM settings WHERE key = ?", key))
        else:
            change = "INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)"
            self._write(lambda connection: _execute(connection, change, key, value))


class SessionTable:
    """Sessions by the hash of their word: a person, and when it ends, in seconds since 1970."""

    def __init__(self, read: Run, write: Run) -> None:
        self._read, self._write = read, write

    def add_session(self, digest: str, person: str, expires: float) -> None:
        """Keep one, and forget those that are over."""
        change = "INSERT OR REPLACE INTO sessions (hash, person, expires) VALUES (?, ?, ?)"

        def add(connection: sqlite3.Connection) -> None:
            _execute(connection, "DELETE FROM sessions WHERE expires <= ?", int(time.time()))
            _execute(connection, change, digest, person, int(expires))

        self._write(add)

    def session_person(self, digest: str) -> str | None:
        """Whose it is, None if there is none or it is over."""
        query = "SELECT person FROM sessions WHERE hash = ? AND expires > ?"
        found = self._read(lambda connection: connection.execute(query, (digest, time.time())).fetchone())
        return None if found is None else str(found[0])

    def end_session(self, digest: str) -> None:
        """Forget one."""
        self._write(lambda connection: _execute(connection, "DELETE FROM sessions WHERE hash = ?", digest))


def _execute(connection: sqlite3.Connection, change: str, *values: Any) -> None:
    connection.execute(change, values)

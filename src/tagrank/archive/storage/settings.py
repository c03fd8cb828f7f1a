"""What an archive keeps beside the decisions: texts by key."""

import sqlite3
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


def _execute(connection: sqlite3.Connection, change: str, *values: Any) -> None:
    connection.execute(change, values)

"""Which pictures a filter means, in SQL. What people write is only ever bound as a value."""

import re
import sqlite3
from typing import Any

from tagrank.archive.records import ABSENT, PRESENT, UNKNOWN, PictureFilter
from tagrank.errors import ArgumentError

_CELL = "SELECT 1 FROM cells WHERE picture = pictures.id AND tag = (SELECT id FROM tags WHERE name = ?)"
_STATE = "coalesce(answer, listed)"
_OF_A_TAG = {
    PRESENT: f"EXISTS ({_CELL} AND {_STATE} = 1)",
    ABSENT: f"EXISTS ({_CELL} AND {_STATE} = -1)",
    UNKNOWN: f"NOT EXISTS ({_CELL} AND {_STATE} <> 0)",
}
_OF_A_PICTURE = {
    "tagged": "n_present > 0",
    "untagged": "n_present = 0",
    "reviewed": "is_reviewed",
    "unreviewed": "NOT is_reviewed",
    "changed": "is_changed",
}
_TEXT = (
    "(pictures.name LIKE ? ESCAPE '!' OR EXISTS (SELECT 1 FROM cells JOIN tags ON tags.id = tag "
    f"WHERE picture = pictures.id AND {_STATE} = 1 AND tags.name LIKE ? ESCAPE '!'))"
)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def select_pictures(
    connection: sqlite3.Connection, chosen: PictureFilter, after: int | None, limit: int | None
) -> list[int]:
    """Their numbers, ascending: those above `after`, `limit` of them."""
    condition, values = _condition(chosen)
    rows = connection.execute(
        f"SELECT id FROM pictures WHERE {condition} AND id > ? ORDER BY id LIMIT ?",
        (*values, -1 if after is None else after, -1 if limit is None else limit),
    )
    return [number for (number,) in rows]


def count_pictures(connection: sqlite3.Connection, chosen: PictureFilter) -> int:
    """How many there are."""
    condition, values = _condition(chosen)
    return int(connection.execute(f"SELECT count(*) FROM pictures WHERE {condition}", values).fetchone()[0])


def _condition(chosen: PictureFilter) -> tuple[str, list[Any]]:
    conditions, values = ["NOT is_gone"], list[Any]()

    def add(condition: str, *bound: str) -> None:
        conditions.append(condition)
        values.extend(bound)

    if chosen.tag is not None:
        add(_OF_A_TAG[chosen.state if chosen.state in _OF_A_TAG else PRESENT], chosen.tag)
    if chosen.state in _OF_A_PICTURE:
        add(_OF_A_PICTURE[chosen.state])
    elif chosen.state is not None and (chosen.tag is None or chosen.state not in _OF_A_TAG):
        words = ", ".join([*_OF_A_PICTURE, *(f"{word} (of a tag)" for word in _OF_A_TAG)])
        raise ArgumentError(f"state is one of {words}, got {chosen.state[:40]!r}")
    if chosen.folder:
        # "0" is the character after "/"
        add(
            "(folder = ? OR folder >= ? AND folder < ?)",
            chosen.folder,
            f"{chosen.folder}/",
            f"{chosen.folder}0",
        )
    if chosen.start is not None:
        add("date >= ?", _checked_day(chosen.start))
    if chosen.end is not None:
        add("date <= ?", _checked_day(chosen.end))
    if chosen.text:
        pattern = "%" + re.sub("([!%_])", r"!\1", chosen.text) + "%"
        add(_TEXT, pattern, pattern)
    return " AND ".join(conditions), values


def _checked_day(day: str) -> str:
    if not _DAY.fullmatch(day):
        raise ArgumentError(f"a day is written as 2024-05-01, got {day[:40]!r}")
    return day

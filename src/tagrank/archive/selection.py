"""Which pictures a filter means, in SQL. What people write is only ever bound as a value."""

import json
import re
import sqlite3
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tagrank.archive.records import ABSENT, PRESENT, STATES, UNKNOWN, PictureFilter
from tagrank.archive.tag_columns import Columns, read_columns, read_vocabulary
from tagrank.archive.tag_states import read_states
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
_AMONG = "pictures.id IN (SELECT value FROM json_each(?))"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class _Derived(NamedTuple):
    """A filter whose parts about tags are numbers of pictures already, as states follow from others.

    Attributes
    ----------
    rest : without tags and states of them
    ids : the pictures must be in each of these arrays
    named : pictures that have a tag with the wanted text in its name
    """

    rest: PictureFilter
    ids: list[np.ndarray]
    named: np.ndarray


def _meant(connection: sqlite3.Connection, chosen: PictureFilter) -> PictureFilter | _Derived:
    """The filter, with its tags looked up where these have synonyms, parents or deleted ones among them."""
    asks_states = chosen.tag is not None or chosen.text or chosen.state in ("tagged", "untagged")
    if not asks_states or read_vocabulary(connection).is_plain:
        return chosen
    columns, ids, rest = read_columns(connection), [], chosen
    if chosen.tag is not None:
        state = chosen.state if chosen.state in _OF_A_TAG else PRESENT
        ids.append(_in_state(connection, columns, chosen.tag, state))
        rest = replace(rest, tag=None, state=None if chosen.state in _OF_A_TAG else chosen.state)
    if chosen.state in ("tagged", "untagged"):
        tagged = read_states(connection, columns=columns)
        numbers = np.unique(tagged.pictures[tagged.states == 1])
        ids.append(numbers if chosen.state == "tagged" else _others(connection, numbers))
        rest = replace(rest, state=None)
    return _Derived(rest, ids, _named(connection, columns, chosen.text or ""))


def _named(connection: sqlite3.Connection, columns: Columns, text: str) -> np.ndarray:
    """The pictures that have a tag with a text in its name."""
    chosen = [j for j, name in enumerate(columns.names) if text and text.casefold() in name.casefold()]
    if not chosen:
        return np.zeros(0, dtype=np.int64)
    cells = read_states(connection, columns=columns, only=chosen)
    return np.unique(cells.pictures[(cells.states == 1) & np.isin(cells.columns, chosen)])


def _in_state(connection: sqlite3.Connection, columns: Columns, word: str, state: str) -> np.ndarray:
    tag = columns.vocabulary.name(word)
    if tag not in columns.names:
        return _others(connection, np.zeros(0)) if state == UNKNOWN else np.zeros(0, dtype=np.int64)
    column = columns.names.index(tag)
    cells = read_states(connection, columns=columns, only=[column])
    cells_of_tag = cells.columns == column
    if state == UNKNOWN:
        return _others(connection, cells.pictures[cells_of_tag & (cells.states != 0)])
    return cells.pictures[cells_of_tag & (cells.states == STATES[state])]


def _others(connection: sqlite3.Connection, numbers: np.ndarray) -> np.ndarray:
    """The pictures but for these."""
    there = [number for (number,) in connection.execute("SELECT id FROM pictures WHERE NOT is_gone")]
    return np.setdiff1d(np.array(there, dtype=np.int64), numbers)


def select_pictures(
    connection: sqlite3.Connection, chosen: PictureFilter, after: int | None, limit: int | None
) -> list[int]:
    """Their numbers, ascending: those above `after`, `limit` of them."""
    condition, values = _condition(_meant(connection, chosen))
    rows = connection.execute(
        f"SELECT id FROM pictures WHERE {condition} AND id > ? ORDER BY id LIMIT ?",
        (*values, -1 if after is None else after, -1 if limit is None else limit),
    )
    return [number for (number,) in rows]


def count_pictures(connection: sqlite3.Connection, chosen: PictureFilter) -> int:
    """How many there are."""
    condition, values = _condition(_meant(connection, chosen))
    return int(connection.execute(f"SELECT count(*) FROM pictures WHERE {condition}", values).fetchone()[0])


def _condition(filter: PictureFilter | _Derived) -> tuple[str, list[Any]]:
    conditions, values = ["NOT is_gone"], list[Any]()
    chosen = filter if isinstance(filter, PictureFilter) else filter.rest

    def add(condition: str, *bound: str) -> None:
        conditions.append(condition)
        values.extend(bound)

    for ids in filter.ids if isinstance(filter, _Derived) else ():
        add(_AMONG, json.dumps(ids.tolist()))
    if chosen.tag is not None:
        add(_OF_A_TAG[chosen.state if chosen.state in _OF_A_TAG else PRESENT], chosen.tag)
    if chosen.state in _OF_A_PICTURE:
        add(_OF_A_PICTURE[chosen.state])
    elif chosen.state is not None and (chosen.tag is None or chosen.state not in _OF_A_TAG):
        words = ", ".join([*_OF_A_PICTURE, *(f"{word} (of a tag)" for word in _OF_A_TAG)])
        raise ArgumentError(f"state must be one of {words}, got {chosen.state[:40]!r}")
    if chosen.folder:
        # "0" is the character after "/"
        add(
            "(folder = ? OR folder >= ? AND folder < ?)",
            chosen.folder,
            f"{chosen.folder}/",
            f"{chosen.folder}0",
        )
    if chosen.start is not None or chosen.end is not None:
        add("date <> ''")  # a picture without a date is on neither side of one
    if chosen.start is not None:
        add("date >= ?", _checked_day(chosen.start))
    if chosen.end is not None:
        add("date <= ?", _checked_day(chosen.end))
    if chosen.text:
        pattern = _pattern(chosen.text)
        if isinstance(filter, _Derived):
            add(f"(pictures.name LIKE ? ESCAPE '!' OR {_AMONG})", pattern, json.dumps(filter.named.tolist()))
        else:
            add(_TEXT, pattern, pattern)
    return " AND ".join(conditions), values


def _pattern(text: str) -> str:
    return "%" + re.sub("([!%_])", r"!\1", text) + "%"


def _checked_day(day: str) -> str:
    if not _DAY.fullmatch(day):
        raise ArgumentError(f"expected a day such as 2024-05-01, got {day[:40]!r}")
    return day

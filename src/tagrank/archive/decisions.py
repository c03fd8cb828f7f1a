"""Answers are recorded, taken back and listed. Each function works inside a transaction of the writer.

A decision is never changed. To take a batch back is a batch of its own that says which one it `undoes`; its
records hold the answers that stand again.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from tagrank.archive.names import Request, checked_tag
from tagrank.archive.pictures import count_present
from tagrank.archive.records import (
    ANSWER_WORDS,
    ANSWERS,
    STATE_WORDS,
    Answer,
    Batch,
    Cell,
    Decision,
    Undone,
)
from tagrank.errors import ArgumentError

_STATE = "coalesce(answer, listed, 0)"
# of a batch that neither was taken back nor takes another back
_STANDS = "undoes IS NULL AND NOT EXISTS (SELECT 1 FROM batches AS other WHERE other.undoes = batches.id)"


def record_answers(connection: sqlite3.Connection, answers: Sequence[Answer], request: Request) -> Batch:
    """A batch with these answers; that of the same request where there is one."""
    if (earlier := _earlier(connection, request, undoes=False)) is not None:
        return Batch(earlier, last_decision(connection), is_new=False)
    _check_pictures(connection, {*(answer.picture for answer in answers), *request.reviewed})
    batch = _add_batch(connection, request)
    cells = [
        (answer.picture, tag_number(connection, answer.tag), ANSWERS[answer.answer]) for answer in answers
    ]
    if len({cell[:2] for cell in cells}) < len(cells):
        raise ArgumentError("a batch may hold one answer about a tag of a picture, got several")
    for picture, tag, answer in cells:
        _decide_cell(connection, batch, picture, tag, answer)
    connection.executemany(
        "INSERT INTO reviews (batch, picture) VALUES (?, ?)",
        [(batch, picture) for picture in dict.fromkeys(request.reviewed)],
    )
    _refresh_pictures(connection, {*(picture for picture, _, _ in cells), *request.reviewed})
    return Batch(batch, last_decision(connection), _cells(connection, cells))


def _decide_cell(connection: sqlite3.Connection, batch: int, picture: int, tag: int, answer: int) -> None:
    before = _state(connection, picture, tag)
    decision = connection.execute(
        "INSERT INTO decisions (batch, picture, tag, answer, before) VALUES (?, ?, ?, ?, ?)",
        (batch, picture, tag, answer, before),
    ).lastrowid
    connection.execute(
        "INSERT INTO cells (picture, tag, answer, decision) VALUES (?, ?, ?, ?) ON CONFLICT (picture, tag) "
        "DO UPDATE SET answer = excluded.answer, decision = excluded.decision",
        (picture, tag, answer, decision),
    )


def take_back(connection: sqlite3.Connection, request: Request, batch: int | None) -> Undone:
    """Take a batch back: the given one, or the last of that person which stands."""
    if (earlier := _earlier(connection, request, undoes=True)) is not None:
        return _undone(connection, earlier, is_new=False)
    undone = _last_batch(connection, request.who) if batch is None else _standing(connection, batch)
    inverse = _add_batch(connection, request, undoes=undone)
    cells = connection.execute(
        "SELECT decisions.picture, decisions.tag, cells.decision = decisions.id FROM decisions "
        "LEFT JOIN cells USING (picture, tag) WHERE batch = ? ORDER BY decisions.id",
        (undone,),
    ).fetchall()
    for picture, tag, is_latest in cells:
        if is_latest:
            _restore_cell(connection, inverse, picture, tag)
    reviewed = connection.execute("SELECT picture FROM reviews WHERE batch = ?", (undone,)).fetchall()
    _refresh_pictures(connection, {picture for picture, *_ in (*cells, *reviewed)})
    return _undone(connection, inverse)


def _restore_cell(connection: sqlite3.Connection, inverse: int, picture: int, tag: int) -> None:
    """Let the latest decision that stands hold again, or what the folder lists."""
    before = _state(connection, picture, tag)
    decision, answer = connection.execute(
        "SELECT max(decisions.id), answer FROM decisions JOIN batches ON batches.id = batch "
        f"WHERE picture = ? AND tag = ? AND {_STANDS}",
        (picture, tag),
    ).fetchone()
    connection.execute(
        "INSERT INTO decisions (batch, picture, tag, answer, before) VALUES (?, ?, ?, ?, ?)",
        (inverse, picture, tag, answer, before),
    )
    connection.execute(
        "UPDATE cells SET answer = ?, decision = ? WHERE picture = ? AND tag = ?",
        (answer, decision, picture, tag),
    )
    connection.execute(
        "DELETE FROM cells WHERE picture = ? AND tag = ? AND answer IS NULL AND listed IS NULL",
        (picture, tag),
    )


def _undone(connection: sqlite3.Connection, inverse: int, *, is_new: bool = True) -> Undone:
    """What the batch `inverse` took back."""
    (undone,) = connection.execute("SELECT undoes FROM batches WHERE id = ?", (inverse,)).fetchone()
    cells = "SELECT picture, tag, 0 FROM decisions WHERE batch = ? ORDER BY id"
    restored = connection.execute(cells, (inverse,)).fetchall()
    kept = [cell for cell in connection.execute(cells, (undone,)).fetchall() if cell not in set(restored)]
    reviewed = connection.execute("SELECT picture FROM reviews WHERE batch = ?", (undone,)).fetchall()
    return Undone(
        undone,
        _cells(connection, restored),
        _cells(connection, kept),
        tuple(picture for (picture,) in reviewed),
        is_new,
    )


def _last_batch(connection: sqlite3.Connection, who: str) -> int:
    query = f"SELECT id FROM batches WHERE who = ? AND {_STANDS} ORDER BY id DESC LIMIT 1"
    found = connection.execute(query, (who,)).fetchone()
    if found is None:
        raise LookupError(f"there is nothing that {who} could take back")
    return int(found[0])


def _standing(connection: sqlite3.Connection, batch: int) -> int:
    found = connection.execute(f"SELECT 1 FROM batches WHERE id = ? AND {_STANDS}", (batch,)).fetchone()
    if found is None:
        raise LookupError(f"there is no batch {batch} that could be taken back")
    return batch


def _earlier(connection: sqlite3.Connection, request: Request, *, undoes: bool) -> int | None:
    """The batch that answered this request before."""
    found = connection.execute(
        "SELECT id, undoes IS NOT NULL, who FROM batches WHERE request = ?", (request.word,)
    ).fetchone()
    if found is None:
        return None
    if found[1:] != (undoes, request.who):
        raise ArgumentError(f"request={request.word!r} was used before for something else; make a new word")
    return int(found[0])


def _add_batch(connection: sqlite3.Connection, request: Request, undoes: int | None = None) -> int:
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    added = connection.execute(
        "INSERT INTO batches (request, who, at, queue, model, undoes) VALUES (?, ?, ?, ?, ?, ?)",
        (request.word, request.who, at, request.queue, request.model, undoes),
    )
    return int(added.lastrowid or 0)


def tag_number(connection: sqlite3.Connection, name: str) -> int:
    """The number of a tag, which is made if there is none of that name."""
    found = connection.execute("SELECT id FROM tags WHERE name = ?", (name,)).fetchone()
    return listed_tag_number(connection, checked_tag(name)) if found is None else int(found[0])


def listed_tag_number(connection: sqlite3.Connection, name: str) -> int:
    """The number of a tag that the folder lists; its name is taken as it is."""
    connection.execute("INSERT INTO tags (name) VALUES (?) ON CONFLICT DO NOTHING", (name,))
    return int(connection.execute("SELECT id FROM tags WHERE name = ?", (name,)).fetchone()[0])


def _check_pictures(connection: sqlite3.Connection, pictures: Iterable[int]) -> None:
    for picture in pictures:
        if connection.execute("SELECT 1 FROM pictures WHERE id = ?", (picture,)).fetchone() is None:
            raise LookupError(f"there is no picture {picture}")


def _refresh_pictures(connection: sqlite3.Connection, pictures: Iterable[int]) -> None:
    """Note anew how many tags are present, and whether they are reviewed."""
    pictures = list(pictures)
    count_present(connection, pictures)
    connection.executemany(
        "UPDATE pictures SET is_reviewed = EXISTS (SELECT 1 FROM reviews WHERE picture = pictures.id "
        "AND NOT EXISTS (SELECT 1 FROM batches WHERE undoes = reviews.batch)) WHERE id = ?",
        [(picture,) for picture in pictures],
    )


def _state(connection: sqlite3.Connection, picture: int, tag: int) -> int:
    found = connection.execute(
        f"SELECT {_STATE} FROM cells WHERE picture = ? AND tag = ?", (picture, tag)
    ).fetchone()
    return 0 if found is None else int(found[0])


def _cells(connection: sqlite3.Connection, cells: Iterable[Sequence[int]]) -> tuple[Cell, ...]:
    """The cells as they are now."""
    answer = []
    for picture, tag, *_ in cells:
        name, state, is_decided = connection.execute(
            f"SELECT name, {_STATE}, answer IS NOT NULL FROM tags LEFT JOIN cells ON tag = tags.id "
            "AND picture = ? WHERE tags.id = ?",
            (picture, tag),
        ).fetchone()
        answer.append(Cell(picture, name, STATE_WORDS[state], bool(is_decided)))
    return tuple(answer)


def last_decision(connection: sqlite3.Connection) -> int:
    """The number of the last record; it grows with every decision and every one that is taken back."""
    found = connection.execute("SELECT max(id) FROM decisions").fetchone()[0]
    return int(found or 0)


def count_decisions(connection: sqlite3.Connection, since: int) -> int:
    """How many decisions with a larger number than `since` stand."""
    query = "SELECT count(*) FROM decisions JOIN batches ON batches.id = batch WHERE decisions.id > ?"
    return int(connection.execute(f"{query} AND {_STANDS}", (since,)).fetchone()[0])


def count_people(connection: sqlite3.Connection) -> dict[str, int]:
    """How many decisions that stand each person made, most first."""
    query = "SELECT who, count(*) FROM decisions JOIN batches ON batches.id = batch"
    return dict(connection.execute(f"{query} WHERE {_STANDS} GROUP BY who ORDER BY count(*) DESC, who"))


def list_decisions(
    connection: sqlite3.Connection, *, limit: int, before: int | None, who: str | None
) -> list[Decision]:
    """The latest decisions first."""
    found = connection.execute(
        "SELECT decisions.id, batch, picture, pictures.name, tags.name, answer, before, batches.who, "
        "batches.at, batches.queue, batches.model, other.who FROM decisions "
        "JOIN batches ON batches.id = batch JOIN pictures ON pictures.id = picture "
        "JOIN tags ON tags.id = tag LEFT JOIN batches AS other ON other.undoes = batch "
        "WHERE batches.undoes IS NULL AND (?1 IS NULL OR decisions.id < ?1) "
        "AND (?2 IS NULL OR batches.who = ?2) ORDER BY decisions.id DESC LIMIT ?3",
        (before, who, limit),
    )
    return list(map(_decision, found))


def _decision(row: tuple[Any, ...]) -> Decision:
    number, batch, picture, name, tag, answer, before, *rest = row
    return Decision(number, batch, picture, name, tag, ANSWER_WORDS[answer], STATE_WORDS[before], *rest)

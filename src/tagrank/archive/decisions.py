"""Answers are recorded, taken back and listed. Each function works inside a transaction of the writer.

A decision is never changed. To take a batch back is a batch of its own that says which one it `undoes`; its
records hold the answers that stand again.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from tagrank.archive.names import Request, checked_tag
from tagrank.archive.pictures import count_present
from tagrank.archive.records import (
    ANSWER_WORDS,
    ANSWERS,
    STATE_WORDS,
    STATES,
    Answer,
    Batch,
    Cell,
    Decision,
    Step,
    Undone,
)
from tagrank.archive.tag_columns import STANDS, read_columns, read_vocabulary
from tagrank.archive.tag_states import implied_cells
from tagrank.data.vocabulary import TagChange, TagVocabulary
from tagrank.errors import ArgumentError

_STATE = "coalesce(answer, listed, 0)"
_CHANGES = "SELECT kind, tag, other FROM tag_changes WHERE batch = ? ORDER BY id"
_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"


def record_answers(connection: sqlite3.Connection, answers: Sequence[Answer], request: Request) -> Batch:
    """A batch with these answers; that of the same request where there is one."""
    if (earlier := earlier_batch(connection, request, undoes=False)) is not None:
        return Batch(earlier, last_decision(connection), is_new=False)
    _check_pictures(connection, {*(answer.picture for answer in answers), *request.reviewed})
    batch, vocabulary = add_batch(connection, request), read_vocabulary(connection)
    cells = [
        (answer.picture, tag_number(connection, answer.tag, vocabulary), ANSWERS[answer.answer])
        for answer in answers
    ]
    if len({cell[:2] for cell in cells}) < len(cells):
        raise ArgumentError("expected one decision per tag of a picture, got several")
    before = [STATES[cell.state] for cell in _own_cells(connection, cells)]
    for (picture, tag, answer), state in zip(cells, before, strict=True):
        decide_cell(connection, batch, picture, tag, answer, state)
    connection.executemany(
        "INSERT INTO reviews (batch, picture) VALUES (?, ?)",
        [(batch, picture) for picture in dict.fromkeys(request.reviewed)],
    )
    refresh_pictures(connection, {*(picture for picture, _, _ in cells), *request.reviewed})
    return Batch(batch, last_decision(connection), _cells(connection, cells))


def decide_cell(
    connection: sqlite3.Connection, batch: int, picture: int, tag: int, answer: int, before: int
) -> None:
    """Record one answer, the latest about its cell; `before` is the state that it finds."""
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
    if (earlier := earlier_batch(connection, request, undoes=True)) is not None:
        return _undone(connection, earlier, is_new=False)
    undone = last_batch(connection, request.who) if batch is None else _standing(connection, batch)
    if undone is None:
        raise LookupError(f"{request.who} has nothing to undo")
    inverse = add_batch(connection, request, undoes=undone)
    withdraw(connection, inverse, undone)
    return _undone(connection, inverse)


def withdraw(connection: sqlite3.Connection, inverse: int, undone: int) -> None:
    """Let what stood before the batch `undone` hold again; `inverse` is the batch that says so."""
    cells = connection.execute(
        "SELECT decisions.picture, decisions.tag, cells.decision = decisions.id FROM decisions "
        "LEFT JOIN cells USING (picture, tag) WHERE batch = ? ORDER BY decisions.id",
        (undone,),
    ).fetchall()
    for picture, tag, is_latest in cells:
        if is_latest:
            _withdraw_cell(connection, inverse, picture, tag)
    reviewed = connection.execute("SELECT picture FROM reviews WHERE batch = ?", (undone,)).fetchall()
    refresh_pictures(connection, {picture for picture, *_ in (*cells, *reviewed)})


def _withdraw_cell(connection: sqlite3.Connection, inverse: int, picture: int, tag: int) -> None:
    before = _state(connection, picture, tag)
    answer = restore_cell(connection, picture, tag)
    connection.execute(
        "INSERT INTO decisions (batch, picture, tag, answer, before) VALUES (?, ?, ?, ?, ?)",
        (inverse, picture, tag, answer, before),
    )


def restore_cell(connection: sqlite3.Connection, picture: int, tag: int) -> int | None:
    """Let the latest decision that stands hold, whose answer this is, or what the folder lists."""
    decision, answer = connection.execute(
        "SELECT decisions.id, answer FROM decisions JOIN batches ON batches.id = batch "
        f"WHERE picture = ? AND tag = ? AND {STANDS} ORDER BY at DESC, decisions.id DESC LIMIT 1",
        (picture, tag),
    ).fetchone() or (None, None)
    connection.execute(
        "UPDATE cells SET answer = ?, decision = ? WHERE picture = ? AND tag = ?",
        (answer, decision, picture, tag),
    )
    connection.execute(
        "DELETE FROM cells WHERE picture = ? AND tag = ? AND answer IS NULL AND listed IS NULL",
        (picture, tag),
    )
    return None if answer is None else int(answer)


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
        tuple(map(TagChange._make, connection.execute(_CHANGES, (undone,)))),
    )


def last_batch(connection: sqlite3.Connection, who: str) -> int | None:
    """The batch that a person would take back next, if there is one."""
    query = f"SELECT id FROM batches WHERE who = ? AND {STANDS} ORDER BY id DESC LIMIT 1"
    row = connection.execute(query, (who,)).fetchone()
    return None if row is None else int(row[0])


def _standing(connection: sqlite3.Connection, batch: int) -> int:
    row = connection.execute(f"SELECT 1 FROM batches WHERE id = ? AND {STANDS}", (batch,)).fetchone()
    if row is None:
        raise LookupError(f"there is no batch {batch} to undo")
    return batch


def earlier_batch(connection: sqlite3.Connection, request: Request, *, undoes: bool) -> int | None:
    """The batch that answered this request before."""
    row = connection.execute(
        "SELECT id, undoes IS NOT NULL, who FROM batches WHERE request = ?", (request.word,)
    ).fetchone()
    if row is None:
        return None
    if row[1:] != (undoes, request.who):
        raise ArgumentError(f"request={request.word!r} was used before for something else; use a new one")
    return int(row[0])


def add_batch(connection: sqlite3.Connection, request: Request, undoes: int | None = None) -> int:
    """A new batch, later than all that are there."""
    at = _next_time(connection)
    added = connection.execute(
        "INSERT INTO batches (request, who, at, queue, model, undoes, is_unmarked) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (request.word, request.who, at, request.queue, request.model, undoes, int(bool(request.is_unmarked))),
    )
    return int(added.lastrowid or 0)


def _next_time(connection: sqlite3.Connection) -> str:
    """Now, or a moment after the latest batch where the clock was set back or another copy is ahead."""
    now = datetime.now(UTC)
    (latest,) = connection.execute("SELECT max(at) FROM batches").fetchone()
    with suppress(ValueError, OverflowError, TypeError):  # a time that no tagrank wrote
        now = max(now, datetime.fromisoformat(latest or "") + timedelta(microseconds=1))
        # times without a fraction, as they were written once, are read as the end of their second
        now += timedelta(seconds=now.strftime(_TIME) <= latest)
    return now.strftime(_TIME)


def tag_number(connection: sqlite3.Connection, word: str, vocabulary: TagVocabulary) -> int:
    """The number of the tag for which a word stands, which is made if there is none of that name."""
    name = vocabulary.name(word)
    if name not in vocabulary.deleted:
        row = connection.execute("SELECT id FROM tags WHERE name = ?", (name,)).fetchone()
        if row is not None:
            return int(row[0])
        # without blanks around it, it may be a synonym after all
        name = vocabulary.name(checked_tag(name))
    if name in vocabulary.deleted:
        raise ArgumentError(f"the tag {name!r} was deleted; restore it on the page Tags, or use another tag")
    return listed_tag_number(connection, name)


def listed_tag_number(connection: sqlite3.Connection, name: str) -> int:
    """The number of a tag that the folder lists; its name is taken as it is."""
    connection.execute("INSERT INTO tags (name) VALUES (?) ON CONFLICT DO NOTHING", (name,))
    return int(connection.execute("SELECT id FROM tags WHERE name = ?", (name,)).fetchone()[0])


def _check_pictures(connection: sqlite3.Connection, pictures: Iterable[int]) -> None:
    for picture in pictures:
        if connection.execute("SELECT 1 FROM pictures WHERE id = ?", (picture,)).fetchone() is None:
            raise LookupError(f"there is no picture {picture}")


def refresh_pictures(connection: sqlite3.Connection, pictures: Iterable[int]) -> None:
    """Note anew how many tags are present, and whether they are reviewed."""
    pictures = list(pictures)
    count_present(connection, pictures)
    connection.executemany(
        "UPDATE pictures SET is_reviewed = EXISTS (SELECT 1 FROM reviews WHERE picture = pictures.id "
        "AND NOT EXISTS (SELECT 1 FROM batches WHERE undoes = reviews.batch)) WHERE id = ?",
        [(picture,) for picture in pictures],
    )


def _state(connection: sqlite3.Connection, picture: int, tag: int) -> int:
    row = connection.execute(
        f"SELECT {_STATE} FROM cells WHERE picture = ? AND tag = ?", (picture, tag)
    ).fetchone()
    return 0 if row is None else int(row[0])


def _own_cells(connection: sqlite3.Connection, cells: Iterable[Sequence[int]]) -> tuple[Cell, ...]:
    """The cells of pictures and numbers of tags as they are now."""
    columns = read_columns(connection)
    if not columns.vocabulary.is_plain:
        places = [(picture, int(columns.column_of[tag])) for picture, tag, *_ in cells]
        return implied_cells(connection, columns, places)
    answer = []
    for picture, tag, *_ in cells:
        name, state, is_decided = connection.execute(
            f"SELECT name, {_STATE}, answer IS NOT NULL FROM tags LEFT JOIN cells ON tag = tags.id "
            "AND picture = ? WHERE tags.id = ?",
            (picture, tag),
        ).fetchone()
        answer.append(Cell(picture, name, STATE_WORDS[state], bool(is_decided)))
    return tuple(answer)


def _cells(connection: sqlite3.Connection, cells: Sequence[Sequence[int]]) -> tuple[Cell, ...]:
    """The cells as they are now, with those that may follow from them."""
    columns = read_columns(connection)
    if columns.vocabulary.is_plain:
        return _own_cells(connection, cells)
    chosen = {int(columns.column_of[tag]) for _, tag, *_ in cells} - {-1}
    related = {column: columns.related([column]).tolist() for column in chosen}
    places = [
        (picture, column)
        for picture, tag, *_ in cells
        for column in related.get(int(columns.column_of[tag]), ())
    ]
    return implied_cells(connection, columns, list(dict.fromkeys(places)))


def last_decision(connection: sqlite3.Connection) -> int:
    """The number of the last record; it grows with every decision and every one that is taken back."""
    latest = connection.execute("SELECT max(id) FROM decisions").fetchone()[0]
    return int(latest or 0)


def count_decisions(connection: sqlite3.Connection, since: int) -> int:
    """How many decisions with a larger number than `since` stand."""
    query = "SELECT count(*) FROM decisions JOIN batches ON batches.id = batch WHERE decisions.id > ?"
    return int(connection.execute(f"{query} AND {STANDS}", (since,)).fetchone()[0])


def count_people(connection: sqlite3.Connection) -> dict[str, int]:
    """How many decisions that stand each person made, most first."""
    query = "SELECT who, count(*) FROM decisions JOIN batches ON batches.id = batch"
    return dict(connection.execute(f"{query} WHERE {STANDS} GROUP BY who ORDER BY count(*) DESC, who"))


def read_unmarked(connection: sqlite3.Connection) -> list[tuple[int, str]]:
    """Picture and tag of all cells that are present only because a whole page was accepted unmarked."""
    vocabulary = read_vocabulary(connection)
    rows = connection.execute(
        "SELECT cells.picture, tags.name FROM cells JOIN decisions ON decisions.id = cells.decision "
        "JOIN batches ON batches.id = decisions.batch JOIN tags ON tags.id = cells.tag "
        "WHERE is_unmarked AND cells.answer = 1 AND coalesce(listed, 0) <> 1"
    )
    named = {(picture, vocabulary.name(word)) for picture, word in rows}
    return sorted(cell for cell in named if cell[1] not in vocabulary.deleted)


def read_decided(connection: sqlite3.Connection) -> dict[str, set[str]]:
    """The tags about which somebody ever decided, undone or not, by the name of the picture.

    Those that follow, by the vocabulary, are among them.
    """
    vocabulary = read_vocabulary(connection)
    rows = connection.execute(
        "SELECT DISTINCT pictures.name, tags.name FROM decisions JOIN pictures ON pictures.id = picture "
        "JOIN tags ON tags.id = tag WHERE NOT is_gone"
    )
    decided: dict[str, set[str]] = defaultdict(set)
    for name, tag in rows:
        meant = vocabulary.name(tag)
        decided[name] |= {tag, meant, *vocabulary.above.get(meant, ())}
    return decided


_DECISIONS = (
    "SELECT decisions.id, batch, picture, pictures.name, tags.name, answer, before, batches.who, "
    "batches.at, batches.queue, batches.model, other.who FROM decisions "
    "JOIN batches ON batches.id = batch JOIN pictures ON pictures.id = picture "
    "JOIN tags ON tags.id = tag LEFT JOIN batches AS other ON other.undoes = batch "
)


def list_decisions(
    connection: sqlite3.Connection, *, limit: int, before: int | None, who: str | None
) -> list[Decision]:
    """The latest decisions first."""
    rows = connection.execute(
        f"{_DECISIONS} WHERE batches.undoes IS NULL AND (?1 IS NULL OR decisions.id < ?1) "
        "AND (?2 IS NULL OR batches.who = ?2) ORDER BY decisions.id DESC LIMIT ?3",
        (before, who, limit),
    )
    return list(map(_decision, rows))


def _decision(row: tuple[Any, ...]) -> Decision:
    number, batch, picture, name, tag, answer, before, *rest = row
    return Decision(number, batch, picture, name, tag, ANSWER_WORDS[answer], STATE_WORDS[before], *rest)


def list_steps(
    connection: sqlite3.Connection,
    *,
    limit: int,
    before: int | None,
    who: str | None,
    n_shown: int,
    only_tags: bool = False,
) -> list[Step]:
    """What people did, the latest first; of each at most `n_shown` answers, tags and pictures.

    With `only_tags`, the steps in which tags were changed.
    """
    batches = connection.execute(
        "SELECT batches.id, batches.who, batches.at, batches.queue, other.who FROM batches "
        "LEFT JOIN batches AS other ON other.undoes = batches.id WHERE batches.undoes IS NULL "
        "AND (?1 IS NULL OR batches.id < ?1) AND (?2 IS NULL OR batches.who = ?2) "
        "AND (NOT ?4 OR batches.id IN (SELECT batch FROM tag_changes)) ORDER BY batches.id DESC LIMIT ?3",
        (before, who, limit, only_tags),
    ).fetchall()
    return [_step(connection, n_shown, *row) for row in batches]


def _step(
    connection: sqlite3.Connection, n_shown: int, batch: int, who: str, at: str, queue: str, by: str | None
) -> Step:
    def ask(query: str, *more: int) -> list[Any]:
        return connection.execute(query, (batch, *more)).fetchall()

    answers = ask("SELECT answer, count(*) FROM decisions WHERE batch = ? GROUP BY answer")
    tags = "FROM (SELECT tag, min(id) AS first FROM decisions WHERE batch = ? GROUP BY tag)"
    reviews = "FROM reviews JOIN pictures ON pictures.id = picture WHERE batch = ?"
    return Step(
        batch,
        who,
        at,
        queue,
        {ANSWER_WORDS[answer]: n for answer, n in answers},
        tuple(n for (n,) in ask(f"SELECT name {tags} JOIN tags ON id = tag ORDER BY first LIMIT ?", n_shown)),
        ask(f"SELECT count(*) {tags}")[0][0],
        tuple(map(_decision, ask(f"{_DECISIONS} WHERE batch = ? ORDER BY decisions.id LIMIT ?", n_shown))),
        tuple(ask(f"SELECT picture, name {reviews} ORDER BY picture LIMIT ?", n_shown)),
        ask(f"SELECT count(*) {reviews}")[0][0],
        by,
        tuple(map(TagChange._make, ask(_CHANGES))),
    )

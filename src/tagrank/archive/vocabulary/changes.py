"""Changes of tags are recorded and listed. Each function works inside a transaction.

A change is never changed, as a decision is not: to take its batch back is another batch, see
`archive/decisions.py`.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Sequence

from tagrank.archive.decisions import add_batch, earlier_batch, last_decision
from tagrank.archive.names import Request, checked_description, checked_tag
from tagrank.archive.records import Batch, TagBatch
from tagrank.archive.vocabulary.reading import (
    read_changes,
    read_listed_parents,
    read_vocabulary,
    read_words,
)
from tagrank.data.vocabulary import (
    DELETE,
    DESCRIBE,
    KINDS,
    NO_PARENT,
    PARENT,
    RESTORE,
    SYNONYM,
    TagChange,
    Vocabulary,
    fold,
    name_circle,
)
from tagrank.errors import ArgumentError, did_you_mean

MOST_TOGETHER = 10_000


def checked_changes(changes: Sequence[TagChange]) -> list[TagChange]:
    """The changes, if they can be meant; which tags there are is looked at later."""
    if not 0 < len(changes) <= MOST_TOGETHER:
        raise ArgumentError(
            f"1 to {MOST_TOGETHER:,} changes of tags are made in one step, got {len(changes):,}"
        )
    return [checked_change(TagChange(*change)) for change in changes]


def checked_change(change: TagChange) -> TagChange:
    """The change, with its names in order; an error where it cannot be meant."""
    kind, tag, other = change
    if kind not in KINDS:
        raise ArgumentError(f"a change of tags is one of {', '.join(KINDS)}, got {str(kind)[:40]!r}")
    tag = checked_tag(tag)
    if kind == DESCRIBE:
        return TagChange(kind, tag, checked_description(other))
    if kind in (DELETE, RESTORE):
        return TagChange(kind, tag)
    other = checked_tag(other) if other or kind != SYNONYM else ""
    if tag == other:
        raise ArgumentError(f"a tag and the other must differ, got {tag!r} twice")
    return TagChange(kind, tag, other)


def record_changes(connection: sqlite3.Connection, changes: Sequence[TagChange], request: Request) -> Batch:
    """A batch with these changes; that of the same request where there is one."""
    if (earlier := earlier_batch(connection, request, undoes=False)) is not None:
        return Batch(earlier, last_decision(connection), is_new=False)
    check_changes(connection, changes)
    batch = add_batch(connection, request)
    connection.executemany(
        "INSERT INTO tag_changes (batch, kind, tag, other) VALUES (?, ?, ?, ?)",
        [(batch, *change) for change in changes],
    )
    return Batch(batch, last_decision(connection))


def check_changes(
    connection: sqlite3.Connection, changes: Sequence[TagChange]
) -> tuple[Vocabulary, Vocabulary]:
    """The vocabulary before and after changes; an error where they are refused."""
    before, standing = read_vocabulary(connection), read_changes(connection)
    _check_known(connection, changes)
    after = fold((*standing, *changes), read_listed_parents(connection))
    _check_sense(before, after, changes)
    return before, after


def _named(change: TagChange) -> tuple[str, ...]:
    """The tags that are there by a change."""
    if change.kind == SYNONYM:
        return (change.other,) if change.other else ()
    return (change.tag, change.other) if change.kind == PARENT else ()


def _check_known(connection: sqlite3.Connection, changes: Sequence[TagChange]) -> None:
    """Raise for a tag that is deleted, restored or described and that nobody ever used."""
    made = {word for change in changes for word in _named(change)}
    known = read_words(connection) | made
    for change in changes:
        if change.kind in (DELETE, RESTORE, DESCRIBE, NO_PARENT) and change.tag not in known:
            raise ArgumentError(f"there is no tag {change.tag!r}{did_you_mean(change.tag, known)}")


def _check_sense(before: Vocabulary, after: Vocabulary, changes: Sequence[TagChange]) -> None:
    if new := [circle for circle in after.circles if circle not in before.circles]:
        said = [*_edges(before, changes, after)]
        way = " implies ".join(map(repr, name_circle(said, new[0])))
        raise ArgumentError(f"parents may not go in a circle, and this would: {way}")
    for change in changes:
        meant = after.name(change.other)
        if change.kind == SYNONYM and meant in after.deleted:
            raise ArgumentError(f"the tag {meant!r} is deleted; restore it first")
    if before == after:
        raise ArgumentError("nothing would change: the tags are like this already")


def _edges(before: Vocabulary, changes: Sequence[TagChange], after: Vocabulary) -> list[tuple[str, str]]:
    """Tags and parents that were there or are new, by the names that they would have."""
    old = [(tag, parent) for tag, parents in before.parents.items() for parent in parents]
    new = [(change.tag, change.other) for change in changes if change.kind == PARENT]
    return [(after.name(tag), after.name(parent)) for tag, parent in (*old, *new)]


def list_changes(connection: sqlite3.Connection, *, limit: int, before: int | None = None) -> list[TagBatch]:
    """Batches of changes of tags, the latest first: those with a number below `before`."""
    rows = connection.execute(
        "SELECT batches.id, batches.who, batches.at, undone.who FROM batches "
        "LEFT JOIN batches AS undone ON undone.undoes = batches.id "
        "WHERE batches.id IN (SELECT batch FROM tag_changes) AND batches.undoes IS NULL "
        "AND (?1 IS NULL OR batches.id < ?1) ORDER BY batches.id DESC LIMIT ?2",
        (before, limit),
    ).fetchall()
    changes: dict[int, list[TagChange]] = defaultdict(list)
    for batch, *_ in rows:
        query = "SELECT kind, tag, other FROM tag_changes WHERE batch = ? ORDER BY id"
        changes[batch] = list(map(TagChange._make, connection.execute(query, (batch,))))
    return [TagBatch(batch, who, at, tuple(changes[batch]), undone) for batch, who, at, undone in rows]

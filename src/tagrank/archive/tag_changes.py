"""Changes of tags: what people do with them, in their words; recorded and listed inside a transaction.

A change is never changed, as a decision is not: to take its batch back is another batch, see
`archive/decisions.py`.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tagrank.archive.decisions import add_batch, earlier_batch, last_decision
from tagrank.archive.names import Request, checked_description, checked_tag
from tagrank.archive.records import Batch, Conflict, Step
from tagrank.archive.tag_columns import (
    read_changes,
    read_columns,
    read_listed_parents,
    read_vocabulary,
    read_words,
)
from tagrank.archive.tag_states import read_states
from tagrank.data.vocabulary import (
    DELETE,
    DESCRIBE,
    KINDS,
    NO_PARENT,
    PARENT,
    RESTORE,
    SYNONYM,
    TagChange,
    TagVocabulary,
    fold,
    name_circle,
    say_change,
)
from tagrank.errors import ArgumentError, did_you_mean

MOST_TOGETHER = 10_000
RENAME, MERGE, NO_SYNONYM = "rename", "merge", "no synonym"
VERBS = (RENAME, MERGE, SYNONYM, NO_SYNONYM, DELETE, RESTORE, DESCRIBE, PARENT, NO_PARENT)


def checked_changes(changes: Sequence[TagChange]) -> list[TagChange]:
    """The changes, if they can be meant; which tags there are is looked at later."""
    if not 0 < len(changes) <= MOST_TOGETHER:
        raise ArgumentError(
            f"1 to {MOST_TOGETHER:,} changes of tags can be made in one step, got {len(changes):,}"
        )
    return [checked_change(TagChange(*change)) for change in changes]


def checked_change(change: TagChange) -> TagChange:
    """The change, with its names in order; an error where it cannot be meant."""
    kind, tag, other = change
    if kind not in KINDS:
        raise ArgumentError(f"a change of tags must be one of {', '.join(KINDS)}, got {str(kind)[:40]!r}")
    tag = checked_tag(tag)
    if kind == DESCRIBE:
        return TagChange(kind, tag, checked_description(other))
    if kind in (DELETE, RESTORE):
        return TagChange(kind, tag)
    other = checked_tag(other) if other or kind != SYNONYM else ""
    if tag == other:
        raise ArgumentError(f"the two tags must differ, got {tag!r} twice")
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
) -> tuple[TagVocabulary, TagVocabulary]:
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


def _check_sense(before: TagVocabulary, after: TagVocabulary, changes: Sequence[TagChange]) -> None:
    if new := [circle for circle in after.circles if circle not in before.circles]:
        said = [*_edges(before, changes, after)]
        way = " implies ".join(map(repr, name_circle(said, new[0])))
        raise ArgumentError(f"parents must not form a circle, but this would make one: {way}")
    for change in changes:
        meant = after.name(change.other)
        if change.kind == SYNONYM and meant in after.deleted:
            raise ArgumentError(f"the tag {meant!r} is deleted; restore it first")
    if before == after:
        raise ArgumentError("nothing to change: the tags are like this already")


def _edges(
    before: TagVocabulary, changes: Sequence[TagChange], after: TagVocabulary
) -> list[tuple[str, str]]:
    """Tags and parents that were there or are new, by the names that they would have."""
    old = [(tag, parent) for tag, parents in before.parents.items() for parent in parents]
    new = [(change.tag, change.other) for change in changes if change.kind == PARENT]
    return [(after.name(tag), after.name(parent)) for tag, parent in (*old, *new)]


class TagEntry(NamedTuple):
    """A tag as the vocabulary has it.

    Attributes
    ----------
    tag, synonyms, parents, description : what it is called, what it implies, and a text
    listed_parents : those of `parents` that only the files of the folder say
    present, yes, no : in how many pictures it is, and how often it was answered
    is_deleted : whether it is hidden
    """

    tag: str
    synonyms: tuple[str, ...]
    parents: tuple[str, ...]
    description: str
    listed_parents: tuple[str, ...]
    present: int
    yes: int
    no: int
    is_deleted: bool


@dataclass(frozen=True)
class ArchiveTags:
    """The tags of an archive.

    Attributes
    ----------
    tags : each with its numbers, synonyms, parents and description
    conflicts : what people said of a picture that cannot both be true, the latest first
    n_conflicts : how many there are
    circles : tags whose parents lead back to themselves, so that these do not count
    history : changes, the latest first
    """

    tags: Sequence[TagEntry]
    conflicts: Sequence[Conflict]
    n_conflicts: int
    circles: Sequence[Sequence[str]]
    history: Sequence[Step]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "tags": [one._asdict() for one in self.tags],
            "conflicts": [one._asdict() for one in self.conflicts],
            "n_conflicts": self.n_conflicts,
            "circles": [list(circle) for circle in self.circles],
            "history": [
                {"batch": one.batch, "by": one.who, "at": one.at, "undone_by": one.undone_by}
                | {"changes": [list(change) for change in one.changes]}
                | {"sentences": [say_change(change) for change in one.changes]}
                for one in self.history
            ],
        }


def change_of(connection: sqlite3.Connection, verb: str, tag: str, other: str = "") -> TagChange:
    """The change that a verb means, if tags of these names are there."""
    if verb not in VERBS:
        raise ArgumentError(f"the change must be one of {', '.join(VERBS)}, got {verb[:40]!r}")
    vocabulary = read_vocabulary(connection)
    known = read_words(connection) - vocabulary.deleted
    if verb in (RENAME, MERGE) and tag not in known:
        raise ArgumentError(f"there is no tag {tag!r}{did_you_mean(tag, known)}")
    if verb == RENAME and other in known and vocabulary.name(other) != vocabulary.name(tag):
        raise ArgumentError(f"the tag {other!r} exists already; to combine the two, merge them")
    if verb in (MERGE, SYNONYM) and other not in known:
        raise ArgumentError(f"there is no tag {other!r}{did_you_mean(other, known)}")
    if verb == NO_SYNONYM and tag not in vocabulary.synonyms:
        raise ArgumentError(f"{tag!r} is not a synonym of another tag")
    if verb in (RENAME, MERGE):
        # by whatever word it is called, the tag itself is meant
        return checked_change(TagChange(SYNONYM, vocabulary.name(tag), other))
    if verb == NO_PARENT and other not in vocabulary.parents.get(vocabulary.name(tag), ()):
        raise ArgumentError(f"{other!r} is not a parent of {tag!r}")
    kinds = {NO_SYNONYM: SYNONYM}
    return checked_change(TagChange(kinds.get(verb, verb), tag, "" if verb == NO_SYNONYM else other))


def read_effects(connection: sqlite3.Connection, changes: Sequence[TagChange]) -> list[str]:
    """What would become of the pictures, in sentences; an error where the changes would be refused."""
    _, after = check_changes(connection, changes)
    columns = read_columns(connection)
    cells = read_states(connection, columns=columns)
    present = np.bincount(cells.columns[cells.states == 1], minlength=len(columns.names))
    n_pictures = dict(zip(columns.names, present.tolist(), strict=True))
    before = columns.vocabulary
    return [_effect(change, n_pictures.get(before.name(change.tag), 0), before, after) for change in changes]


def _effect(change: TagChange, n_present: int, before: TagVocabulary, after: TagVocabulary) -> str:
    kind, tag, other = change
    is_one = n_present == 1
    pictures = f"{n_present:,} picture{'' if is_one else 's'}"
    is_own = before.name(tag) == tag
    if kind == SYNONYM:
        if not other:
            return f"{tag!r} is a tag of its own again"
        name = after.name(other)
        become = "becomes" if is_one else "become"
        return (
            f"{pictures} tagged {tag!r} {become} {name!r}" if is_own else f"{tag!r} is a synonym of {name!r}"
        )
    sentences = {
        PARENT: f"{pictures} tagged {tag!r} {'gets' if is_one else 'get'} {other!r}, too",
        DELETE: f"{tag!r} is hidden in {pictures}; its decisions are kept",
        RESTORE: f"{tag!r} is shown again",
        DESCRIBE: f"{tag!r} gets a description" if other else f"{tag!r} loses its description",
        NO_PARENT: f"{other!r} is no longer a parent of {tag!r}",
    }
    return sentences[kind]


def read_entries(connection: sqlite3.Connection) -> list[TagEntry]:
    """All tags, deleted ones last."""
    columns = read_columns(connection)
    cells, vocabulary = read_states(connection, columns=columns), columns.vocabulary
    is_answered = cells.is_decided & ~cells.is_implied
    chosen = (cells.states == 1, is_answered & (cells.states == 1), is_answered & (cells.states == -1))
    counts = np.array([np.bincount(cells.columns[which], minlength=len(columns.names)) for which in chosen])
    words: dict[str, list[str]] = {}
    for word, tag in vocabulary.synonyms.items():
        words.setdefault(tag, []).append(word)
    said = {(one.tag, one.other) for one in read_changes(connection) if one.kind == PARENT}
    own = {(vocabulary.name(tag), vocabulary.name(parent)) for tag, parent in said}
    listed = {(vocabulary.name(a), vocabulary.name(b)) for a, b in read_listed_parents(connection)} - own

    def entry(tag: str, present: int, yes: int, no: int) -> TagEntry:
        parents = vocabulary.parents.get(tag, ())
        return TagEntry(
            tag,
            tuple(sorted(words.get(tag, ()))),
            parents,
            vocabulary.descriptions.get(tag, ""),
            tuple(parent for parent in parents if (tag, parent) in listed),
            present,
            yes,
            no,
            tag in vocabulary.deleted,
        )

    shown = [entry(tag, *map(int, counts[:, j])) for j, tag in enumerate(columns.names)]
    return shown + [entry(tag, 0, 0, 0) for tag in sorted(vocabulary.deleted)]


def table_rows(entries: Iterable[TagEntry]) -> list[tuple[str, tuple[str, ...], tuple[str, ...], str]]:
    """Tags, parents, synonyms and descriptions as `tag_table_lines` writes them, of tags that are shown."""
    return [(one.tag, one.parents, one.synonyms, one.description) for one in entries if not one.is_deleted]

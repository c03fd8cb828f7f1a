"""What people do with tags, in their words, and what it means for the pictures."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from tagrank.archive.vocabulary.changes import check_changes, checked_change
from tagrank.archive.vocabulary.reading import (
    read_changes,
    read_columns,
    read_listed_parents,
    read_vocabulary,
    read_words,
)
from tagrank.archive.vocabulary.states import read_states
from tagrank.data.vocabulary import (
    DELETE,
    DESCRIBE,
    NO_PARENT,
    PARENT,
    RESTORE,
    SYNONYM,
    TagChange,
    Vocabulary,
)
from tagrank.errors import ArgumentError, did_you_mean

RENAME, MERGE, NO_SYNONYM = "rename", "merge", "no synonym"
VERBS = (RENAME, MERGE, SYNONYM, NO_SYNONYM, DELETE, RESTORE, DESCRIBE, PARENT, NO_PARENT)


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


def change_of(connection: sqlite3.Connection, verb: str, tag: str, other: str = "") -> TagChange:
    """The change that a verb means, if tags of these names are there."""
    if verb not in VERBS:
        raise ArgumentError(f"what is done with a tag is one of {', '.join(VERBS)}, got {verb[:40]!r}")
    vocabulary = read_vocabulary(connection)
    known = read_words(connection) - vocabulary.deleted
    if verb in (RENAME, MERGE) and tag not in known:
        raise ArgumentError(f"there is no tag {tag!r}{did_you_mean(tag, known)}")
    if verb == RENAME and other in known and vocabulary.name(other) != vocabulary.name(tag):
        raise ArgumentError(f"there is a tag {other!r} already; to make one of both, merge them")
    if verb in (MERGE, SYNONYM) and other not in known:
        raise ArgumentError(f"there is no tag {other!r}{did_you_mean(other, known)}")
    if verb == NO_SYNONYM and tag not in vocabulary.synonyms:
        raise ArgumentError(f"{tag!r} is no synonym of another tag")
    if verb in (RENAME, MERGE):
        # by whatever word it is called, the tag itself is meant
        return checked_change(TagChange(SYNONYM, vocabulary.name(tag), other))
    if verb == NO_PARENT and other not in vocabulary.parents.get(vocabulary.name(tag), ()):
        raise ArgumentError(f"{other!r} is no parent of {tag!r}")
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


def _effect(change: TagChange, n_present: int, before: Vocabulary, after: Vocabulary) -> str:
    kind, tag, other = change
    is_one = n_present == 1
    pictures = f"{n_present:,} picture{'' if is_one else 's'}"
    is_own = before.name(tag) == tag
    if kind == SYNONYM:
        if not other:
            return f"{tag!r} is a tag of its own again"
        name = after.name(other)
        become = "becomes" if is_one else "become"
        return f"{pictures} tagged {tag!r} {become} {name!r}" if is_own else f"{tag!r} stands for {name!r}"
    sentences = {
        PARENT: f"{pictures} tagged {tag!r} {'has' if is_one else 'have'} {other!r}, too",
        DELETE: f"{tag!r} is hidden: {pictures}; what was decided is kept",
        RESTORE: f"{tag!r} is shown again",
        DESCRIBE: f"{tag!r} has a description" if other else f"{tag!r} has no description any more",
        NO_PARENT: f"{tag!r} implies {other!r} no longer",
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

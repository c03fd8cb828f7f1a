"""What the tags of an archive mean: listed, changed, taken back, and written to a table."""

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tagrank.archive import Archive, Conflict, TagBatch
from tagrank.archive.tag_changes import TagEntry, change_of, read_effects, read_entries, table_rows
from tagrank.commands.destinations import check_apart
from tagrank.data.vocabulary import DELETE, SYNONYM, TagChange, read_tag_table, say_change, tag_table_lines
from tagrank.errors import ArgumentError
from tagrank.files import atomic_write


@dataclass(frozen=True)
class TagList:
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
    history: Sequence[TagBatch]

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


def list_tags(
    photos: str | os.PathLike,
    output: str | os.PathLike | None = None,
    *,
    decisions: str | os.PathLike | None = None,
) -> TagList:
    """The tags of an archive, and what they mean.

    Parameters
    ----------
    photos : folder with the pictures
    output : a ``.csv`` file to write, with the columns tag, parents, synonyms and description, or None
    decisions : the file with the decisions; default: ``.tagrank/desk.sqlite`` in the folder
    """
    if output is not None:
        if Path(output).suffix != ".csv":
            raise ArgumentError(f"a table of tags is a .csv file, got {os.fspath(output)!r}")
        check_apart(photos, output=output)
    with Archive.open(photos, database=decisions, read_only=True) as archive:
        found = read_tag_list(archive)
    if output is not None:
        with atomic_write(output, text=True) as stream:
            stream.writelines(tag_table_lines(table_rows(found.tags)))
    return found


def read_tag_list(archive: Archive) -> TagList:
    """The tags of an archive that is open."""
    entries = archive.read(read_entries)
    conflicts, n_conflicts = archive.conflicts()
    return TagList(entries, conflicts, n_conflicts, archive.vocabulary().circles, archive.tag_history())


def change_tags(
    photos: str | os.PathLike,
    changes: Sequence[tuple[str, ...]] = (),
    *,
    table: str | os.PathLike | None = None,
    who: str,
    dry_run: bool = False,
    decisions: str | os.PathLike | None = None,
) -> list[str]:
    """Change what tags mean, in one step that can be taken back; what became of the pictures, in sentences.

    Parameters
    ----------
    photos : folder with the pictures
    changes : a verb with one or two tags each, such as ``("rename", "automobile", "car")``; verbs are
        "rename", "merge", "synonym", "no synonym", "parent", "no parent", "delete", "restore" and, with a tag
        and a text, "describe"
    table : a ``.csv`` file that `list_tags` wrote, or a hierarchy with the columns tag and parent
    who : the person who changes them
    dry_run : only tell what would become of the pictures
    decisions : the file with the decisions; default: ``.tagrank/desk.sqlite`` in the folder
    """
    listed = [] if table is None else read_tag_table(table)
    with _opened(photos, decisions, dry_run) as archive:
        meant = archive.read(lambda connection: [change_of(connection, *change) for change in changes])
        wanted = [*meant, *_new(archive, listed)]
        if not wanted and table is not None:
            return []
        effects = archive.read(lambda connection: read_effects(connection, wanted))
        if not dry_run:
            archive.change_tags(wanted, who=who, request=f"tags {secrets.token_hex(16)}")
        return effects


def undo_tags(
    photos: str | os.PathLike, *, who: str, decisions: str | os.PathLike | None = None
) -> tuple[TagChange, ...]:
    """Take back the last changes of tags that stand, whoever made them; which these were."""
    with _opened(photos, decisions, False) as archive:
        standing = [batch for batch in archive.tag_history(1000) if batch.undone_by is None]
        if not standing:
            raise LookupError("there are no changes of tags that could be taken back")
        request = f"undo {secrets.token_hex(16)}"
        return archive.undo(who=who, request=request, batch=standing[0].batch).changes


def _opened(photos: str | os.PathLike, decisions: str | os.PathLike | None, dry_run: bool) -> Archive:
    if dry_run:
        return Archive.open(photos, database=decisions, read_only=True)
    archive = Archive.open(photos, database=decisions, lock=True)
    try:
        if not archive.tags():
            archive.scan()
    except BaseException:
        archive.close()
        raise
    return archive


def _new(archive: Archive, listed: Sequence[TagChange]) -> list[TagChange]:
    """What a table says and the vocabulary does not yet."""
    vocabulary = archive.vocabulary()

    def is_said(change: TagChange) -> bool:
        tag, other = vocabulary.name(change.tag), change.other
        if change.kind == SYNONYM:
            return tag == vocabulary.name(other)
        if change.kind == DELETE:
            return tag in vocabulary.deleted
        return vocabulary.name(other) in vocabulary.parents.get(tag, ()) or (
            vocabulary.descriptions.get(tag) == other
        )

    return [change for change in listed if not is_said(change)]

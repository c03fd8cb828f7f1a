"""What the tags of an archive mean: listed, changed, taken back, and written to a table."""

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from tagrank.archive import Archive
from tagrank.archive.tag_changes import ArchiveTags, change_of, read_effects, table_rows
from tagrank.commands.destinations import check_apart
from tagrank.data.vocabulary import DELETE, SYNONYM, TagChange, read_tag_table, tag_table_lines
from tagrank.errors import ArgumentError
from tagrank.files import atomic_write


def list_tags(
    photos: str | os.PathLike,
    output: str | os.PathLike | None = None,
    *,
    decisions: str | os.PathLike | None = None,
) -> ArchiveTags:
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
        found = archive.tag_overview()
    if output is not None:
        with atomic_write(output, text=True) as stream:
            stream.writelines(tag_table_lines(table_rows(found.tags)))
    return found


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
    """Take back the last changes of tags that stand, whoever made them; which these were.

    Parameters
    ----------
    photos : the folder of pictures
    who : the name of the person who takes them back
    decisions : the file of decisions, if it is not in the folder
    """
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

"""What the tags of an archive mean: listed, changed, taken back, and written to a table."""

from __future__ import annotations

import getpass
import os
import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tagrank.commands.options import DECISION_FILE, PHOTOS
from tagrank.commands.tables import LINES_SHOWN, Screen, counted, table_of
from tagrank.errors import ArgumentError
from tagrank.files import atomic_write
from tagrank.options import Option

if TYPE_CHECKING:
    from tagrank.archive import Archive
    from tagrank.archive.tag_changes import ArchiveTags
    from tagrank.data.vocabulary import TagChange

CHANGES = "Changes (one step; 'tagrank tags --undo' takes it back)"
CHANGE = Option(CHANGES, kind=str, is_many=True)


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
    from tagrank.archive import Archive
    from tagrank.archive.tag_changes import table_rows
    from tagrank.commands.destinations import check_apart
    from tagrank.data.vocabulary import tag_table_lines

    if output is not None:
        if Path(output).suffix != ".csv":
            raise ArgumentError(f"tags are exported to a .csv file, got {os.fspath(output)!r}")
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
    """Change the tags of an archive in one step that can be undone; returns the effects as sentences.

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
    from tagrank.archive.tag_changes import change_of, read_effects
    from tagrank.data.vocabulary import read_tag_table

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
    """Undo the latest changes of tags that are not undone yet, whoever made them; returns these changes.

    Parameters
    ----------
    photos : the folder of pictures
    who : the name of the person who takes them back
    decisions : the file of decisions, if it is not in the folder
    """
    with _opened(photos, decisions, False) as archive:
        standing = [batch for batch in archive.tag_history(1000) if batch.undone_by is None]
        if not standing:
            raise LookupError("there is no change of tags to undo")
        request = f"undo {secrets.token_hex(16)}"
        return archive.undo(who=who, request=request, batch=standing[0].batch).changes


def _opened(photos: str | os.PathLike, decisions: str | os.PathLike | None, dry_run: bool) -> Archive:
    from tagrank.archive import Archive

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
    from tagrank.data.vocabulary import DELETE, SYNONYM

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


def tags(
    photos: Annotated[str | os.PathLike, PHOTOS],
    *,
    rename: Annotated[Sequence[str] | None, replace(CHANGE, metavar="OLD=NEW")] = None,
    merge: Annotated[Sequence[str] | None, replace(CHANGE, metavar="FROM=INTO")] = None,
    synonym: Annotated[Sequence[str] | None, replace(CHANGE, metavar="WORD=TAG")] = None,
    no_synonym: Annotated[Sequence[str] | None, replace(CHANGE, metavar="WORD")] = None,
    parent: Annotated[Sequence[str] | None, replace(CHANGE, metavar="TAG=PARENT")] = None,
    no_parent: Annotated[Sequence[str] | None, replace(CHANGE, metavar="TAG=PARENT")] = None,
    describe: Annotated[Sequence[str] | None, replace(CHANGE, metavar="TAG=TEXT")] = None,
    delete: Annotated[Sequence[str] | None, replace(CHANGE, metavar="TAG")] = None,
    restore: Annotated[Sequence[str] | None, replace(CHANGE, metavar="TAG")] = None,
    undo: Annotated[bool, Option(CHANGES)] = False,
    import_: Annotated[str | os.PathLike | None, Option("Tables", metavar="FILE.csv")] = None,
    export: Annotated[str | os.PathLike | None, Option("Tables", metavar="FILE.csv")] = None,
    conflicts: Annotated[bool, Option()] = False,
    history: Annotated[bool, Option()] = False,
    dry_run: Annotated[bool, Option()] = False,
    name: Annotated[str | None, Option(usual="your login name")] = None,
    decisions: Annotated[str | os.PathLike | None, DECISION_FILE] = None,
) -> Screen:
    """List the tags of an archive, or change their names, synonyms, parents and descriptions.

    A picture that has a tag also has its parent tags; a picture that does not have a parent tag has none of
    its children. In Python, `list_tags`, `change_tags` and `undo_tags` do the same.

    Parameters
    ----------
    photos : a folder of pictures
    rename : rename a tag
    merge : merge a tag into another
    synonym : add a synonym of a tag
    no_synonym : make a synonym a tag of its own
    parent : add a parent to a tag
    no_parent : remove a parent from a tag
    describe : describe a tag
    delete : hide a tag; its decisions are kept
    restore : show a deleted tag again
    undo : undo the last step
    import_ : import tags, parents, synonyms and descriptions
    export : export tags, parents, synonyms and descriptions
    conflicts : list decisions that contradict each other
    history : list the changes of tags
    dry_run : show what would change, but record nothing
    name : name of the person who makes the change
    decisions : file with the decisions

    Command line
    ------------
    tagrank tags photos/
    tagrank tags photos/ --rename automobile=car
    tagrank tags photos/ --parent jet=plane --parent plane=vehicle
    tagrank tags photos/ --describe "jet=with jet engines"
    tagrank tags photos/ --undo
    tagrank tags photos/ --import hierarchy.csv --dry-run
    """
    pairs = {"rename": rename, "merge": merge, "synonym": synonym, "parent": parent, "no parent": no_parent}
    pairs["describe"] = describe
    words = {"no synonym": no_synonym, "delete": delete, "restore": restore}
    changes: list[tuple[str, ...]] = [
        (verb, *_pair(verb, pair)) for verb, texts in pairs.items() for pair in texts or ()
    ]
    changes += [(verb, word) for verb, texts in words.items() for word in texts or ()]
    who = name if name is not None else getpass.getuser()
    if undo and (changes or import_ or dry_run):
        raise ArgumentError("--undo undoes the last step and cannot be combined with other changes")
    if undo:
        from tagrank.data.vocabulary import say_change

        undone = undo_tags(photos, who=who, decisions=decisions)
        sentences = [say_change(change) for change in undone]
        said = [f"undone: {sentence}" for sentence in sentences]
        return Screen(sentences=said, document={"undone": sentences})
    if changes or import_ is not None:
        done = change_tags(photos, changes, table=import_, who=who, dry_run=dry_run, decisions=decisions)
        return _show_changes(done, dry_run)
    overview = list_tags(photos, export, decisions=decisions)
    shown = _conflict_table if conflicts else _history_table if history else _tag_table
    said = [
        f"these parents form a circle and are ignored: {', '.join(circle)}; remove one with --no-parent"
        for circle in overview.circles
    ]
    if overview.n_conflicts and not conflicts:
        said.append(f"{counted(overview.n_conflicts, 'conflict')} between decisions; --conflicts lists them")
    if conflicts and not overview.n_conflicts:
        said.append("there are no conflicts between decisions")
    is_listed = conflicts or history or export is None
    if export is not None:
        said.append(f"{counted(len(overview.tags), 'tag')} written to {export}")
    return Screen([shown(overview)] if is_listed else [], said, document=overview.to_dict())


def _pair(verb: str, text: str) -> tuple[str, str]:
    tag, sign, other = text.partition("=")
    if not sign or not tag.strip():
        raise ArgumentError(f"--{verb.replace(' ', '-')} takes two tags with = between them, got {text!r}")
    return tag.strip(), other.strip()


def _show_changes(done: list[str], dry_run: bool) -> Screen:
    said = [f"dry run, nothing was recorded: {line}" if dry_run else line for line in done[:LINES_SHOWN]]
    if len(done) > LINES_SHOWN:
        said.append(f"{len(done) - LINES_SHOWN:,} more; --json lists all")
    if not done:
        said.append("nothing to change: the tags are like this already")
    return Screen(sentences=said, document={"changes": done, "applied": not dry_run})


def _tag_table(overview: ArchiveTags) -> Any:
    rows = (
        (
            f"{one.tag} (deleted)" if one.is_deleted else one.tag,
            f"{one.present:,}",
            ", ".join(one.synonyms),
            ", ".join(f"{name} (files)" if name in one.listed_parents else name for name in one.parents),
            one.description,
        )
        for one in overview.tags
    )
    return table_of("tag", "pictures", "synonyms", "parents", "description", rows=rows)


def _conflict_table(overview: ArchiveTags) -> Any:
    rows = (
        (
            one.name,
            one.present,
            one.present_by or "(files)",
            one.absent,
            one.absent_by,
            f"the latest decision: {one.holds}",
        )
        for one in overview.conflicts
    )
    return table_of("picture", "present", "by", "absent", "by", "what counts", rows=rows)


def _history_table(overview: ArchiveTags) -> Any:
    from tagrank.data.vocabulary import say_change

    rows = (
        (batch.at[:19], batch.who, say_change(change), batch.undone_by or "")
        for batch in overview.history
        for change in batch.changes
    )
    return table_of("when", "by", "change", "undone by", rows=rows)

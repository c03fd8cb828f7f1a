"""What was decided at the desk leaves an archive as a list or as sidecars, and comes back from a list."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tagrank.commands.options import DECISION_FILE, FOLLOW_LINKS, OUTPUT, PHOTOS, STYLE
from tagrank.commands.sidecars import check_style
from tagrank.commands.tables import LINES_SHOWN, Screen, counted, table_of
from tagrank.errors import ArgumentError
from tagrank.files import FileError, atomic_write
from tagrank.options import Option
from tagrank.progress import Progress

if TYPE_CHECKING:
    from tagrank.archive.copies import Merge
    from tagrank.archive.exports import SidecarExport
    from tagrank.archive.imports import Import
    from tagrank.data.writers.tag_list import TagListExport
    from tagrank.data.writers.tags import PictureTags

TOOLS = ("label-studio", "fiftyone")


@dataclass(frozen=True)
class Export:
    """What was decided, and what became of it.

    Attributes
    ----------
    rows : a dict for each tag of a picture that was decided
    sidecars : what was written beside the pictures, or would be; None where that was not asked for
    tags : what was written into a list of all tags, or would be; None where that was not asked for
    files : what was written for another tool
    """

    rows: Sequence[Mapping[str, str]]
    sidecars: SidecarExport | None = None
    tags: TagListExport | None = None
    files: Sequence[Path] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "decisions": [dict(row) for row in self.rows],
            "sidecars": None if self.sidecars is None else self.sidecars.to_dict(),
            "tags": None if self.tags is None else self.tags.to_dict(),
            "files": [str(path) for path in self.files],
        }


def export_decisions(
    photos: Annotated[str | os.PathLike, PHOTOS],
    output: Annotated[str | os.PathLike | None, replace(OUTPUT, usual="CSV on stdout")] = None,
    *,
    to: Annotated[str | None, Option(words=TOOLS)] = None,
    tags: Annotated[str | os.PathLike | None, Option(metavar="FILE.csv")] = None,
    sidecars: Annotated[bool, Option()] = False,
    style: Annotated[str, STYLE] = "full",
    dry_run: Annotated[bool, Option()] = False,
    decisions: Annotated[str | os.PathLike | None, DECISION_FILE] = None,
    follow_links: Annotated[bool, FOLLOW_LINKS] = False,
    progress: Progress | None = None,
) -> Export:
    """Export your decisions or all tags: as a list, or as sidecars for photo programs.

    Whatever other programs wrote into sidecars stays. The pictures themselves never change.

    Parameters
    ----------
    photos : a folder of pictures
    output : file to write: .csv or .jsonl with one line per decision; .json for another tool
    to : write all pictures with their tags for another tool instead: label-studio writes tasks and, beside
        them, the labelling configuration; fiftyone writes the labels of an image classification dataset
    tags : write a list of all pictures with all their tags, which commands read as the tags.csv of a folder;
        it may replace the folder's own tags.csv. In Python, also a .jsonl file; the folder's own list keeps
        its columns and separators, and its former content is kept in the user's state
    sidecars : write all tags of pictures with accepted tags to XMP sidecars beside them, and remove tags that
        an earlier export wrote and that were undone or rejected since
    dry_run : show what would change in sidecars or tags, but write nothing
    decisions : file with the decisions
    style, follow_links : as in `annotate`
    progress : called with the number of pictures done, the number of pictures, and the name of the work

    Command line
    ------------
    tagrank export photos/ -o decisions.csv
    tagrank export photos/ --tags photos/tags.csv --dry-run
    tagrank export photos/ --to label-studio -o tasks.json
    tagrank export photos/ --to fiftyone -o labels.json
    tagrank export photos/ --sidecars --dry-run
    tagrank export photos/ --sidecars
    tagrank export /mnt/archive --decisions ~/archive.sqlite -o decisions.jsonl
    """
    from tagrank.archive import Archive, database_path
    from tagrank.archive.exports import decided_rows, export_lines, export_sidecars, export_tags
    from tagrank.commands.destinations import check_apart, check_distinct, check_list
    from tagrank.data.writers.tool_files import write_tool_files

    if to is not None:
        _check_tool(photos, output, to)
    if dry_run and not sidecars and tags is None:
        raise ArgumentError("dry_run only applies to sidecars and tags; add one of them")
    check_style(style, sidecars)
    check_distinct(output=output, tags=tags)
    if tags is not None:
        check_list(tags, "lists of tags")
    if output is not None and to is None:
        check_list(output, "decisions")
        check_apart(photos, output=output)
    if to is not None and decisions is None and not database_path(photos).exists():
        # a folder that no desk has opened has tags, too
        if sidecars or tags is not None:
            raise ArgumentError(
                "sidecars and tags export decisions of the desk, of which this folder has none"
            )
        listed_pictures = _listed_pictures(photos, follow_links)
        return Export((), None, None, write_tool_files(str(output), to, listed_pictures, Path(photos)))
    with Archive.open(photos, database=decisions, read_only=True) as archive:
        rows = decided_rows(archive)
        files: Sequence[Path] = ()
        if output is not None and to is not None:
            files = write_tool_files(output, to, archive.picture_tags(), archive.folder)
        elif output is not None:
            Path(output).parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(output, text=True) as stream:
                stream.writelines(export_lines(archive, Path(output).suffix[1:]))
        listed = None if tags is None else export_tags(archive, tags, dry_run=dry_run)
        written = None
        if sidecars:
            written = export_sidecars(
                archive, style=style, dry_run=dry_run, follow_links=follow_links, progress=progress
            )
    return Export(rows, written, listed, files)


def _check_tool(photos: str | os.PathLike, output: str | os.PathLike | None, tool: str) -> None:
    """Raise unless files for a tool can be written."""
    from tagrank.commands.destinations import check_apart, check_file
    from tagrank.validation import check_choice

    check_choice("to", tool, TOOLS)
    if output is None or Path(output).suffix != ".json":
        raise ArgumentError(f"to={tool!r} needs an output, a file that ends in .json")
    for path in (Path(output), *([Path(output).with_suffix(".xml")] if tool == "label-studio" else ())):
        check_file(path)
        check_apart(photos, output=path)


def _listed_pictures(photos: str | os.PathLike, follow_links: bool) -> list[PictureTags]:
    """The pictures of a folder with the tags that it lists."""
    from tagrank.data import read_pictures
    from tagrank.data.writers.tags import PictureTags

    collection = read_pictures(photos, follow_links=follow_links)
    pictures = []
    for number, (name, states) in enumerate(zip(collection.names or (), collection.states(), strict=True)):
        present = tuple(tag for tag, state in zip(collection.tags, states, strict=True) if state > 0)
        pictures.append(PictureTags(number, name, b"", "", present))
    return pictures


def import_decisions(
    photos: Annotated[str | os.PathLike, PHOTOS],
    file: Annotated[str | os.PathLike, PHOTOS],
    *,
    who: Annotated[str | None, Option(metavar="NAME", usual="the names in the list")] = None,
    dry_run: Annotated[bool, Option()] = False,
    decisions: Annotated[str | os.PathLike | None, DECISION_FILE] = None,
    follow_links: Annotated[bool, FOLLOW_LINKS] = False,
    progress: Progress | None = None,
) -> Import | Merge:
    """Import decisions or tags from a list, or decisions from another copy of the desk.

    Pictures are matched by content, or else by name. The desk can undo the decisions of each person in one
    step. Either all decisions are imported or none.

    Parameters
    ----------
    file : a .csv or .jsonl list that 'tagrank export' wrote or that has the form of tags.csv; or the .sqlite
        file of another copy of the desk. In Python, the steps of such a file are imported as they were
        recorded
    who : name of the person who made these decisions
    dry_run : show the differences, but record nothing
    photos, decisions, follow_links : as in `export_decisions`
    progress : called with the number of pictures done, the number of pictures, and the name of the work

    Command line
    ------------
    tagrank import photos/ decisions.csv --dry-run
    tagrank import photos/ decisions.csv
    tagrank import photos/ tags.csv --who anna
    tagrank import photos/ bens-copy.sqlite
    """
    from tagrank.archive import Archive, database_path
    from tagrank.archive.imports import import_answers

    if Path(file).suffix == ".sqlite":
        if who is not None:
            raise ArgumentError("a .sqlite file already names the people who decided; leave out who")
        return _merge(photos, file, dry_run, decisions, progress)
    if not dry_run:
        with Archive.open(photos, database=decisions, lock=True) as archive:
            archive.scan(progress, follow_links=follow_links)
            return import_answers(archive, file, who=who)
    if database_path(photos, decisions).exists():
        with Archive.open(photos, database=decisions, read_only=True) as archive:
            return import_answers(archive, file, who=who, dry_run=True)
    with (
        tempfile.TemporaryDirectory(prefix="tagrank-import-") as nowhere,
        Archive.open(photos, database=Path(nowhere) / "desk.sqlite") as archive,
    ):
        archive.own.forget()
        archive.scan(progress, follow_links=follow_links)
        return import_answers(archive, file, who=who, dry_run=True)


def _merge(
    photos: str | os.PathLike,
    file: str | os.PathLike,
    dry_run: bool,
    decisions: str | os.PathLike | None,
    progress: Progress | None,
) -> Merge:
    from tagrank.archive import Archive, database_path
    from tagrank.archive.copies import copy_database, merge_copy

    if not dry_run:
        with Archive.open(photos, database=decisions, lock=True) as archive:
            archive.scan(progress)
            return merge_copy(archive, file)
    with tempfile.TemporaryDirectory(prefix="tagrank-import-") as nowhere:
        own, copy = database_path(photos, decisions), Path(nowhere) / "desk.sqlite"
        if own.exists():
            copy_database(own, copy)
        with Archive.open(photos, database=copy) as archive:
            archive.own.forget()
            archive.scan(progress)
            return merge_copy(archive, file, dry_run=True)


def backup_decisions(
    photos: Annotated[str | os.PathLike, PHOTOS],
    output: Annotated[
        str | os.PathLike | None, replace(OUTPUT, metavar="FILE.sqlite", usual="named by archive and day")
    ] = None,
    *,
    decisions: Annotated[str | os.PathLike | None, DECISION_FILE] = None,
) -> tuple[Path, int]:
    """Back up all decisions to one file, even while the desk is open.

    Parameters
    ----------
    output : file for the backup. In Python, the default is a file in the working folder, named by the archive
        and the day
    photos, decisions : as in `export_decisions`

    Returns
    -------
    the file of the backup, and how many decisions it holds

    Command line
    ------------
    tagrank backup photos/
    tagrank backup photos/ -o /mnt/safe/photos.sqlite
    """
    from tagrank.archive import Archive, database_path
    from tagrank.archive.copies import copy_database

    source = database_path(photos, decisions)
    name = f"{Path(photos).absolute().name}-decisions-{datetime.now():%Y-%m-%d}.sqlite"
    target = Path(name if output is None else output)
    if target.suffix != ".sqlite":
        raise ArgumentError(f"a backup is a .sqlite file, got {os.fspath(target)!r}")
    if target.exists() and target.resolve() == source.resolve():
        raise ArgumentError(f"{os.fspath(target)!r} is the file with the decisions itself; name another file")
    with Archive.open(photos, database=decisions, read_only=True):
        pass  # says what is wrong with the folder or the file
    return target, copy_database(source, target)


def restore_decisions(
    photos: Annotated[str | os.PathLike, PHOTOS],
    file: Annotated[str | os.PathLike, PHOTOS],
    *,
    decisions: Annotated[str | os.PathLike | None, DECISION_FILE] = None,
) -> tuple[int, Path | None]:
    """Restore a backup of the decisions; the decisions it replaces are kept in another file.

    Parameters
    ----------
    file : a backup that 'tagrank backup' wrote
    photos, decisions : as in `export_decisions`

    Returns
    -------
    how many decisions it holds, and the file that keeps the replaced decisions

    Command line
    ------------
    tagrank restore photos/ photos-decisions-2026-05-01.sqlite
    tagrank restore /mnt/archive copy.sqlite --decisions ~/archive.sqlite
    """
    from tagrank.archive.copies import restore_database
    from tagrank.archive.storage.place import check_home, database_path, make_home

    if not Path(photos).is_dir():
        raise FileError(photos, "is not a folder; expected a folder of pictures")
    target = database_path(photos, decisions)
    if decisions is None:
        check_home(target.parent)
    make_home(target)
    return restore_database(Path(file), target)


def show_export(done: Export, *, output: str | os.PathLike | None = None, json: bool = False) -> Screen:
    """What was decided as CSV, or what changed in sidecars and in a list of tags."""
    tables: list[Any] = []
    said = [] if output is None else [f"{counted(len(done.rows), 'decision')} written to {output}"]
    if done.files:
        said = [f"all pictures with their tags written to {' and '.join(map(str, done.files))}"]
    if not json and output is None and done.sidecars is None and done.tags is None:
        from tagrank.archive.exports import list_lines

        return Screen(text="".join(list_lines(done.rows, "csv")))
    if done.tags is not None:
        changes = [(change.name, change.added, change.removed) for change in done.tags.changes]
        tables += _differences("picture", changes, said)
        said += _said_of_tags(done.tags)
    if done.sidecars is None:
        return Screen(tables, said)
    changes = [(os.path.basename(one.sidecar), one.tags, one.removed) for one in done.sidecars.changes]
    tables += _differences("sidecar", changes, said)
    said.append(_said_of_sidecars(done.sidecars))
    problems = done.sidecars.problems
    return Screen(tables, said, {"sidecar not changed": problems}, has_failed=bool(problems))


def _differences(what: str, changes: Sequence[tuple[str, Any, Any]], said: list[str]) -> list[Any]:
    """A line for each `what`: the tags that come, and those that go."""
    if len(changes) > LINES_SHOWN:
        said.append(f"{len(changes) - LINES_SHOWN:,} more {what}s; --json lists all")
    rows = [(name, ", ".join(added), ", ".join(removed)) for name, added, removed in changes[:LINES_SHOWN]]
    return [table_of(what, "added", "removed", rows=rows)] if rows else []


def _said_of_tags(done: TagListExport) -> list[str]:
    line = f"{done.path}: {counted(done.n_added, 'tag')} added, {counted(done.n_removed, 'tag')} removed"
    line += f"; {counted(done.n_pictures, 'picture')} with tags"
    said = [f"dry run, nothing was written: {line}" if done.dry_run else line]
    if done.kept:
        command = shlex.join(["cp", done.kept, done.path])
        said.append(f"a copy of the old list is kept; to restore it: {command}")
    return said


def _said_of_sidecars(done: SidecarExport) -> str:
    line = f"{counted(done.n_added, 'tag')} added to {counted(len(done.changes), 'sidecar')}"
    if done.n_removed:
        line = f"{counted(done.n_added, 'tag')} added, {counted(done.n_removed, 'tag')} removed"
        line += f" in {counted(len(done.changes), 'sidecar')}"
    line += f"; {counted(done.n_pictures, 'picture')} with accepted tags"
    return f"dry run, nothing was written: {line}" if done.dry_run else line


def show_import(done: Import | Merge, *, dry_run: bool = False) -> Screen:
    """The differences that a list makes, or how much was taken over of another's file."""
    from tagrank.archive.copies import Merge

    problems, has_failed = {"not used": done.problems}, bool(done.problems)
    if isinstance(done, Merge):
        return Screen((), [_said_of_merge(done)], problems, has_failed=has_failed)
    changes = done.changes
    rows = [(one.name, one.tag, one.before, one.after, one.who) for one in changes[:LINES_SHOWN]]
    tables = [table_of("picture", "tag", "before", "after", "by", rows=rows)] if rows else []
    line = f"{counted(len(changes), 'decision')} recorded from {counted(done.n_read, 'line')}"
    more = len(changes) - LINES_SHOWN
    said = [f"{more:,} more; --json lists all"] if more > 0 else []
    said.append(f"dry run, nothing was recorded: {line}" if dry_run else line)
    return Screen(tables, said, problems, has_failed=has_failed)


def _said_of_merge(done: Merge) -> str:
    parts = [
        f"{counted(done.n_answers, 'decision')} and {counted(done.n_tag_changes, 'change')} of tags imported "
        f"in {counted(done.n_steps, 'step')}"
    ]
    parts += [f"by {', '.join(done.people)}"] if done.people else []
    parts += [f"{counted(done.n_undone, 'step')} undone"] if done.n_undone else []
    parts += [f"{counted(done.n_unknown, 'picture')} not in this folder yet"] if done.n_unknown else []
    line = "; ".join(parts)
    return f"dry run, nothing was recorded: {line}" if done.dry_run else line


def show_backup(copied: tuple[Path, int]) -> Screen:
    """Where the copy is."""
    path, n_decisions = copied
    said = f"{counted(n_decisions, 'decision')} saved to {path}; 'tagrank restore' restores them"
    return Screen(sentences=[said])


def show_restored(restored: tuple[int, Path | None]) -> Screen:
    """How much was restored, and where the file is that was there."""
    n_decisions, kept = restored
    more = f"; the replaced decisions are in {kept}" if kept else ""
    return Screen(sentences=[f"{counted(n_decisions, 'decision')} restored{more}"])

"""What was decided at the desk leaves an archive as a list or as sidecars, and comes back from a list."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tagrank.archive import Archive, database_path
from tagrank.archive.copies import Merge, copy_database, merge_copy, restore_database
from tagrank.archive.exports import SidecarExport, decided_rows, export_lines, export_sidecars, export_tags
from tagrank.archive.imports import Import, import_answers
from tagrank.archive.storage.place import check_home, make_home
from tagrank.commands.destinations import check_apart, check_distinct, check_list
from tagrank.commands.sidecars import check_style
from tagrank.data.writers.tag_list import TagListExport
from tagrank.errors import ArgumentError
from tagrank.files import FileError, atomic_write
from tagrank.progress import Progress


@dataclass(frozen=True)
class Export:
    """What was decided, and what became of it.

    Attributes
    ----------
    rows : a dict for each tag of a picture that was decided
    sidecars : what was written beside the pictures, or would be; None where that was not asked for
    tags : what was written into a list of all tags, or would be; None where that was not asked for
    """

    rows: Sequence[Mapping[str, str]]
    sidecars: SidecarExport | None = None
    tags: TagListExport | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "decisions": [dict(row) for row in self.rows],
            "sidecars": None if self.sidecars is None else self.sidecars.to_dict(),
            "tags": None if self.tags is None else self.tags.to_dict(),
        }


def export_decisions(
    photos: str | os.PathLike,
    output: str | os.PathLike | None = None,
    *,
    tags: str | os.PathLike | None = None,
    sidecars: bool = False,
    style: str = "full",
    dry_run: bool = False,
    decisions: str | os.PathLike | None = None,
    follow_links: bool = False,
    progress: Progress | None = None,
) -> Export:
    """Write down what was decided about the pictures of a folder, or all their tags; decisions stay.

    Parameters
    ----------
    photos : folder with the pictures
    output : a ``.csv`` or ``.jsonl`` file to write, a line for each tag of a picture, or None
    tags : a ``.csv`` or ``.jsonl`` file with every picture and all its present tags, listed and not rejected
        or accepted, as a folder of pictures is read from. The folder's own list may be named: it keeps its
        columns and separators, and its former content is kept in the user's state.
    sidecars : bring all present tags of pictures with an accepted one into XMP files beside them, and take
        those that earlier exports wrote and that are not present any more out of them
    style : {"full", "stem"}, what new sidecars are called, see `write_sidecar`
    dry_run : with `sidecars` or `tags`, only tell what would be written
    decisions : the file with the decisions; default: ``.tagrank/desk.sqlite`` in the folder
    follow_links : also write sidecars behind links to folders
    progress : called with how many pictures are done, how many there are, and what is being done
    """
    if dry_run and not sidecars and tags is None:
        raise ArgumentError("dry_run is about sidecars and tags; ask for one of them, too")
    check_style(style, sidecars)
    check_distinct(output=output, tags=tags)
    if tags is not None:
        check_list(tags, "lists of tags")
    if output is not None:
        check_list(output, "decisions")
        check_apart(photos, output=output)
    with Archive.open(photos, database=decisions, read_only=True) as archive:
        rows = decided_rows(archive)
        if output is not None:
            Path(output).parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(output, text=True) as stream:
                stream.writelines(export_lines(archive, Path(output).suffix[1:]))
        listed = None if tags is None else export_tags(archive, tags, dry_run=dry_run)
        written = None
        if sidecars:
            written = export_sidecars(
                archive, style=style, dry_run=dry_run, follow_links=follow_links, progress=progress
            )
    return Export(rows, written, listed)


def import_decisions(
    photos: str | os.PathLike,
    file: str | os.PathLike,
    *,
    who: str | None = None,
    dry_run: bool = False,
    decisions: str | os.PathLike | None = None,
    follow_links: bool = False,
    progress: Progress | None = None,
) -> Import | Merge:
    """Take over the answers in a list that are not known yet, all of them or none.

    Parameters
    ----------
    photos : folder with the pictures; which are there is looked at first
    file : a list that `export_decisions` wrote, or one of pictures with their tags, such as tags.csv; or the
        ``.sqlite`` file of another copy of the archive, whose steps are taken over as they were recorded
    who : whose answers they are; default: as the list says, else "import"
    dry_run : only tell the differences
    decisions : the file with the decisions; default: ``.tagrank/desk.sqlite`` in the folder
    follow_links : look behind links to folders, too
    progress : called with how many pictures are done, how many there are, and what is being done
    """
    if Path(file).suffix == ".sqlite":
        if who is not None:
            raise ArgumentError("steps of another copy keep the names of their people; leave out who")
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
    photos: str | os.PathLike,
    output: str | os.PathLike | None = None,
    *,
    decisions: str | os.PathLike | None = None,
) -> tuple[Path, int]:
    """Write a copy of all that was decided, also while a desk is open; where it is, and how many decisions.

    Parameters
    ----------
    photos : folder with the pictures
    output : a ``.sqlite`` file; default: in the working folder, by the name of the archive and the day
    decisions : the file with the decisions; default: ``.tagrank/desk.sqlite`` in the folder
    """
    source = database_path(photos, decisions)
    name = f"{Path(photos).absolute().name}-decisions-{datetime.now():%Y-%m-%d}.sqlite"
    target = Path(name if output is None else output)
    if target.suffix != ".sqlite":
        raise ArgumentError(f"a copy of the decisions is a .sqlite file, got {os.fspath(target)!r}")
    if target.exists() and target.resolve() == source.resolve():
        raise ArgumentError(f"{os.fspath(target)!r} is the file with the decisions itself; name another")
    with Archive.open(photos, database=decisions, read_only=True):
        pass  # says what is wrong with the folder or the file
    return target, copy_database(source, target)


def restore_decisions(
    photos: str | os.PathLike, file: str | os.PathLike, *, decisions: str | os.PathLike | None = None
) -> tuple[int, Path | None]:
    """Put a copy in the place of what was decided; how many decisions it holds, and where the old file is.

    Parameters
    ----------
    photos : folder with the pictures; no desk may have it open
    file : a copy that `backup_decisions` wrote
    decisions : the file to replace; default: ``.tagrank/desk.sqlite`` in the folder
    """
    if not Path(photos).is_dir():
        raise FileError(photos, "is not a folder; expected one with pictures")
    target = database_path(photos, decisions)
    if decisions is None:
        check_home(target.parent)
    make_home(target)
    return restore_database(Path(file), target)

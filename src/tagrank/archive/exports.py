"""What leaves an archive: decisions as a list, and the complete tags of pictures as a list or in sidecars.

A list of decisions has a line for each tag of a picture that somebody decided, as it stands. A list of tags
has the form in which a folder of pictures is read. Photo programs read XMP sidecars beside pictures.
"""

import io
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tagrank.annotation.bank.row_store import content_key, file_state
from tagrank.archive.archive import Archive
from tagrank.archive.records import ANSWER_WORDS, STATE_WORDS
from tagrank.archive.tag_columns import read_vocabulary
from tagrank.data.picture_folder import check_no_link
from tagrank.data.readers.jsonl import json_line
from tagrank.data.readers.table import protect_cell, row_writer
from tagrank.data.writers.originals import prune_originals
from tagrank.data.writers.sidecar_tags import SidecarChange, write_present_tags
from tagrank.data.writers.tag_list import TagListExport, new_tag_list, usual_list, write_tag_list
from tagrank.data.writers.tags import PictureTags
from tagrank.files import FileError, Problem, ProblemLog
from tagrank.progress import Progress
from tagrank.validation import check_choice

COLUMNS = ("name", "content", "tag", "state", "answer", "by", "at", "queue")
_DECIDED = """
    SELECT pictures.name, hex(key), tags.name, cells.answer, who, at, queue, decision
    FROM cells JOIN pictures ON pictures.id = cells.picture JOIN tags ON tags.id = cells.tag
    JOIN decisions ON decisions.id = decision JOIN batches ON batches.id = batch
    ORDER BY pictures.name, pictures.id, cells.tag
"""


def decided_rows(archive: Archive) -> list[dict[str, str]]:
    """A dict of `COLUMNS` for each tag of a picture that was decided."""
    return archive.read(_read_rows)


def export_lines(archive: Archive, format: str) -> Iterator[str]:
    """The lines of a list in "csv" or "jsonl", each with its end."""
    return list_lines(decided_rows(archive), format)


def list_lines(rows: Iterable[Mapping[str, str]], format: str) -> Iterator[str]:
    """The same for rows that were read before."""
    return _LIST_FORMATS[check_choice("format", format, tuple(_LIST_FORMATS))](rows)


def _read_rows(connection: sqlite3.Connection) -> list[dict[str, str]]:
    """Decisions by the names that tags have now; of synonyms the latest one."""
    vocabulary, latest = read_vocabulary(connection), dict[tuple[str, str, str], tuple[Any, ...]]()
    for name, content, word, *rest in connection.execute(_DECIDED):
        tag, row = vocabulary.name(word), tuple(rest)
        key = name, content, tag
        if tag not in vocabulary.deleted and (key not in latest or _time(latest[key]) < _time(row)):
            latest[key] = row
    return [dict(zip(COLUMNS, _values(*key, *row[:-1]), strict=True)) for key, row in latest.items()]


def _time(row: tuple[Any, ...]) -> tuple[str, int]:
    _, _, at, _, decision = row
    return at, decision


def _values(name: str, content: str, tag: str, answer: int, *rest: str) -> tuple[str, ...]:
    return name, content.lower(), tag, STATE_WORDS[answer], ANSWER_WORDS[answer], *rest


def _csv_lines(rows: Iterable[Mapping[str, str]]) -> Iterator[str]:
    yield ",".join(COLUMNS) + "\n"
    for row in rows:
        stream = io.StringIO()
        row_writer(stream).writerow(map(protect_cell, row.values()))
        yield stream.getvalue()


def _json_lines(rows: Iterable[Mapping[str, str]]) -> Iterator[str]:
    return map(json_line, rows)


_LIST_FORMATS: dict[str, Callable[[Iterable[Mapping[str, str]]], Iterator[str]]] = {
    "csv": _csv_lines,
    "jsonl": _json_lines,
}


def list_path(archive: Archive) -> Path:
    """The list of the folder, or where one would be."""
    return usual_list(archive.folder)


def tag_list_bytes(archive: Archive) -> bytes:
    """A new list with all present tags, as it would lie in the folder."""
    return new_tag_list(archive.picture_tags(), archive.folder)


def export_tags(archive: Archive, path: str | os.PathLike, *, dry_run: bool = False) -> TagListExport:
    """Write every picture with all its present tags: listed and not rejected, or accepted.

    A list that is there keeps its columns, its separators and all else that it holds; its former content is
    kept in the user's state.

    Parameters
    ----------
    archive : may be open for reading only
    path : a ``.csv`` or ``.jsonl`` file; the folder's own list may be named
    dry_run : only tell what would be written
    """
    return write_tag_list(path, archive.picture_tags(), archive.folder, dry_run=dry_run)


@dataclass(frozen=True)
class SidecarExport:
    """What was written into sidecars, or would be.

    Attributes
    ----------
    changes : one for each sidecar that is made, changed or deleted, with the tags that come and go
    problems : pictures whose sidecars could not be written, and why
    n_pictures : how many have accepted tags
    dry_run : whether nothing was written
    """

    changes: Sequence[SidecarChange]
    problems: Sequence[Problem]
    n_pictures: int
    dry_run: bool

    @property
    def n_added(self) -> int:
        """How many tags come."""
        return sum(len(change.tags) for change in self.changes)

    @property
    def n_removed(self) -> int:
        """How many tags go."""
        return sum(len(change.removed) for change in self.changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "dry_run": self.dry_run,
            "pictures": self.n_pictures,
            "added": self.n_added,
            "removed": self.n_removed,
            "changes": [change.to_dict() for change in self.changes],
            "problems": [vars(problem) for problem in self.problems],
        }


def export_sidecars(
    archive: Archive,
    *,
    style: str = "full",
    dry_run: bool = False,
    follow_links: bool = False,
    progress: Progress | None = None,
) -> SidecarExport:
    """Bring the tags of every picture with an accepted one into its sidecar; each is whole, old or new.

    A sidecar gets all present tags of its picture. What it holds stays; tags that the picture has, inside
    too, are not added again; an accepted tag that a machine had made counts as a person's from now on. Tags
    that are not present any more go, as far as tagrank wrote them.

    Parameters
    ----------
    archive : may be open for reading only
    style : {"full", "stem"}, what new sidecars are called, see `write_sidecar`
    dry_run : only tell what would be written
    follow_links : also write behind links to folders
    progress : called with the number of pictures done, the number of pictures, and the name of the work
    """
    vocabulary = archive.vocabulary()
    paths = {tag: vocabulary.path(tag) for tag in vocabulary.parents}
    decided = [picture for picture in archive.picture_tags() if picture.was_decided]
    changes, problems = list[SidecarChange](), ProblemLog()
    for number, picture in enumerate(decided, 1):
        path = archive.folder / picture.name
        try:
            if not follow_links:
                check_no_link(archive.folder, picture.name)
            _check_same(path, picture)
            change = write_present_tags(path, picture, paths=paths, style=style, dry_run=dry_run)
        except (FileError, OSError) as error:
            problems.add_error(path, error)
        else:
            if change.action != "keep":
                changes.append(change)
        if progress is not None:
            progress(number, len(decided), "writing sidecars")
    if not dry_run:
        prune_originals()
    n_pictures = sum(bool(picture.accepted) for picture in decided)
    return SidecarExport(changes, problems.listed(), n_pictures, dry_run)


def _check_same(path: Path, picture: PictureTags) -> None:
    """Raise where another picture has the name meanwhile: the tags are not about that one."""
    try:
        is_same = file_state(str(path)) == picture.file_state or content_key(path) == picture.key
    except FileNotFoundError:
        raise FileError(
            path, "no longer exists; scan the folder again on the page Archive of the desk"
        ) from None
    if not is_same:
        raise FileError(path, "has changed; scan the folder again on the page Archive of the desk")

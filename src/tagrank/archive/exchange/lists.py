"""Lists that leave an archive: decisions as they stand, and the complete tags of all pictures.

A list of decisions has a line for each tag of a picture that somebody decided. A list of tags has the form in
which a folder of pictures is read.
"""

import csv
import io
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tagrank.archive.archive import Archive
from tagrank.archive.records import ANSWER_WORDS, STATE_WORDS, PictureTags
from tagrank.archive.tag_columns import read_vocabulary
from tagrank.data.picture_folder import PictureFolder
from tagrank.data.readers.folders.tag_list import find_tag_lists
from tagrank.data.readers.jsonl import json_line
from tagrank.data.readers.table import protect_cell
from tagrank.data.writers.originals import (
    Record,
    change_file,
    kept_at,
    plain_content,
    prune_originals,
    read_record,
)
from tagrank.data.writers.sidecar_tags import EXPORT
from tagrank.data.writers.tag_list import NEW_LISTS, TagList
from tagrank.errors import ArgumentError
from tagrank.problems import ProblemLog
from tagrank.validation import check_choice

COLUMNS = ("name", "content", "tag", "state", "answer", "by", "at", "queue")
_DECIDED = """
    SELECT pictures.name, hex(key), tags.name, cells.answer, who, at, queue, decision
    FROM cells JOIN pictures ON pictures.id = cells.picture JOIN tags ON tags.id = cells.tag
    JOIN decisions ON decisions.id = decision JOIN batches ON batches.id = batch
    ORDER BY pictures.name, pictures.id, cells.tag
"""
USUAL_LIST = "tags.csv"


def decided_rows(archive: Archive) -> list[dict[str, str]]:
    """A dict of `COLUMNS` for each tag of a picture that was decided."""
    return archive.read(_read_rows)


def export_lines(archive: Archive, format: str) -> Iterator[str]:
    """The lines of a list in "csv" or "jsonl", each with its end."""
    return list_lines(decided_rows(archive), format)


def list_lines(rows: Iterable[Mapping[str, str]], format: str) -> Iterator[str]:
    """The same for rows that were read before."""
    return FORMATS[check_choice("format", format, tuple(FORMATS))](rows)


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
        csv.writer(stream, lineterminator="\n").writerow(map(protect_cell, row.values()))
        yield stream.getvalue()


def _json_lines(rows: Iterable[Mapping[str, str]]) -> Iterator[str]:
    return map(json_line, rows)


FORMATS: dict[str, Callable[[Iterable[Mapping[str, str]]], Iterator[str]]] = {
    "csv": _csv_lines,
    "jsonl": _json_lines,
}


@dataclass(frozen=True)
class ListChange:
    """What changes for one picture in a list."""

    name: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True)
class TagListExport:
    """What was written into a list of tags, or would be.

    Attributes
    ----------
    path : the list
    action : "create", "change", or "keep" where it is complete already
    changes : one for each picture whose tags in the list change
    n_pictures : how many have tags
    kept : where the list lies that was replaced; None for a new one
    dry_run : whether nothing was written
    """

    path: str
    action: str
    changes: Sequence[ListChange]
    n_pictures: int
    kept: str | None
    dry_run: bool

    @property
    def n_added(self) -> int:
        """How many tags come."""
        return sum(len(change.added) for change in self.changes)

    @property
    def n_removed(self) -> int:
        """How many tags go."""
        return sum(len(change.removed) for change in self.changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            **{name: getattr(self, name) for name in ("path", "action", "kept", "dry_run")},
            "pictures": self.n_pictures,
            "added": self.n_added,
            "removed": self.n_removed,
            "changes": [asdict(change) for change in self.changes],
        }


def list_path(archive: Archive) -> Path:
    """The list of the folder, or where one would be."""
    lists = find_tag_lists(PictureFolder(archive.folder, ProblemLog()))
    fitting = [name for name in lists if Path(name).suffix in NEW_LISTS]
    return archive.folder / (fitting[0] if len(lists) == len(fitting) == 1 else USUAL_LIST)


def tag_list_bytes(archive: Archive) -> bytes:
    """A new list with all present tags, as it would lie in the folder."""
    folder = archive.folder
    present = {picture.name: picture.present for picture in archive.picture_tags()}
    return TagList(folder / USUAL_LIST, None, lambda _: None).rewritten(present, {}, folder)


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
    path = Path(path)
    pictures = archive.picture_tags()
    # links only tell which picture an entry means; nothing is written there
    files = PictureFolder(archive.folder, ProblemLog(), follow_links=True)
    _check_alone(path, archive.folder, find_tag_lists(files))
    content, record = plain_content(path), read_record(path)
    present = {picture.name: picture.present for picture in pictures}
    tag_list = TagList(path, content, lambda listed: _found(files, listed, path.parent))
    before = tag_list.tags()
    changes = [change for name in present if (change := _change(name, before.get(name, ()), present[name]))]
    new = tag_list.rewritten(
        present, {picture.name: picture.rejected for picture in pictures}, archive.folder
    )
    action = "create" if content is None else "change" if changes else "keep"
    if action != "keep" and not dry_run:
        rows = {picture.name: _ours(picture, before, record.rows) for picture in pictures}
        taken = {picture.name: _taken(picture, before, record) for picture in pictures}
        record = replace(
            record,
            rows={name: tags for name, tags in rows.items() if tags},
            taken={name: tags for name, tags in taken.items() if tags},
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        change_file(path, new, record, before=content, run=EXPORT)
        prune_originals()
    kept = kept_at(path) if action == "change" and not dry_run else None
    n_pictures = sum(bool(tags) for tags in present.values())
    return TagListExport(str(path), action, changes, n_pictures, None if kept is None else str(kept), dry_run)


def _check_alone(path: Path, folder: Path, lists: Sequence[str]) -> None:
    """Several lists of a folder are read together: one that holds all would contradict the others."""
    others = [name for name in lists if not _is_same(folder / name, path)]
    if others and os.path.realpath(path.parent) == os.path.realpath(folder):
        raise ArgumentError(
            f"tags={path}: {folder} has another list, {', '.join(others[:3])}, which is read together with "
            "it; name that one, or a file elsewhere"
        )


def _is_same(one: Path, other: Path) -> bool:
    return os.path.abspath(one) == os.path.abspath(other)


def _found(files: PictureFolder, listed: str, folder: Path) -> str | None:
    """The picture that an entry of a list in `folder` means."""
    whole = folder.absolute() / listed
    root = files.root.absolute()
    try:
        return files.find(whole.relative_to(root).as_posix() if whole.is_relative_to(root) else listed)
    except LookupError:
        return None


def _change(name: str, before: Sequence[str], present: Sequence[str]) -> ListChange | None:
    added = tuple(tag for tag in present if tag not in before)
    removed = tuple(tag for tag in before if tag not in present)
    return ListChange(name, added, removed) if added or removed else None


def _ours(
    picture: PictureTags, before: Mapping[str, Sequence[str]], written: Mapping[str, Sequence[str]]
) -> list[str]:
    """The tags of a picture that only answers speak for, and that the list has from tagrank."""
    theirs = set(before.get(picture.name, ())) - set(written.get(picture.name, ()))
    return [tag for tag in picture.present if tag in picture.unlisted and tag not in theirs]


def _taken(picture: PictureTags, before: Mapping[str, Sequence[str]], record: Record) -> list[str]:
    """The rejected tags of a picture that the list had from others."""
    theirs = set(before.get(picture.name, ())) - set(record.rows.get(picture.name, ()))
    return sorted(picture.rejected & (theirs | set(record.taken.get(picture.name, ()))))

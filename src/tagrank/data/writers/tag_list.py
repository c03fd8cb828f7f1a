"""A list of pictures with their tags is written beside them or elsewhere, and what was there is kept."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tagrank.data.picture_folder import PictureFolder
from tagrank.data.readers.folders.tag_list import find_tag_lists
from tagrank.data.writers.originals import (
    EXPORT,
    Record,
    change_file,
    kept_at,
    plain_content,
    prune_originals,
    read_record,
)
from tagrank.data.writers.tag_list_lines import NEW_LISTS, TagList
from tagrank.data.writers.tags import PictureTags
from tagrank.errors import ArgumentError
from tagrank.files import ProblemLog

USUAL_LIST = "tags.csv"


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


def usual_list(folder: Path) -> Path:
    """The list of a folder of pictures, or where one would be."""
    lists = find_tag_lists(PictureFolder(folder, ProblemLog()))
    fitting = [name for name in lists if Path(name).suffix in NEW_LISTS]
    return folder / (fitting[0] if len(lists) == len(fitting) == 1 else USUAL_LIST)


def new_tag_list(pictures: Sequence[PictureTags], folder: Path) -> bytes:
    """A new list with all present tags, as it would lie in the folder of the pictures."""
    return TagList(folder / USUAL_LIST, None, lambda _: None).rewritten(pictures, folder)


def write_tag_list(
    path: str | os.PathLike, pictures: Sequence[PictureTags], folder: Path, *, dry_run: bool = False
) -> TagListExport:
    """Write every picture of a folder with all its present tags into a list.

    A list that is there keeps its columns, its separators and all else that it holds; its former content is
    kept in the user's state.

    Parameters
    ----------
    path : a ``.csv`` or ``.jsonl`` file; the folder's own list may be named
    pictures : those of the folder, with their tags
    folder : from which the names of the pictures count
    dry_run : only tell what would be written
    """
    path = Path(path)
    # links only tell which picture an entry means; nothing is written there
    files = PictureFolder(folder, ProblemLog(), follow_links=True)
    _check_alone(path, folder, find_tag_lists(files))
    content, record = plain_content(path), read_record(path)
    tag_list = TagList(path, content, lambda listed: _meant(files, listed, path.parent))
    before = tag_list.tags()
    changes = [change for picture in pictures if (change := _change(picture, before.get(picture.name, ())))]
    new = tag_list.rewritten(pictures, folder)
    action = "create" if content is None else "change" if changes else "keep"
    if action != "keep" and not dry_run:
        path.parent.mkdir(parents=True, exist_ok=True)
        change_file(path, new, _new_record(record, pictures, before), before=content, run=EXPORT)
        prune_originals()
    kept = kept_at(path) if action == "change" and not dry_run else None
    n_pictures = sum(bool(picture.present) for picture in pictures)
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


def _meant(files: PictureFolder, listed: str, folder: Path) -> str | None:
    """The picture that an entry of a list in `folder` means."""
    whole = folder.absolute() / listed
    root = files.root.absolute()
    try:
        return files.find(whole.relative_to(root).as_posix() if whole.is_relative_to(root) else listed)
    except LookupError:
        return None


def _change(picture: PictureTags, before: Sequence[str]) -> ListChange | None:
    added = tuple(tag for tag in picture.present if tag not in before)
    removed = tuple(tag for tag in before if tag not in picture.present)
    return ListChange(picture.name, added, removed) if added or removed else None


def _new_record(
    record: Record, pictures: Sequence[PictureTags], before: Mapping[str, Sequence[str]]
) -> Record:
    """What is known of a list once it has the tags of pictures; `before` are those that it had."""
    rows, removed = dict[str, list[str]](), dict[str, list[str]]()
    for picture in pictures:
        theirs = set(before.get(picture.name, ())) - set(record.rows.get(picture.name, ()))
        # tags that only answers speak for, and that the list has from tagrank
        ours = [tag for tag in picture.present if tag in picture.unlisted and tag not in theirs]
        # rejected tags that the list had from others
        lost = sorted(picture.rejected & (theirs | set(record.removed.get(picture.name, ()))))
        rows |= {picture.name: ours} if ours else {}
        removed |= {picture.name: lost} if lost else {}
    return replace(record, rows=rows, removed=removed)

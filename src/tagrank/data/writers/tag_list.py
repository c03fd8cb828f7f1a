"""A list of pictures with their tags, brought to other tags: its columns, separators and other cells stay.

Lists are those that a folder is read from: ``tags.csv`` with a column of tags or a column for each tag, and
``tags.jsonl``. A line whose tags are the same stays as it was, character for character.
"""

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tagrank.data.picture_folder import PictureFolder
from tagrank.data.readers.folders.tag_list import find_tag_lists
from tagrank.data.readers.jsonl import json_line, parse_json
from tagrank.data.readers.table import (
    SEPARATOR,
    TAG_PREFIX,
    Roles,
    bare_cell,
    find_roles,
    find_splitting,
    join_tags,
    protect_cell,
    relative_picture,
    split_tags,
)
from tagrank.data.writers.originals import (
    EXPORT,
    Record,
    change_file,
    kept_at,
    plain_content,
    prune_originals,
    read_record,
)
from tagrank.data.writers.tags import PictureTags
from tagrank.errors import ArgumentError
from tagrank.files import FileError
from tagrank.problems import ProblemLog

USUAL_LIST = "tags.csv"
NEW_LISTS = {".csv": "image,tags\n", ".jsonl": ""}
_BOM = "\ufeff"
_PRESENT, _ABSENT, _UNKNOWN = "1", "0", ""
Find = Callable[[str], str | None]


class TagList:
    """The content of a list to be changed.

    Parameters
    ----------
    path : where it stands, or will
    content : its bytes, None for a new one
    find : the name of the picture that an entry of the list means, or None
    """

    def __init__(self, path: Path, content: bytes | None, find: Find) -> None:
        self.path, self.is_new, self._find = path, content is None, find
        if path.suffix not in NEW_LISTS:
            raise FileError(path, f"a list of tags is written as {' or '.join(NEW_LISTS)}")
        try:
            text = NEW_LISTS[path.suffix] if content is None else content.decode("utf-8")
        except UnicodeDecodeError:
            raise FileError(path, "is not UTF-8 text; save it as UTF-8") from None
        self._bom = _BOM if text.startswith(_BOM) else ""
        self._lines = io.StringIO(text.removeprefix(_BOM), newline="").readlines()
        self._end = "\r\n" if self._lines and self._lines[0].endswith("\r\n") else "\n"
        if self._lines and not self._lines[-1].endswith(("\n", "\r")):
            self._lines[-1] += self._end

    def tags(self) -> dict[str, list[str]]:
        """The tags that the list has, by the names of pictures."""
        tags_by_name: dict[str, list[str]] = {}
        for name, tags in self._lines_by_kind().entries():
            if name is not None:
                tags_by_name[name] = list(dict.fromkeys([*tags_by_name.get(name, ()), *tags]))
        return tags_by_name

    def rewritten(self, pictures: Sequence[PictureTags], folder: Path) -> bytes:
        """The list with the present tags of pictures; those that it lacks come last, if they have any tags.

        A new list has all pictures. Their names count from `folder`.
        """
        listed = self.tags()
        lacking = {
            picture.name: [tag for tag in picture.present if tag not in listed.get(picture.name, ())]
            for picture in pictures
        }
        new = {
            relative_picture(folder / picture.name, self.path.parent): picture.present
            for picture in pictures
            if picture.name not in listed and (picture.present or self.is_new)
        }
        by_name = {picture.name: picture for picture in pictures}
        text = "".join(self._lines_by_kind().rewritten(by_name, lacking, new))
        return (self._bom + text).encode("utf-8")

    def _lines_by_kind(self) -> "_CsvLines | _JsonLines":
        return (_JsonLines if self.path.suffix == ".jsonl" else _CsvLines)(self)


class _CsvLines:
    def __init__(self, whole: TagList) -> None:
        self._whole = whole
        lines = whole._lines
        first = lines[0] if lines else ""
        self._delimiter = next((mark for mark in ",;\t" if mark in first), ",")
        reader = csv.reader(lines, delimiter=self._delimiter, strict=True)
        self._rows: list[tuple[str, list[str]]] = []
        try:
            start = 0
            for row in reader:
                self._rows.append(("".join(lines[start : reader.line_num]), row))
                start = reader.line_num
            if not self._rows:
                raise ValueError("the file is empty; expected a header line: image,tags")
            self._header = [bare_cell(column.strip()) for column in self._rows[0][1]]
            self._roles: Roles = find_roles(self._header)
        except (csv.Error, ValueError) as error:
            raise FileError(whole.path, str(error), line=max(1, reader.line_num)) from None
        if self._roles.image is None or (self._roles.tag_list is None and not self._roles.tags):
            raise FileError(whole.path, "expected the columns image and tags; name another file")
        cells = [
            self._cell(row, self._roles.tag_list)
            for _, row in self._rows[1:]
            if self._roles.tag_list is not None
        ]
        splitting = find_splitting(cells)
        self._separator = splitting.separator if splitting is not None and splitting.is_certain else SEPARATOR

    def entries(self) -> Iterator[tuple[str | None, list[str]]]:
        for _, row in self._rows[1:]:
            if row:
                yield self._whole._find(self._cell(row, self._roles.image)), self._tags(row)

    def rewritten(
        self,
        pictures: Mapping[str, PictureTags],
        lacking: dict[str, list[str]],
        new: Mapping[str, Sequence[str]],
    ) -> Iterator[str]:
        """The lines with the tags of `pictures`: `lacking` are those to add, by name, `new` are new lines."""
        columns = self._new_columns(pictures.values())
        header = [*self._rows[0][1], *(protect_cell(f"{TAG_PREFIX}{tag}") for tag in columns)]
        yield self._line(header) if columns else self._rows[0][0]
        for raw, row in self._rows[1:]:
            name = self._whole._find(self._cell(row, self._roles.image)) if row else None
            if name is None or name not in pictures:
                yield self._line([*row, *[_UNKNOWN] * len(columns)]) if columns and row else raw
                continue
            present = pictures[name].present
            # where a picture has several lines, the first gets what is lacking
            changed = self._changed(row, pictures[name], lacking.pop(name, []))
            changed += [_state(tag in present, bool(present)) for tag in columns]
            yield raw if changed == row else self._line(changed)
        for image, tags in new.items():
            yield self._line(self._new_row(image, tags, columns))

    def _new_columns(self, pictures: Iterable[PictureTags]) -> list[str]:
        if self._roles.tag_list is not None:
            return []
        tags = dict.fromkeys(tag for picture in pictures for tag in picture.present)
        return [tag for tag in tags if tag not in self._roles.tags]

    def _changed(self, row: list[str], picture: PictureTags, lacking: Sequence[str]) -> list[str]:
        changed = list(row)
        if self._roles.tag_list is not None:
            old = self._tags(row)
            tags = [*(tag for tag in old if tag in picture.present), *lacking]
            if tags != old:
                changed[self._roles.tag_list] = self._listed(tags)
            return changed
        for j, tag in zip(self._roles.tag_columns, self._roles.tags, strict=True):
            is_marked = _is_present(row[j])
            if tag in picture.present and not is_marked:
                changed[j] = _PRESENT
            elif tag not in picture.present and is_marked:
                changed[j] = _ABSENT if tag in picture.rejected else _UNKNOWN
        return changed

    def _new_row(self, image: str, tags: Sequence[str], columns: Sequence[str]) -> list[str]:
        row = [_UNKNOWN] * len(self._header)
        row[self._roles.image or 0] = protect_cell(image)
        if self._roles.tag_list is not None:
            row[self._roles.tag_list] = self._listed(tags)
        for j, tag in zip(self._roles.tag_columns, self._roles.tags, strict=True):
            row[j] = _state(tag in tags, True)
        return [*row, *(_state(tag in tags, True) for tag in columns)]

    def _listed(self, tags: Sequence[str]) -> str:
        return protect_cell(join_tags(tags, self._separator))

    def _tags(self, row: list[str]) -> list[str]:
        if self._roles.tag_list is not None:
            return split_tags(self._cell(row, self._roles.tag_list), self._separator)
        columns = zip(self._roles.tag_columns, self._roles.tags, strict=True)
        return [tag for j, tag in columns if _is_present(row[j])]

    def _cell(self, row: list[str], column: int | None) -> str:
        if column is None or column >= len(row):
            raise FileError(self._whole.path, "has a line that is too short; mend it first")
        return bare_cell(row[column])

    def _line(self, row: Sequence[str]) -> str:
        stream = io.StringIO(newline="")
        csv.writer(stream, delimiter=self._delimiter, lineterminator=self._whole._end).writerow(row)
        return stream.getvalue()


def _is_present(cell: str) -> bool:
    return cell.strip() in ("1", "1.0")


def _state(is_present: bool, is_tagged: bool) -> str:
    return _PRESENT if is_present else _ABSENT if is_tagged else _UNKNOWN


class _JsonLines:
    def __init__(self, whole: TagList) -> None:
        self._whole = whole

    def _values(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for number, line in enumerate(self._whole._lines, 1):
            value = parse_json(line, self._whole.path, line=number) if line.strip() else {}
            if not isinstance(value, dict):
                raise FileError(self._whole.path, 'expected an object with "image" and "tags"', line=number)
            yield line, value

    def entries(self) -> Iterator[tuple[str | None, list[str]]]:
        for _, value in self._values():
            if isinstance(value.get("image"), str):
                yield self._whole._find(value["image"]), [str(tag) for tag in value.get("tags") or ()]

    def rewritten(
        self,
        pictures: Mapping[str, PictureTags],
        lacking: dict[str, list[str]],
        new: Mapping[str, Sequence[str]],
    ) -> Iterator[str]:
        """The lines with the tags of `pictures`: `lacking` are those to add, by name, `new` are new lines."""
        for line, value in self._values():
            name = self._whole._find(value["image"]) if isinstance(value.get("image"), str) else None
            if name is None or name not in pictures:
                yield line
                continue
            old = [str(tag) for tag in value.get("tags") or ()]
            kept = (tag for tag in old if tag in pictures[name].present)
            tags = [*kept, *lacking.pop(name, [])]
            if tags == old:
                yield line
                continue
            unknown = [tag for tag in value.get("unknown") or () if tag not in tags]
            yield json_line(value | {"tags": tags} | ({"unknown": unknown} if "unknown" in value else {}))
        for image, present in new.items():
            yield json_line({"image": image, "tags": list(present)})


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

"""The lines of a list of pictures, brought to other tags: its columns, separators and other cells stay.

Lists are those that a folder is read from: ``tags.csv`` with a column of tags or a column for each tag, and
``tags.jsonl``. A line whose tags are the same stays as it was, character for character.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

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
    row_writer,
    split_tags,
)
from tagrank.data.writers.tags import PictureTags
from tagrank.files import FileError

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
            raise FileError(self._whole.path, "has a line that is too short; fix it first")
        return bare_cell(row[column])

    def _line(self, row: Sequence[str]) -> str:
        stream = io.StringIO(newline="")
        row_writer(stream, delimiter=self._delimiter, end=self._whole._end).writerow(row)
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

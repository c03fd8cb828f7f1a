"""A list of pictures with their tags, brought to other tags: its columns, separators and other cells stay.

Lists are those that a folder is read from: ``tags.csv`` with a column of tags or a column for each tag, and
``tags.jsonl``. A line whose tags are the same stays as it was, character for character.
"""

import csv
import io
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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
    split_tags,
)
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
        found: dict[str, list[str]] = {}
        for name, tags in self._entries():
            if name is not None:
                found[name] = list(dict.fromkeys([*found.get(name, ()), *tags]))
        return found

    def rewritten(
        self, present: Mapping[str, Sequence[str]], rejected: Mapping[str, Collection[str]], folder: Path
    ) -> bytes:
        """The list with these present tags; pictures that it lacks come last, if they have any tags.

        A new list has all pictures.
        """
        listed = self.tags()
        lines = _JsonLines if self.path.suffix == ".jsonl" else _CsvLines
        new = [name for name in present if name not in listed]
        text = "".join(lines(self).rewritten(present, rejected, listed, new, folder))
        return (self._bom + text).encode("utf-8")

    def _entries(self) -> Iterator[tuple[str | None, list[str]]]:
        lines = _JsonLines if self.path.suffix == ".jsonl" else _CsvLines
        return lines(self).entries()


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
        found = find_splitting(cells)
        self._separator = found.separator if found is not None and found.is_certain else SEPARATOR

    def entries(self) -> Iterator[tuple[str | None, list[str]]]:
        for _, row in self._rows[1:]:
            if row:
                yield self._whole._find(self._cell(row, self._roles.image)), self._tags(row)

    def rewritten(
        self,
        present: Mapping[str, Sequence[str]],
        rejected: Mapping[str, Collection[str]],
        listed: Mapping[str, Sequence[str]],
        new: Sequence[str],
        folder: Path,
    ) -> Iterator[str]:
        columns = self._new_columns(present)
        header = [*self._rows[0][1], *(protect_cell(f"{TAG_PREFIX}{tag}") for tag in columns)]
        yield self._line(header) if columns else self._rows[0][0]
        seen = set[str]()
        for raw, row in self._rows[1:]:
            name = self._whole._find(self._cell(row, self._roles.image)) if row else None
            if name is None or name not in present:
                yield self._line([*row, *[_UNKNOWN] * len(columns)]) if columns and row else raw
                continue
            more = [tag for tag in present[name] if tag not in listed[name]] if name not in seen else []
            seen.add(name)
            changed = self._changed(row, present[name], more, rejected.get(name, ()))
            changed += [_state(tag in present[name], bool(present[name])) for tag in columns]
            yield raw if changed == row else self._line(changed)
        for name in new:
            if present[name] or self._whole.is_new:
                yield self._line(self._new_row(name, present[name], columns, folder))

    def _new_columns(self, present: Mapping[str, Sequence[str]]) -> list[str]:
        if self._roles.tag_list is not None:
            return []
        known = set(self._roles.tags)
        return [
            tag for tag in dict.fromkeys(tag for tags in present.values() for tag in tags) if tag not in known
        ]

    def _changed(
        self, row: list[str], present: Sequence[str], more: Sequence[str], rejected: Collection[str]
    ) -> list[str]:
        changed = list(row)
        if self._roles.tag_list is not None:
            old = self._tags(row)
            tags = [*(tag for tag in old if tag in present), *more]
            if tags != old:
                changed[self._roles.tag_list] = self._listed(tags)
            return changed
        for j, tag in zip(self._roles.tag_columns, self._roles.tags, strict=True):
            is_marked = _is_present(row[j])
            if tag in present and not is_marked:
                changed[j] = _PRESENT
            elif tag not in present and is_marked:
                changed[j] = _ABSENT if tag in rejected else _UNKNOWN
        return changed

    def _new_row(self, name: str, tags: Sequence[str], columns: Sequence[str], folder: Path) -> list[str]:
        row = [_UNKNOWN] * len(self._header)
        row[self._roles.image or 0] = protect_cell(relative_picture(folder / name, self._whole.path.parent))
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
        present: Mapping[str, Sequence[str]],
        rejected: Mapping[str, Collection[str]],
        listed: Mapping[str, Sequence[str]],
        new: Sequence[str],
        folder: Path,
    ) -> Iterator[str]:
        seen = set[str]()
        for line, value in self._values():
            name = self._whole._find(value["image"]) if isinstance(value.get("image"), str) else None
            if name is None or name not in present:
                yield line
                continue
            old = [str(tag) for tag in value.get("tags") or ()]
            more = [tag for tag in present[name] if tag not in listed[name]] if name not in seen else []
            seen.add(name)
            tags = [*(tag for tag in old if tag in present[name]), *more]
            if tags == old:
                yield line
                continue
            unknown = [tag for tag in value.get("unknown") or () if tag not in tags]
            yield json_line(value | {"tags": tags} | ({"unknown": unknown} if "unknown" in value else {}))
        for name in new:
            if present[name] or self._whole.is_new:
                image = relative_picture(folder / name, self._whole.path.parent)
                yield json_line({"image": image, "tags": list(present[name])})

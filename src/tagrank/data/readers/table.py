r"""Which column of a table plays which role, and what stands in its cells; for CSV files and DataFrames.

By convention a column ``image`` holds picture paths, ``tags`` a list of tags, ``name`` row names, ``part``
the words train and test; columns that begin with ``tag:`` hold one tag each. All others are features. Where
there is an image or a list of tags, these names may be written in capitals too. In a list of pictures, which
has both, other programs' names are understood: ``file``, ``filename`` or ``path``, and ``name`` where there
are no features; ``keywords``, ``labels`` or ``subject``.

Several tags stand in one cell as ``sky|sea``. Where a tag itself contains the separator (its first character,
if it has several) or a backslash, a backslash stands before that: ``places\|rome``. A backslash before
anything else is itself. A cell that a spreadsheet would run as a formula has an apostrophe before it.

Where nobody said what stands between tags, ``|`` is the separator if any cell has it. Else a semicolon, a tab
or a comma is certain where splitting there leaves at most half as many different tags: cells that seem to be
a tag each are then made of few words that come back in other company. The halves of a name such as
"Washington, D.C." go nowhere else, so that splitting it makes more tags, not fewer. Besides, a text with a
comma that recurs is no accident, and names of one kind have the same number of parts: a comma is certain only
where most of the texts that have one occur once, or where they have two parts here and more or fewer there.
"""

import csv
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tagrank.errors import ArgumentError, did_you_mean, warn
from tagrank.labels import duplicates

# Text that spreadsheets run as a formula, perhaps with apostrophes before it.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_BOTH_ENDS = "\r\n"
TAG_PREFIX = "tag:"
# What columns of lists are called elsewhere, without capitals, blanks and underscores; SourceFile: ExifTool
_IMAGE_WORDS = (
    *("image", "picture", "photo", "file", "filename", "path", "filepath", "imagefile", "imagename"),
    *("imagepath", "picturepath", "photopath", "sourcefile"),
)
_TAGS_WORDS = ("tags", "tag", "keywords", "keyword", "labels", "label", "subject")
COLUMN_NAMES = "'image' (or file, filename, path, name) and 'tags' (or keywords, labels)"
SEPARATOR = "|"
# in the order in which they are thought of; names may contain the last one
_OTHERS = (";", "\t", ",")
_IN_NAMES = ","


@dataclass(frozen=True)
class Roles:
    """Positions of columns; None where a role is not taken."""

    image: int | None
    tag_list: int | None
    name: int | None
    part: int | None
    tag_columns: list[int]
    tags: list[str]
    features: list[int]


def find_roles(
    header: Sequence[str],
    *,
    image_column: str | None = None,
    tags_column: str | None = None,
    name_column: str | None = None,
    part_column: str | None = None,
    tag_columns: Sequence[str] | None = None,
    tag_prefix: str = TAG_PREFIX,
    drop: Sequence[str] = (),
) -> Roles:
    """Give each column its role. A name that is passed must exist; a conventional one may be absent."""
    if twice := duplicates(header):
        raise ValueError(f"columns need different names, got twice: {', '.join(twice[:5])}")
    position = {column: j for j, column in enumerate(header)}
    known = _conventional(position)
    has_own_names = image_column is not None or tags_column is not None
    has_columns = any(tag_prefix and column.startswith(tag_prefix) for column in header)
    if not has_own_names and tag_columns is None:
        known = _as_list_of_pictures(known, header, drop, has_tags=has_columns)
    image, tag_list, name, part = (
        known.get(usual) if own is None else _required(position, own)
        for own, usual in (
            (image_column, "image"),
            (tags_column, "tags"),
            (name_column, "name"),
            (part_column, "part"),
        )
    )
    if tag_columns is not None:
        labels, tags = [_required(position, column) for column in tag_columns], list(tag_columns)
    else:
        labels = [j for j, column in enumerate(header) if tag_prefix and column.startswith(tag_prefix)]
        tags = [header[j][len(tag_prefix) :] for j in labels]
    if tag_list is not None and labels:
        raise ValueError(
            f"tags stand both in column {header[tag_list]!r} and in columns of their own; drop one"
        )
    with_role = {image, tag_list, name, part, *labels, *(_required(position, column) for column in drop)}
    return Roles(
        image, tag_list, name, part, labels, tags, [j for j in range(len(header)) if j not in with_role]
    )


def _conventional(position: dict[str, int]) -> dict[str, int]:
    """Positions of columns by conventional name; capitals count only where no feature can be meant."""
    folded = {column.casefold(): j for column, j in reversed(position.items())}
    return {**folded, **position} if folded.keys() & {"image", "tags"} else position


def _as_list_of_pictures(
    known: dict[str, int], header: Sequence[str], drop: Sequence[str], *, has_tags: bool
) -> dict[str, int]:
    """Conventional names for the columns of a list of pictures that other programs call otherwise."""
    bare = {re.sub(r"[\W_]", "", column.casefold()): j for j, column in reversed(list(enumerate(header)))}
    image = known.get("image", _first_of(_IMAGE_WORDS, bare))
    tags = known.get("tags", None if has_tags else _first_of(_TAGS_WORDS, bare))
    if image is None and tags is not None and _is_all_about_names(header, tags, drop):
        image = bare["name"]
        known = {word: j for word, j in known.items() if j != image}
    if image is None or (tags is None and not has_tags):
        return known
    return {**known, "image": image, **({} if tags is None else {"tags": tags})}


def _first_of(words: Sequence[str], positions: dict[str, int]) -> int | None:
    return next((positions[word] for word in words if word in positions), None)


def _is_all_about_names(header: Sequence[str], tags: int, drop: Sequence[str]) -> bool:
    """Whether a column of names must mean pictures: nothing else in the table is about them."""
    others = {column.casefold() for j, column in enumerate(header) if j != tags and column not in drop}
    return "name" in others and others <= {"name", "part"}


def _required(position: dict[str, int], column: str) -> int:
    if column not in position:
        raise ValueError(f"no column {column!r}{did_you_mean(column, position)}")
    return position[column]


def protect_cell(text: str) -> str:
    """`text` with an apostrophe before it where a spreadsheet would run it as a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def row_writer(stream: Any, *, delimiter: str = ",", end: str = "\n") -> Any:
    r"""A `csv.writer` whose rows end in `end`, and in whose cells every kind of line end is quoted.

    Python's own quotes only the characters of its line end. A name with a bare ``\r`` would be two lines to
    readers and spreadsheets, and the second could begin with a formula.
    """
    return csv.writer(_LineEnder(stream, end), delimiter=delimiter, lineterminator=_BOTH_ENDS)


class _LineEnder:
    """Where a `csv.writer` writes its rows, one at a time."""

    def __init__(self, stream: Any, end: str) -> None:
        self._stream, self._end = stream, end

    def write(self, row: str) -> None:
        self._stream.write(row.removesuffix(_BOTH_ENDS) + self._end)


def bare_cell(text: str) -> str:
    """The text that `protect_cell` was given."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def split_tags(text: str, separator: str) -> list[str]:
    """The tags in `text`; blanks around them and empty ones go."""
    if "\\" not in text or separator.startswith("\\"):
        pieces = text.split(separator)
    else:
        escaped, whole = rf"\\([{re.escape(separator[0])}\\])", re.escape(separator)
        matches = re.findall(rf"((?:{escaped}|(?!{whole}).)*)(?:{whole}|\Z)", text, re.DOTALL)
        pieces = [re.sub(escaped, r"\1", piece) for piece, _ in matches]
    return [tag for piece in pieces if (tag := piece.strip())]


def join_tags(tags: Iterable[str], separator: str) -> str:
    """`tags` as a text from which `split_tags` reads the same tags."""
    return separator.join(_escape(tag, separator) for tag in tags)


def _escape(tag: str, separator: str) -> str:
    if not tag.strip() or tag != tag.strip():
        raise ValueError(f"a list of tags cannot hold {tag!r}: blanks around a tag are lost; tidy the tags")
    if not separator.startswith("\\"):
        return tag.replace("\\", "\\\\").replace(separator[0], f"\\{separator[0]}")
    if separator in tag:
        raise ValueError(f"the tag {tag!r} contains the separator {separator!r}; pass another one")
    return tag


def relative_picture(picture: Any, folder: Path) -> str:
    """The path of a picture as a list in `folder` names it: relative, unless it lies elsewhere."""
    if not isinstance(picture, (str, os.PathLike)):
        raise ValueError(
            f"a list holds paths of pictures, got {type(picture).__name__}; save the pictures first"
        )
    location, base = Path(picture).absolute(), folder.absolute()
    return location.relative_to(base).as_posix() if location.is_relative_to(base) else str(location)


def format_number(value: float, *, missing: str) -> str:
    """The shortest text that reads back as `value`; nan is `missing`."""
    if math.isnan(value):
        return missing
    return str(int(value)) if value.is_integer() else repr(value)


class Splitting(NamedTuple):
    """What another separator would make of a column of tags.

    Attributes
    ----------
    separator : the other one
    n_tags, n_once : different tags as they stand, and how many of them occur once
    n_split : different tags if they are split there
    is_certain : whether this is the separator; else it is worth a question
    """

    separator: str
    n_tags: int
    n_once: int
    n_split: int
    is_certain: bool


def choose_separator(cells: Sequence[str], place: str) -> str:
    """The separator of the tags in `cells`; a warning says if it is another than ``|``, or seems to be.

    `place` is the file that the warning names.
    """
    _check_no_brackets(cells)
    splitting = find_splitting(cells)
    if splitting is None:
        return SEPARATOR
    as_they_stand = f"{_counted(splitting.n_tags)}, {splitting.n_once:,} of them once"
    other, split = f"{splitting.separator!r}", _counted(splitting.n_split)
    keeps = f"separator={SEPARATOR!r} keeps them as they stand"
    if splitting.is_certain:
        warn(f"{place}: {other} separates tags: {split}, where there would be {as_they_stand}; {keeps}")
        return splitting.separator
    ways = f"separator={other} makes {split} of them, {keeps}"
    warn(f"{place}: {as_they_stand}: is {other} the separator? {ways}")
    return SEPARATOR


def check_separator(separator: object) -> str:
    """`separator` if it is a text with a character, or an ArgumentError; a backslash and a t are a tab."""
    if not isinstance(separator, str) or not separator:
        raise ArgumentError(f"separator must be a text such as ';' or '|', got {separator!r}")
    return "\t" if separator == r"\t" else separator


def find_splitting(cells: Sequence[str]) -> Splitting | None:
    """What the most probable other separator makes of the cells; None where there is no sign of one."""
    if any(SEPARATOR in cell for cell in cells):
        return None
    counts = Counter(tag for cell in cells for tag in split_tags(cell, SEPARATOR))
    splittings = (_splitting(cells, counts, other) for other in _OTHERS)
    return min(filter(None, splittings), key=lambda splitting: splitting.n_split, default=None)


def _splitting(cells: Sequence[str], counts: Counter[str], other: str) -> Splitting | None:
    holding = [tag for tag in counts if other in tag]
    if not holding:
        return None
    lists = [split_tags(cell, other) for cell in cells]
    n_split = len({tag for tags in lists for tag in tags})
    is_smaller = 2 * n_split <= len(counts)
    is_mostly_once = 2 * sum(counts[tag] == 1 for tag in holding) >= len(holding)
    is_frequent = 2 * sum(counts[tag] for tag in holding) >= counts.total()
    if not (is_smaller or (is_mostly_once and is_frequent) or _is_composed(holding, counts, other)):
        return None
    looks_named = (
        other == _IN_NAMES and not is_mostly_once and len({len(tags) for tags in lists if tags}) == 1
    )
    n_once = sum(count == 1 for count in counts.values())
    return Splitting(other, len(counts), n_once, n_split, is_smaller and not looks_named)


def _is_composed(holding: Sequence[str], counts: Counter[str], other: str) -> bool:
    """Whether most of the texts are made of parts that other texts have, too."""
    n_texts = Counter(part for tag in counts for part in set(split_tags(tag, other)))
    composed = [all(n_texts[part] > 1 for part in split_tags(tag, other)) for tag in holding]
    return 2 * sum(composed) >= len(composed)


def _counted(n_tags: int) -> str:
    return "1 tag" if n_tags == 1 else f"{n_tags:,} different tags"


def _check_no_brackets(cells: Sequence[str]) -> None:
    filled = [text for cell in cells if (text := cell.strip())]
    bracketed = [text for text in filled if text[0] + text[-1] in ("[]", "{}")]
    if bracketed and 2 * len(bracketed) > len(filled):
        raise ValueError(
            f"tags stand in brackets, such as {bracketed[0][:60]}; expected sky|sea, or JSON lines with "
            '{"image": "a.jpg", "tags": ["sky", "sea"]}'
        )

"""What stands between the tags of a cell, where nobody said so.

``|`` is the separator where any cell has it. Else a semicolon, a tab or a comma is certain where splitting
there leaves at most half as many different tags: cells that seem to be a tag each are then made of few words
that come back in other company. The halves of a name such as "Washington, D.C." go nowhere else, so that
splitting it makes more tags, not fewer. Besides, a text with a comma that recurs is no accident, and names of
one kind have the same number of parts: a comma is certain only where most of the texts that have one occur
once, or where they have two parts here and more or fewer there.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from tagrank.data.readers.tables.table import split_tags
from tagrank.errors import ArgumentError, warn

SEPARATOR = "|"
# in the order in which they are thought of; names may contain the last one
_OTHERS = (";", "\t", ",")
_IN_NAMES = ","


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
    found = find_splitting(cells)
    if found is None:
        return SEPARATOR
    as_they_stand = f"{_counted(found.n_tags)}, {found.n_once:,} of them once"
    other, split = f"{found.separator!r}", _counted(found.n_split)
    keeps = f"separator={SEPARATOR!r} keeps them as they stand"
    if found.is_certain:
        warn(f"{place}: {other} separates tags: {split}, where there would be {as_they_stand}; {keeps}")
        return found.separator
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
    found = [found for other in _OTHERS if (found := _splitting(cells, counts, other)) is not None]
    return min(found, key=lambda splitting: splitting.n_split, default=None)


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

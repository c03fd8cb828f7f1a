"""What the levels of hierarchical keywords, ``places|europe|rome``, say: each implies the one above it."""

from collections.abc import Iterable
from itertools import pairwise

from tagrank.archive.names import checked_tag
from tagrank.errors import ArgumentError

# trees of people have few levels; hostile ones may have any number
MOST_LEVELS = 32
MOST_PARENTS = 20_000
_LEVEL = "|"
# digiKam keeps its labels and ratings among the keywords
_OF_DIGIKAM = "_digikam"


def parents_in(trees: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Pairs of a tag and its parent in keywords with levels, in the order of the alphabet.

    A word that stands below several others means several things, so nothing is said of it. At most
    `MOST_PARENTS` are taken.
    """
    parents: dict[str, set[str]] = {}
    for tree in trees:
        for parent, tag in pairwise(_levels(tree)):
            if tag.casefold() != parent.casefold():
                parents.setdefault(tag, set()).add(parent)
    found = ((tag, *above) for tag, above in sorted(parents.items()) if len(above) == 1)
    pairs = [(tag, parent) for tag, parent in found if _is_name(tag) and _is_name(parent)]
    return tuple(pairs[:MOST_PARENTS])


def _levels(tree: str) -> list[str]:
    levels = [level.strip() for level in tree.split(_LEVEL, MOST_LEVELS)]
    is_meant = len(levels) <= MOST_LEVELS and not any(
        level.casefold().startswith(_OF_DIGIKAM) for level in levels
    )
    return [level for level in levels if level] if is_meant else []


def _is_name(level: str) -> bool:
    try:
        return checked_tag(level) == level
    except ArgumentError:
        return False

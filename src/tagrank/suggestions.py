"""What a mistyped name probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST, _MOST = 100, 1000


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence fragment with the nearest known name, or nothing."""
    # names from files may be long and many, and each comparison takes the product of two lengths
    short = [candidate for candidate in known if len(candidate) <= _LONGEST][:_MOST]
    nearest = get_close_matches(name[:_LONGEST], short, n=1)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""

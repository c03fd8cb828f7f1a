"""What a mistyped name probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence fragment with the nearest known name, or nothing."""
    nearest = get_close_matches(name, list(known), n=1)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""

"""Parameters of commands that are options of the command line, too.

A parameter that carries an `Option` in its annotation, ``Annotated[int, Option("Numbers")]``, is an option
of the command line. Its help is what the docstring says about it; sentences that begin with "In Python" are
left out.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tagrank.errors import ArgumentError, did_you_mean

METHOD, NUMBERS, TAGS, ROWS, PICTURES = "Method", "Computation", "Tags", "Data", "Pictures"


@dataclass(frozen=True)
class Option:
    """How a parameter is written on the command line.

    Parameters
    ----------
    panel : the heading of the help under which it stands; None for the general one
    names : its flags; default: the name of the parameter, with hyphens
    kind : the type of one value; default: as annotated
    is_argument : whether it has a place instead of a name
    is_many : whether it may be repeated
    is_required : whether it must be given, though the parameter has a default
    usual : what it is if it is left out, in words; default: the default of the parameter
    words : all that it may be
    metavar : what stands for the value in the help
    low, high : the smallest and the largest number that it may be
    check : raises an ArgumentError for a value that it may not be
    read : makes what the function takes of what was written
    complete : gives the values that begin with a text, for the Tab key
    no : a flag that passes False, and its help
    group : a dataclass whose fields are options instead, and
    fields : which of them; default: all
    """

    panel: str | None = None
    names: Sequence[str] = ()
    kind: type | None = None
    is_argument: bool = False
    is_many: bool = False
    is_required: bool = False
    usual: str | None = None
    words: Sequence[str] = ()
    metavar: str | None = None
    low: float | None = None
    high: float | None = None
    check: Callable[[Any], None] | None = None
    read: Callable[[Any], Any] | None = None
    complete: Callable[[str], list[str]] | None = None
    no: tuple[str, str] | None = None
    group: type | None = None
    fields: Sequence[str] = ()


def check_word(words: Sequence[str]) -> Callable[[str], None]:
    """A check of one of the words; the nearest is suggested for any other."""

    def check(text: str) -> None:
        if text not in words:
            choices = ", ".join(words)
            raise ArgumentError(
                f"expected one of {choices}, got {text!r}{did_you_mean(str(text), list(words))}"
            )

    return check


def positive(value: float) -> None:
    """Raise unless it is a positive number."""
    if not 0 < value < math.inf:
        raise ArgumentError(f"expected a positive number, got {value:g}")


def read_size(text: str | None) -> float | None:
    """The bytes that a text such as 8G or 500M stands for; nan for any other text, None for none."""
    if text is None:
        return None
    parts = re.fullmatch(r"\s*(\d+\.?\d*)\s*([KMGT]?)(?:I?B)?\s*", str(text).upper())
    return float(parts[1]) * 2.0 ** (10 * " KMGT".index(parts[2] or " ")) if parts else math.nan


def size(text: str) -> None:
    """Raise unless it is an amount of memory."""
    n_bytes = read_size(text)
    if n_bytes is None or not n_bytes >= 1024:
        raise ArgumentError(f"expected an amount of memory with its unit, such as 8G or 500M, got {text!r}")


def share(value: float) -> None:
    """Raise unless it is a share of the whole."""
    if not 0 < value < 1:
        raise ArgumentError(f"expected a share between 0 and 1, such as 0.25 for a quarter, got {value:g}")


def share_or_all(value: float) -> None:
    """Raise unless it is a share of the whole, or all of it."""
    if not 0 < value <= 1:
        raise ArgumentError(f"expected a share above 0 and up to 1, such as 0.8, got {value:g}")


def jobs(value: int) -> None:
    """Raise unless it is a number of processes or threads."""
    if value == 0:
        raise ArgumentError("expected a number of at least 1, or -1 for all cores, got 0")


def countable(value: int) -> None:
    """Raise unless compiled code can hold the number."""
    from tagrank.validation import LARGEST_COUNT

    if value > LARGEST_COUNT:
        raise ArgumentError(f"expected at most {LARGEST_COUNT}, got {value}")


def read_pairs(flag: str, texts: Sequence[str] | None, example: str) -> dict[str, str]:
    """What was written as ``name=value``, once or several times."""
    pairs = {}
    for text in texts or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise ArgumentError(f"expected {flag} {example}, got {text!r}")
        pairs[name] = value
    return pairs

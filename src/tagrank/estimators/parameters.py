"""Parameters that only some methods have, and how they are written as text."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MATRIX_ENDINGS = (".csv", ".npy")


@dataclass(frozen=True)
class Values:
    """What a parameter may be.

    Attributes
    ----------
    words : the same for people
    read : from a text to the value; a ValueError if it is none
    choices : the words that it may be; other values are possible where `words` says so
    """

    words: str
    read: Callable[[str], Any]
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Parameter:
    """A parameter of one method.

    Attributes
    ----------
    name : of the estimator's argument
    values : what it may be
    default : what it is if nothing is said, in words
    about : what it does, in a sentence
    """

    name: str
    values: Values
    default: str
    about: str

    def read(self, text: str) -> Any:
        """The value that a text stands for, or an error that says what was expected."""
        try:
            return self.values.read(text.strip())
        except ValueError:
            raise ValueError(f"{self.name} must be {self.values.words}, got {text!r}") from None

    def to_dict(self) -> dict[str, Any]:
        """Plain text and lists of it for JSON."""
        return {
            "name": self.name,
            "values": self.values.words,
            "choices": list(self.values.choices),
            "default": self.default,
            "about": self.about,
        }


def one_of(*words: str) -> Values:
    """One of some words."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(text)
        return text

    return Values(" or ".join(words), read, words)


def _number(words: str, read: Callable[[str], float], is_good: Callable[[float], bool]) -> Values:
    """What `read` makes of a text, if it is good."""

    def read_number(text: str) -> float:
        value = read(text)
        if not is_good(value):
            raise ValueError(text)
        return value

    return Values(words, read_number)


def is_matrix_file(value: Any) -> bool:
    """Whether it is the name of a file that holds a matrix, see `read_tag_matrix`."""
    return isinstance(value, str | Path) and Path(value).suffix.casefold() in MATRIX_ENDINGS


def matrix_or(*words: str) -> Values:
    """One of some words, or the file of a matrix with a row and a column for each tag."""

    def read(text: str) -> str:
        if text not in words and not is_matrix_file(text):
            raise ValueError(text)
        return text

    return Values(f"{', '.join(words)}, or a {' or '.join(MATRIX_ENDINGS)} file", read, words)


def _read_flag(text: str) -> bool:
    if text.casefold() not in _FLAGS:
        raise ValueError(text)
    return _FLAGS[text.casefold()]


_FLAGS = {"true": True, "yes": True, "false": False, "no": False}
FLAG = Values("true or false", _read_flag, ("true", "false"))
POSITIVE = _number("a positive number", float, lambda value: 0 < value < math.inf)
AT_LEAST_ONE = _number("a number of at least 1", float, lambda value: 1 <= value < math.inf)
NOT_NEGATIVE = _number("a number that is not negative", float, lambda value: 0 <= value < math.inf)
POSITIVE_COUNT = _number("a whole number of at least 1", int, lambda value: value >= 1)
BELOW_ONE = _number("a number from 0 to below 1", float, lambda value: 0 <= value < 1)

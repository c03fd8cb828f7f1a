"""The entry of a method, its parameters and how they are read from text."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
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
AT_LEAST_TWO = _number("a number of at least 2", float, lambda value: 2 <= value < math.inf)
NOT_NEGATIVE = _number("a number that is not negative", float, lambda value: 0 <= value < math.inf)
POSITIVE_COUNT = _number("a whole number of at least 1", int, lambda value: value >= 1)
SHARE = _number("a number from 0 to 1", float, lambda value: 0 <= value <= 1)
BELOW_ONE = _number("a number from 0 to below 1", float, lambda value: 0 <= value < 1)


LEFT_OUT = "Ignored: an unknown label adds nothing to the loss of its sample."
ABSENT = "Treated as absent."
FLOAT = 8  # bytes


def similarities(n: int, d: int, m: int) -> float:
    """Of a method that compares all rows with each other."""
    return FLOAT * n * (2 * n + 3 * m)


def coefficients(n: int, d: int, m: int) -> float:
    """Of one that keeps a score for every label of every row, and a coefficient for every column."""
    return FLOAT * (3 * n * m + 2 * d * m)


@dataclass(frozen=True)
class Method:
    """One way to learn.

    Attributes
    ----------
    name : what to write behind ``--method``
    home : the module of its class, and the class
    family : which methods it belongs to
    acronym, paper : what the literature calls it, and where it is described
    about : what it does, in a sentence
    good_for : when to choose it
    growth : of its training time, n pictures and m tags
    parameters : those that it does not share with the others
    space : parameter to the values worth searching, ascending; every combination may be tried
    unknown : what becomes of labels that are neither known to be present nor to be absent
    memory : the bytes that training takes beside the rows, given the numbers of rows, columns and tags
    known_as : other names that the literature and other libraries have for it, beside the acronym
    differs : where it is not the published form, in a sentence
    """

    name: str
    home: str
    family: str
    acronym: str
    paper: str
    about: str
    good_for: str
    growth: str
    parameters: tuple[Parameter, ...] = ()
    space: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    unknown: str = LEFT_OUT
    memory: Callable[[int, int, int], float] = similarities
    known_as: tuple[str, ...] = ()
    differs: str = ""

    @property
    def also(self) -> tuple[str, ...]:
        """The names beside our own that ``--method`` takes, as people write them."""
        return (*filter(None, [self.acronym]), *self.known_as)

    @property
    def estimator(self) -> str:
        """The name of the class."""
        return self.home.partition(":")[2]

    @property
    def module(self) -> str:
        """The module that holds the class."""
        return self.home.partition(":")[0]

    @property
    def citation(self) -> str:
        """The first author and the last year of its paper."""
        years = re.findall(r"\b(?:19|20)\d\d\b", self.paper)
        author = re.split("[,:]", self.paper)[0]
        return f"{author} {years[-1]}" if years else self.paper

    def load(self) -> Any:
        """The class."""
        return getattr(import_module(self.module), self.estimator)

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and text for JSON."""
        parameters = [parameter.to_dict() for parameter in self.parameters]
        space = {name: list(values) for name, values in self.space.items()}
        fields = {name: value for name, value in vars(self).items() if name != "memory"}
        derived = {"estimator": self.estimator, "citation": self.citation, "also": list(self.also)}
        return {**fields, **derived, "parameters": parameters, "space": space}


AVERAGE = Parameter("average", FLAG, "true", "Predict with the mean of the weights over all pictures seen.")
CENTER = Parameter(
    "center", FLAG, "true", "Subtract the frequency of each tag first; false is the published form."
)
COSTS = {"C": (0.1, 0.3, 1.0, 3.0, 10.0)}
SMALL_COSTS = {"C": (0.01, 0.03, 0.1, 0.3, 1.0)}
LARGE_COSTS = {"C": (1.0, 3.0, 10.0, 30.0, 100.0)}


def _read_device(text: str) -> str:
    """A name and, of several devices, a number: cuda:1."""
    if not re.fullmatch(r"[a-z]+(:\d+)?", text):
        raise ValueError(text)
    return text


DEVICE = Parameter(
    "device",
    Values("the name of a device of torch, such as cpu or cuda", _read_device),
    "none, numpy",
    "The torch device to compute on.",
)
LANDMARKS = Parameter(
    "landmarks",
    POSITIVE_COUNT,
    "none, all pictures",
    "Compare pictures with this many landmark pictures only, for large collections.",
)
ENGINE = Parameter(
    "engine",
    one_of("auto", "dual", "primal"),
    "auto",
    "How linear models are trained: sample by sample, or with Newton steps, for many rows.",
)

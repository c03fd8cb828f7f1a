"""What the house knows of one method."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from tagrank.estimators.parameters import FLAG, Parameter

LEFT_OUT = "Left out: they ask nothing of their sample."
ABSENT = "Taken for absent."
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
        """What the literature calls it, the first author and the last year of its paper."""
        years = re.findall(r"\b(?:19|20)\d\d\b", self.paper)
        author = re.split("[,:]", self.paper)[0]
        source = f"{author} {years[-1]}" if years else self.paper
        return f"{self.acronym}, {source}" if self.acronym else source

    def load(self) -> Any:
        """The class."""
        return getattr(import_module(self.module), self.estimator)

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and text for JSON."""
        parameters = [parameter.to_dict() for parameter in self.parameters]
        space = {name: list(values) for name, values in self.space.items()}
        told = {name: value for name, value in vars(self).items() if name != "memory"}
        found = {"estimator": self.estimator, "citation": self.citation}
        return {**told, **found, "parameters": parameters, "space": space}


AVERAGE = Parameter("average", FLAG, "true", "Predict with the mean of the weights over all pictures seen.")
CENTER = Parameter("center", FLAG, "true", "Take off how frequent each tag is; false is the published form.")
COSTS = {"C": (0.1, 0.3, 1.0, 3.0, 10.0)}
SMALL_COSTS = {"C": (0.01, 0.03, 0.1, 0.3, 1.0)}
LARGE_COSTS = {"C": (1.0, 3.0, 10.0, 30.0, 100.0)}

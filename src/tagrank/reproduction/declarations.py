"""What is declared of a table of a paper, and of the experiment that repeats it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

REPRODUCED, IN_PATTERN, IN_PART, DIFFERS = "reproduced", "in pattern", "in part", "differs"
IMPOSSIBLE, NO_FIGURES, OURS = "impossible", "no figures", "ours"
STATES = {
    REPRODUCED: "the data and the protocol of the paper; the figures, or their order, agree",
    IN_PATTERN: "the question and the methods of the paper on other data; the pattern agrees",
    IN_PART: "the question and the methods of the paper; some of what was published holds, and some does not",
    DIFFERS: "measured here, and the answer is another one",
    IMPOSSIBLE: "data that the table needs are not at hand",
    NO_FIGURES: "nothing in it was measured",
    OURS: "a question of ours, which no paper has",
}


@dataclass(frozen=True)
class Figures:
    """A table as it is printed.

    Attributes
    ----------
    columns : their headings, but for that of the first column
    rows : heading of each row to its cells; a cell that is empty was not measured
    """

    columns: tuple[str, ...]
    rows: Mapping[str, tuple[str, ...]]

    @classmethod
    def read(cls, text: str) -> "Figures":
        """A table of lines, whose cells are parted by ``|``; the first line has the headings."""
        lines = [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]
        wrong = [line[0] for line in lines if len(line) != len(lines[0])]
        if wrong:
            raise ValueError(f"every row must have {len(lines[0])} cells, which {', '.join(wrong)} has not")
        (_, *columns), *rows = lines
        return cls(tuple(columns), {name: tuple(cells) for name, *cells in rows})

    @classmethod
    def fill(cls, rows: Iterable[str], columns: Iterable[str], cell: Callable[[str, str], str]) -> "Figures":
        """A table whose cells are made from the headings of their row and column."""
        headings = tuple(columns)
        return cls(headings, {row: tuple(cell(row, column) for column in headings) for row in rows})

    def numbers(self) -> Iterator[tuple[str, str, float]]:
        """Row, column and number of every cell that begins with one."""
        for row, cells in self.rows.items():
            for column, cell in zip(self.columns, cells, strict=True):
                if found := re.match(r"-?\d+(?:\.\d+)?(?![:\d])", cell.replace(",", "")):
                    yield row, column, float(found[0])


class Answer(NamedTuple):
    """Our figures for a table, and what they say, in a sentence."""

    figures: Figures
    verdict: str = ""


@dataclass(frozen=True)
class Paper:
    """Where tables stand."""

    title: str
    authors: str


@dataclass(frozen=True)
class Experiment:
    """One run, which may answer several tables.

    Attributes
    ----------
    name : of its module in `experiments`, of its figures in `results` and of its module in `answers`
    about : what is measured
    data : names from 'tagrank datasets' that must be at hand
    protocol : how it is measured
    minutes : on two idle cores, with picture features in the cache
    page : the page of docs/ with all that was measured
    packages : of the extra ``bench`` that it needs
    """

    name: str
    about: str
    data: tuple[str, ...]
    protocol: str
    minutes: int
    page: str = ""
    packages: tuple[str, ...] = ()

    def load(self) -> Any:
        """The module with ``run`` and ``QUICK``; ``PAGES`` and ``render`` where it writes pages."""
        return import_module(f"tagrank.reproduction.experiments.{self.name}")

    def answer(self, table: str, results: Any) -> Answer:
        """Our figures for one of its tables."""
        module = import_module(f"tagrank.reproduction.answers.{self.name}")
        found: Answer = module.answer(table, results)
        return found


@dataclass(frozen=True)
class Table:
    """A table of a paper, or a figure.

    Attributes
    ----------
    name : what to write behind 'tagrank reproduce'
    number : what the paper calls it
    about : what was measured, on which data and how
    state : one of `STATES`
    why : why ours differ from the published figures, or why there are none
    published : its figures
    experiment : the name of the one that repeats it
    """

    name: str
    number: str
    about: str
    state: str
    why: str
    published: Figures | None = None
    experiment: str = ""
    paper: str = field(default="", compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and text for JSON."""
        return asdict(self)

"""All tables, paper by paper, and the experiments that repeat them, from TOML. Nothing heavy is imported."""

import tomllib
from collections.abc import Iterator
from dataclasses import MISSING, asdict, dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from tagrank.errors import ArgumentError
from tagrank_papers.figures import Answer, Figures

HOME = Path(__file__).parent
FILES = (
    "two_way",
    "ranking",
    "priors",
    "joint",
    "dissertation",
    "ours",
)  # of `published`, as they are listed
IMPOSSIBLE, NO_FIGURES, OURS, TO_COME = "impossible", "no figures", "ours", "to come"
STATES = {
    "reproduced": "the data and the protocol of the paper; the figures, or their order, agree",
    "with our features": (
        "the pictures or labels of the paper and its protocol, features computed by us; the figures, or "
        "their order, agree"
    ),
    "in pattern": "the question and the methods of the paper on other data; the pattern agrees",
    "in part": (
        "the question and the methods of the paper; some of what was published holds, and some does not"
    ),
    "differs": "measured here, and the answer is another one",
    TO_COME: "an experiment repeats it, whose figures are not kept yet",
    IMPOSSIBLE: "data that the table needs are not at hand",
    NO_FIGURES: "nothing in it was measured",
    OURS: "a question of ours, which no paper has",
}


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
    name : of its module in `experiments` and of its figures in `results`
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
        """Its module: ``run``, ``QUICK``, ``answer``; ``PAGES`` and ``render`` where it writes pages."""
        return import_module(f"tagrank_papers.experiments.{self.name}")

    def answer(self, table: str, results: Any) -> Answer:
        """Our figures for one of its tables."""
        answer: Answer = self.load().answer(table, results)
        return answer


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
    paper : the key of its paper in `PAPERS`
    """

    name: str
    number: str
    about: str
    state: str
    why: str
    published: Figures | None = None
    experiment: str = ""
    paper: str = ""

    @property
    def minutes(self) -> int | None:
        """How long it takes to measure it again; None where nothing repeats it."""
        return EXPERIMENTS[self.experiment].minutes if self.experiment else None

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and text for JSON."""
        return asdict(self)


_Entry = TypeVar("_Entry", Paper, Experiment, Table)


def make_entry(kind: type[_Entry], values: dict[str, Any], where: str) -> _Entry:
    """An object of `kind` from what a file says of it; text that is broken into lines is joined."""
    known = {field.name: field for field in fields(kind)}
    required = {name for name, field in known.items() if field.default is MISSING}
    if wrong := set(values) - set(known):
        raise ValueError(f"{where}: {', '.join(sorted(wrong))} is not one of {', '.join(known)}")
    if absent := required - set(values):
        raise ValueError(f"{where}: {', '.join(sorted(absent))} must be given")
    return kind(**{name: _value(value) for name, value in values.items()})


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return " ".join(value.split())
    return tuple(value) if isinstance(value, list) else value


def read_experiments(path: Path) -> dict[str, Experiment]:
    """Experiments by name."""
    return {
        name: make_entry(Experiment, {"name": name, **values}, f"{path.name}, {name}")
        for name, values in tomllib.loads(path.read_text(encoding="utf-8")).items()
    }


def read_paper(path: Path, experiments: dict[str, Experiment]) -> tuple[str, Paper, list[Table]]:
    """The key of a paper, the paper and its tables."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    key, entries = document.pop("paper"), document.pop("tables")
    return (
        key,
        make_entry(Paper, document, path.name),
        list(_read_tables(key, entries, path.name, experiments)),
    )


def _read_tables(
    paper: str, entries: list[dict[str, Any]], file: str, experiments: dict[str, Experiment]
) -> Iterator[Table]:
    for entry in entries:
        where = f"{file}, {entry.get('name', 'a table without a name')}"
        try:
            published = Figures.read(entry.pop("published")) if "published" in entry else None
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        table = make_entry(Table, {**entry, "published": published, "paper": paper}, where)
        if table.state not in STATES:
            raise ValueError(f"{where}: state must be one of {', '.join(STATES)}, got {table.state!r}")
        if table.experiment and table.experiment not in experiments:
            raise ValueError(f"{where}: there is no experiment {table.experiment!r}")
        yield table


EXPERIMENTS = read_experiments(HOME / "experiments.toml")
_READ = [read_paper(HOME / "published" / f"{name}.toml", EXPERIMENTS) for name in FILES]
PAPERS = {key: paper for key, paper, _ in _READ}
TABLES = tuple(table for _, _, tables in _READ for table in tables)


def find_table(name: str) -> Table:
    """A table by its name."""
    for table in TABLES:
        if table.name == name:
            return table
    near = [table.name for table in TABLES if name.split("-")[0] in table.name]
    known = ", ".join(near or [table.name for table in TABLES])
    raise ArgumentError(f"no table is called {name!r}; there are {known}")

"""What there is to choose from: methods, features and data by name."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

from tagrank.commands.options import AUTO, method_names
from tagrank.commands.tables import QUIET, Screen, counted, facts_table, table_of, text_of
from tagrank.options import Option

if TYPE_CHECKING:
    from tagrank.data.catalog import DatasetEntry
    from tagrank.estimators.methods import Method

DRAWN_PICTURES = "drawn-pictures"


@dataclass(frozen=True)
class FeatureSet:
    """One way to describe pictures.

    Attributes
    ----------
    name : what to write behind ``--features``
    kernel : the kernel that suits it
    presets : names of the presets that it belongs to
    about : what it describes, in a sentence
    """

    name: str
    kernel: str
    presets: tuple[str, ...]
    about: str


def features() -> list[FeatureSet]:
    """List the picture features for 'tagrank train --features'.

    Command line
    ------------
    tagrank features
    tagrank features --json
    """
    from tagrank.features import FEATURES, PRESETS

    return [
        FeatureSet(
            name,
            feature.kernel,
            tuple(preset for preset, names in PRESETS.items() if name in names),
            feature.about,
        )
        for name, feature in FEATURES.items()
    ]


@dataclass(frozen=True)
class Dataset:
    """Data that commands take by name.

    Attributes
    ----------
    name, about : what to write, and what it holds
    n_rows, n_features, n_tags : its size; n_features is None for pictures
    source : where it comes from
    folder : where it was found, or None
    advice : what to put where, if it was not found
    """

    name: str
    about: str
    n_rows: int
    n_features: int | None
    n_tags: int
    source: str
    folder: str | None
    advice: str

    @property
    def is_here(self) -> bool:
        """Whether it can be used now."""
        return not self.advice


def datasets() -> list[Dataset]:
    """List the data sets that can be used by name, and where they are or how to get them.

    They are searched in the folder that TAGRANK_DATA names and in the cache folder; nothing is downloaded.

    Command line
    ------------
    tagrank datasets
    TAGRANK_DATA=~/data tagrank datasets --json
    """
    from tagrank.data import list_datasets
    from tagrank.data.drawn_pictures import TAGS

    about = "landscapes, harbours, streets and nights"
    drawn = Dataset(DRAWN_PICTURES, about, 400, None, len(TAGS), "drawn on the spot", None, "")
    return [drawn, *(_dataset(entry) for entry in list_datasets())]


def _dataset(entry: DatasetEntry) -> Dataset:
    from tagrank.data.catalog import data_folders, find_dataset

    folder = find_dataset(entry.name)
    place = data_folders()[0] / entry.folder
    advice = "" if folder else f"put {', '.join(entry.files)} (or .gz) into {place}"
    sizes = (entry.n_rows, entry.n_features or None, entry.n_tags)
    return Dataset(entry.name, entry.about, *sizes, entry.source, str(folder) if folder else None, advice)


def show_features(entries: list[FeatureSet]) -> Screen:
    """A line a set of features."""
    rows = ((entry.name, entry.kernel, ", ".join(entry.presets), entry.about) for entry in entries)
    table = table_of("features", "kernel", "presets", "description", rows=rows)
    return Screen([table], document=[asdict(entry) for entry in entries])


def show_datasets(entries: list[Dataset], *, json: bool = False) -> Screen:
    """A line a data set: its sizes, and where it is or where it comes from."""
    from rich.text import Text

    table = table_of("data set", "rows", "features", "tags", numbers=True)
    table.add_column("where")
    for entry in entries:
        sizes = (entry.n_rows, entry.n_features, entry.n_tags)
        table.add_row(
            entry.name,
            *("pictures" if size is None else f"{size:,}" for size in sizes),
            Text(entry.folder or entry.source, overflow="fold"),
            style="" if entry.is_here else QUIET,
        )
    absent = [entry for entry in entries if not entry.is_here]
    said = (
        [f"{counted(len(absent), 'data set')} not found; to get {absent[0].name}, {absent[0].advice}"]
        if absent
        else []
    )
    return Screen([table], [] if json else said, document=[asdict(entry) for entry in entries])


def methods(
    name: Annotated[str | None, Option(is_argument=True, metavar="METHOD", complete=method_names)] = None,
) -> list[Method]:
    """List the methods for 'tagrank train' and 'tagrank missing'.

    Parameters
    ----------
    name : show the details and the parameters of this method; its published name will do, too

    Command line
    ------------
    tagrank methods
    tagrank methods joint-svm
    tagrank methods ml-knn
    tagrank methods --json
    """
    from tagrank.estimators.methods import methods as known_methods

    return [] if name == AUTO else known_methods(name)


def show_methods(entries: list[Method], *, name: str | None = None, json: bool = False) -> Screen:
    """All methods, family by family; or one of them, and the parameters that not all have."""
    if name == AUTO:
        return Screen([_auto_words()], document=[{"name": AUTO, "about": _auto_words()}])
    document = [entry.to_dict() for entry in entries]
    if name is not None:
        return Screen(_method_details(entries[0]), document=document)
    table = table_of("method", "good for", "training time grows with", "paper; known as")
    for family, members in groupby(entries, key=lambda entry: entry.family):
        table.add_row(text_of(family, "bold"), end_section=True)
        for entry in members:
            source = "; ".join([entry.citation, *entry.also])
            table.add_row(f"  {entry.name}", entry.good_for, entry.growth, source)
    differing = ((entry.name, entry.differs) for entry in entries if entry.differs)
    differences = table_of("method", "difference from the published form", rows=differing)
    notes = [
        _auto_words(),
        "'tagrank methods METHOD' shows what a method does and its parameters; --method takes both names",
    ]
    return Screen([table, "", differences], [] if json else notes, document=document)


def _auto_words() -> str:
    """What ``--method auto`` does."""
    from tagrank.annotation.choosing import TRIED

    names = f"{', '.join(TRIED[:-1])} and {TRIED[-1]}"
    return (
        f"auto, the default, tries {names} with several values of C, several kernels, and with and without "
        "an intercept; it keeps what ranks held-out pictures best, or a ranker and a classifier together"
    )


def _method_details(method: Method) -> list[Any]:
    facts = {
        "method": method.name,
        "class": method.estimator,
        "family": method.family,
        "what it does": method.about,
        "good for": method.good_for,
        "training time grows with": f"{method.growth} (n pictures, m tags)",
        "unknown tags": method.unknown,
        "paper": f"{method.paper} ({method.acronym})" if method.acronym else method.paper,
    }
    if method.also:
        facts["known as"] = ", ".join(method.also)
    if method.differs:
        facts["difference from the published form"] = method.differs
    if method.space:
        facts["tuned over"] = "; ".join(
            f"{name} {', '.join(map(_short, values))}" for name, values in method.space.items()
        )
    if not method.parameters:
        return [facts_table({**facts, "--set": "none: all its parameters are options of 'tagrank train'"})]
    table = table_of("--set", "values", "default", "description")
    for parameter in method.parameters:
        table.add_row(parameter.name, parameter.values.words, parameter.default, parameter.about)
    return [facts_table(facts), "", table]


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)

"""Public data sets by name, found below ``TAGRANK_DATA`` or the cache folder; nothing is downloaded."""

import hashlib
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from tagrank.data.collection import Collection, concatenate_parts
from tagrank.data.label_matrix import positive_pairs
from tagrank.data.readers.arff import read_arff
from tagrank.data.readers.folders.folder import read_pictures
from tagrank.data.readers.npz import read_matrix, read_npz
from tagrank.data.user_folders import cache_folder
from tagrank.errors import did_you_mean
from tagrank.files import FileError, open_bounded, open_text
from tagrank.validation import check_kind

_MOST_BESIDE = 1000  # names in a folder among which a mistyped one is looked for


@dataclass(frozen=True)
class DatasetEntry:
    """One public data set.

    Attributes
    ----------
    name, about : what it is called, and what it holds in a few words
    n_rows, n_features, n_tags, cardinality : as published; the cardinality is the mean number of tags a row,
        and photographs have 0 features
    folder : where its files lie below a data folder
    layout : how to read them, a key of `tagrank.data.catalog.LAYOUTS`
    source : where they can be obtained
    files : file name to SHA-256 of its unpacked content
    n_columns : columns of numbers, where nominal features or dropped ones make it differ from `n_features`
    drop : attributes to leave out
    view_ends : view name to the column after its last, where the features fall into natural views
    options : for `tagrank.data.read_pictures`, where it is a set of photographs
    """

    name: str
    about: str
    n_rows: int
    n_features: int
    n_tags: int
    cardinality: float
    folder: str
    layout: str
    source: str
    files: Mapping[str, str] = field(repr=False)
    n_columns: int | None = None
    drop: Sequence[str] = ()
    view_ends: Mapping[str, int] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


@cache
def read_catalog() -> dict[str, DatasetEntry]:
    """Every data set of ``catalog.toml`` by its name."""
    text = files("tagrank.data").joinpath("catalog.toml").read_text(encoding="utf-8")
    return {name: DatasetEntry(name, **facts) for name, facts in tomllib.loads(text).items()}


def list_datasets() -> list[DatasetEntry]:
    """All data sets that `load_dataset` knows, present or not."""
    return list(read_catalog().values())


def data_folders() -> list[Path]:
    """Where data sets are looked for: ``TAGRANK_DATA`` if set, then the cache folder."""
    named = os.environ.get("TAGRANK_DATA")
    return ([Path(named)] if named else []) + [cache_folder()]


def find_dataset(name: str) -> Path | None:
    """The folder with all files of the data set, or None.

    Parameters
    ----------
    name : one of the names of `list_datasets`
    """
    entry = _entry(name)
    for folder in (base / entry.folder for base in data_folders()):
        if all(_existing(folder / file) is not None for file in entry.files):
            return folder
    return None


def load_dataset(name: str, *, split_views: bool = False, verify: bool = False) -> Collection:
    """Read a public data set with its official train and test parts, where it has them.

    Parameters
    ----------
    name : one of the names of `list_datasets`
    split_views : give the natural views of "yeast" and "emotions" instead of one view "features"
    verify : compare the files with the checksums of the catalog first

    Returns
    -------
    collection : its numbers of rows, features and tags agree with the published ones. A set of photographs
        has the view "pictures" (paths).
    """
    entry, folder = _entry(name), find_dataset(name)
    if folder is None:
        places = " or ".join(str(base / entry.folder) for base in data_folders())
        raise FileNotFoundError(
            f"data set {name!r} was not found: get it from {entry.source} and put "
            f"{', '.join(entry.files)} (or .gz) into {places}; or set TAGRANK_DATA to another folder"
        )
    if verify:
        _verify(entry, folder)
    collection = LAYOUTS[entry.layout](entry, folder)
    _check_counts(entry, collection, folder)
    return _split_views(collection, entry) if split_views and entry.view_ends else collection


def _entry(name: str) -> DatasetEntry:
    if check_kind("name", name, str, "the name of a data set") not in read_catalog():
        raise unknown_dataset(name, list(read_catalog()))
    return read_catalog()[name]


def unknown_dataset(name: str, known: Sequence[str]) -> ValueError:
    """The error for a name that is neither a file nor one of those `known`."""
    return ValueError(
        f"no file, folder or data set is called {name!r}"
        + did_you_mean(name, [*_beside(name), *known], "'tagrank datasets' lists all data sets")
    )


def _beside(name: str) -> list[str]:
    """The paths of what lies in the folder where `name` was expected."""
    path = Path(name)
    try:
        return [str(path.with_name(beside)) for beside in islice(os.listdir(path.parent), _MOST_BESIDE)]
    except (OSError, ValueError):
        return []


def _existing(path: Path) -> Path | None:
    candidates = (path, path.with_name(f"{path.name}.gz"))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _file(folder: Path, name: str) -> Path:
    path = _existing(folder / name)
    if path is None:
        raise FileNotFoundError(f"{folder / name} has disappeared")
    return path


def _verify(entry: DatasetEntry, folder: Path) -> None:
    for name, checksum in entry.files.items():
        with open_bounded(_file(folder, name)) as stream:
            actual = hashlib.file_digest(stream, "sha256").hexdigest()
        if actual != checksum:
            raise FileError(folder / name, f"SHA-256 is {actual}, the catalog expects {checksum}")


def _check_counts(entry: DatasetEntry, collection: Collection, folder: Path) -> None:
    widths = [getattr(view, "shape", (0, 0))[1] for view in collection.views.values()]
    counts = (len(collection), sum(widths), len(collection.tags))
    expected = (entry.n_rows, entry.n_columns or entry.n_features, entry.n_tags)
    cardinality = len(positive_pairs(collection.label_matrix.stored)[0]) / max(1, len(collection))
    if counts != expected or abs(cardinality - entry.cardinality) > 1e-3:
        raise FileError(
            folder,
            f"expected rows, columns, tags {expected} and {entry.cardinality} tags a row, "
            f"got {counts} and {cardinality:.4f}; are the files complete?",
        )


def _split_views(collection: Collection, entry: DatasetEntry) -> Collection:
    ends = list(entry.view_ends.values())
    columns = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    names = collection.feature_names["features"]
    return Collection(
        views={name: collection.X[:, chosen] for name, chosen in zip(entry.view_ends, columns, strict=True)},
        labels=collection.label_matrix,
        tags=collection.tags,
        part=collection.part,
        name=collection.name,
        feature_names={name: names[chosen] for name, chosen in zip(entry.view_ends, columns, strict=True)},
    )


def _read_mulan(entry: DatasetEntry, folder: Path) -> Collection:
    label_file = next(_file(folder, name) for name in entry.files if name.endswith(".xml"))
    parts = {}
    for name in sorted((name for name in entry.files if name.endswith(".arff")), reverse=True):
        word = next((word for word in ("train", "test") if word in name), "")
        parts[word] = read_arff(_file(folder, name), label_file=label_file, drop=entry.drop)
    whole = concatenate_parts(parts, name=entry.name)
    return whole.with_part(None) if "" in parts else whole


def _read_matrices(entry: DatasetEntry, folder: Path) -> Collection:
    with open_text(_file(folder, "labels.txt")) as stream:
        tags = stream.read().split("\n")
    return Collection(
        views={"features": read_matrix(_file(folder, "X.npz"))},
        labels=read_matrix(_file(folder, "Y.npz")),
        tags=[tag.strip() for tag in tags if tag.strip()],
        name=entry.name,
    )


def _read_digits(entry: DatasetEntry, folder: Path) -> Collection:
    views, digits = {}, np.empty(0)
    for name in entry.files:
        with open_text(_file(folder, name)) as stream:
            table = np.loadtxt(stream, delimiter=",", skiprows=1)
        views[Path(name).stem.removeprefix("mfeat-")] = table[:, :-1]
        digits = table[:, -1]
    return Collection(views=views, labels=(digits[:, None] == np.arange(10)).astype(float), name=entry.name)


def _read_archive(entry: DatasetEntry, folder: Path) -> Collection:
    (name,) = entry.files
    return read_npz(_file(folder, name))


def _read_photographs(entry: DatasetEntry, folder: Path) -> Collection:
    return read_pictures(folder, follow_links=True, **entry.options).replaced(name=entry.name)


LAYOUTS: dict[str, Callable[[DatasetEntry, Path], Collection]] = {
    "mulan": _read_mulan,
    "matrices": _read_matrices,
    "digits": _read_digits,
    "archive": _read_archive,
    "pictures": _read_photographs,
}

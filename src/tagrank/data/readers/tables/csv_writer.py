"""Collections written as CSV that `tagrank.data.readers.tables.csv` reads back."""

import csv
import os
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from tagrank.arrays import row_blocks
from tagrank.data.collection import Collection, feature_names_of
from tagrank.data.label_matrix import Matrix, columns_by_row, positive_pairs
from tagrank.data.readers.tables.table import TAG_PREFIX, format_number, join_tags, protect_cell
from tagrank.files import atomic_write
from tagrank.labels import duplicates
from tagrank.validation import check_choice


def write_csv(
    collection: Collection,
    path: str | os.PathLike,
    *,
    layout: str | None = None,
    separator: str = "|",
    empty: str = "unknown",
) -> None:
    """Write a collection as CSV that `read_csv` reads back.

    Parameters
    ----------
    collection : Collection with picture paths, one matrix of features, or both
    path : the file to write, perhaps ``.gz``; picture paths below its folder become relative to it
    layout : {"tags", "columns"}, a list of tags or one column a tag; default: a list if all is pictures
    separator : between the tags of a list
    empty : {"unknown", "absent"}, what an empty list of tags means; rows for which it is not true are refused
    """
    if layout is None:
        layout = "tags" if list(collection.views) == ["pictures"] else "columns"
    check_choice("layout", layout, ("tags", "columns"))
    as_list = layout == "tags"
    about = _about_columns(collection, Path(path))
    X, names = _features(collection)
    tags = ["tags"] if as_list else [f"{TAG_PREFIX}{tag}" for tag in collection.tags]
    if twice := duplicates([*about, *names, *tags]):
        raise ValueError(f"columns need different names, got twice: {', '.join(twice[:5])}")
    tag_cells = _tag_lists(collection, separator, empty) if as_list else _label_cells(collection)
    with atomic_write(path, text=True) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(map(protect_cell, [*about, *names, *tags]))
        about_cells = zip(*about.values(), strict=True) if about else repeat((), len(collection))
        for parts in zip(about_cells, _cells(X), tag_cells, strict=True):
            writer.writerow(chain(*parts))


def _about_columns(collection: Collection, path: Path) -> dict[str, Sequence[str]]:
    columns: dict[str, Sequence[str]] = {}
    if "pictures" in collection.views:
        columns["image"] = [relative_picture(picture, path.parent) for picture in collection.view("pictures")]
    elif collection.names is not None:
        columns["name"] = collection.names
    if collection.part is not None:
        columns["part"] = collection.part.tolist()
    return {name: list(map(protect_cell, column)) for name, column in columns.items()}


def relative_picture(picture: Any, folder: Path) -> str:
    """The path of a picture as a list in `folder` names it: relative, unless it lies elsewhere."""
    if not isinstance(picture, (str, os.PathLike)):
        raise ValueError(
            f"a list holds paths of pictures, got {type(picture).__name__}; save the pictures first"
        )
    location, base = Path(picture).absolute(), folder.absolute()
    return location.relative_to(base).as_posix() if location.is_relative_to(base) else str(location)


def _features(collection: Collection) -> tuple[Matrix, list[str]]:
    matrices = [name for name in collection.views if name != "pictures"]
    if len(matrices) > 1:
        raise ValueError(f"CSV holds one view of features, got {', '.join(matrices)}; write NPZ instead")
    if not matrices:
        return np.empty((len(collection), 0)), []
    return collection.view(matrices[0]), feature_names_of(collection, matrices[0])


def _cells(matrix: Matrix) -> Iterator[list[str]]:
    for block in row_blocks(matrix.shape[0], 1000):
        rows = matrix[block].toarray() if sparse.issparse(matrix) else matrix[block]
        for row in np.asarray(rows, dtype=np.float64).tolist():
            yield [format_number(value, missing="") for value in row]


def _label_cells(collection: Collection) -> Iterator[list[str]]:
    for block in row_blocks(len(collection), 1000):
        yield from _cells(collection.label_matrix.take_rows(block).full())


def _tag_lists(collection: Collection, separator: str, empty: str) -> Iterator[list[str]]:
    check_choice("empty", empty, ("unknown", "absent"))
    texts = [join_tags([tag], separator) for tag in collection.tags]
    rows, columns = positive_pairs(collection.label_matrix.stored)
    n_unknown = collection.label_matrix.unknown_by_row()
    listed = columns_by_row((rows, columns), len(collection))
    n_present = np.array([len(present) for present in listed], dtype=int)
    n_expected = np.where((n_present == 0) & (empty == "unknown"), len(collection.tags), 0)
    if len(wrong := np.flatnonzero(n_unknown != n_expected)):
        raise ValueError(
            f"row {wrong[0]} does not fit a list of tags, in which what is not listed is absent and an empty "
            f"list is {empty}; pass layout='columns' or another meaning of empty"
        )
    return ([protect_cell(separator.join(texts[j] for j in present))] for present in listed)

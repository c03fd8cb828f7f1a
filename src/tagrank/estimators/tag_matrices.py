"""Matrices with a row and a column for each tag: read from files, and put into the order of the tags."""

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tagrank.array_files import load_npy
from tagrank.estimators.methods.method import is_matrix_file
from tagrank.files import FileError, open_text

MAX_MATRIX_BYTES = 2**28
SAME_TAGS = "expected the same tags, each once,"


@dataclass(frozen=True)
class TagMatrix:
    """Numbers for pairs of tags.

    Attributes
    ----------
    values : shape (n, n)
    tags : the tag of each row and column; None if they are in the order of the tags of the data
    origin : how messages call it
    """

    values: np.ndarray
    tags: Sequence[str] | None
    origin: str

    def ordered(self, tags: Sequence[str]) -> np.ndarray:
        """The numbers of these tags, shape (n_tags, n_tags); tags that only the matrix has are left out."""
        if self.tags is None:
            if len(self.values) != len(tags):
                raise ValueError(
                    f"{self.origin} has {len(self.values):,} rows and columns, but there are {len(tags):,} "
                    "tags; a .csv file with the names of the tags may have more"
                )
            return self.values
        place = {tag: i for i, tag in enumerate(self.tags)}
        if missing := [tag for tag in tags if tag not in place]:
            others = f" and {len(missing) - 1:,} other tags" if len(missing) > 1 else ""
            raise ValueError(f"{self.origin} has no row and column for {missing[0]!r}{others}")
        chosen = [place[tag] for tag in tags]
        return self.values[np.ix_(chosen, chosen)]


def read_tag_matrix(path: str | os.PathLike) -> TagMatrix:
    """A matrix from a file.

    The first line and the first column of a ``.csv`` file name the tags, in any order; a ``.npy`` file has
    the order of the tags of the data.
    """
    origin = os.fspath(path)
    if Path(path).suffix.casefold() == ".csv":
        tags, values = _read_csv(path)
        return TagMatrix(values, tags, origin)
    values = load_npy(path, max_bytes=MAX_MATRIX_BYTES)
    if values.ndim != 2 or values.shape[0] != values.shape[1] or values.dtype.kind not in "biuf":
        raise FileError(
            path, f"expected a square matrix of numbers, found {values.dtype} of shape {values.shape}"
        )
    return TagMatrix(values.astype(np.float64), None, origin)


def as_tag_matrix(value: Any, name: str) -> Any:
    """The file or the DataFrame `value` as a TagMatrix called `name`; anything else as it is."""
    if is_matrix_file(value):
        return read_tag_matrix(value)
    if hasattr(value, "columns") and hasattr(value, "index"):
        tags = list(value.columns)
        if len(set(tags)) < len(tags) or len(value.index) != len(tags) or set(value.index) != set(tags):
            raise ValueError(f"{name}: {SAME_TAGS} as rows and as columns")
        return TagMatrix(value.loc[tags].to_numpy(dtype=np.float64), tags, name)
    return value


def _read_csv(path: str | os.PathLike) -> tuple[list[str], np.ndarray]:
    """The tags of the first line, and the numbers with the rows in their order."""
    rows: dict[str, np.ndarray] = {}
    with open_text(path, newline="", max_bytes=MAX_MATRIX_BYTES) as stream:
        lines = csv.reader(stream, strict=True)
        try:
            tags = [cell.strip() for cell in next(lines, [])[1:]]
            for cells in filter(None, lines):
                rows[cells[0].strip()] = _numbers(cells[1:], len(tags))
        except (csv.Error, ValueError) as error:
            raise FileError(path, str(error), line=lines.line_num) from None
    if not tags or len(set(tags)) < len(tags) or set(tags) != rows.keys():
        raise FileError(
            path,
            f"{SAME_TAGS} in the first line and in the first column; plain numbers in the order of the tags "
            "belong into a .npy file",
        )
    return tags, np.array([rows[tag] for tag in tags])


def _numbers(cells: Sequence[str], n_expected: int) -> np.ndarray:
    if len(cells) != n_expected:
        raise ValueError(f"expected a tag and {n_expected:,} numbers, found {len(cells):,}")
    return np.array(cells, dtype=np.float64)

"""LIBSVM with several labels: ``1,3,5 1:0.1 9:0.2``, one row a line, ``#`` begins a comment.

A line may have no label (it then begins with its first ``index:value``): all labels are absent. A first line
of three whole numbers, as the extreme classification repository has it, gives the numbers of rows, features
and labels; indices then count from 0.
"""

import os
from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy import sparse

from tagrank.data.collection import Collection
from tagrank.data.label_matrix import Matrix
from tagrank.files import MAX_BYTES, FileError, atomic_write, open_text
from tagrank.validation import check_choice

# An index beyond these comes from a damaged file; tags have fewer, as each of them needs a name.
_MAX_FEATURES, _MAX_TAGS = 2**31 - 1, 10**7


class _Entries:
    """Indices and values of rows that are read one after the other."""

    def __init__(self) -> None:
        self.columns, self.values, self.ends = array("q"), array("d"), array("q", [0])

    def append(self, columns: list[int], values: list[float]) -> None:
        self.columns.extend(columns)
        self.values.extend(values)
        self.ends.append(len(self.columns))

    def first_index(self, zero_based: bool | str) -> int:
        if zero_based == "auto":
            zero_based = 0 in self.columns
        return 0 if zero_based else 1

    def matrix(self, first: int, n_columns: int | None) -> Matrix:
        columns = np.array(self.columns, dtype=np.int64) - first
        width = int(columns.max(initial=-1)) + 1 if n_columns is None else n_columns
        values, ends = np.array(self.values), np.array(self.ends)
        return sparse.csr_array((values, columns, ends), shape=(len(ends) - 1, width))

    def first_wrong_row(self, first: int, n_columns: int) -> tuple[int, str] | None:
        """The first row with an index out of range, a repeated index or a value that is not finite."""
        columns, values = np.array(self.columns), np.array(self.values)
        rows = np.repeat(np.arange(len(self.ends) - 1), np.diff(self.ends))
        outside = (columns < first) | (columns >= first + n_columns)
        order = np.lexsort((columns, rows))
        repeated = np.zeros(len(columns), dtype=bool)
        repeated[order[1:]] = (np.diff(columns[order]) == 0) & (np.diff(rows[order]) == 0)
        wrong = np.flatnonzero(outside | repeated | ~np.isfinite(values))
        if not len(wrong):
            return None
        k = wrong[0]
        if outside[k]:
            problem = f"index {columns[k]} is outside {first} to {first + n_columns - 1}"
        else:
            problem = (
                f"index {columns[k]} occurs twice" if repeated[k] else f"value {values[k]} is not finite"
            )
        return int(rows[k]), problem


def read_libsvm(
    path: str | os.PathLike,
    *,
    tags: Sequence[str] = (),
    n_features: int | None = None,
    zero_based: bool | str = "auto",
    zero_based_labels: bool | str = "auto",
    encoding: str = "utf-8-sig",
    max_bytes: int = MAX_BYTES,
) -> Collection:
    """Read a LIBSVM file as a collection with the sparse view "features".

    Parameters
    ----------
    path : the file, perhaps ``.gz``
    tags : names of the labels in the order of their numbers; default: the numbers as the file has them
    n_features : number of columns; default: the largest index. A test file may lack some: give it.
    zero_based, zero_based_labels : {True, False, "auto"}, whether indices count from 0; "auto": if a 0 occurs
    encoding, max_bytes : how to decode the file, and how large it may be when unpacked
    """
    for name, value in (("zero_based", zero_based), ("zero_based_labels", zero_based_labels)):
        check_choice(name, value, (True, False, "auto"))
    features, labels, lines = _Entries(), _Entries(), array("q")
    n_rows, n_tags = None, len(tags) or None
    with open_text(path, encoding=encoding, max_bytes=max_bytes) as stream:
        for number, line in enumerate(stream, start=1):
            content = line.partition("#")[0]
            if number == 1 and (sizes := _announced_sizes(content)):
                n_rows, n_features, n_tags = sizes
                zero_based = zero_based_labels = True
            elif content.strip():
                _read_line(content, features, labels, path, number)
                lines.append(number)
    if n_rows not in (None, len(lines)) or (n_tags or 0) > _MAX_TAGS:
        raise FileError(
            path, f"announces {n_rows} rows and {n_tags} labels, but has {len(lines)} rows", line=1
        )
    first_feature, first_label = features.first_index(zero_based), labels.first_index(zero_based_labels)
    limits = (
        (features, first_feature, n_features or _MAX_FEATURES),
        (labels, first_label, n_tags or _MAX_TAGS),
    )
    for entries, first, n_columns in limits:
        if wrong := entries.first_wrong_row(first, n_columns):
            raise FileError(path, wrong[1], line=lines[wrong[0]])
    Y = labels.matrix(first_label, n_tags)
    return Collection(
        views={"features": features.matrix(first_feature, n_features)},
        labels=Y,
        tags=tags or [str(first_label + j) for j in range(Y.shape[1])],
        name=Path(path).name.partition(".")[0],
    )


def _announced_sizes(content: str) -> list[int] | None:
    tokens = content.split()
    return list(map(int, tokens)) if len(tokens) == 3 and all(map(str.isdecimal, tokens)) else None


def _read_line(
    content: str, features: _Entries, labels: _Entries, path: str | os.PathLike, number: int
) -> None:
    tokens = content.split()
    present = "" if ":" in tokens[0] else tokens.pop(0)
    pairs = " ".join(tokens).replace(":", " ").split()
    try:
        if wrong := [token for token in tokens if token.count(":") != 1 or ":" in (token[0], token[-1])]:
            raise ValueError(wrong[0])
        features.append(list(map(int, pairs[::2])), list(map(float, pairs[1::2])))
        numbers = [int(label) for label in present.split(",") if label]
        labels.append(numbers, [1.0] * len(numbers))
    except (ValueError, OverflowError) as error:
        message = f"expected 'label,label index:value index:value', got {content.strip()[:40]!r} ({error})"
        raise FileError(path, message, line=number) from None


def write_libsvm(collection: Collection, path: str | os.PathLike) -> None:
    """Write the only view and the labels; features and labels count from 1, zeros are left out.

    Tag names are not part of the format: keep `collection.tags` to read the file back with its names.
    """
    X, Y = sparse.csr_array(collection.X, dtype=np.float64), sparse.csr_array(collection.label_matrix.stored)
    if collection.label_matrix.unknown_by_row().any():
        raise ValueError("LIBSVM files cannot express unknown labels; write ARFF, CSV or NPZ instead")
    with atomic_write(path, text=True) as stream:
        for present, entries in zip(_rows(Y), _rows(X), strict=True):
            labels = ",".join(str(j + 1) for j, _ in present)
            # a row without anything would be a blank line, which readers skip
            features = " ".join(f"{j + 1}:{value!r}" for j, value in entries or [(0, 0)])
            stream.write(f"{labels} {features}\n")


def _rows(matrix: Matrix) -> Iterator[list[tuple[int, float]]]:
    for start, end in pairwise(matrix.indptr.tolist()):
        yield list(zip(matrix.indices[start:end].tolist(), matrix.data[start:end].tolist(), strict=True))

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

from tagrank import labels as label_limits
from tagrank.data.collection import Collection, only_features
from tagrank.data.label_matrix import Matrix
from tagrank.files import MAX_BYTES, WORD_BYTES, FileError, MemoryBound, atomic_write, naming, open_text
from tagrank.validation import check_choice

_PAIR_BYTES = 24


class _Entries:
    """Indices and values of rows that are read one after the other."""

    def __init__(self) -> None:
        self.columns, self.values, self.ends = array("q"), array("d"), array("q", [0])
        self.is_ascending = True

    def append(self, columns: list[int], values: list[float]) -> None:
        self.is_ascending &= all(map(int.__lt__, columns, columns[1:]))
        self.columns.extend(columns)
        self.values.extend(values)
        self.ends.append(len(self.columns))

    def first_index(self, zero_based: bool | str) -> int:
        if zero_based == "auto":
            zero_based = 0 in self.columns
        return 0 if zero_based else 1

    def matrix(self, first: int, n_columns: int | None) -> Matrix:
        columns = np.asarray(self.columns) - first
        width = int(columns.max(initial=-1)) + 1 if n_columns is None else n_columns
        values, ends = np.asarray(self.values), np.asarray(self.ends)
        return sparse.csr_array((values, columns, ends), shape=(len(ends) - 1, width))

    def first_wrong_row(self, first: int, n_columns: int, way_out: str) -> tuple[int, str] | None:
        """The first row with an index out of range, a repeated index or a value that is not finite."""
        columns, values = np.asarray(self.columns), np.asarray(self.values)
        outside = (columns < first) | (columns >= first + n_columns)
        repeated = self._repeated(columns)
        wrong = np.flatnonzero(outside | repeated | ~np.isfinite(values))
        if not len(wrong):
            return None
        k = wrong[0]
        row = int(np.searchsorted(self.ends, k, side="right")) - 1
        if outside[k]:
            last = first + n_columns - 1
            problem = f"index {columns[k]} is outside {first} to {last}{way_out if columns[k] > last else ''}"
        else:
            problem = (
                f"index {columns[k]} occurs twice" if repeated[k] else f"value {values[k]} is not finite"
            )
        return row, problem

    def _repeated(self, columns: np.ndarray) -> np.ndarray:
        repeated = np.zeros(len(columns), dtype=bool)
        if not self.is_ascending:
            rows = np.repeat(np.arange(len(self.ends) - 1), np.diff(self.ends))
            order = np.lexsort((columns, rows))
            repeated[order[1:]] = (np.diff(columns[order]) == 0) & (np.diff(rows[order]) == 0)
        return repeated


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
    encoding, max_bytes : how to decode the file, and how large it may be when unpacked, or in memory, where
        each column of features counts, too
    """
    for name, value in (("zero_based", zero_based), ("zero_based_labels", zero_based_labels)):
        check_choice(name, value, (True, False, "auto"))
    features, labels, lines = _Entries(), _Entries(), array("q")
    n_rows, n_tags = None, len(tags) or None
    bound, most = MemoryBound(path, max_bytes), max_bytes // WORD_BYTES
    wider = (
        f"; if {most:,} features and {label_limits.MAX_TAGS:,} labels are too few, pass a larger max_bytes "
        "to its reader, or raise tagrank.labels.MAX_TAGS"
    )
    with open_text(path, encoding=encoding, max_bytes=max_bytes) as stream:
        for number, line in enumerate(stream, start=1):
            content = line.partition("#")[0]
            if number == 1 and (sizes := _announced_sizes(content)):
                n_rows, n_features, n_tags = sizes
                if n_features > most or n_tags > label_limits.MAX_TAGS:
                    raise FileError(
                        path, f"announces {n_features:,} features and {n_tags:,} labels{wider}", line=1
                    )
                zero_based = zero_based_labels = True
            elif content.strip():
                _read_line(content, features, labels, path, number)
                lines.append(number)
                bound.add(_PAIR_BYTES * (1 + content.count(":") + content.count(",")))
    if n_rows not in (None, len(lines)):
        raise FileError(path, f"announces {n_rows} rows, but has {len(lines)}", line=1)
    first_feature, first_label = features.first_index(zero_based), labels.first_index(zero_based_labels)
    limits = (
        (features, first_feature, n_features, most),
        (labels, first_label, n_tags, label_limits.MAX_TAGS),
    )
    for entries, first, announced, default in limits:
        if wrong := entries.first_wrong_row(first, announced or default, "" if announced else wider):
            raise FileError(path, wrong[1], line=lines[wrong[0]])
    with naming(path):
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
    X, Y = (
        sparse.csr_array(only_features(collection, "LIBSVM")[0], dtype=np.float64),
        sparse.csr_array(collection.label_matrix.stored),
    )
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

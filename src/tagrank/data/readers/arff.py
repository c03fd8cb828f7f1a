"""ARFF as MULAN and MEKA use it: attributes of which some are labels, rows dense or sparse, perhaps ``.gz``.

The labels are those that an XML file names (MULAN), or the first n or last n attributes as the relation's
option ``-C n`` or ``-C -n`` says (MEKA). They may stand anywhere in the file.

Attributes become columns like this: a number stays; a nominal attribute that reads as no and yes ({0,1},
{NO,YES}, {false,true} ...) is one 0/1 column; any other nominal attribute is one column a value; text, dates
and nominal attributes with very many values (identifiers) are left out with a warning. A missing value (?) in
a label is nan, unknown; in a feature it is an error unless ``missing="nan"``.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from tagrank.arrays import row_blocks
from tagrank.data.collection import Collection, only_features
from tagrank.data.label_matrix import Matrix
from tagrank.data.readers.arff_rows import (
    Attribute,
    Header,
    encode_columns,
    first_place,
    quote,
    read_header,
    read_label_names,
    read_rows,
    unquote,
    write_label_names,
)
from tagrank.data.readers.table import format_number
from tagrank.errors import did_you_mean, warn
from tagrank.files import MAX_BYTES, FileError, MemoryBound, atomic_write, naming, open_text
from tagrank.labels import duplicates
from tagrank.validation import check_choice


@dataclass(frozen=True)
class _ArffTable:
    """A file as numbers, nominal values as codes: what a sparse row leaves out is the first value."""

    path: str
    header: Header
    values: Matrix
    lines: np.ndarray

    def positions(self) -> dict[str, list[int]]:
        """Where attributes of a name stand; more than once only in a damaged file."""
        positions: dict[str, list[int]] = {}
        for j, attribute in enumerate(self.header.attributes):
            positions.setdefault(attribute.name, []).append(j)
        return positions


def read_arff(
    path: str | os.PathLike,
    *,
    label_file: str | os.PathLike | None = None,
    labels: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    missing: str = "error",
    max_categories: int = 100,
    encoding: str = "utf-8-sig",
    max_bytes: int = MAX_BYTES,
) -> Collection:
    """Read an ARFF file as a collection with the view "features".

    Parameters
    ----------
    path : the ``.arff`` or ``.arff.gz`` file
    label_file : the MULAN XML; by default a neighbour, ``x.xml`` for ``x.arff`` and ``x-train.arff``
    labels : names of the label attributes, instead of a label file
    drop : names of attributes to leave out
    missing : {"error", "nan"}, what a missing feature value gives
    max_categories : a nominal feature with more values than this is taken for an identifier and left out
    encoding, max_bytes : how to decode the file, and how large it may be when unpacked

    Returns
    -------
    collection : tags in the order of the label file; sparse rows give a csr_array
    """
    check_choice("missing", missing, ("error", "nan"))
    with open_text(path, encoding=encoding, max_bytes=max_bytes) as stream:
        lines, bound = enumerate(stream, start=1), MemoryBound(path, max_bytes)
        header = read_header(lines, os.fspath(path), bound)
        table = _ArffTable(
            os.fspath(path), header, *read_rows(lines, header.attributes, os.fspath(path), bound)
        )
    tags, label_columns = _find_labels(table, label_file, labels)
    left_out = {*label_columns, *_positions(table, drop, "drop")}
    features = [j for j in range(len(header.attributes)) if j not in left_out]
    features = _usable(table, features, max_categories)
    if missing == "error":
        _check_finite(table, features)
    X, feature_names = encode_columns(table.values[:, features], [header.attributes[j] for j in features])
    with naming(path):
        return Collection(
            views={"features": X},
            labels=_read_labels(table, label_columns),
            tags=tags,
            name=_stem(Path(path)),
            feature_names={"features": feature_names},
        )


def _find_labels(
    table: _ArffTable, label_file: Any, labels: Sequence[str] | None
) -> tuple[list[str], list[int]]:
    source = "labels"
    if labels is None:
        label_file = label_file or _neighbour(Path(table.path))
        if label_file is not None:
            labels, source = read_label_names(label_file), os.fspath(label_file)
        else:
            labels = table.header.meka_labels()
    if labels is None:
        raise FileError(
            table.path,
            "which attributes are labels? Put the MULAN XML beside it, or pass label_file= or labels= to "
            "read_arff",
        )
    columns = _positions(table, labels, source)
    return [table.header.attributes[j].name for j in columns], columns


def _positions(table: _ArffTable, names: Sequence[str], source: str) -> list[int]:
    """Where the attributes stand that `source` names; label files may escape names as ARFF does."""
    known = table.positions()
    places_by_name = [known.get(name) or known.get(unquote(name), []) for name in names]
    for name, places in zip(names, places_by_name, strict=True):
        if len(places) != 1:
            problem = (
                f"has attribute {name!r} {len(places)} times" if places else f"has no attribute {name!r}"
            )
            hint = "" if places else did_you_mean(name, known)
            raise FileError(table.path, f"{problem}, which {source} names{hint}")
    return [places[0] for places in places_by_name]


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".arff")


def _neighbour(path: Path) -> Path | None:
    stem = _stem(path)
    whole = re.sub(r"[-_](train|test)$", "", stem)
    candidates = (path.with_name(f"{name}.xml") for name in (stem, whole))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _usable(table: _ArffTable, columns: list[int], max_categories: int) -> list[int]:
    def useless(attribute: Attribute) -> bool:
        return attribute.kind == "text" or len(attribute.values) > max_categories

    attributes = table.header.attributes
    names = [attributes[j].name for j in columns if useless(attributes[j])]
    if names:
        warn(
            f"{table.path}: skipped {len(names)} attributes that have text or more than {max_categories} "
            f"values: {', '.join(names[:5])}; name them in drop= to say that this is meant"
        )
    return [j for j in columns if not useless(attributes[j])]


def _check_finite(table: _ArffTable, columns: list[int]) -> None:
    place = first_place(table.values[:, columns], lambda values: ~np.isfinite(values))
    if place is not None:
        name = table.header.attributes[columns[place[1]]].name
        raise FileError(
            table.path,
            f"no finite value for attribute {name!r}; repair the file, or pass drop=[{name!r}] or "
            "missing='nan' to read_arff",
            line=int(table.lines[place[0]]),
        )


def _read_labels(table: _ArffTable, columns: list[int]) -> Matrix:
    attributes = [table.header.attributes[j] for j in columns]
    for attribute in attributes:
        if attribute.kind != "numeric" and attribute.truth is None:
            kind = f"one of {', '.join(attribute.values[:5])}" if attribute.values else "text"
            raise FileError(table.path, f"label {attribute.name!r} must be 0 or 1, but it is {kind}")
    labels, _ = encode_columns(table.values[:, columns], attributes)
    place = first_place(labels, lambda values: ~(np.isin(values, (0, 1)) | np.isnan(values)))
    if place is not None:
        message = f"label {attributes[place[1]].name!r} must be 0, 1 or ?, got {labels[place]:g}"
        raise FileError(table.path, message, line=int(table.lines[place[0]]))
    return labels


def write_arff(
    collection: Collection, path: str | os.PathLike, *, label_file: str | os.PathLike | None = None
) -> None:
    """Write the only view and the labels as MULAN does: an ARFF file and, beside it, the XML with the tags.

    Sparse features give sparse rows. An unknown label is written as ?.
    """
    path = Path(path)
    X, names = only_features(collection, "ARFF")
    if twice := duplicates([*names, *collection.tags]):
        raise ValueError(f"ARFF needs different names for all attributes, got twice: {', '.join(twice[:5])}")
    label_file = label_file or path.with_name(f"{_stem(path)}.xml")
    with atomic_write(label_file, text=True) as xml, atomic_write(path, text=True) as stream:
        write_label_names(xml, list(collection.tags))
        stream.write(f"@relation {quote(collection.name or _stem(path))}\n\n")
        stream.writelines(f"@attribute {quote(name)} numeric\n" for name in names)
        stream.writelines(f"@attribute {quote(tag)} {{0,1}}\n" for tag in collection.tags)
        stream.write("\n@data\n")
        format_rows = _sparse_lines if sparse.issparse(X) else _dense_lines
        for block in row_blocks(len(collection), 1000):
            stream.writelines(format_rows(X[block], collection.label_matrix.take_rows(block).full()))


def _dense_lines(X: np.ndarray, Y: Matrix) -> Iterator[str]:
    Y = Y.toarray() if sparse.issparse(Y) else Y
    for row in np.hstack([X, Y], dtype=np.float64).tolist():
        yield ",".join(format_number(value, missing="?") for value in row) + "\n"


def _sparse_lines(X: Matrix, Y: Matrix) -> Iterator[str]:
    both = sparse.hstack([X, sparse.csr_array(Y)], format="csr", dtype=np.float64)
    both.sum_duplicates()
    for start, end in pairwise(both.indptr.tolist()):
        entries = zip(both.indices[start:end].tolist(), both.data[start:end].tolist(), strict=True)
        yield "{" + ",".join(f"{j} {format_number(value, missing='?')}" for j, value in entries) + "}\n"

"""The rows of an ARFF file as numbers, dense or sparse, and nominal codes as columns of numbers."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import numpy as np
from scipy import sparse

from tagrank.data.label_matrix import Matrix
from tagrank.data.readers.arff.header import PAIR, Attribute, split_values, unquote
from tagrank.files import FileError, MemoryBound

_Lines = Iterator[tuple[int, str]]


class _Malformed(Exception):
    """Says what is wrong with a line, without its place."""


def read_rows(
    lines: _Lines, attributes: Sequence[Attribute], path: str, bound: MemoryBound
) -> tuple[Matrix, np.ndarray]:
    """The numbers that follow ``@data``, and the line of each row; codes for nominal values, nan for ?."""
    rows = ((number, text) for number, line in lines if (text := line.strip()) and text[0] != "%")
    first = next(rows, None)
    if first is None:
        return np.empty((0, len(attributes))), np.empty(0, dtype=np.intp)
    is_sparse = first[1][0] == "{"
    read_row = _sparse_row if is_sparse else _dense_row
    parsers = [attribute.parser() for attribute in attributes]
    columns, values, ends, numbers = array("q"), array("d"), array("q", [0]), array("q")
    for number, text in chain([first], rows):
        try:
            found, row = read_row(text, parsers, attributes)
        except _Malformed as problem:
            raise FileError(path, str(problem), line=number) from None
        bound.add(16 * (1 + len(found)) + 8 * len(row))
        columns.extend(found)
        values.extend(row)
        ends.append(len(values))
        numbers.append(number)
    shape = (len(numbers), len(attributes))
    data, lines_of_rows = np.asarray(values), np.asarray(numbers)
    if not is_sparse:
        return data.reshape(shape), lines_of_rows
    return sparse.csr_array((data, np.asarray(columns), np.asarray(ends)), shape=shape), lines_of_rows


_Parsers = list[Callable[[str], float]]
_Row = tuple[Sequence[int], Sequence[float]]


def _dense_row(text: str, parsers: _Parsers, attributes: Sequence[Attribute]) -> _Row:
    tokens = text.split(",")
    try:
        if len(tokens) == len(parsers):
            return (), [parse(token) for parse, token in zip(parsers, tokens, strict=True)]
    except (KeyError, ValueError):
        pass  # quotes, blanks, missing values or an error: look closely below
    if text[0] == "{":
        raise _Malformed("a sparse row in a file whose first row is dense")
    try:
        tokens = split_values(text)
    except ValueError as error:
        raise _Malformed(str(error)) from None
    if len(tokens) != len(attributes):
        raise _Malformed(f"expected {len(attributes)} values, got {len(tokens)}")
    return (), [_parse(token, j, parsers, attributes) for j, token in enumerate(tokens)]


def _sparse_row(text: str, parsers: _Parsers, attributes: Sequence[Attribute]) -> _Row:
    if text[0] != "{" or text[-1] != "}":
        raise _Malformed(f"expected a sparse row {{index value, ...}}, got {text[:40]!r}")
    inside = text[1:-1]
    tokens = inside.replace(",", " ").split()
    try:
        if len(tokens) == 2 * inside.count(",") + 2:
            columns = list(map(int, tokens[::2]))
            values = [parsers[j](token) for j, token in zip(columns, tokens[1::2], strict=True)]
            if all(map(int.__lt__, [-1, *columns], columns)):
                return columns, values
    except (KeyError, ValueError, IndexError):
        pass  # quotes, missing values or an error: look closely below
    return _quoted_sparse_row(inside, parsers, attributes)


def _quoted_sparse_row(inside: str, parsers: _Parsers, attributes: Sequence[Attribute]) -> _Row:
    entries: dict[int, float] = {}
    inside, position = inside.rstrip(), 0
    while position < len(inside):
        match = PAIR.match(inside, position)
        if match is None:
            raise _Malformed(f"expected 'index value', got {inside[position : position + 20]!r}")
        j = int(match.group(1))
        if j >= len(attributes):
            raise _Malformed(f"index {j}, but the attributes are numbered 0 to {len(attributes) - 1}")
        if j in entries:
            raise _Malformed(f"index {j} occurs twice")
        entries[j] = _parse(unquote(match.group(2).rstrip()), j, parsers, attributes)
        position = match.end()
    return sorted(entries), [entries[j] for j in sorted(entries)]


def _parse(token: str, j: int, parsers: _Parsers, attributes: Sequence[Attribute]) -> float:
    if token == "?":
        return np.nan
    try:
        return parsers[j](token)
    except ValueError:
        raise _Malformed(f"attribute {attributes[j].name!r} is a number, got {token!r}") from None
    except KeyError:
        values = ", ".join(attributes[j].values[:5])
        raise _Malformed(f"attribute {attributes[j].name!r} is one of {values}; got {token!r}") from None


def encode_columns(values: Matrix, attributes: Sequence[Attribute]) -> tuple[Matrix, list[str]]:
    """Numbers and no/yes attributes as one column each, other nominal attributes as one column a value.

    Of values (n_rows, n_attributes), codes for nominal ones, the same kind of matrix is made; and names.
    """
    names = [name for attribute in attributes for name in _column_names(attribute)]
    if all(_is_ready(attribute) for attribute in attributes):
        return values, names
    by_column = values.tocsc() if sparse.issparse(values) else values
    pieces = [
        by_column[:, [j]] if _is_ready(attribute) else _expand(by_column[:, [j]], attribute)
        for j, attribute in enumerate(attributes)
    ]
    if sparse.issparse(values):
        return sparse.hstack([sparse.csc_array(piece) for piece in pieces], format="csr"), names
    return np.hstack(pieces), names


def _is_ready(attribute: Attribute) -> bool:
    return attribute.kind == "numeric" or attribute.truth == (0, 1)


def _column_names(attribute: Attribute) -> list[str]:
    if attribute.kind == "numeric" or attribute.truth is not None:
        return [attribute.name]
    return [f"{attribute.name}={value}" for value in attribute.values]


def _expand(column: Matrix, attribute: Attribute) -> np.ndarray:
    codes = column.toarray() if sparse.issparse(column) else column
    known = ~np.isnan(codes)
    if attribute.truth is not None:
        columns = np.array(attribute.truth, dtype=np.float64)[np.where(known, codes, 0).astype(int)]
    else:
        columns = (codes == np.arange(len(attribute.values))).astype(np.float64)
    return np.where(known, columns, np.nan)


def first_place(values: Matrix, is_wrong: Callable[[np.ndarray], np.ndarray]) -> tuple[int, int] | None:
    """Row and column of the first (stored) value that `is_wrong`, or None."""
    if sparse.issparse(values):
        entries = values.tocoo()
        rows, columns, stored = entries.row, entries.col, entries.data
        hits = np.nonzero(is_wrong(stored))[0]
        return (int(rows[hits[0]]), int(columns[hits[0]])) if len(hits) else None
    places = np.argwhere(is_wrong(values))
    return (int(places[0, 0]), int(places[0, 1])) if len(places) else None

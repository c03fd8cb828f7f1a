"""The header and the rows of an ARFF file as numbers, and the XML that says which attributes are labels."""

import math
import os
import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import IO
from xml.sax.saxutils import quoteattr

import numpy as np
from scipy import sparse

from tagrank import labels
from tagrank.data.label_matrix import Matrix
from tagrank.data.readers.safe_xml import parse_xml
from tagrank.files import ROW_BYTES, WORD_BYTES, FileError, MemoryBound, open_bounded
from tagrank.labels import duplicates

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|\S+)\s+(.+)", re.IGNORECASE)
# Blanks before a comma are stripped afterwards: looking for them here took time that grew as their square.
_VALUE = re.compile(rf"\s*({_QUOTED}|[^,]*)\s*(?:,|$)")
PAIR = re.compile(rf"\s*(\d+)\s+({_QUOTED}|[^,]*)\s*(?:,|$)")
_MEKA_OPTION = re.compile(r"-C\s+(-?\d+)")
_NUMERIC = {"numeric", "real", "integer"}
_NAMESPACE = "http://mulan.sourceforge.net/labels"
_MAX_BYTES = 2**26
_TRUTH = {
    **dict.fromkeys(("0", "no", "n", "false", "f", "absent"), 0),
    **dict.fromkeys(("1", "yes", "y", "true", "t", "present"), 1),
}
_Lines = Iterator[tuple[int, str]]


@dataclass(frozen=True)
class Attribute:
    """One column of the file: `kind` is "numeric", "nominal" or "text" (string and date)."""

    name: str
    kind: str
    values: tuple[str, ...] = ()

    @property
    def truth(self) -> tuple[int, ...] | None:
        """0 or 1 for each nominal value where they read as no and yes, else None."""
        truth = tuple(_TRUTH.get(value.casefold(), -1) for value in self.values)
        return truth if truth and -1 not in truth and len(set(truth)) == len(truth) else None

    def parser(self) -> Callable[[str], float]:
        """Turns a token into a number: the value itself, or the position of a nominal value; ? is nan.

        An unexpected token raises KeyError or ValueError.
        """
        if self.kind == "nominal":
            codes = {value: float(code) for code, value in enumerate(self.values)}
            return (codes | {"?": math.nan}).__getitem__
        if self.kind == "text":
            return lambda token: 0.0
        return float


@dataclass(frozen=True)
class Header:
    relation: str
    attributes: tuple[Attribute, ...]

    def meka_labels(self) -> list[str] | None:
        """The first n or last n attributes, as MEKA's ``-C n`` or ``-C -n`` in the relation name says."""
        option = _MEKA_OPTION.search(self.relation)
        if option is None:
            return None
        count = int(option.group(1))
        names = [attribute.name for attribute in self.attributes]
        return names[:count] if count >= 0 else names[count:]


def read_header(lines: Iterator[tuple[int, str]], path: str, bound: MemoryBound) -> Header:
    """Consume numbered `lines` up to and including ``@data``."""
    relation = ""
    attributes: list[Attribute] = []
    for number, line in lines:
        line = line.strip()
        word = line[:10].casefold()
        if not line or line[0] == "%":
            continue
        if word.startswith("@data"):
            if not attributes:
                raise FileError(path, "no @attribute before @data", line=number)
            return Header(relation, tuple(attributes))
        if word.startswith("@relation"):
            relation = unquote(line[9:].strip())
        elif word == "@attribute":
            attributes.append(_read_attribute(line, path, number))
            bound.add(2 * ROW_BYTES + 2 * WORD_BYTES * len(attributes[-1].values))
        else:
            raise FileError(path, f"expected @relation, @attribute or @data, got {line[:40]!r}", line=number)
    raise FileError(path, "no @data line: is the file complete?")


def _read_attribute(line: str, path: str, number: int) -> Attribute:
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        raise FileError(path, f"expected '@attribute name type', got {line[:40]!r}", line=number)
    name, kind = unquote(match.group(1)), match.group(2).strip()
    if kind.startswith("{"):
        if not kind.endswith("}"):
            raise FileError(path, f"the list of values of {name!r} does not end with '}}'", line=number)
        return Attribute(name, "nominal", tuple(split_values(kind[1:-1])))
    word = kind.split()[0].casefold()
    if word in _NUMERIC:
        return Attribute(name, "numeric")
    if word in ("string", "date"):
        return Attribute(name, "text")
    raise FileError(path, f"attribute {name!r} has unknown type {kind[:40]!r}", line=number)


def split_values(text: str) -> list[str]:
    """The values between commas, unquoted."""
    if "'" not in text and '"' not in text and "\\" not in text:
        return [value.strip() for value in text.split(",")]
    values, position = [], 0
    while position <= len(text):
        match = _VALUE.match(text, position)
        if match is None:
            raise ValueError(f"expected a comma or the end at {text[position : position + 20]!r}")
        values.append(unquote(match.group(1).rstrip()))
        if match.end() == len(text) and not match.group().endswith(","):
            break
        position = match.end()
    return values


def unquote(text: str) -> str:
    """`text` without its quotation marks and backslashes."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    return re.sub(r"\\(.)", r"\1", text) if "\\" in text else text


def quote(text: str) -> str:
    """`text` so that any ARFF reader takes it as one value."""
    if re.fullmatch(r"[\w.:+-]+", text, re.ASCII):
        return text
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def read_label_names(path: str | os.PathLike) -> list[str]:
    """The names of all label elements, in the order of the file; nested ones (hierarchies) too."""
    with open_bounded(path, max_bytes=_MAX_BYTES) as stream:
        content = stream.read()
    names: list[str] = []

    def note(element: str, attributes: Mapping[str, str]) -> None:
        # the namespace, or its prefix where it is not declared, stands before the name
        if element.replace(":", " ").rpartition(" ")[2] == "label":
            if "name" not in attributes:
                raise FileError(path, "has a label element without a name")
            names.append(attributes["name"])

    parse_xml(content, path, on_start=note, max_elements=labels.MAX_TAGS)
    if not names:
        raise FileError(path, "has no labels: expected elements such as <label name='sky'></label>")
    if twice := duplicates(names):
        raise FileError(path, f"names labels twice: {', '.join(twice[:5])}")
    return names


def write_label_names(stream: IO[str], names: list[str]) -> None:
    """Write a flat label list as MULAN reads it."""
    stream.write(f'<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="{_NAMESPACE}">\n')
    stream.writelines(f"<label name={quoteattr(name)}></label>\n" for name in names)
    stream.write("</labels>\n")


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
            places, row = read_row(text, parsers, attributes)
        except _Malformed as problem:
            raise FileError(path, str(problem), line=number) from None
        bound.add(16 * (1 + len(places)) + 8 * len(row))
        columns.extend(places)
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

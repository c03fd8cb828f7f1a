"""The header of an ARFF file, how its attributes become numbers, and the XML that says which are labels."""

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO
from xml.sax.saxutils import quoteattr

from tagrank import labels
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
                raise FileError(path, "a label element without a name")
            names.append(attributes["name"])

    parse_xml(content, path, on_start=note, max_elements=labels.MAX_TAGS)
    if not names:
        raise FileError(path, "names no label: expected elements such as <label name='sky'></label>")
    if twice := duplicates(names):
        raise FileError(path, f"names labels twice: {', '.join(twice[:5])}")
    return names


def write_label_names(stream: IO[str], names: list[str]) -> None:
    """Write a flat label list as MULAN reads it."""
    stream.write(f'<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="{_NAMESPACE}">\n')
    stream.writelines(f"<label name={quoteattr(name)}></label>\n" for name in names)
    stream.write("</labels>\n")

"""The XML file beside a MULAN ARFF file: which attributes are labels."""

import os
from typing import IO
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from tagrank.files import FileError, open_bounded

_NAMESPACE = "http://mulan.sourceforge.net/labels"
_MAX_BYTES = 2**26


def read_label_names(path: str | os.PathLike) -> list[str]:
    """The names of all label elements, in the order of the file; nested ones (hierarchies) too."""
    with open_bounded(path, max_bytes=_MAX_BYTES) as stream:
        content = stream.read()
    names: list[str] = []

    def start_element(element: str, attributes: dict[str, str]) -> None:
        if element.rpartition(":")[2] == "label":
            if "name" not in attributes:
                raise FileError(path, "a label element without a name", line=parser.CurrentLineNumber)
            names.append(attributes["name"])

    def refuse_doctype(*_: object) -> None:
        # entities can expand without end or name other files; a label list needs none
        raise FileError(path, "declares a document type, which is refused", line=parser.CurrentLineNumber)

    parser = expat.ParserCreate()
    parser.StartElementHandler = start_element
    parser.StartDoctypeDeclHandler = refuse_doctype
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise FileError(
            path, f"not well-formed XML ({expat.ErrorString(error.code)})", line=error.lineno
        ) from None
    if not names:
        raise FileError(path, "names no label: expected elements such as <label name='sky'></label>")
    return names


def write_label_names(stream: IO[str], names: list[str]) -> None:
    """Write a flat label list as MULAN reads it."""
    stream.write(f'<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="{_NAMESPACE}">\n')
    stream.writelines(f"<label name={quoteattr(name)}></label>\n" for name in names)
    stream.write("</labels>\n")

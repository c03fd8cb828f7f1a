"""The XML file beside a MULAN ARFF file: which attributes are labels."""

import os
from collections.abc import Mapping
from typing import IO
from xml.sax.saxutils import quoteattr

from tagrank import labels
from tagrank.data.readers.safe_xml import parse_xml
from tagrank.files import FileError, open_bounded
from tagrank.labels import duplicates

_NAMESPACE = "http://mulan.sourceforge.net/labels"
_MAX_BYTES = 2**26


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

"""XML within bounds: no document types (so no entities), limited depth and number of elements."""

import os
from collections.abc import Callable, Mapping, Sequence
from xml.parsers import expat

from tagrank.files import FileError

_MAX_DEPTH = 100
_MAX_ELEMENTS = 200_000


def parse_xml(
    content: bytes,
    path: str | os.PathLike,
    on_text: Callable[[Sequence[str], str], None] = lambda names, text: None,
    *,
    on_start: Callable[[str, Mapping[str, str]], None] = lambda name, attributes: None,
    max_elements: int = _MAX_ELEMENTS,
) -> None:
    """Check `content`, whose size the caller has bounded, and report the text of each element when it ends.

    `on_text` is called with the names of the elements from the root to this one, and the text directly in it;
    a name in a namespace is ``uri name``. `on_start` is called with the name of each element and its
    attributes when it begins.
    """
    names: list[str] = []
    texts: list[list[str]] = []
    n_elements = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal n_elements
        n_elements += 1
        if len(names) >= _MAX_DEPTH or n_elements > max_elements:
            raise FileError(path, f"more than {_MAX_DEPTH} levels or {max_elements:,} elements of XML")
        on_start(name, attributes)
        names.append(name)
        texts.append([])

    def end(name: str) -> None:
        on_text(names, "".join(texts.pop()).strip())
        names.pop()

    def text(piece: str) -> None:
        if texts:
            texts[-1].append(piece)

    def refuse_doctype(*_: object) -> None:
        # entities can expand without end or name other files
        raise FileError(path, "declares a document type, which is not allowed", line=parser.CurrentLineNumber)

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = refuse_doctype
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(path, f"not well-formed XML ({error})") from None

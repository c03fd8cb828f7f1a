"""An XMP document whose lists of keywords can grow and shrink, with all else kept as it is."""

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any
from xml.dom import minidom

from tagrank.data.readers.safe_xml import parse_xml
from tagrank.data.readers.xmp import DIGIKAM_TREE, LISTS, MACHINE_TAGS, RDF, Mark, unpadded
from tagrank.files import FileError

# What XML 1.0 cannot hold, not even escaped.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PREFIXES = {namespace: word.partition(":")[0] for word, (namespace, _) in LISTS.items()}
_PREFIXES[MACHINE_TAGS[0]] = _OURS = "tagrank"
# digiKam looks for its own list only as a sequence.
_KINDS = {DIGIKAM_TREE: "Seq"}
_META = "adobe:ns:meta/"
_EMPTY = f"""<x:xmpmeta xmlns:x="{_META}" x:xmptk="{_OURS}">
 <rdf:RDF xmlns:rdf="{RDF}">
  <rdf:Description rdf:about=""/>
 </rdf:RDF>
</x:xmpmeta>"""
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
# Line ends that were written as character references would become blanks; no XML holds lone surrogates, so
# these can stand for them until the text is complete.
_REFERENCES = {"\n": ("\ud80a", "&#10;"), "\r": ("\ud80d", "&#13;"), "\t": ("\ud809", "&#9;")}


class XmpDocument:
    """An XMP document to be changed, which stands at `path`; an empty one without content."""

    def __init__(self, content: bytes | None, path: str | os.PathLike) -> None:
        content = _EMPTY.encode() if content is None else unpadded(content)
        # refuses document types and whatever could fill memory before a tree is built
        parse_xml(content, path)
        self._document = minidom.parseString(content)
        roots = self._document.getElementsByTagNameNS(RDF, "RDF")
        if not roots:
            raise FileError(path, "is XML, but not XMP: it has no rdf:RDF element")
        self._root, self._path = roots[0], path

    def has_list(self, name: tuple[str, str]) -> bool:
        """Whether the list `name`, a namespace and a local name, is there."""
        return bool(self._lists(name))

    def add(self, name: tuple[str, str], words: Iterable[str]) -> list[str]:
        """Add those of `words` that the list does not have; which these are."""
        present = {_text(entry) for entry in self._entries(name)}
        added = [word for word in dict.fromkeys(words) if word not in present]
        for word in added:
            if _UNWRITABLE.search(word):
                raise FileError(self._path, f"the tag {word!r} contains a character that XML cannot hold")
        if added:
            bag = self._container(name)
            for word in added:
                self._create(bag, (RDF, "li")).appendChild(self._document.createTextNode(word))
        return added

    def keep_only(self, name: tuple[str, str], words: Iterable[str]) -> list[str]:
        """Remove all but `words` from the list; which were removed."""
        kept = set(words)
        return self.remove(name, {_text(entry) for entry in self._entries(name)} - kept)

    def remove(self, name: tuple[str, str], words: Iterable[str]) -> list[str]:
        """Remove `words` from the list, and the list if it is empty then; which were removed."""
        unwanted = set(words)
        others = [entry for entry in self._entries(name) if _text(entry) in unwanted]
        for entry in others:
            _remove(entry)
        if others and not self._entries(name):
            self._remove_lists(name)
        return [_text(entry) for entry in others]

    def set_marks(self, marks: Iterable[Mark]) -> None:
        """Replace the marks of machine-written keywords."""
        self._remove_lists(MACHINE_TAGS)
        bag = None
        for mark in marks:
            bag = bag or self._container(MACHINE_TAGS)
            entry = self._create(bag, (RDF, "li"))
            for field, value in mark.written().items():
                entry.setAttributeNS(MACHINE_TAGS[0], f"{_OURS}:{field}", _UNWRITABLE.sub("\ufffd", value))

    def is_empty(self) -> bool:
        """Whether it is a document of ours that says nothing any more."""
        top: Any = self._document.documentElement
        abouts: list[Any] = self._descriptions()
        n_elements = len(self._document.getElementsByTagName("*"))
        says = any(not _is_plain(name) for about in abouts for name, _ in about.attributes.items())
        return top.getAttributeNS(_META, "xmptk") == _OURS and n_elements == 2 + len(abouts) and not says

    def to_bytes(self) -> bytes:
        """The document as UTF-8."""
        document: Any = self._document.cloneNode(True)
        _mark_references(document)
        text = "\n".join([_DECLARATION, *(node.toxml() for node in document.childNodes), ""])
        for mark, reference in _REFERENCES.values():
            text = text.replace(mark, reference)
        return text.encode()

    def _descriptions(self) -> list[minidom.Element]:
        return [child for child in _elements(self._root) if _is(child, (RDF, "Description"))]

    def _lists(self, name: tuple[str, str]) -> list[minidom.Element]:
        return [child for about in self._descriptions() for child in _elements(about) if _is(child, name)]

    def _entries(self, name: tuple[str, str]) -> list[minidom.Element]:
        bags = (bag for one in self._lists(name) for bag in _elements(one))
        return [entry for bag in bags for entry in _elements(bag) if _is(entry, (RDF, "li"))]

    def _remove_lists(self, name: tuple[str, str]) -> None:
        for one in self._lists(name):
            _remove(one)

    def _container(self, name: tuple[str, str]) -> minidom.Element:
        """The bag or sequence of the list, made where there is none."""
        lists = self._lists(name)
        if not lists:
            descriptions = self._descriptions()
            about = descriptions[0] if descriptions else self._create(self._root, (RDF, "Description"))
            if not descriptions:
                about.setAttributeNS(RDF, f"{self._rdf}:about", "")
            lists = [self._create(about, name)]
        bags = [child for one in lists for child in _elements(one) if child.namespaceURI == RDF]
        return bags[0] if bags else self._create(lists[0], (RDF, _KINDS.get(name, "Bag")))

    @property
    def _rdf(self) -> str:
        return self._root.prefix or "rdf"

    def _create(self, parent: minidom.Element, name: tuple[str, str]) -> minidom.Element:
        namespace, local = name
        prefix = self._rdf if namespace == RDF else _PREFIXES[namespace]
        element = self._document.createElementNS(namespace, f"{prefix}:{local}")
        if namespace != RDF or not self._root.prefix:
            # declared here, whatever the prefix means elsewhere
            element.setAttribute(f"xmlns:{prefix}", namespace)
        self._append_line(parent, element)
        return element

    def _append_line(self, parent: minidom.Element, element: minidom.Element) -> None:
        depth = _depth(parent)
        before = "\n" + " " * (depth + 1)
        last: Any = parent.lastChild
        if last is not None and _is_blank(last):
            # to take a child out would search all of them
            last.data = before
        else:
            parent.appendChild(self._document.createTextNode(before))
        parent.appendChild(element)
        parent.appendChild(self._document.createTextNode("\n" + " " * depth))


def _elements(parent: minidom.Element) -> Iterator[minidom.Element]:
    return (child for child in list(parent.childNodes) if child.nodeType == child.ELEMENT_NODE)


def _is(element: minidom.Element, name: tuple[str, str]) -> bool:
    return (element.namespaceURI, element.localName) == name


def _text(element: minidom.Element) -> str:
    return "".join(
        child.data
        for child in element.childNodes
        if child.nodeType in (child.TEXT_NODE, child.CDATA_SECTION_NODE)
    ).strip()


def _is_blank(node: Any) -> bool:
    return node.nodeType == node.TEXT_NODE and not node.data.strip()


def _depth(node: Any) -> int:
    return 0 if node.parentNode.nodeType == node.DOCUMENT_NODE else 1 + _depth(node.parentNode)


def _is_plain(attribute: str) -> bool:
    """Whether an attribute of a description says nothing about the picture."""
    return attribute == "xmlns" or attribute.startswith("xmlns:") or attribute.endswith("about")


def _remove(element: Any) -> None:
    parent = element.parentNode
    if element.previousSibling is not None and _is_blank(element.previousSibling):
        parent.removeChild(element.previousSibling)
    parent.removeChild(element)
    if all(map(_is_blank, parent.childNodes)):
        # as it was before its first element came
        for blank in list(parent.childNodes):
            parent.removeChild(blank)


def _mark_references(node: Any) -> None:
    if node.nodeType == node.TEXT_NODE:
        node.data = node.data.replace("\r", _REFERENCES["\r"][0])
    elif node.nodeType == node.ELEMENT_NODE:
        for attribute in list(node.attributes.values()):
            for character, (mark, _) in _REFERENCES.items():
                attribute.value = attribute.value.replace(character, mark)
    for child in node.childNodes:
        _mark_references(child)

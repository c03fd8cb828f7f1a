"""Keywords in XMP, the metadata that photo programs write into pictures and into sidecar files beside them.

Inside a picture without any, the older IPTC record is read.
A sidecar of ``photo.jpg`` is called ``photo.jpg.xmp`` (darktable, digiKam) or ``photo.xmp`` (Adobe).

Marks of machine-written keywords say which entry of which list our run added. ``tagrank:MachineTags`` is a
bag with one structure an entry. Other programs may rewrite the fields of a structure, which we write as
attributes, as elements; both are read.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from tagrank.data.picture_files import IPTC_IN_PHOTOSHOP, open_picture
from tagrank.data.readers.safe_xml import parse_xml
from tagrank.files import FileError, open_bounded

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
SUBJECT = ("http://purl.org/dc/elements/1.1/", "subject")
LIGHTROOM_TREE = ("http://ns.adobe.com/lightroom/1.0/", "hierarchicalSubject")
DIGIKAM_TREE = ("http://www.digikam.org/ns/1.0/", "TagsList")
MACHINE_TAGS = ("urn:tagrank:xmp:1.0/", "MachineTags")
LISTS = {"dc:subject": SUBJECT, "lr:hierarchicalSubject": LIGHTROOM_TREE, "digiKam:TagsList": DIGIKAM_TREE}
_FIELD = f"{MACHINE_TAGS[0]} "
MAX_XMP_BYTES = 2**23
_ENDINGS = (".xmp", ".XMP")
_LISTS = {" ".join(name): name for name in LISTS.values()}
_IPTC_IN_TIFF = 33723
_MARKER = 0x1C
_CHARSET, _KEYWORD = (1, 90), (2, 25)
_UTF8 = b"\x1b%G"


@dataclass(frozen=True)
class Mark:
    """An entry that a run of ours added to a list of keywords.

    Attributes
    ----------
    list : a key of `LISTS`
    word : the entry
    run : when the run began, UTC, as in 2026-11-02T10:15:30.123Z
    model : what the model was called
    probability : of the tag; empty where the model gave none
    copied : "True" if the picture had the keyword before, but not in this list; it is not machine-written
    """

    list: str
    word: str
    run: str
    model: str = ""
    probability: str = ""
    copied: str = ""

    @property
    def place(self) -> tuple[tuple[str, str], str]:
        """The list, by namespace and name, and the entry."""
        return LISTS[self.list], self.word

    def written(self) -> dict[str, str]:
        """The fields that say something."""
        return {name: value for name, value in asdict(self).items() if value}


_NAMES = frozenset(entry.name for entry in fields(Mark))


class MarkReader:
    """Gathers the marks of a document; its methods are what `parse_xml` calls."""

    def __init__(self) -> None:
        self.marks: list[Mark] = []
        self._fields: dict[str, str] = {}

    def on_start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Note fields that are attributes."""
        for attribute, value in attributes.items():
            self._note(attribute, value)

    def on_text(self, names: Sequence[str], text: str) -> None:
        """Note fields that are elements, and the mark at the end of its entry."""
        self._note(names[-1], text)
        if names[-1] == f"{RDF} li" and len(names) >= 3 and names[-3] == " ".join(MACHINE_TAGS):
            fields, self._fields = self._fields, {}
            if fields.get("list") in LISTS and fields.get("word") and fields.get("run"):
                self.marks.append(Mark(**fields))

    def _note(self, name: str, value: str) -> None:
        if name.startswith(_FIELD) and (field := name.removeprefix(_FIELD)) in _NAMES:
            self._fields[field] = value


class Keywords(NamedTuple):
    """The keywords of a picture.

    Attributes
    ----------
    flat : plain words
    trees : words with the levels above them, as in ``places|europe|rome``
    """

    flat: tuple[str, ...] = ()
    trees: tuple[str, ...] = ()

    def listed(self, *, hierarchical: bool = False) -> list[str]:
        """The plain words, or the trees and those plain words that are no level of one."""
        if not hierarchical:
            return list(self.flat)
        levels = {level for tree in self.trees for level in tree.split("|")}
        return [*self.trees, *(word for word in self.flat if word not in levels)]

    def joined(self, other: "Keywords") -> "Keywords":
        """Both together, each word once."""
        return Keywords(
            tuple(dict.fromkeys(self.flat + other.flat)), tuple(dict.fromkeys(self.trees + other.trees))
        )

    def without(self, other: "Keywords") -> "Keywords":
        """Those that `other` does not have."""
        flat, trees = set(other.flat), set(other.trees)
        return Keywords(
            tuple(word for word in self.flat if word not in flat),
            tuple(tree for tree in self.trees if tree not in trees),
        )


class MarkedKeywords(NamedTuple):
    """Keywords, and which of them a machine made.

    Attributes
    ----------
    all : every keyword
    machine : those that are marked as machine-written, and still there
    """

    all: Keywords = Keywords()
    machine: Keywords = Keywords()

    def joined(self, other: "MarkedKeywords") -> "MarkedKeywords":
        """Both together; programs copy keywords, so what is marked in one counts as marked in the other."""
        return MarkedKeywords(self.all.joined(other.all), self.machine.joined(other.machine))

    def chosen(self, *, machine_tags: bool) -> Keywords:
        """All of them, or those that people gave."""
        return self.all if machine_tags else self.all.without(self.machine)


def parse_keywords(content: bytes, path: str | os.PathLike) -> MarkedKeywords:
    """The keywords in an XMP document; `path` is where it stands."""
    return parse_marks(content, path)[0]


def parse_marks(content: bytes, path: str | os.PathLike) -> tuple[MarkedKeywords, list[Mark]]:
    """The keywords in an XMP document, and the marks of entries that are still there."""
    entries: dict[tuple[str, str], dict[str, None]] = {name: {} for name in _LISTS.values()}
    reader = MarkReader()

    def note(names: Sequence[str], text: str) -> None:
        reader.on_text(names, text)
        is_entry = len(names) >= 3 and names[-1] == f"{RDF} li" and names[-2].startswith(RDF)
        if is_entry and text and names[-3] in _LISTS:
            entries[_LISTS[names[-3]]][text] = None

    parse_xml(unpadded(content), path, note, on_start=reader.on_start)
    marks = [mark for mark in reader.marks if mark.word in entries[mark.place[0]]]
    marked: dict[tuple[str, str], dict[str, None]] = {name: {} for name in entries}
    for name, word in (mark.place for mark in marks if not mark.copied):
        marked[name][word] = None
    return MarkedKeywords(_keywords(entries), _keywords(marked)), marks


def _keywords(lists: Mapping[tuple[str, str], Iterable[str]]) -> Keywords:
    trees = lists[LIGHTROOM_TREE] or [text.replace("/", "|") for text in lists[DIGIKAM_TREE]]
    return Keywords(tuple(lists[SUBJECT]), tuple(dict.fromkeys(trees)))


def unpadded(content: bytes) -> bytes:
    """XMP without the blanks and zeros with which programs fill it up; XML may not begin or end with them."""
    is_utf16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    return content if is_utf16 else content.strip(b"\0 \r\n\t")


def read_sidecar(path: str | os.PathLike, *, machine_tags: bool = False) -> Keywords:
    """The keywords in a sidecar file, ``.xmp``; with `machine_tags` also those marked as machine-written.

    Parameters
    ----------
    path : the ``.xmp`` file
    machine_tags : whether keywords that are marked as machine-written count, too
    """
    return read_marked(path).chosen(machine_tags=machine_tags)


def read_marked(path: str | os.PathLike) -> MarkedKeywords:
    """The keywords in a sidecar file, and which of them a machine made."""
    return parse_keywords(sidecar_content(path), path)


def sidecar_content(path: str | os.PathLike) -> bytes:
    """The bytes of a sidecar file, within bounds."""
    try:
        if not os.path.isfile(path):
            raise FileError(path, "this sidecar does not exist")
        with open_bounded(path, max_bytes=MAX_XMP_BYTES) as stream:
            return stream.read()
    except OSError as error:
        raise FileError(path, f"cannot be read ({error.strerror})") from None


def read_marks(path: str | os.PathLike) -> list[Mark]:
    """The marks in a sidecar file."""
    return parse_marks(sidecar_content(path), path)[1]


def existing_sidecars(picture: str | os.PathLike) -> list[Path]:
    """The sidecar files of a picture: ``photo.jpg.xmp``, then ``photo.xmp``."""
    picture = Path(picture)
    candidates = (
        picture.with_name(f"{base}{end}") for base in (picture.name, picture.stem) for end in _ENDINGS
    )
    sidecars: dict[tuple[int, int], Path] = {}
    for candidate in candidates:
        if candidate.is_file():
            about = candidate.stat()
            # where case does not matter, .xmp and .XMP are one file
            sidecars.setdefault((about.st_dev, about.st_ino), candidate)
    return list(sidecars.values())


class KeywordError(FileError):
    """The keywords inside a picture cannot be read; the picture itself may be fine."""


def read_keywords(
    picture: str | os.PathLike, *, hierarchical: bool = False, machine_tags: bool = False
) -> list[str]:
    """All keywords of a picture: those in its sidecar files and those inside it; it is not decoded.

    Parameters
    ----------
    picture : the picture
    hierarchical : give ``places|europe|rome`` with all its levels, where Lightroom or digiKam noted them,
        instead of plain words
    machine_tags : also those that `annotate` wrote into a sidecar and nobody has accepted

    Raises
    ------
    FileError : the picture, its keywords or a sidecar cannot be read
    """
    keywords = read_embedded(picture)
    for sidecar in reversed(existing_sidecars(picture)):
        keywords = read_marked(sidecar).joined(keywords)
    return keywords.chosen(machine_tags=machine_tags).listed(hierarchical=hierarchical)


def read_embedded(picture: str | os.PathLike) -> MarkedKeywords:
    """The keywords inside a picture file."""
    with open_picture(picture) as image:
        packet, record = image.info.get("xmp"), _iptc_record(image)
    keywords = _packet_keywords(packet.encode() if isinstance(packet, str) else packet, picture)
    # programs copy keywords into both; IPTC cuts them after 64 bytes
    if keywords.all.flat or keywords.all.trees:
        return keywords
    return MarkedKeywords(Keywords(tuple(dict.fromkeys(_iptc_words(record)))))


def _packet_keywords(packet: Any, picture: str | os.PathLike) -> MarkedKeywords:
    if not isinstance(packet, bytes) or not packet.strip(b"\0 \r\n\t"):
        return MarkedKeywords()
    if len(packet) > MAX_XMP_BYTES:
        raise KeywordError(picture, f"holds {len(packet):,} bytes of XMP; at most {MAX_XMP_BYTES:,} are read")
    try:
        return parse_keywords(packet, picture)
    except FileError as error:
        reason = str(error).removeprefix(f"{os.fspath(picture)}: ")
        raise KeywordError(picture, f"its embedded keywords cannot be read: {reason}") from None


def _iptc_record(image: Image.Image) -> bytes:
    photoshop: Any = image.info.get("photoshop")
    data = photoshop.get(IPTC_IN_PHOTOSHOP) if isinstance(photoshop, dict) else None
    if data is None and image.format == "TIFF":
        # as it stands in the file: Photoshop declares the bytes as integers, of which Pillow gives only one
        data = getattr(image.tag_v2, "_tagdata", {}).get(_IPTC_IN_TIFF)  # type: ignore[attr-defined]
    return data if isinstance(data, bytes) else b""


def _iptc_words(record: bytes) -> Iterator[str]:
    entries = list(_iptc_entries(record))
    is_utf8 = (_CHARSET, _UTF8) in entries
    for key, value in entries:
        if key == _KEYWORD and (word := _decode(value, is_utf8).strip("\0 ")):
            yield word


def _iptc_entries(record: bytes) -> Iterator[tuple[tuple[int, int], bytes]]:
    """Number of record and data set, and value. Values of more than 32 KB (extended lengths) end the walk."""
    start = 0
    while start + 5 <= len(record) and record[start] == _MARKER:
        size = int.from_bytes(record[start + 3 : start + 5], "big")
        if size >= 2**15:
            return
        yield (record[start + 1], record[start + 2]), record[start + 5 : start + 5 + size]
        start += 5 + size


def _decode(value: bytes, is_utf8: bool) -> str:
    try:
        return value.decode("utf-8", errors="ignore" if is_utf8 else "strict")
    except UnicodeDecodeError:
        return value.decode("latin-1")

"""Keywords in XMP, the metadata that photo programs write into pictures and into sidecar files beside them.

Inside a picture without any, the older IPTC record is read.
A sidecar of ``photo.jpg`` is called ``photo.jpg.xmp`` (darktable, digiKam) or ``photo.xmp`` (Lightroom).
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from tagrank.data.pictures.files import open_picture
from tagrank.data.readers.safe_xml import parse_xml
from tagrank.files import FileError, open_bounded

MAX_XMP_BYTES = 2**23
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
SUBJECT = ("http://purl.org/dc/elements/1.1/", "subject")
LIGHTROOM_TREE = ("http://ns.adobe.com/lightroom/1.0/", "hierarchicalSubject")
DIGIKAM_TREE = ("http://www.digikam.org/ns/1.0/", "TagsList")
_ENDINGS = (".xmp", ".XMP")
_LISTS = {" ".join(name): name for name in (SUBJECT, LIGHTROOM_TREE, DIGIKAM_TREE)}
_IPTC_IN_PHOTOSHOP = 0x0404
_IPTC_IN_TIFF = 33723
_MARKER = 0x1C
_CHARSET, _KEYWORD = (1, 90), (2, 25)
_UTF8 = b"\x1b%G"


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


def parse_keywords(content: bytes, path: str | os.PathLike) -> Keywords:
    """The keywords in an XMP document; `path` is where it stands."""
    found: dict[tuple[str, str], dict[str, None]] = {name: {} for name in _LISTS.values()}

    def note(names: Sequence[str], text: str) -> None:
        is_entry = len(names) >= 3 and names[-1] == f"{RDF} li" and names[-2].startswith(RDF)
        if is_entry and text and names[-3] in _LISTS:
            found[_LISTS[names[-3]]][text] = None

    parse_xml(unpadded(content), path, note)
    trees = found[LIGHTROOM_TREE] or {text.replace("/", "|"): None for text in found[DIGIKAM_TREE]}
    return Keywords(tuple(found[SUBJECT]), tuple(trees))


def unpadded(content: bytes) -> bytes:
    """XMP without the blanks and zeros with which programs fill it up; XML may not begin or end with them."""
    is_utf16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    return content if is_utf16 else content.strip(b"\0 \r\n\t")


def read_sidecar(path: str | os.PathLike) -> Keywords:
    """The keywords in a sidecar file, ``.xmp``."""
    return parse_keywords(sidecar_content(path), path)


def sidecar_content(path: str | os.PathLike) -> bytes:
    """The bytes of a sidecar file, within bounds."""
    try:
        if not os.path.isfile(path):
            raise FileError(path, "no such sidecar file")
        with open_bounded(path, max_bytes=MAX_XMP_BYTES) as stream:
            return stream.read()
    except OSError as error:
        raise FileError(path, f"cannot be read ({error.strerror})") from None


def existing_sidecars(picture: str | os.PathLike) -> list[Path]:
    """The sidecar files of a picture: ``photo.jpg.xmp``, then ``photo.xmp``."""
    picture = Path(picture)
    candidates = (
        picture.with_name(f"{base}{end}") for base in (picture.name, picture.stem) for end in _ENDINGS
    )
    found: dict[tuple[int, int], Path] = {}
    for candidate in candidates:
        if candidate.is_file():
            about = candidate.stat()
            # where case does not matter, .xmp and .XMP are one file
            found.setdefault((about.st_dev, about.st_ino), candidate)
    return list(found.values())


class KeywordError(FileError):
    """The keywords inside a picture cannot be read; the picture itself may be fine."""


def read_keywords(picture: str | os.PathLike, *, hierarchical: bool = False) -> list[str]:
    """All keywords of a picture: those in its sidecar files and those inside it; it is not decoded.

    Parameters
    ----------
    picture : the picture
    hierarchical : give ``places|europe|rome`` with all its levels, where Lightroom or digiKam noted them,
        instead of plain words

    Raises
    ------
    FileError : the picture, its keywords or a sidecar cannot be read
    """
    keywords = Keywords()
    for sidecar in existing_sidecars(picture):
        keywords = keywords.joined(read_sidecar(sidecar))
    return keywords.joined(read_embedded(picture)).listed(hierarchical=hierarchical)


def read_embedded(picture: str | os.PathLike) -> Keywords:
    """The keywords inside a picture file."""
    with open_picture(picture) as image:
        packet, record = image.info.get("xmp"), _iptc_record(image)
    keywords = _packet_keywords(packet.encode() if isinstance(packet, str) else packet, picture)
    # programs copy keywords into both; IPTC cuts them after 64 bytes
    return (
        keywords if keywords.flat or keywords.trees else Keywords(tuple(dict.fromkeys(_iptc_words(record))))
    )


def _packet_keywords(packet: Any, picture: str | os.PathLike) -> Keywords:
    if not isinstance(packet, bytes) or not packet.strip(b"\0 \r\n\t"):
        return Keywords()
    if len(packet) > MAX_XMP_BYTES:
        raise KeywordError(picture, f"holds {len(packet):,} bytes of XMP; at most {MAX_XMP_BYTES:,} are read")
    try:
        return parse_keywords(packet, picture)
    except FileError as error:
        reason = str(error).removeprefix(f"{os.fspath(picture)}: ")
        raise KeywordError(picture, f"its embedded keywords cannot be read: {reason}") from None


def _iptc_record(image: Image.Image) -> bytes:
    photoshop: Any = image.info.get("photoshop")
    data = photoshop.get(_IPTC_IN_PHOTOSHOP) if isinstance(photoshop, dict) else None
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

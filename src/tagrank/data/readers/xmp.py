"""Keywords in XMP, the metadata that photo programs write into pictures and into sidecar files beside them.

A sidecar of ``photo.jpg`` is called ``photo.jpg.xmp`` (darktable, digiKam) or ``photo.xmp`` (Lightroom).
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tagrank.data.readers.safe_xml import parse_xml
from tagrank.files import FileError, open_bounded

MAX_XMP_BYTES = 2**23
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
SUBJECT = ("http://purl.org/dc/elements/1.1/", "subject")
LIGHTROOM_TREE = ("http://ns.adobe.com/lightroom/1.0/", "hierarchicalSubject")
DIGIKAM_TREE = ("http://www.digikam.org/ns/1.0/", "TagsList")
_ENDINGS = (".xmp", ".XMP")
_LISTS = {" ".join(name): name for name in (SUBJECT, LIGHTROOM_TREE, DIGIKAM_TREE)}


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

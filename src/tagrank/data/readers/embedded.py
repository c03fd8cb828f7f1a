"""Keywords inside picture files: XMP ``dc:subject``, or the older IPTC record where there is none."""

import os
from collections.abc import Iterator
from typing import Any

from PIL import Image

from tagrank.data.pictures.files import open_picture
from tagrank.data.readers.xmp import MAX_XMP_BYTES, Keywords, existing_sidecars, parse_keywords, read_sidecar
from tagrank.files import FileError

_IPTC_IN_PHOTOSHOP = 0x0404
_IPTC_IN_TIFF = 33723
_MARKER = 0x1C
_CHARSET, _KEYWORD = (1, 90), (2, 25)
_UTF8 = b"\x1b%G"


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

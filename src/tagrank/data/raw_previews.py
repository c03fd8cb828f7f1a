"""The JPEG that a camera put into its raw file, which is what cameras and photo programs show at first.

Nothing of the sensor's data is decoded. Most raw files are TIFF-like: their directories say where JPEGs lie,
how the camera was held, and what is known of the picture. If they name no large one, JPEGs are looked for in
the bytes. What a file says is bounded: the number of directories, the size of values, the bytes that are
searched; a file cannot lead the reader in circles.
"""

import struct
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO, NamedTuple

RAW_SUFFIXES = frozenset(
    f".{ending}"
    for ending in (
        *("3fr", "arw", "cr2", "cr3", "crw", "dng", "erf", "gpr", "iiq", "kdc", "mrw", "nef", "nrw", "orf"),
        *("pef", "raf", "rw2", "rwl", "srw", "x3f"),
    )
)
_MAX_DIRECTORIES, _MAX_ENTRIES, _MAX_VALUE = 64, 1024, 2**23
_MAX_SEARCHED, _MAX_FOUND, _MAX_SEGMENTS, _BLOCK = 2**27, 256, 64, 2**20
_MAX_JPEG, _ENOUGH = 2**26, 640 * 480
# TIFF; Panasonic; Olympus
_MARKS = (42, 0x55, 0x4F52, 0x5352)
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 7: 1, 13: 4}
_COMPRESSION, _STRIP, _STRIP_BYTES, _SUB, _JPEG, _JPEG_BYTES = 0x103, 0x111, 0x117, 0x14A, 0x201, 0x202
_PANASONIC_JPEG, _ORIENTATION, _XMP, _IPTC, _EXIF, _TAKEN = 0x2E, 0x112, 0x2BC, 0x83BB, 0x8769, 0x9003
_SOI = b"\xff\xd8\xff"
# frames that are decoded: baseline, extended, progressive; the sensor's data are often lossless JPEG
_FRAMES, _ALL_FRAMES = (0xC0, 0xC1, 0xC2), frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


class _Content:
    """The bytes of an open file by their place; beyond its end there are none."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.size = stream.seek(0, 2)

    def read(self, start: int, size: int) -> bytes:
        """At most `size` bytes from `start` on."""
        self._stream.seek(start)
        return self._stream.read(size)

    def unpack(self, layout: str, start: int) -> tuple[int, ...]:
        """Whole numbers; a ValueError beyond the end."""
        content = self.read(start, struct.calcsize(layout))
        if len(content) < struct.calcsize(layout):
            raise ValueError("the file is cut off")
        return struct.unpack(layout, content)

    def find_all(self, word: bytes, end: int) -> Iterator[int]:
        """Where `word` begins before `end`."""
        for start in range(0, min(self.size, end), _BLOCK):
            block = self.read(start, _BLOCK + len(word) - 1)
            place = block.find(word)
            while place >= 0:
                yield start + place
                place = block.find(word, place + 1)


class RawPreview(NamedTuple):
    """What a raw file shows and says.

    Attributes
    ----------
    jpeg : the largest JPEG inside
    orientation : how the camera was held, 1 to 8 as in Exif
    taken : when, as in 2024:05:01 10:15:30; empty where it is not said
    xmp : the XMP document; may be empty
    iptc : the IPTC record; may be empty
    """

    jpeg: bytes
    orientation: int = 1
    taken: str = ""
    xmp: bytes = b""
    iptc: bytes = b""


def read_preview(stream: BinaryIO) -> RawPreview:
    """The preview of an open raw file, or a ValueError that says what is missing."""
    data = _Content(stream)
    directories = list(islice(_directories(data), _MAX_DIRECTORIES))
    named = [place for one in directories for place in one.previews() if _area(data, place[0])]
    # a thumbnail alone leaves the question whether there is a larger one that no directory names
    is_enough = any(_area(data, start) >= _ENOUGH for start, _ in named)
    places = named if is_enough else [*named, *_found(data)]
    if not places:
        raise ValueError("it holds no JPEG preview; export it as JPEG in a raw converter")
    start, size = max(places, key=lambda place: _area(data, place[0]))
    return _with_notes(data.read(start, min(size, _MAX_JPEG)), directories)


def _with_notes(jpeg: bytes, directories: "list[_Directory]") -> RawPreview:
    preview = RawPreview(jpeg)
    for one in directories[:1]:
        orientation = one.number(_ORIENTATION)
        preview = preview._replace(
            orientation=orientation if 1 <= orientation <= 8 else 1,
            xmp=one.value(_XMP),
            iptc=one.value(_IPTC),
        )
    taken = next((value for one in directories if (value := one.value(_TAKEN))), b"")
    return preview._replace(taken=taken[:19].decode("ascii", "replace"))


class _Directory(NamedTuple):
    """A directory of a TIFF file: for each tag the kind of its values, their number, and where they lie."""

    data: _Content
    order: str
    entries: dict[int, tuple[int, int, int]]

    def value(self, tag: int) -> bytes:
        """The bytes of a value; empty where it is missing, too large or outside the file."""
        kind, count, place = self.entries.get(tag, (0, 0, 0))
        size = _SIZES.get(kind, 0) * count
        content = self.data.read(place, size) if size <= _MAX_VALUE else b""
        return content if len(content) == size else b""

    def numbers(self, tag: int) -> list[int]:
        """The whole numbers of a value, at most as many as there may be directories."""
        letter = {1: "B", 3: "H", 4: "I", 13: "I"}.get(self.entries.get(tag, (0, 0, 0))[0])
        value = self.value(tag)
        if letter is None or not value:
            return []
        n_values = min(len(value) // struct.calcsize(f"{self.order}{letter}"), _MAX_DIRECTORIES)
        return list(struct.unpack_from(f"{self.order}{n_values}{letter}", value))

    def number(self, tag: int) -> int:
        """The first of them, or 0."""
        return next(iter(self.numbers(tag)), 0)

    def previews(self) -> Iterator[tuple[int, int]]:
        """Where its JPEGs lie, and how long they are."""
        yield self.number(_JPEG), self.number(_JPEG_BYTES)
        if self.number(_COMPRESSION) in (6, 7) and len(self.numbers(_STRIP)) == 1:
            yield self.number(_STRIP), self.number(_STRIP_BYTES)
        _, count, place = self.entries.get(_PANASONIC_JPEG, (0, 0, 0))
        yield place, count


def _directories(data: _Content) -> Iterator[_Directory]:
    """The directories of a TIFF-like file, the first one first, each once."""
    order = {b"II": "<", b"MM": ">"}.get(data.read(0, 2))
    if order is None or data.size < 8:
        return
    mark, first = data.unpack(f"{order}HI", 2)
    if mark not in _MARKS:
        return
    waiting, seen = [first], set[int]()
    while waiting:
        place = waiting.pop(0)
        if place in seen or not 8 <= place <= data.size - 2:
            continue
        seen.add(place)
        n_entries = min(data.unpack(f"{order}H", place)[0], _MAX_ENTRIES)
        end = place + 2 + 12 * n_entries
        if end > data.size:
            continue
        content = data.read(place + 2, 12 * n_entries)
        entries = dict(_entry(content, order, place + 2, start) for start in range(0, len(content), 12))
        directory = _Directory(data, order, entries)
        yield directory
        waiting += directory.numbers(_SUB) + directory.numbers(_EXIF)
        if end + 4 <= data.size:
            waiting += data.unpack(f"{order}I", end)


def _entry(content: bytes, order: str, place: int, start: int) -> tuple[int, tuple[int, int, int]]:
    """Tag, kind, number of values, and where they lie: in the entry itself if four bytes hold them."""
    tag, kind, count, offset = struct.unpack_from(f"{order}HHII", content, start)
    is_inside = _SIZES.get(kind, 8) * count <= 4
    return tag, (kind, count, place + start + 8 if is_inside else offset)


def _found(data: _Content) -> Iterator[tuple[int, int]]:
    """Where JPEGs begin that no directory names; each ends with the file at the latest."""
    for place in islice(data.find_all(_SOI, _MAX_SEARCHED), _MAX_FOUND):
        if _area(data, place):
            yield place, data.size - place


def _area(data: _Content, start: int) -> int:
    """Pixels of the JPEG that begins there; 0 if none does, or one that is not for showing."""
    if start <= 0 or data.read(start, len(_SOI)) != _SOI:
        return 0
    place = start + 2
    for _ in range(_MAX_SEGMENTS):
        head = data.read(place, 9)
        if len(head) < 9 or head[0] != 0xFF:
            return 0
        if head[1] in _ALL_FRAMES:
            height, width = struct.unpack(">HH", head[5:9])
            return height * width if head[1] in _FRAMES else 0
        place += 2 + struct.unpack(">H", head[2:4])[0]
    return 0

"""Small pictures for the pages: JPEGs by content, kept in the cache folder within bounds."""

import os
import secrets
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tagrank.data.catalog import data_folders
from tagrank.data.picture_files import read_picture, thumbnail
from tagrank.errors import ArgumentError
from tagrank.files import FileError

SIDES = (256, 512, 1600)
MAX_CACHE_BYTES = 2**31
_DECODERS = 3
# such a picture takes hundreds of megabytes while it is decoded, so one is decoded at a time
_LARGE_PIXELS = 2**24
_END_OF_JPEG = b"\xff\xd9"
_AFTER_PRUNING = 0.8
_PAPER, _INK = 232, 170


class Thumbnails:
    """JPEGs of pictures.

    Parameters
    ----------
    folder : where they are kept; None to draw each anew
    max_bytes : when they take more, those that were drawn first are removed
    """

    def __init__(self, folder: Path | None, *, max_bytes: int = MAX_CACHE_BYTES) -> None:
        self._folder, self._max_bytes = folder, max_bytes
        self._decoders = threading.BoundedSemaphore(_DECODERS)
        self._large = threading.Lock()
        self._bytes: int | None = None  # on disk; not counted yet
        self._pruning = threading.Lock()

    def read(self, path: Path, key: bytes, side: int, *, n_pixels: int = 0) -> tuple[bytes, str]:
        """The JPEG of a picture and a word that changes with its content.

        A picture that cannot be read gives a drawn sheet with a cross, which is not kept.

        Parameters
        ----------
        path, key : the file, and what stands for its content
        side : one of `SIDES`, the longest there may be
        n_pixels : how large the picture is, if known
        """
        if side not in SIDES:
            raise ArgumentError(f"side must be one of {', '.join(map(str, SIDES))}, got {side!r}")
        word = f"{key.hex()}-{side}"
        if kept := self._kept(word):
            return kept, word
        try:
            data = self._draw(path, side, n_pixels)
        except (FileError, OSError):
            return thumbnail(_sheet(side // 4), longest=side), f"{word}-damaged"
        self._keep(word, data)
        return data, word

    def _draw(self, path: Path, side: int, n_pixels: int) -> bytes:
        turn = self._large if n_pixels > _LARGE_PIXELS else self._decoders
        with turn:
            return thumbnail(read_picture(path, max_side=side, min_side=1), longest=side, quality=85)

    def _place(self, word: str) -> Path | None:
        return None if self._folder is None else self._folder / word[:2] / f"{word}.jpg"

    def _kept(self, word: str) -> bytes | None:
        place = self._place(word)
        if place is None:
            return None
        try:
            data = place.read_bytes()
        except OSError:
            return None
        # without a sync a crash may leave a file of which a part was never written
        return data if data.endswith(_END_OF_JPEG) else None

    def _keep(self, word: str, data: bytes) -> None:
        """Write whole or not at all; a full disk only means that it is drawn again."""
        place = self._place(word)
        if place is None:
            return
        temporary = place.with_name(f".{word}.{secrets.token_hex(6)}.part")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(data)
            os.replace(temporary, place)
        except OSError:
            temporary.unlink(missing_ok=True)
            return
        self._bound(len(data))

    def _bound(self, n_new: int) -> None:
        if not self._pruning.acquire(blocking=False):
            return
        try:
            self._bytes = self._count() if self._bytes is None else self._bytes + n_new
            if self._bytes > self._max_bytes:
                self._prune()
        finally:
            self._pruning.release()

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        for path in Path(self._folder or "").glob("??/*.jpg"):
            try:
                about = path.stat()
            except OSError:
                continue
            yield about.st_mtime, about.st_size, path

    def _count(self) -> int:
        return sum(size for _, size, _ in self._files())

    def _prune(self) -> None:
        files = sorted(self._files())
        left = sum(size for _, size, _ in files)
        for _, size, path in files:
            if left <= _AFTER_PRUNING * self._max_bytes:
                break
            path.unlink(missing_ok=True)
            left -= size
        self._bytes = left


def thumbnail_folder(cache: bool | str | os.PathLike) -> Path | None:
    """Where thumbnails are kept for a `cache` as everywhere: the user's folder, another one, or none."""
    if cache is False:
        return None
    base = data_folders()[-1] if cache is True else Path(cache)
    return base / "thumbnails"


def _sheet(side: int) -> np.ndarray:
    """A grey sheet with a cross, uint8 of shape (side, side, 3)."""
    sheet = np.full((side, side, 3), _PAPER, dtype=np.uint8)
    down, across = np.indices((side, side))
    margin, width = side // 4, max(1, side // 32)
    is_inside = (np.minimum(down, across) >= margin) & (np.maximum(down, across) < side - margin)
    is_cross = (np.abs(down - across) <= width) | (np.abs(down + across - side + 1) <= width)
    sheet[is_inside & is_cross] = _INK
    return sheet

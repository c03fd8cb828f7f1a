"""What a picture holds, as a short key: the same content is described once, whatever it is called."""

import hashlib
import os
import stat
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tagrank.annotation.bank.row_store import RowStore
from tagrank.data.picture_files import MAX_FILE_BYTES
from tagrank.progress import Progress

# A file written so recently could change again without a change of its time stamp.
_SETTLED_NS = 2_000_000_000
# files whose content is noted together
_BATCH = 256

PictureLike = str | os.PathLike | np.ndarray


@dataclass(frozen=True)
class KeyedPicture:
    """A picture to describe, with the key of its content.

    Attributes
    ----------
    picture : path, or uint8 array of shape (height, width, 3)
    key : 16 bytes that stand for its content
    state : size and time of the file when its content was looked at; None for an array
    """

    picture: str | np.ndarray
    key: bytes
    state: str | None = None


def identify_pictures(
    pictures: Sequence[PictureLike], store: RowStore, progress: Progress | None = None
) -> list[KeyedPicture | OSError]:
    """Every picture with the key of its content, or the error of looking at it.

    Files that have not changed since the store saw them are not read.
    """
    sources: list[KeyedPicture | OSError] = []
    new_files: list[tuple[bytes, str, bytes]] = []
    for number, picture in enumerate(pictures, 1):
        try:
            sources.append(_identify(picture, store, new_files))
        except OSError as error:
            sources.append(error)
        if len(new_files) >= _BATCH or number == len(pictures):
            store.remember_files(new_files)
            new_files.clear()
        if progress is not None:
            progress(number, len(pictures), "looking at pictures")
    return sources


def file_state(path: str) -> str:
    """Size, time and number of a file in a word; OSError unless it is a plain file of a picture's size."""
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode):
        raise OSError("not a file")
    if found.st_size > MAX_FILE_BYTES:
        # one of nothing but holes takes no room on the disk, and hours to read
        raise OSError(f"a file of {found.st_size:,} bytes; at most {MAX_FILE_BYTES:,} are read")
    return f"{found.st_size}:{found.st_mtime_ns}:{found.st_ino}"


def content_key(picture: PictureLike) -> bytes:
    """16 bytes that stand for the content of a file or an array; OSError unless it is a plain file."""
    if isinstance(picture, np.ndarray):
        digest = hashlib.blake2b(f"{picture.dtype}{picture.shape}".encode(), digest_size=16)
        digest.update(np.ascontiguousarray(picture).tobytes())
        return digest.digest()
    file_state(os.fsdecode(picture))
    with open(picture, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).digest()


def _identify(
    picture: PictureLike, store: RowStore, new_files: list[tuple[bytes, str, bytes]]
) -> KeyedPicture:
    if isinstance(picture, np.ndarray):
        return KeyedPicture(np.ascontiguousarray(picture), content_key(picture))
    path = os.path.abspath(os.fsdecode(picture))
    state = file_state(path)
    name = os.fsencode(path)
    key = store.known_file(name, state)
    if key is None:
        key = content_key(path)
        if os.stat(path).st_mtime_ns < time.time_ns() - _SETTLED_NS:
            new_files.append((name, state, key))
    return KeyedPicture(path, key, state)

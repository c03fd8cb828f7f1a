"""The rows of a whole collection as one array: small ones in memory, large ones mapped from a file."""

import hashlib
import os
import time
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from tagrank.annotation.bank.row_store import SECONDS_A_DAY, RowStore
from tagrank.files import atomic_write

SUBFOLDER = "views"
# below this a file is not worth its place
_SMALL_BYTES = 2**23
# a view that was not asked for in so many days is put together again from its rows if it should be wanted
_KEPT_DAYS = 30
# how files are named, as a pattern
_DIGEST = "[0-9a-f]" * 32


def assemble_view(
    store: RowStore, feature: str, pictures: Sequence[bytes], folder: Path | None
) -> np.ndarray:
    """The rows of pictures, given by content key, one below the other: float32, read-only.

    `feature` is what the store calls the set of features. A large array is put into a file in `folder` for
    the next time; None builds it in memory. Without pictures the shape is (0, 0).
    """
    if not pictures:
        return _frozen(np.empty((0, 0), dtype=np.float32))
    rows = store.rows(feature, pictures)
    first = next(rows)
    shape = (len(pictures), len(first))
    if folder is not None and store.is_on_disk and 4 * shape[0] * shape[1] > _SMALL_BYTES:
        path = folder / f"{_digest(feature, pictures)}.npy"
        mapped = _map_view(path, shape)
        if mapped is not None:
            return mapped
        try:
            _write_view(path, shape, chain([first], rows))
            return np.load(path, mmap_mode="r", allow_pickle=False)
        except OSError as error:
            store.leave_disk(error)
            rows = store.rows(feature, pictures[1:])
    view = np.empty(shape, dtype=np.float32)
    for number, row in enumerate(chain([first], rows)):
        view[number] = row
    return _frozen(view)


def own_files(folder: Path) -> list[Path]:
    """The files that a bank put into a folder, whole or half-written; never a person's own."""
    return [*folder.glob(f"{_DIGEST}.np[yz]"), *folder.glob(f".{_DIGEST}.np[yz].*.part")]


def prune_files(folder: Path, *, days: float = _KEPT_DAYS) -> None:
    """Remove files that were not asked for in so many days, and what killed processes left half-written."""
    for path in own_files(folder):
        age_limit = 1 if path.name.startswith(".") else days
        try:
            if path.stat().st_mtime < time.time() - age_limit * SECONDS_A_DAY:
                path.unlink()
        except OSError:
            # another process was faster, or Windows holds a mapped file; the next one will do
            continue


def _write_view(path: Path, shape: tuple[int, int], rows: Iterable[np.ndarray]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    prune_files(path.parent)
    with atomic_write(path) as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for row in rows:
            file.write(row.tobytes())


def _map_view(path: Path, shape: tuple[int, int]) -> np.ndarray | None:
    """The file of a view if it is there and whole."""
    try:
        view = np.load(path, mmap_mode="r", allow_pickle=False)
        if not isinstance(view, np.memmap) or view.shape != shape or view.dtype != np.dtype("<f4"):
            return None
        if not all(np.isfinite(view[start : start + 1024]).all() for start in range(0, len(view), 1024)):
            return None
        os.utime(path)
    except (OSError, ValueError, EOFError):
        return None
    return view


def _digest(feature: str, pictures: Iterable[bytes]) -> str:
    digest = hashlib.blake2b(feature.encode(), digest_size=16)
    for picture in pictures:
        digest.update(picture)
    return digest.hexdigest()


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array

"""The rows of a whole collection as one array: small ones in memory, large ones mapped from a file.

A collection that grew is copied from the file of the one before, and only what is new is taken out of the
store. So of each set of features the keys of its largest file are kept beside it.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tagrank.annotation.bank.bank_files import prune_files
from tagrank.annotation.bank.row_store import RowStore, StoreDamage
from tagrank.array_files import blocks_of_rows, is_mapped, map_npy, write_npy
from tagrank.files import atomic_write
from tagrank.resources import available_memory, gibibytes

# below this a file is not worth its place
MAPPED_FROM = 2**23
_ROW_TYPE = np.dtype("<f4")
_KEY_BYTES = 16


class ViewPlace(NamedTuple):
    """Where views are kept.

    Attributes
    ----------
    folder : for the files; None builds every view in memory
    mapped_from : bytes from which on a view is mapped from a file
    """

    folder: Path | None = None
    mapped_from: int = MAPPED_FROM


IN_MEMORY = ViewPlace()


def assemble_view(store: RowStore, feature: str, pictures: Sequence[bytes], place: ViewPlace) -> np.ndarray:
    """The rows of pictures, given by content key, one below the other: float32, read-only.

    `feature` is what the store calls the set of features. A large array is put into a file for the next
    time. Without pictures the shape is (0, 0).
    """
    if not pictures:
        return _frozen(np.empty((0, 0), dtype=_ROW_TYPE))
    shape = (len(pictures), len(next(store.rows(feature, pictures))))
    if place.folder is not None and store.is_on_disk and _n_bytes(shape) > place.mapped_from:
        try:
            return _in_file(store, feature, pictures, shape, place.folder)
        except OSError as error:
            store.leave_disk(error)
    return _in_memory(store, feature, pictures, shape)


def mean_view(views: Sequence[np.ndarray], name: str, place: ViewPlace) -> np.ndarray:
    """The mean of views of one shape, float32, read-only; where they are mapped from files it is, too.

    `name` is what makes it another one than all others, such as the digests of what went into it.
    """
    if len(views) == 1:
        return views[0]
    shape = views[0].shape
    if place.folder is not None and all(is_mapped(view) for view in views):
        path = place.folder / f"{hashlib.blake2b(name.encode(), digest_size=16).hexdigest()}.npy"
        with suppress(OSError):
            if map_view(path, shape) is None:
                write_view(path, shape, _means(views))
            return map_npy(path, (shape, _ROW_TYPE))
    mean = np.empty(shape, dtype=_ROW_TYPE)
    _fill(mean, _means(views))
    return _frozen(mean)


def write_view(path: Path, shape: tuple[int, int], parts: Iterable[np.ndarray]) -> None:
    """Write a view from blocks of its rows, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    prune_files(path.parent)
    with atomic_write(path) as file:
        write_npy(file, shape, _ROW_TYPE, parts)


def map_view(path: Path, shape: tuple[int, int]) -> np.ndarray | None:
    """The file of a view if it is there and whole."""
    try:
        view = map_npy(path, (shape, _ROW_TYPE))
        if not all(np.isfinite(block).all() for block in blocks_of_rows(view)):
            return None
        os.utime(path)
    except (OSError, ValueError):
        return None
    return view


def _n_bytes(shape: tuple[int, int]) -> int:
    return _ROW_TYPE.itemsize * shape[0] * shape[1]


def _in_file(
    store: RowStore, feature: str, pictures: Sequence[bytes], shape: tuple[int, int], folder: Path
) -> np.ndarray:
    path = folder / f"{_digest(feature, pictures)}.npy"
    if (mapped := map_view(path, shape)) is not None:
        return mapped
    base = _Base.of(folder, feature, shape[1])
    try:
        write_view(path, shape, _parts(store, feature, pictures, base))
    except StoreDamage:
        # perhaps it is the older file whose rows have another length
        _keys_path(folder, feature).unlink(missing_ok=True)
        raise
    if base is None or shape[0] >= len(base.view):
        _keep_base(folder, feature, pictures, base)
    return map_npy(path, (shape, _ROW_TYPE))


def _in_memory(
    store: RowStore, feature: str, pictures: Sequence[bytes], shape: tuple[int, int]
) -> np.ndarray:
    needed, free = _n_bytes(shape), available_memory()
    if needed > free:
        raise MemoryError(
            f"the rows of {shape[0]:,} pictures take {gibibytes(needed)} of memory and {gibibytes(free)} are "
            "free; make room in the cache folder, or name another one (TAGRANK_CACHE), so that they can be "
            "mapped from a file"
        )
    view = np.empty(shape, dtype=_ROW_TYPE)
    _fill(view, (row[None] for row in store.rows(feature, pictures, n_columns=shape[1])))
    return _frozen(view)


def _fill(array: np.ndarray, parts: Iterable[np.ndarray]) -> None:
    start = 0
    for part in parts:
        array[start : start + len(part)] = part
        start += len(part)


def _means(views: Sequence[np.ndarray]) -> Iterator[np.ndarray]:
    for blocks in zip(*map(blocks_of_rows, views), strict=True):
        mean = blocks[0] / np.float32(len(blocks))
        for block in blocks[1:]:
            mean += block / np.float32(len(blocks))
        yield mean


# the file of which a larger one is made


@dataclass(frozen=True)
class _Base:
    """A view in a file, and the keys of its rows as two numbers each, shape (n, 2)."""

    view: np.ndarray
    keys: np.ndarray
    path: Path

    @classmethod
    def of(cls, folder: Path, feature: str, n_columns: int) -> "_Base | None":
        """The one of a set of features, if there is one and it is whole."""
        try:
            data = _keys_path(folder, feature).read_bytes()
        except OSError:
            return None
        n_rows, rest = divmod(len(data), _KEY_BYTES)
        if rest or not n_rows:
            return None
        # keys that are damaged name no file that is there
        path = folder / f"{_digest_of(feature, data)}.npy"
        view = map_view(path, (n_rows, n_columns))
        return None if view is None else cls(view, _as_numbers(data), path)

    def places(self, keys: np.ndarray) -> np.ndarray:
        """In which row each picture is, -1 for those that are in none."""
        order = np.argsort(self.keys[:, 0], kind="stable")
        at = np.minimum(np.searchsorted(self.keys[order, 0], keys[:, 0]), len(order) - 1)
        places = order[at]
        return np.where((self.keys[places] == keys).all(axis=1), places, -1)


def _parts(
    store: RowStore, feature: str, pictures: Sequence[bytes], base: _Base | None
) -> Iterator[np.ndarray]:
    """All rows in blocks: what the older file has is copied, runs of rows at once, the rest is looked up."""
    if base is None:
        yield from store.rows(feature, pictures)
        return
    places = base.places(_as_numbers(b"".join(pictures)))
    # a run goes on while rows follow each other, or while none is known
    steps = np.diff(places)
    is_same_run = np.where(places[1:] < 0, places[:-1] < 0, (steps == 1) & (places[:-1] >= 0))
    ends = [*(np.flatnonzero(~is_same_run) + 1).tolist(), len(places)]
    start = 0
    for end in ends:
        if (first := int(places[start])) >= 0:
            yield from blocks_of_rows(base.view[first : first + end - start])
        else:
            yield from store.rows(feature, pictures[start:end], n_columns=base.view.shape[1])
        start = end


def _keep_base(folder: Path, feature: str, pictures: Sequence[bytes], before: _Base | None) -> None:
    """Note that the file of these pictures is the largest; the one before goes where it says nothing more."""
    keys = b"".join(pictures)
    # a full disk makes the next view dearer, and Windows holds mapped files, which go when they are old
    with suppress(OSError):
        with atomic_write(_keys_path(folder, feature)) as file:
            file.write(keys)
        if before is not None and np.isin(before.keys[:, 0], _as_numbers(keys)[:, 0]).all():
            before.path.unlink()


def _keys_path(folder: Path, feature: str) -> Path:
    return folder / f"{_digest_of(feature, b'')}.keys"


def _as_numbers(keys: bytes) -> np.ndarray:
    return np.frombuffer(keys, dtype="<u8").reshape(-1, 2)


def _digest(feature: str, pictures: Iterable[bytes]) -> str:
    return _digest_of(feature, b"".join(pictures))


def _digest_of(feature: str, keys: bytes) -> str:
    return hashlib.blake2b(feature.encode() + keys, digest_size=16).hexdigest()


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array

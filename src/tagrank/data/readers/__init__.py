"""One file a format, and the two functions that choose by the file's name."""

import os
from collections.abc import Callable
from typing import Any

from tagrank.data.collection import Collection
from tagrank.data.readers.arff import read_arff, write_arff
from tagrank.data.readers.csv import read_csv, write_csv
from tagrank.data.readers.frame import from_frame, to_frame
from tagrank.data.readers.libsvm import read_libsvm, write_libsvm
from tagrank.data.readers.npz import read_npz, write_npz

__all__ = [
    "from_frame",
    "read_arff",
    "read_collection",
    "read_csv",
    "read_libsvm",
    "read_npz",
    "to_frame",
    "write_arff",
    "write_collection",
    "write_csv",
    "write_libsvm",
    "write_npz",
]

_FORMATS: dict[str, tuple[Callable[..., Collection], Callable[..., None]]] = {
    ".arff": (read_arff, write_arff),
    ".csv": (read_csv, write_csv),
    ".libsvm": (read_libsvm, write_libsvm),
    ".svm": (read_libsvm, write_libsvm),
    ".npz": (read_npz, write_npz),
}


def read_collection(path: str | os.PathLike, **options: Any) -> Collection:
    """Read a collection from ``.arff``, ``.csv``, ``.libsvm``, ``.svm`` (each also with ``.gz``) or ``.npz``.

    The options are those of the reader of that format.
    """
    return _format(path)[0](path, **options)


def write_collection(collection: Collection, path: str | os.PathLike, **options: Any) -> None:
    """Write a collection in the format that the path's ending names; see `read_collection`."""
    _format(path)[1](collection, path, **options)


def _format(path: str | os.PathLike) -> tuple[Callable[..., Collection], Callable[..., None]]:
    ending = os.path.splitext(os.fspath(path).removesuffix(".gz"))[1].casefold()
    if ending not in _FORMATS:
        raise ValueError(f"{os.fspath(path)}: unknown format {ending!r}; known are {', '.join(_FORMATS)}")
    return _FORMATS[ending]

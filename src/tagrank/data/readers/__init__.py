"""One file a format, and the two functions that choose by the file's name."""

import os
from collections.abc import Callable
from typing import Any

from tagrank.data.collection import Collection
from tagrank.data.readers.arff.arff import read_arff, write_arff
from tagrank.data.readers.folders.coco import is_coco_file, read_coco_file
from tagrank.data.readers.folders.folder import read_pictures
from tagrank.data.readers.tables.csv import read_csv
from tagrank.data.readers.tables.csv_writer import write_csv
from tagrank.data.readers.tables.frame import from_frame, to_frame
from tagrank.data.readers.tables.jsonl import read_jsonl, write_jsonl
from tagrank.data.readers.tables.libsvm import read_libsvm, write_libsvm
from tagrank.data.readers.tables.npz import read_npz, write_npz
from tagrank.data.readers.xmp import read_keywords, read_sidecar

__all__ = [
    "from_frame",
    "read_arff",
    "read_coco_file",
    "read_collection",
    "read_csv",
    "read_jsonl",
    "read_keywords",
    "read_libsvm",
    "read_npz",
    "read_pictures",
    "read_sidecar",
    "to_frame",
    "write_arff",
    "write_collection",
    "write_csv",
    "write_jsonl",
    "write_libsvm",
    "write_npz",
]


def _read_json(path: str | os.PathLike, **options: Any) -> Collection:
    """COCO annotations, or a list of pictures with their tags."""
    return (read_coco_file if is_coco_file(path) else read_jsonl)(path, **options)


READERS: dict[str, Callable[..., Collection]] = {
    ".arff": read_arff,
    ".csv": read_csv,
    ".json": _read_json,
    ".jsonl": read_jsonl,
    ".libsvm": read_libsvm,
    ".svm": read_libsvm,
    ".npz": read_npz,
}
WRITERS: dict[str, Callable[..., None]] = {
    ".arff": write_arff,
    ".csv": write_csv,
    ".jsonl": write_jsonl,
    ".libsvm": write_libsvm,
    ".svm": write_libsvm,
    ".npz": write_npz,
}


def read_collection(path: str | os.PathLike, **options: Any) -> Collection:
    """Read a collection from a file or from a folder of pictures.

    Files are ``.arff``, ``.csv``, ``.jsonl``, ``.json`` (COCO, or a list), ``.libsvm``, ``.svm`` (each also
    with ``.gz``) or ``.npz``; a folder is read by `read_pictures`. The options are those of the reader.
    """
    if os.path.isdir(path):
        return read_pictures(path, **options)
    return READERS[_ending(path, tuple(READERS))](path, **options)


def write_collection(collection: Collection, path: str | os.PathLike, **options: Any) -> None:
    """Write a collection in the format that the path's ending names; see `read_collection`."""
    WRITERS[_ending(path, tuple(WRITERS))](collection, path, **options)


def _ending(path: str | os.PathLike, known: tuple[str, ...]) -> str:
    ending = os.path.splitext(os.fspath(path).removesuffix(".gz"))[1].casefold()
    if ending not in known:
        raise ValueError(f"{os.fspath(path)}: unknown format {ending!r}; known are {', '.join(known)}")
    return ending

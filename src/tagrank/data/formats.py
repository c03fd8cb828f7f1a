"""The formats of files with data. An entry of `FORMATS`, and the module that it names, are a whole format.

`read_collection` and `write_collection` choose the entry by the ending of a file. Nothing is imported before
a file is read or written.
"""

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple


class Format(NamedTuple):
    """A format of files with data.

    Attributes
    ----------
    endings : of such files, the usual one first
    module : the module that knows it
    read : the function of it that takes a path and options, and gives a `Collection`
    write : the function of it that takes a `Collection` and a path; "" where files are only read
    """

    endings: tuple[str, ...]
    module: str
    read: str
    write: str = ""


_READERS = "tagrank.data.readers"
FORMATS = [
    Format((".csv",), f"{_READERS}.csv", "read_csv", "write_csv"),
    Format((".jsonl",), f"{_READERS}.jsonl", "read_jsonl", "write_jsonl"),
    # COCO annotations, or a list of pictures with their tags
    Format((".json",), f"{_READERS}.folders.coco", "read_json"),
    Format((".arff",), f"{_READERS}.arff", "read_arff", "write_arff"),
    Format((".libsvm", ".svm"), f"{_READERS}.libsvm", "read_libsvm", "write_libsvm"),
    Format((".npz",), f"{_READERS}.npz", "read_npz", "write_npz"),
    # rows that stay on disk, and the rest of the collection in the .npz beside them
    Format((".npy",), f"{_READERS}.npz", "read_mapped", "write_mapped"),
]


def readable_endings() -> list[str]:
    """All endings of files that can be read."""
    return [ending for one in FORMATS for ending in one.endings]


def writable_endings() -> list[str]:
    """All endings of files that can be written."""
    return [ending for one in FORMATS if one.write for ending in one.endings]


def reader_of(path: str | os.PathLike) -> Callable[..., Any]:
    """The function that reads a file, by its ending, perhaps before ``.gz``."""
    return _by_ending(path, readable_endings(), "read")


def writer_of(path: str | os.PathLike) -> Callable[..., None]:
    """The function that writes a file, by its ending, perhaps before ``.gz``."""
    return _by_ending(path, writable_endings(), "write")


def _by_ending(path: str | os.PathLike, known: list[str], verb: str) -> Callable[..., Any]:
    ending = os.path.splitext(os.fspath(path).removesuffix(".gz"))[1].casefold()
    if ending not in known:
        raise ValueError(f"{os.fspath(path)}: unknown format {ending!r}; known are {', '.join(known)}")
    entry = next(one for one in FORMATS if ending in one.endings)
    return getattr(import_module(entry.module), getattr(entry, verb))

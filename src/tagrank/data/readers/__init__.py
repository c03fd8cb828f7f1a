"""One file a format; `tagrank.formats` lists them. A folder of pictures is read by its layout."""

import os
from typing import Any

from tagrank.data.collection import Collection
from tagrank.data.readers.folders.folder import read_pictures
from tagrank.data.readers.frame import from_frame, to_frame
from tagrank.data.readers.xmp import read_keywords, read_sidecar
from tagrank.formats import reader_of, writer_of

__all__ = [
    "from_frame",
    "read_collection",
    "read_keywords",
    "read_pictures",
    "read_sidecar",
    "to_frame",
    "write_collection",
]


def read_collection(path: str | os.PathLike, **options: Any) -> Collection:
    """Read a collection from a file or from a folder of pictures.

    A file is read by its ending, such as ``.csv``, ``.jsonl`` or ``.arff`` (each also with ``.gz``): those of
    `tagrank.formats.FORMATS`. A folder is read by `read_pictures`. The options are those of the reader.

    Parameters
    ----------
    path : a file, or a folder of pictures
    options : what the reader of this format takes
    """
    if os.path.isdir(path):
        return read_pictures(path, **options)
    return reader_of(path)(path, **options)


def write_collection(collection: Collection, path: str | os.PathLike, **options: Any) -> None:
    """Write a collection in the format that the path's ending names; see `read_collection`.

    Parameters
    ----------
    collection : what to write
    path : the file; its ending names the format
    options : what the writer of this format takes
    """
    writer_of(path)(collection, path, **options)

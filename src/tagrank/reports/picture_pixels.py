"""Pictures on their way onto a page: found again by their names, and read small."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tagrank.annotation import Annotator
from tagrank.annotation.describing import PICTURES
from tagrank.data import Collection
from tagrank.data.pictures.files import read_picture
from tagrank.files import FileError

PICTURE_FOLDER = "picture folder"  # where a model remembers in which folder its training pictures were
_THUMBNAIL_SIDE = 512


def common_folder(rows: Collection) -> str | None:
    """The folder from which the names of the pictures count; None if they are no files."""
    pictures = rows.views.get(PICTURES)
    if rows.names is None or not isinstance(pictures, list) or not isinstance(pictures[0], str):
        return None
    folder = os.path.abspath(pictures[0]).removesuffix(os.path.normpath(rows.names[0]))
    return folder if os.path.isdir(folder) else None


def picture_finder(annotator: Annotator, rows: Collection | None = None) -> Callable[[str], Any]:
    """A function from the name of a training picture to its pixels, or None where it is not to be found.

    Parameters
    ----------
    annotator : the model, which may remember the folder of its pictures
    rows : a collection that may hold them
    """
    known = dict(zip(rows.names or (), rows.view(PICTURES), strict=False)) if rows is not None else {}
    folder = annotator.metadata.get(PICTURE_FOLDER)

    def find(name: str) -> np.ndarray | None:
        picture = known.get(name)
        is_below = not os.path.isabs(name) and ".." not in Path(name).parts
        if picture is None and isinstance(folder, str) and is_below:
            picture = os.path.join(folder, name)
        return load_pixels(picture)

    return find


def load_pixels(picture: Any) -> np.ndarray | None:
    """The pixels of an array or a file; None where there are none, or where they cannot be read."""
    if not isinstance(picture, str | Path):
        return picture
    try:
        return read_picture(picture, max_side=_THUMBNAIL_SIDE)
    except FileError:
        return None


def picture_pixels(rows: Collection, i: int) -> np.ndarray | None:
    """The pixels of row `i`; None if it is no picture, or cannot be read."""
    return load_pixels(rows.view(PICTURES)[i]) if PICTURES in rows.views else None


def one_row(rows: Collection, i: int) -> Collection:
    """Row `i` of every matrix, as matrices of one row; their columns keep their names."""
    views = {name: view[[i]] for name, view in rows.views.items() if getattr(view, "ndim", 0) == 2}
    return Collection(views, feature_names=rows.feature_names)

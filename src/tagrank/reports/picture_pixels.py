"""Pixels of the pictures on a page; training pictures are found again by name and content."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from tagrank.annotation import Annotator
from tagrank.annotation.bank.row_store import content_key
from tagrank.annotation.describing import PICTURES
from tagrank.data import Collection
from tagrank.data.picture_files import PICTURE_SUFFIXES, read_picture
from tagrank.files import FileError

# where a model remembers in which folder its training pictures were, and what their content was
PICTURE_FOLDER, PICTURE_KEYS = "picture folder", "picture keys"
_THUMBNAIL_SIDE = 512


def remember_pictures(rows: Collection, keys: Sequence[bytes]) -> dict[str, Any]:
    """What a model notes about its training pictures, so that `picture_finder` finds them again."""
    names = rows.names or ()
    return {
        PICTURE_FOLDER: _common_folder(rows),
        PICTURE_KEYS: {name: key.hex() for name, key in zip(names, keys, strict=False)},
    }


def was_trained_on(annotator: Annotator, keys: Sequence[bytes]) -> np.ndarray:
    """Which pictures, by the keys of their content, the model was trained on, shape (n_keys,)."""
    known = annotator.metadata.get(PICTURE_KEYS)
    trained = set(map(str, known.values())) if isinstance(known, dict) else set()
    return np.array([key.hex() in trained for key in keys], dtype=bool)


def _common_folder(rows: Collection) -> str | None:
    """The folder from which the names of the pictures count; None if they are no files."""
    pictures = rows.views.get(PICTURES)
    if not rows.names or not isinstance(pictures, list) or not isinstance(pictures[0], str):
        return None
    folder = os.path.abspath(pictures[0]).removesuffix(os.path.normpath(rows.names[0]))
    return folder if os.path.isdir(folder) else None


def picture_finder(
    annotator: Annotator, rows: Collection | None = None, folder: str | os.PathLike | None = None
) -> Callable[[str], np.ndarray | None]:
    """A function from the name of a training picture to its pixels, or None where it is not to be found.

    A model from elsewhere may name any folder and any file in it, and a page may be passed on. So a picture
    is taken from there only if its content is what the model was trained on: who knows that has the picture
    already. Of a model without such notes pictures are taken only from what the user named, `rows` or
    `folder`.
    """
    keys, remembered = (annotator.metadata.get(word) for word in (PICTURE_KEYS, PICTURE_FOLDER))
    named = [] if folder is None else [os.fspath(folder)]
    local = [remembered] if _is_local(remembered) else []
    in_rows: dict[str, Any] = {}
    if rows is not None and (keys or _common_folder(rows) == remembered):
        in_rows = dict(zip(rows.names or (), rows.views.get(PICTURES, ()), strict=False))

    def find(name: str) -> np.ndarray | None:
        key = keys.get(name) if isinstance(keys, dict) else None
        places = [in_rows[name]] if name in in_rows else []
        if _is_below(name):
            folders = named + (local if key is not None else [])
            places += [os.path.join(folder, name) for folder in folders]
        known = (load_pixels(place) for place in places if key is None or _has_content(place, key))
        return next((pixels for pixels in known if pixels is not None), None)

    return find


def _is_below(name: str) -> bool:
    """Whether a model calls a picture so that it lies below a folder."""
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts and path.suffix.casefold() in PICTURE_SUFFIXES


def _is_local(folder: Any) -> TypeGuard[str]:
    """Whether it is a folder of this machine: to ask another one for it would tell that one who asks."""
    return isinstance(folder, str) and not folder.startswith(("//", "\\\\"))


def _has_content(picture: Any, key: str) -> bool:
    try:
        return content_key(picture).hex() == key
    except (OSError, ValueError):
        return False


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

"""What a command is handed: data by file or by name, and the part and the tags of it that are meant."""

import os
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tagrank.data import Collection, load_dataset, read_collection
from tagrank.data.pictures import draw_pictures
from tagrank.labels import labels_from_states

DRAWN_PICTURES = "drawn-pictures"
PICTURE_ENDINGS = {".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"}
EVERYTHING = "all"


def open_collection(data: Collection | str | os.PathLike) -> Collection:
    """A collection as it is, from a file, or by name.

    Parameters
    ----------
    data : a Collection; the path of a file that `tagrank.data.read_collection` reads, or of a single picture;
        a name from `tagrank.data.list_datasets`; or "drawn-pictures", which needs no file at all
    """
    if isinstance(data, Collection):
        return data
    path = Path(data)
    if path.suffix.casefold() in PICTURE_ENDINGS:
        return Collection(views={"pictures": [str(path)]}, names=[path.name], name=path.name)
    if path.exists() or path.suffix:
        return read_collection(path)
    return draw_pictures() if os.fspath(data) == DRAWN_PICTURES else load_dataset(os.fspath(data))


def choose_part(collection: Collection, part: str | None, *, usual: str) -> Collection:
    """The rows of one part.

    Parameters
    ----------
    collection : Collection
    part : a word of `collection.part`; "all" for every row; None for the usual part where there is one, and
        every row where there are no parts
    usual : what None means
    """
    words = [] if collection.part is None else sorted(set(collection.part.tolist()))
    if part is None:
        part = usual if usual in words else EVERYTHING
    if part == EVERYTHING:
        return collection
    if part not in words:
        choices = ", ".join([*words, EVERYTHING])
        raise ValueError(f"no part {part!r} in {collection.name or 'the data'}; choose among {choices}")
    return collection.subset(collection.part == part)


def has_pictures(collection: Collection) -> bool:
    """Whether the collection holds nothing but pictures, which must become features first."""
    return not any(getattr(view, "ndim", 0) == 2 for view in collection.views.values())


def align_tags(collection: Collection, tags: Sequence[str]) -> Collection:
    """The collection with the label columns of a model, in its order.

    A tag that the collection lacks is absent, as everywhere in a row whose tags are known, and unknown in a
    row about which nothing is known. Tags that only the collection has are left out. Both are warned about.
    """
    if list(collection.tags) == list(tags):
        return collection
    column = {tag: j for j, tag in enumerate(collection.tags)}
    shared = [tag for tag in tags if tag in column]
    if not shared:
        raise ValueError(
            f"the model and {collection.name or 'the data'} share no tag; the model knows "
            f"{', '.join(tags[:3])} ..., the data {', '.join(collection.tags[:3]) or 'none'} ..."
        )
    _warn_differences(len(tags) - len(shared), len(column) - len(shared))
    states = collection.states()
    is_known = np.any(states != 0, axis=1)
    aligned = np.repeat(np.where(is_known, np.int8(-1), np.int8(0))[:, None], len(tags), axis=1)
    for j, tag in enumerate(tags):
        if tag in column:
            aligned[:, j] = states[:, column[tag]]
    return collection.with_labels(labels_from_states(aligned), list(tags))


def _warn_differences(n_missing: int, n_extra: int) -> None:
    if n_missing:
        warnings.warn(f"tags of the model that the data lacks, taken for absent: {n_missing}", stacklevel=3)
    if n_extra:
        warnings.warn(f"tags of the data that the model does not know, left out: {n_extra}", stacklevel=3)

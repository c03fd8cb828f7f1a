"""A folder of pictures as a collection, whatever way its tags are stored."""

import inspect
import os
from collections.abc import Callable
from typing import Any, NamedTuple

from tagrank.data.collection import Collection
from tagrank.data.pictures.folder import PictureFolder
from tagrank.data.problems import ProblemLog
from tagrank.data.readers.folders.coco import has_coco, read_coco
from tagrank.data.readers.folders.corel import is_corel, read_corel
from tagrank.data.readers.folders.keywords import has_keywords, read_keyword_folder
from tagrank.data.readers.folders.tag_folders import is_tag_folders, read_tag_folders
from tagrank.data.readers.folders.tag_list import has_tag_list, read_tag_list
from tagrank.data.readers.folders.tag_table import TagTable
from tagrank.data.readers.folders.voc import is_voc, read_voc
from tagrank.validation import check_choice


class Layout(NamedTuple):
    """A way in which folders store tags: whether a folder looks like it, and how to read it then."""

    fits: Callable[[PictureFolder], bool]
    read: Callable[..., Collection]


def _read_untagged(folder: PictureFolder) -> Collection:
    table = TagTable(folder)
    table.add_unlisted()
    return table.collection()


# The first that fits is taken; the last always does.
LAYOUTS = {
    "tag_list": Layout(has_tag_list, read_tag_list),
    "corel5k": Layout(is_corel, read_corel),
    "voc": Layout(is_voc, read_voc),
    "coco": Layout(has_coco, read_coco),
    "keywords": Layout(has_keywords, read_keyword_folder),
    "tag_folders": Layout(is_tag_folders, read_tag_folders),
    "untagged": Layout(lambda folder: True, _read_untagged),
}


def read_pictures(
    folder: str | os.PathLike, *, layout: str | None = None, strict: bool = False, **options: Any
) -> Collection:
    """Read a folder of pictures, some of which are tagged.

    Parameters
    ----------
    folder : searched with all its sub-folders, except hidden ones
    layout : {"tag_list", "corel5k", "voc", "coco", "keywords", "tag_folders", "untagged"}, how the tags are
        stored; default: the first of these that the folder looks like
    strict : raise a FileError for the first file that is missing or damaged, instead of listing it
    **options : of that layout: `empty` ("tag_list", "coco", "voc"), `words` ("corel5k"), `hierarchical`
        ("keywords"), `max_bytes` (all that have lists)

    Returns
    -------
    collection : with the view "pictures" (paths), names relative to the folder, and `problems`. In a tagged
        picture a tag that is not listed is absent; an untagged picture is unknown throughout. The pictures
        themselves are not decoded.
    """
    files = PictureFolder(folder, ProblemLog(strict=strict))
    if layout is None:
        layout = next(name for name, candidate in LAYOUTS.items() if candidate.fits(files))
    read = LAYOUTS[check_choice("layout", layout, tuple(LAYOUTS))].read
    if foreign := sorted(options.keys() - inspect.signature(read).parameters.keys()):
        raise ValueError(f"the layout {layout!r} of {os.fspath(folder)} has no option {', '.join(foreign)}")
    return read(files, **options).replaced(layout=layout)

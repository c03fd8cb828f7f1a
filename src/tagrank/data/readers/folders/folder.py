"""A folder of pictures as a collection, whatever way its tags are stored."""

import inspect
import os
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from tagrank.data.collection import Collection
from tagrank.data.picture_folder import PictureFolder
from tagrank.data.readers.folders.coco import has_coco, read_coco
from tagrank.data.readers.folders.corel import is_corel, read_corel
from tagrank.data.readers.folders.keywords import (
    SidecarTags,
    folder_sidecars,
    has_keywords,
    read_keyword_folder,
)
from tagrank.data.readers.folders.tag_folders import is_tag_folders, read_tag_folders
from tagrank.data.readers.folders.tag_list import has_tag_list, read_tag_list
from tagrank.data.readers.folders.voc import is_voc, read_voc
from tagrank.data.readers.keyword_memory import KeywordMemory
from tagrank.data.readers.marks import Marks, TagTable, marks_of
from tagrank.files import ProblemLog
from tagrank.validation import check_choice


class Layout(NamedTuple):
    """A way in which folders store tags: whether a folder looks like it, and how to read it then."""

    fits: Callable[[PictureFolder], bool]
    read: Callable[..., Collection]


def _read_untagged(folder: PictureFolder) -> Collection:
    table = TagTable(folder)
    table.add_unlisted()
    return table.collection()


_KEYWORDS, _UNTAGGED = "keywords", "untagged"
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
    folder: str | os.PathLike,
    *,
    layout: str | None = None,
    strict: bool = False,
    machine_tags: bool = False,
    join_sidecars: bool = True,
    follow_links: bool = False,
    only_inside: bool = False,
    keywords: KeywordMemory | None = None,
    **options: Any,
) -> Collection:
    """Read a folder of pictures, some of which are tagged.

    Parameters
    ----------
    folder : searched with all its sub-folders, except hidden ones
    layout : {"tag_list", "corel5k", "voc", "coco", "keywords", "tag_folders", "untagged"}, how the tags are
        stored; default: the first of these that the folder looks like
    strict : raise a FileError for the first file that is missing or damaged, instead of listing it
    machine_tags : use the tags that `annotate` wrote into sidecars; by default they are ignored
    join_sidecars : add the keywords of XMP sidecars to the tags of another layout, such as those in tags.csv
    follow_links, only_inside : follow links to folders; follow no link that leads out of the folder
    keywords : what is known of the keywords of files that did not change; by default every file is opened
    **options : of that layout: `separator` ("tag_list"), `empty` ("tag_list", "coco", "voc"), `words`
        ("corel5k"), `hierarchical` ("keywords"), `max_bytes` (all that have lists)

    Returns
    -------
    collection : with the view "pictures" (paths), names relative to the folder, and `problems`. In a tagged
        picture a tag that is not listed is absent; an untagged picture is unknown throughout. The pictures
        themselves are not decoded.
    """
    files = PictureFolder(
        folder,
        ProblemLog(strict=strict),
        follow_links=follow_links,
        only_inside=only_inside,
        keywords=keywords,
    )
    layout = _fitting_layout(files, machine_tags) if layout is None else layout
    read = LAYOUTS[check_choice("layout", layout, tuple(LAYOUTS))].read
    if foreign := sorted(options.keys() - inspect.signature(read).parameters.keys()):
        raise ValueError(f"the layout {layout!r} of {os.fspath(folder)} has no option {', '.join(foreign)}")
    if layout == _KEYWORDS:
        return read(files, machine_tags=machine_tags, **options).replaced(layout=layout)
    collection = read(files, **options).replaced(layout=layout)
    if join_sidecars and layout != _UNTAGGED and folder_sidecars(files):
        return _with_sidecars(collection, files, machine_tags)
    return collection


def _fitting_layout(files: PictureFolder, machine_tags: bool) -> str:
    checks = {name: candidate.fits for name, candidate in LAYOUTS.items()}
    checks[_KEYWORDS] = partial(has_keywords, machine_tags=machine_tags)
    layout = next(name for name, fits in checks.items() if fits(files))
    # of sidecars with machine-written keywords only there is something to say, where nothing else has tags
    return _KEYWORDS if layout == _UNTAGGED and folder_sidecars(files) else layout


def _with_sidecars(collection: Collection, files: PictureFolder, machine_tags: bool) -> Collection:
    """The collection with the keywords of the sidecars beside its pictures."""
    sidecars, table = SidecarTags(files, machine_tags=machine_tags), TagTable(files)
    parts = [""] * len(collection) if collection.part is None else collection.part.tolist()
    for name, marks, part in zip(collection.names or (), marks_of(collection), parts, strict=True):
        table.add(name, _with_tags(marks, sidecars.tags(name)), part=part)
    sidecars.warn_left_out()
    # categories that occur in no picture stay columns
    tags = list(dict.fromkeys((*collection.tags, *table.collection().tags)))
    return table.collection(tags=tags).replaced(layout=collection.layout, trees=sidecars.trees)


def _with_tags(marks: Marks, tags: list[str]) -> Marks:
    """The marks with tags that are present, too; what is unknown otherwise stays so.

    Beside places|rome in the list, rome in a sidecar is the same tag.
    """
    tags = [tag for tag in tags if not any(listed.endswith(f"|{tag}") for listed in marks.present)]
    present = tuple(dict.fromkeys((*marks.present, *tags)))
    if marks.unknown is None:
        return Marks(present, frozenset()) if tags else marks
    return Marks(present, marks.unknown.difference(tags))

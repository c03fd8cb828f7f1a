"""One sub-folder a tag: ``cat/1.jpg``, ``dog/2.jpg``; or the same once more below ``train`` and ``test``.

A picture may have several tags: the same file name with the same content in several of these folders is one
picture. The same name with other content is another picture.
"""

import hashlib
import os
from collections.abc import Iterator

from tagrank.data.collection import Collection
from tagrank.data.picture_folder import PictureFolder
from tagrank.data.readers.marks import TagTable

_PARTS = {"train": "train", "test": "test", "val": "val", "valid": "val", "validation": "val"}


def is_tag_folders(folder: PictureFolder) -> bool:
    """Whether all pictures lie in sub-folders, of which there are several."""
    has_parts = _has_parts(folder)
    tags = {_tag(name, has_parts) for name in folder.pictures}
    return None not in tags and len(tags) > 1


def read_tag_folders(folder: PictureFolder) -> Collection:
    """The pictures with the names of their folders as tags; those in no folder of a tag are untagged."""
    has_parts = _has_parts(folder)
    table = TagTable(folder)
    for copies in _same_pictures(folder, has_parts):
        tags = [tag for name in copies if (tag := _tag(name, has_parts))]
        table.add(copies[0], tags, part=_part(copies[0], has_parts))
    return table.collection()


def _has_parts(folder: PictureFolder) -> bool:
    tops = {name.split("/")[0].casefold() for name in folder.pictures}
    return bool(tops) and tops <= _PARTS.keys() and any(name.count("/") > 1 for name in folder.pictures)


def _part(name: str, has_parts: bool) -> str:
    return _PARTS[name.split("/")[0].casefold()] if has_parts else ""


def _tag(name: str, has_parts: bool) -> str | None:
    folders = name.split("/")[has_parts:-1]
    return folders[0] if folders else None


def _same_pictures(folder: PictureFolder, has_parts: bool) -> Iterator[list[str]]:
    """Names of one picture each, in the order of the folder; a part never shares a picture with another."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name in folder.pictures:
        groups.setdefault((_part(name, has_parts), name.rpartition("/")[2]), []).append(name)
    same: dict[str, list[str]] = {}
    for names in groups.values():
        by_content: dict[object, list[str]] = {}
        for name in names:
            content = name if len(names) == 1 else _content(folder.path(name), name)
            by_content.setdefault(content, []).append(name)
        same |= {copies[0]: copies for copies in by_content.values()}
    return (same[name] for name in folder.pictures if name in same)


def _content(path: str, name: str) -> object:
    try:
        with open(path, "rb") as stream:
            return os.fstat(stream.fileno()).st_size, hashlib.file_digest(stream, "sha256").digest()
    except OSError:
        # whoever reads the picture will say what is wrong
        return name

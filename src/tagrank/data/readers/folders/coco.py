"""COCO: JSON files with images, categories, and annotations that join them."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tagrank.data.collection import Collection
from tagrank.data.picture_folder import PictureFolder
from tagrank.data.readers.jsonl import read_jsonl, read_lists
from tagrank.data.readers.marks import TagTable, part_in
from tagrank.files import MAX_BYTES, ROW_BYTES, WORD_BYTES, FileError, MemoryBound, ProblemLog, open_bounded

_KEYS = ("images", "annotations", "categories")
_NAMES = {"images": "file_name", "categories": "name"}
_FOLDER = "annotations"
_CHUNK = 2**20


def has_coco(folder: PictureFolder) -> bool:
    """Whether there are such files, in the folder itself or in ``annotations``."""
    return bool(_find_files(folder))


def _find_files(folder: PictureFolder) -> list[str]:
    candidates = [
        name
        for name in folder.files
        if name.casefold().endswith(".json") and name.rpartition("/")[0] in ("", _FOLDER)
    ]
    instances = [name for name in candidates if name.rpartition("/")[2].startswith("instances")]
    return [name for name in instances or candidates if is_coco_file(folder.path(name))]


def is_coco_file(path: str | os.PathLike) -> bool:
    """Whether all the keys of such a file occur in it."""
    missing = {f'"{key}"'.encode() for key in _KEYS}
    try:
        with open_bounded(path) as stream:
            chunk = stream.read(_CHUNK).lstrip()
            if not chunk.startswith(b"{"):
                return False
            while chunk and missing:
                missing = {key for key in missing if key not in chunk}
                # a key may be cut
                following = stream.read(_CHUNK)
                chunk = following and chunk[-20:] + following
    except (OSError, FileError):
        return False
    return not missing


def read_coco(
    folder: PictureFolder,
    *,
    files: list[str] | None = None,
    empty: str = "unknown",
    max_bytes: int = MAX_BYTES,
) -> Collection:
    """The listed images, tagged with the categories that occur in them; all categories are tags.

    Without `files`, the annotations are those called ``instances*.json``, else all, in the folder and in
    ``annotations``. An image without annotations is `empty`, "unknown" or "absent". No file may be larger
    than `max_bytes`, nor what is made of it in memory.
    """
    files = _find_files(folder) if files is None else files
    if not files:
        raise FileError(folder.root, f"no JSON file here with {', '.join(_KEYS)}")
    table, tags = TagTable(folder, empty=empty), dict[str, None]()
    for name in files:
        contents = _AnnotationFile(folder.path(name), max_bytes)
        tags |= dict.fromkeys(contents.categories.values())
        _add_images(table, contents, Path(name).stem)
    return table.collection(tags=list(tags))


def read_coco_file(
    path: str | os.PathLike, *, strict: bool = False, empty: str = "unknown", max_bytes: int = MAX_BYTES
) -> Collection:
    """The images of one annotation file; they lie below its folder, or beside it if that is annotations."""
    path = Path(path)
    parent = path.absolute().parent
    root = parent.parent if parent.name == _FOLDER else path.parent
    folder = PictureFolder(root, ProblemLog(strict=strict))
    return read_coco(folder, files=[os.path.relpath(path, root)], empty=empty, max_bytes=max_bytes)


def read_json(path: str | os.PathLike, **options: Any) -> Collection:
    """COCO annotations, or a list of pictures with their tags."""
    return (read_coco_file if is_coco_file(path) else read_jsonl)(path, **options)


def _add_images(table: TagTable, contents: "_AnnotationFile", stem: str) -> None:
    # the images of instances_train2017.json lie in a folder train2017
    hint = stem.rpartition("_")[2]
    for key, file_name in contents.images.items():
        tags = [contents.categories[category] for category in contents.in_images.get(key, ())]
        table.add_listed(file_name, tags, part=part_in(stem), hint=hint)


class _AnnotationFile:
    """One annotation file, checked: image names, category names, and the categories found in each image."""

    def __init__(self, path: str, max_bytes: int) -> None:
        self._path, self._bound = path, MemoryBound(path, max_bytes)
        self.images: dict[int | str, str] = {}
        self.categories: dict[int | str, str] = {}
        self.in_images: dict[int | str, dict[int | str, None]] = {}
        # where a category is first met: the list of all may come later
        self._first_places: dict[int | str, int] = {}
        missing = set(_KEYS)
        for key, entries in read_lists(path, max_bytes=max_bytes):
            missing.discard(key)
            if key == "annotations":
                self._add_annotations(entries)
            elif key in _NAMES:
                names = self.images if key == "images" else self.categories
                names |= self._names(entries, key)
        if missing:
            raise FileError(path, f"expected an object with the lists {', '.join(_KEYS)}")
        for category, position in self._first_places.items():
            if category not in self.categories:
                raise FileError(path, f"annotations[{position}] has the unknown category {category!r}")

    def _names(self, entries: Iterator[Any], key: str) -> dict[int | str, str]:
        names = {}
        for i, entry in enumerate(entries):
            self._bound.add(ROW_BYTES)
            name = self._entry(entry, _NAMES[key], (str,), key, i)
            names[self._entry(entry, "id", (int, str), key, i)] = name
        return names

    def _add_annotations(self, entries: Iterator[Any]) -> None:
        for i, entry in enumerate(entries):
            image = self._entry(entry, "image_id", (int, str), "annotations", i)
            category = self._entry(entry, "category_id", (int, str), "annotations", i)
            categories = self.in_images.setdefault(image, {})
            if category not in categories:
                self._bound.add(WORD_BYTES if categories else ROW_BYTES)
                categories[category] = None
                self._first_places.setdefault(category, i)

    def _entry(self, entry: Any, key: str, types: tuple[type, ...], where: str, position: int) -> Any:
        value = entry.get(key) if isinstance(entry, dict) else None
        if not isinstance(value, types) or value == "":
            raise FileError(self._path, f"{where}[{position}] needs {key!r}, got {str(entry)[:60]}")
        return value

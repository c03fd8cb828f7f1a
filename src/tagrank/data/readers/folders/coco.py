"""COCO: JSON files with images, categories, and annotations that join them."""

import os
from pathlib import Path
from typing import Any

from tagrank.data.collection import Collection
from tagrank.data.pictures.folder import PictureFolder
from tagrank.data.problems import ProblemLog
from tagrank.data.readers.folders.tag_table import TagTable, part_in
from tagrank.data.readers.json_files import MAX_JSON_BYTES, read_json
from tagrank.files import FileError, open_bounded

_KEYS = ("images", "annotations", "categories")
_FOLDER = "annotations"


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
    try:
        with open_bounded(path, max_bytes=MAX_JSON_BYTES) as stream:
            content = stream.read()
    except (OSError, FileError):
        return False
    return content.lstrip()[:1] == b"{" and all(f'"{key}"'.encode() in content for key in _KEYS)


def read_coco(folder: PictureFolder, *, files: list[str] | None = None, empty: str = "unknown") -> Collection:
    """The listed images, tagged with the categories that occur in them; all categories are tags.

    Parameters
    ----------
    folder : the folder
    files : the annotation files, relative to the folder; default: those called ``instances*.json``, else all,
        in the folder and in ``annotations``
    empty : {"unknown", "absent"}, what an image without annotations means
    """
    files = _find_files(folder) if files is None else files
    if not files:
        raise FileError(folder.root, f"no JSON file here with {', '.join(_KEYS)}")
    table, tags = TagTable(folder, empty=empty), dict[str, None]()
    for name in files:
        contents = _Contents(folder.path(name))
        tags |= dict.fromkeys(contents.categories.values())
        _add_images(table, contents, Path(name).stem)
    return table.collection(tags=list(tags))


def read_coco_file(path: str | os.PathLike, *, strict: bool = False, empty: str = "unknown") -> Collection:
    """The images of one annotation file; they lie below its folder, or beside it if that is annotations."""
    path = Path(path)
    parent = path.absolute().parent
    root = parent.parent if parent.name == _FOLDER else path.parent
    folder = PictureFolder(root, ProblemLog(strict=strict))
    return read_coco(folder, files=[os.path.relpath(path, root)], empty=empty)


def _add_images(table: TagTable, contents: "_Contents", stem: str) -> None:
    # the images of instances_train2017.json lie in a folder train2017
    hint = stem.rpartition("_")[2]
    for key, file_name in contents.images.items():
        found = [contents.categories[category] for category in contents.found.get(key, ())]
        table.add_listed(file_name, found, part=part_in(stem), hint=hint)


class _Contents:
    """One annotation file, checked: image names, category names, and the categories found in each image."""

    def __init__(self, path: str) -> None:
        self._path = path
        value = read_json(path)
        if not isinstance(value, dict) or not all(isinstance(value.get(key), list) for key in _KEYS):
            raise FileError(path, f"expected an object with the lists {', '.join(_KEYS)}")
        self.images = self._names(value["images"], "images", "file_name")
        self.categories = self._names(value["categories"], "categories", "name")
        self.found: dict[int | str, dict[int | str, None]] = {}
        for position, annotation in enumerate(value["annotations"]):
            image = self._entry(annotation, "image_id", (int, str), "annotations", position)
            category = self._entry(annotation, "category_id", (int, str), "annotations", position)
            if category not in self.categories:
                raise FileError(path, f"annotations[{position}] has the unknown category {category!r}")
            self.found.setdefault(image, {})[category] = None

    def _names(self, entries: list[Any], key: str, name: str) -> dict[int | str, str]:
        return {
            self._entry(entry, "id", (int, str), key, i): self._entry(entry, name, (str,), key, i)
            for i, entry in enumerate(entries)
        }

    def _entry(self, entry: Any, key: str, types: tuple[type, ...], where: str, position: int) -> Any:
        value = entry.get(key) if isinstance(entry, dict) else None
        if not isinstance(value, types) or value == "":
            raise FileError(self._path, f"{where}[{position}] needs {key!r}, got {str(entry)[:60]}")
        return value

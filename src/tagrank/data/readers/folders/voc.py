"""PASCAL VOC: ``JPEGImages/1.jpg`` with ``Annotations/1.xml``, and ``ImageSets/Main`` for the parts."""

from collections.abc import Sequence

from tagrank.data.collection import Collection
from tagrank.data.picture_folder import PictureFolder
from tagrank.data.readers.marks import TagTable
from tagrank.data.readers.safe_xml import parse_xml
from tagrank.files import MAX_BYTES, ROW_BYTES, FileError, MemoryBound, open_bounded, open_text

_MAX_BYTES = 2**22
_ANNOTATIONS, _IMAGES, _SETS = "Annotations/", "JPEGImages/", "ImageSets/Main/"
_PARTS = ("train", "val", "test")


def is_voc(folder: PictureFolder) -> bool:
    """Whether there are pictures and annotations in the folders of that name."""
    has_images = any(name.startswith(_IMAGES) for name in folder.pictures)
    return has_images and any(_is_annotation(name) for name in folder.files)


def _is_annotation(name: str) -> bool:
    return name.startswith(_ANNOTATIONS) and name.endswith(".xml")


def read_voc(folder: PictureFolder, *, empty: str = "unknown", max_bytes: int = MAX_BYTES) -> Collection:
    """The pictures with the names of the objects in them; those without annotation are untagged.

    An annotation without objects means `empty`, "unknown" or "absent". No list of a part may be larger than
    `max_bytes`, nor what is made of it in memory.
    """
    parts = _read_parts(folder, max_bytes)
    annotations = {
        name[len(_ANNOTATIONS) : -len(".xml")]: folder.path(name)
        for name in filter(_is_annotation, folder.files)
    }
    table, stems = TagTable(folder, empty=empty), set()
    for name in folder.pictures:
        if name.startswith(_IMAGES):
            stem = name[len(_IMAGES) :].rpartition(".")[0]
            stems.add(stem)
            table.add(name, _tags(folder, annotations.get(stem)), part=parts.get(stem, ""))
    for stem, path in annotations.items():
        if stem not in stems:
            folder.problems.add(path, f"there is no picture {stem!r} in {_IMAGES}")
    return table.collection()


def _tags(folder: PictureFolder, annotation: str | None) -> list[str] | None:
    if annotation is None:
        return None
    try:
        return _read_objects(annotation)
    except (FileError, OSError) as error:
        folder.problems.add_error(annotation, error)
        return None


def _read_objects(path: str) -> list[str]:
    with open_bounded(path, max_bytes=_MAX_BYTES) as stream:
        content = stream.read()
    names_of_objects: list[str] = []

    def note(names: Sequence[str], text: str) -> None:
        # an object may have parts with names of their own
        if list(names) == ["annotation", "object", "name"] and text:
            names_of_objects.append(text)

    parse_xml(content, path, note)
    return names_of_objects


def _read_parts(folder: PictureFolder, max_bytes: int) -> dict[str, str]:
    parts: dict[str, str] = {}
    for word in _PARTS:
        if f"{_SETS}{word}.txt" in folder.files:
            path = folder.path(f"{_SETS}{word}.txt")
            bound = MemoryBound(path, max_bytes)
            with open_text(path, max_bytes=max_bytes) as stream:
                for line in stream:
                    bound.add(ROW_BYTES)
                    if fields := line.split():
                        parts.setdefault(fields[0], word)
    return parts

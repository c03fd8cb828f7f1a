"""PASCAL VOC: ``JPEGImages/1.jpg`` with ``Annotations/1.xml``, and ``ImageSets/Main`` for the parts."""

from collections.abc import Sequence

from tagrank.data.collection import Collection
from tagrank.data.picture_folder import PictureFolder
from tagrank.data.readers.safe_xml import parse_xml
from tagrank.data.readers.tag_table import TagTable
from tagrank.files import FileError, open_bounded, open_text

_MAX_BYTES = 2**22
_ANNOTATIONS, _IMAGES, _SETS = "Annotations/", "JPEGImages/", "ImageSets/Main/"
_PARTS = ("train", "val", "test")


def is_voc(folder: PictureFolder) -> bool:
    """Whether there are pictures and annotations in the folders of that name."""
    has_images = any(name.startswith(_IMAGES) for name in folder.pictures)
    return has_images and any(_is_annotation(name) for name in folder.files)


def _is_annotation(name: str) -> bool:
    return name.startswith(_ANNOTATIONS) and name.endswith(".xml")


def read_voc(folder: PictureFolder, *, empty: str = "unknown") -> Collection:
    """The pictures with the names of the objects in them; those without annotation are untagged.

    Parameters
    ----------
    folder : the folder
    empty : {"unknown", "absent"}, what an annotation without objects means
    """
    parts = _read_parts(folder)
    pictures = {
        name[len(_IMAGES) :].rpartition(".")[0]: name for name in folder.pictures if name.startswith(_IMAGES)
    }
    table = TagTable(folder, empty=empty)
    for stem, name in pictures.items():
        table.add(name, None, part=parts.get(stem, ""))
    for name in filter(_is_annotation, folder.files):
        stem = name[len(_ANNOTATIONS) : -len(".xml")]
        if stem not in pictures:
            folder.problems.add(folder.path(name), f"there is no picture {stem!r} in {_IMAGES}")
            continue
        try:
            table.add(pictures[stem], _read_objects(folder.path(name)), part=parts.get(stem, ""))
        except (FileError, OSError) as error:
            folder.problems.add_error(folder.path(name), error)
    return table.collection()


def _read_objects(path: str) -> list[str]:
    with open_bounded(path, max_bytes=_MAX_BYTES) as stream:
        content = stream.read()
    found: list[str] = []

    def note(names: Sequence[str], text: str) -> None:
        # an object may have parts with names of their own
        if list(names) == ["annotation", "object", "name"] and text:
            found.append(text)

    parse_xml(content, path, note)
    return found


def _read_parts(folder: PictureFolder) -> dict[str, str]:
    parts: dict[str, str] = {}
    for word in _PARTS:
        if f"{_SETS}{word}.txt" in folder.files:
            with open_text(folder.path(f"{_SETS}{word}.txt")) as stream:
                for line in stream:
                    if fields := line.split():
                        parts.setdefault(fields[0], word)
    return parts

"""Tags of pictures, as a program found them or a person gave them, written where other programs read them."""

import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from tagrank.data.collection import Collection
from tagrank.data.readers.jsonl import json_line
from tagrank.data.readers.table import join_tags, protect_cell, relative_picture, row_writer
from tagrank.data.writers.sidecar import write_sidecar
from tagrank.files import FileError, Problem, ProblemLog, atomic_write
from tagrank.validation import check_choice, check_kind

TaggedPictures = Mapping[str, Sequence[str]]


class PictureTags(NamedTuple):
    """The tags of a picture of an archive on their way into files.

    Attributes
    ----------
    id, name, key, file_state : of the picture
    present : all its tags: listed and not rejected, or accepted
    accepted : those of them that somebody accepted
    unlisted : those of them that the folder does not list, so that only answers speak for them
    rejected : tags that somebody rejected
    was_decided : whether anybody ever decided about any tag of it, undone or not
    """

    id: int
    name: str
    key: bytes
    file_state: str
    present: tuple[str, ...] = ()
    accepted: frozenset[str] = frozenset()
    unlisted: frozenset[str] = frozenset()
    rejected: frozenset[str] = frozenset()
    was_decided: bool = False


def write_tags(
    tagged: TaggedPictures,
    path: str | os.PathLike | None = None,
    *,
    format: str | None = None,
    strict: bool = False,
    **options: Any,
) -> tuple[Problem, ...]:
    """Write the tags of pictures as a list, or into a sidecar file beside each picture.

    Parameters
    ----------
    tagged : dict of picture path to its tags, in the order in which they are to be listed
    path : the list to write, perhaps ``.gz``; paths of pictures below its folder become relative to it. None
        for sidecars, which lie beside the pictures.
    format : {"csv", "jsonl", "xmp"}; default: by the ending of `path`, and "xmp" without one
    strict : raise a FileError for the first sidecar that cannot be written, instead of going on
    **options : for "xmp" those of `write_sidecar`, for "csv" `separator`

    Returns
    -------
    problems : the pictures whose sidecars could not be written, and why
    """
    _check_tagged(tagged)
    if format is None:
        format = "xmp" if path is None else os.path.splitext(os.fspath(path).removesuffix(".gz"))[1][1:]
    check_choice("format", format, ("xmp", *_LISTS))
    if (format == "xmp") != (path is None):
        raise ValueError(
            "a list needs a path to be written to; sidecars lie beside their pictures and need none"
        )
    if path is None:
        return _write_sidecars(tagged, strict, options)
    _LISTS[format](tagged, Path(path), **options)
    return ()


def _check_tagged(tagged: TaggedPictures) -> None:
    """Raise unless each picture has a list of texts, before anything is written."""
    check_kind("tagged", tagged, Mapping, "a mapping of paths of pictures to their tags")
    for picture, tags in tagged.items():
        check_kind("the path of a picture", picture, (str, os.PathLike), "a text or a path")
        if isinstance(tags, str | bytes) or not isinstance(tags, Iterable):
            raise TypeError(f"{picture}: tags must be a list of texts, got {tags!r}")


def _write_sidecars(tagged: TaggedPictures, strict: bool, options: dict[str, Any]) -> tuple[Problem, ...]:
    problems = ProblemLog(strict=strict)
    for picture, tags in tagged.items():
        try:
            write_sidecar(picture, tags, **options)
        except FileError as error:
            problems.add_error(picture, error)
    return problems.listed()


def _write_csv(tagged: TaggedPictures, path: Path, *, separator: str = "|") -> None:
    with atomic_write(path, text=True) as stream:
        writer = row_writer(stream)
        writer.writerow(["image", "tags"])
        for picture, tags in tagged.items():
            cells = (relative_picture(picture, path.parent), join_tags(tags, separator))
            writer.writerow(map(protect_cell, cells))


def _write_jsonl(tagged: TaggedPictures, path: Path) -> None:
    with atomic_write(path, text=True) as stream:
        for picture, tags in tagged.items():
            stream.write(json_line({"image": relative_picture(picture, path.parent), "tags": list(tags)}))


_LISTS: dict[str, Callable[..., None]] = {"csv": _write_csv, "jsonl": _write_jsonl}


def write_picture_folder(collection: Collection, folder: str | os.PathLike) -> None:
    """Write pictures as PNG files and their present tags as ``tags.csv``; all of it, or nothing.

    Parameters
    ----------
    collection : with a view "pictures" of arrays
    folder : must not exist yet
    """
    folder = Path(folder)
    if os.path.lexists(folder):
        raise FileError(folder, "exists already; name a new folder")
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(6)}.part")
    try:
        temporary.mkdir(parents=True)
        tagged = {}
        for name, pixels, states in zip(
            collection.names or (), collection.view("pictures"), collection.states(), strict=True
        ):
            path = temporary / f"{name}.png"
            Image.fromarray(pixels).save(path)
            tagged[str(path)] = [tag for tag, state in zip(collection.tags, states, strict=True) if state > 0]
        write_tags(tagged, temporary / "tags.csv")
        temporary.rename(folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise

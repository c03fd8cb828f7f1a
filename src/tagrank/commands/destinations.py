"""Whether something can be written, asked before the work and not after it; nothing that is read is."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tagrank.data import find_dataset, list_datasets
from tagrank.data.pictures.folder import PictureFolder
from tagrank.data.problems import ProblemLog
from tagrank.data.readers.folders.tag_list import find_tag_lists
from tagrank.errors import ArgumentError

PAGE_ENDINGS = (".html", ".htm")


def check_file(path: str | os.PathLike) -> None:
    """Raise unless a file could be written at `path`."""
    if Path(path).is_dir():
        raise IsADirectoryError(f"{os.fspath(path)} is a folder; name a file")
    _check_writable(Path(path))


def check_page(path: str | os.PathLike) -> None:
    """Raise unless a page could be written at `path`; of files that are there only pages are replaced."""
    if Path(path).is_file() and Path(path).suffix.casefold() not in PAGE_ENDINGS:
        raise ArgumentError(f"{os.fspath(path)} is there already and no page; name an .html file")
    check_file(path)


def check_folder(path: str | os.PathLike) -> None:
    """Raise unless a folder could be made, or filled, at `path`."""
    if Path(path).exists() and not Path(path).is_dir():
        raise NotADirectoryError(f"{os.fspath(path)} is a file; name a folder")
    _check_writable(Path(path))


def check_distinct(**paths: str | os.PathLike | None) -> None:
    """Raise if two arguments name the same file."""
    places: dict[Path, str] = {}
    for name, path in paths.items():
        if path is None:
            continue
        words = f"{name}={os.fspath(path)}"
        other = places.setdefault(Path(path).resolve(), words)
        if other != words:
            raise ArgumentError(f"{other} and {words} are the same file; name two")


def check_apart(*inputs: Any, **outputs: str | os.PathLike | None) -> None:
    """Raise if an output would replace something that is read, however it is spelled or linked.

    Parameters
    ----------
    inputs : files, folders, names of data sets and lists of them; anything else is passed over
    outputs : name of each argument to the file or folder that it names
    """
    there = {name: Path(path) for name, path in outputs.items() if path is not None and os.path.exists(path)}
    for place in _places_read(inputs) if there else ():
        for name, output in there.items():
            if any(_is_same(output, found) for found in (place, *place.resolve().parents)):
                raise ArgumentError(
                    f"{name}={output} would replace {place}, which is read; name another place"
                )


def _places_read(entry: Any) -> Iterator[Path]:
    """Files and folders, the lists of tags in folders, and the files of data sets."""
    if isinstance(entry, list | tuple):
        for one in entry:
            yield from _places_read(one)
    if not isinstance(entry, str | os.PathLike):
        return
    yield (place := Path(entry))
    if place.is_dir():
        yield from map(place.joinpath, find_tag_lists(PictureFolder(place, ProblemLog())))
    for dataset in list_datasets():
        if dataset.name == entry and not place.exists():
            folder = find_dataset(dataset.name) or place
            yield from map(folder.joinpath, dataset.files)


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _check_writable(path: Path) -> None:
    """The nearest folder above `path` that exists must let us write."""
    whole = path.absolute()
    above = next(folder for folder in (*whole.parents, whole) if folder.exists())
    if not above.is_dir():
        raise NotADirectoryError(f"{above} is a file, so {path} cannot be made")
    try:
        # permissions do not tell of file systems that take no files
        os.rmdir(tempfile.mkdtemp(prefix=".tagrank-", dir=above))
    except PermissionError:
        raise PermissionError(f"{path} cannot be written: no permission to write into {above}") from None
    except OSError as error:
        raise OSError(
            f"{path} cannot be written: {above} takes no files ({error.strerror}); choose another place"
        ) from None

"""Whether something can be written, asked before the work, and never where something is read; and lists."""

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tagrank.data import find_dataset, list_datasets
from tagrank.data.picture_folder import PictureFolder
from tagrank.data.readers.folders.tag_list import find_tag_lists
from tagrank.data.readers.jsonl import escaped, json_line
from tagrank.data.readers.table import protect_cell, row_writer
from tagrank.errors import ArgumentError
from tagrank.files import ProblemLog, atomic_write

LIST_ENDINGS, PAGE_ENDINGS = (".csv", ".jsonl"), (".html", ".htm")


def check_file(path: str | os.PathLike) -> None:
    """Raise unless a file could be written at `path`."""
    if Path(path).is_dir():
        raise IsADirectoryError(f"{os.fspath(path)} is a folder; name a file")
    _check_writable(Path(path))


def check_page(path: str | os.PathLike) -> None:
    """Raise unless a page could be written at `path`; of files that are there only pages are replaced."""
    if Path(path).is_file() and Path(path).suffix.casefold() not in PAGE_ENDINGS:
        raise ArgumentError(f"{os.fspath(path)} exists and is not an HTML page; name an .html file")
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
            raise ArgumentError(f"{other} and {words} are the same file; name two different files")


def check_apart(*inputs: Any, **outputs: str | os.PathLike | None) -> None:
    """Raise if an output would replace something that is read, however it is spelled or linked.

    Inputs are files, folders, names of data sets and lists of them; anything else is passed over.
    """
    there = {name: Path(path) for name, path in outputs.items() if path is not None and os.path.exists(path)}
    for place in _places_read(inputs) if there else ():
        for name, output in there.items():
            if any(_is_same(output, found) for found in (place, *place.resolve().parents)):
                raise ArgumentError(
                    f"{name}={output} would overwrite the input {place}; choose another place"
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
        yield from map(place.joinpath, find_tag_lists(PictureFolder(place, ProblemLog(), follow_links=True)))
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
        raise NotADirectoryError(f"{path} cannot be created, because {above} is a file; choose another place")
    try:
        # permissions do not tell of file systems that take no files
        os.rmdir(tempfile.mkdtemp(prefix=".tagrank-", dir=above))
    except PermissionError:
        raise PermissionError(f"{path} cannot be written: no permission to write to {above}") from None
    except OSError as error:
        raise OSError(
            f"{path} cannot be written: no file can be created in {above} ({error.strerror}); choose another "
            "place"
        ) from None


def check_list(path: str | os.PathLike, what: str) -> None:
    """Raise unless a list of `what` could be written at `path`; to be asked before the work."""
    if Path(path).suffix not in LIST_ENDINGS:
        raise ArgumentError(f"{os.fspath(path)}: {what} are written to a {' or '.join(LIST_ENDINGS)} file")
    check_file(path)


def write_list(
    path: str | os.PathLike, *, table: Iterable[Sequence[Any]], documents: Iterable[Mapping[str, Any]]
) -> None:
    """Write a list, whole or not at all; missing folders are made.

    The lines of a ``.csv`` file are the `table`, names of columns first, those of a ``.jsonl`` file the
    `documents`.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path, text=True) as stream:
        if Path(path).suffix == ".csv":
            writer = row_writer(stream)
            for line in table:
                writer.writerow(
                    [escaped(protect_cell(cell)) if isinstance(cell, str) else cell for cell in line]
                )
        else:
            stream.writelines(map(json_line, documents))

"""Lists that commands write, one line an entry: ``.csv`` or ``.jsonl``."""

import csv
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from tagrank.commands.destinations import check_file
from tagrank.data.readers.tables.tag_text import protect_cell
from tagrank.errors import ArgumentError
from tagrank.files import atomic_write

ENDINGS = (".csv", ".jsonl")


def check_list(path: str | os.PathLike, what: str) -> None:
    """Raise unless a list of `what` could be written at `path`; to be asked before the work."""
    if Path(path).suffix not in ENDINGS:
        raise ArgumentError(f"{os.fspath(path)}: {what} are written as {' or '.join(ENDINGS)}")
    check_file(path)


def write_list(
    path: str | os.PathLike, *, table: Iterable[Sequence[Any]], documents: Iterable[Mapping[str, Any]]
) -> None:
    """Write a list, whole or not at all.

    Parameters
    ----------
    path : a file that `check_list` accepts; missing folders are made
    table : the lines of a ``.csv`` file, names of columns first
    documents : the lines of a ``.jsonl`` file
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path, text=True) as stream:
        if Path(path).suffix == ".csv":
            _write_csv(stream, table)
        else:
            stream.writelines(
                _writable(json.dumps(document, ensure_ascii=False)) + "\n" for document in documents
            )


def _write_csv(stream: IO[str], table: Iterable[Sequence[Any]]) -> None:
    writer = csv.writer(stream, lineterminator="\n")
    for line in table:
        writer.writerow([_writable(protect_cell(cell)) if isinstance(cell, str) else cell for cell in line])


def _writable(text: str) -> str:
    r"""The text with those bytes of a file's name that are no Unicode as ``\udc..``, as JSON has them."""
    return text.encode(errors="backslashreplace").decode()

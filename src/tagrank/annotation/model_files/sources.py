"""Where the files of a model come from: a folder, or a zip archive that is never unpacked to disk."""

import os
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

from tagrank.files import checked_member


class Source(Protocol):
    """Where the files of a model come from: a folder or an archive."""

    def size(self, name: str) -> int:
        """Bytes of the file `name`."""

    def open(self, name: str) -> IO[bytes]:
        """The file `name`, opened for reading."""


class _Folder:
    def __init__(self, path: Path) -> None:
        self._path = path

    def size(self, name: str) -> int:
        state = os.lstat(self._path / name)
        if not stat.S_ISREG(state.st_mode):
            raise ValueError(f"{name} is a link or no plain file; a model holds plain files only")
        return state.st_size

    def open(self, name: str) -> IO[bytes]:
        self.size(name)
        # O_NOFOLLOW: the file may have become a link since it was looked at
        return open(
            self._path / name,
            "rb",
            opener=lambda file, flags: os.open(file, flags | getattr(os, "O_NOFOLLOW", 0)),
        )


class _Archive:
    """The members of a zip archive, whether the folder itself was packed or only its content."""

    def __init__(self, archive: zipfile.ZipFile, path: Path) -> None:
        self._archive = archive
        self._members: dict[str, zipfile.ZipInfo] = {}
        folders = set()
        for member in archive.infolist():
            folder, _, name = member.filename.rpartition("/")
            if not name or member.filename.startswith("__MACOSX/"):
                continue
            if name in self._members:
                raise ValueError(f"the archive holds {name[:80]!r} twice")
            self._members[name] = checked_member(member, path)
            folders.add(folder)
        if len(folders) > 1:
            raise ValueError("the archive holds several folders; a model is one folder")

    def size(self, name: str) -> int:
        return self._member(name).file_size

    def open(self, name: str) -> IO[bytes]:
        return self._archive.open(self._member(name))

    def _member(self, name: str) -> zipfile.ZipInfo:
        if name not in self._members:
            raise ValueError(f"{name} is missing from the archive; pack the whole model again")
        return self._members[name]


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """The files of the model under `path`."""
    if path.is_dir():
        yield _Folder(path)
    else:
        with zipfile.ZipFile(path) as archive:
            yield _Archive(archive, path)

"""Where the files of a model come from: a folder, or a zip archive that is never unpacked to disk.

A folder may be replaced while it is read. It is held by a descriptor, so that all files come from the same
one; and should it be removed meanwhile, the reading begins again with the new one.
"""

import errno
import os
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Protocol, TypeVar

from tagrank.annotation.model_files.atomic_folder import folders_set_aside
from tagrank.array_files import checked_member

MAX_MODEL_BYTES = 4 * 2**30
# arrays of models shrink to a half or a tenth; an archive that shrank more must not grow beyond _SMALL_BYTES
_MAX_RATIO, _SMALL_BYTES = 32, 2**28
_MAX_READINGS = 100
# an empty place is looked at again: two savers may have moved a model within one look
_MAX_LOOKS = 3
# a file may become a link or a pipe after it was looked at: neither is followed nor waited for
_FLAGS = sum(getattr(os, name, 0) for name in ("O_RDONLY", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
_HAS_DESCRIPTORS = os.open in os.supports_dir_fd and os.listdir in os.supports_fd
Result = TypeVar("Result")


class ModelSource(Protocol):
    """Where the files of a model come from: a folder or an archive."""

    def names(self) -> list[str]:
        """What all its files are called."""

    def size(self, name: str) -> int:
        """Bytes of the file `name`."""

    def open(self, name: str) -> IO[bytes]:
        """The file `name`, opened for reading."""

    def is_current(self) -> bool:
        """Whether it is still in its place."""

    def max_bytes(self) -> int:
        """How much it may hold unless the user says otherwise."""


class _Folder:
    def __init__(self, place: Path, path: Path, descriptor: int | None) -> None:
        self._place, self._path, self._descriptor = place, path, descriptor
        self._state = _identity(os.stat(place if descriptor is None else descriptor))

    def names(self) -> list[str]:
        return os.listdir(self._place if self._descriptor is None else self._descriptor)

    def size(self, name: str) -> int:
        with self._named(name) as file:
            state = os.stat(file, dir_fd=self._descriptor, follow_symlinks=False)
        if not stat.S_ISREG(state.st_mode):
            raise ValueError(f"{name} is a link or not a plain file; a model has plain files only")
        return state.st_size

    def open(self, name: str) -> IO[bytes]:
        self.size(name)
        with self._named(name) as file:
            return os.fdopen(os.open(file, _FLAGS, dir_fd=self._descriptor), "rb")

    def is_current(self) -> bool:
        try:
            return _identity(os.stat(self._path)) == self._state
        except FileNotFoundError:
            return False

    def max_bytes(self) -> int:
        return MAX_MODEL_BYTES

    @contextmanager
    def _named(self, name: str) -> Iterator[str | Path]:
        try:
            yield self._place / name if self._descriptor is None else name
        except OSError as error:
            error.filename = str(self._path / name)
            raise


class _ZipMembers:
    """The members of a zip archive, whether the folder itself was packed or only its content."""

    def __init__(self, archive: zipfile.ZipFile, path: Path) -> None:
        self._archive, self._packed = archive, path.stat().st_size
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

    def names(self) -> list[str]:
        return list(self._members)

    def size(self, name: str) -> int:
        return self._member(name).file_size

    def open(self, name: str) -> IO[bytes]:
        return self._archive.open(self._member(name))

    def is_current(self) -> bool:
        return True

    def max_bytes(self) -> int:
        return min(MAX_MODEL_BYTES, max(_SMALL_BYTES, _MAX_RATIO * self._packed))

    def _member(self, name: str) -> zipfile.ZipInfo:
        if name not in self._members:
            raise ValueError(f"{name} is missing from the archive; pack the whole model again")
        return self._members[name]


def read_source(path: Path, read: Callable[[ModelSource], Result]) -> Result:
    """What `read` makes of the model under `path`; it is called again if the model was replaced meanwhile."""
    for _ in range(_MAX_READINGS):
        with _open_source(path) as source:
            try:
                return read(source)
            except (OSError, ValueError):
                if source.is_current():
                    raise
    raise ValueError("is replaced again and again while it is read; try again when no program writes to it")


@contextmanager
def _open_source(path: Path) -> Iterator[ModelSource]:
    if path.is_file():
        with zipfile.ZipFile(path) as archive:
            yield _ZipMembers(archive, path)
        return
    place, descriptor = _find_folder(path)
    try:
        yield _Folder(place, path, descriptor)
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _find_folder(path: Path) -> tuple[Path, int | None]:
    """The folder at `path`, or where it is while a new one takes its place, and a descriptor of it."""
    real = Path(os.path.realpath(path))
    for _ in range(_MAX_LOOKS):
        for place in (real, *folders_set_aside(real)):
            with suppress(FileNotFoundError):
                if not stat.S_ISDIR(os.stat(place).st_mode):
                    raise ValueError(
                        "is neither a folder nor a plain file; name a model folder or a zip archive"
                    )
                return place, os.open(place, os.O_RDONLY | os.O_DIRECTORY) if _HAS_DESCRIPTORS else None
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


def _identity(state: os.stat_result) -> tuple[int, int]:
    return state.st_dev, state.st_ino

"""Where the database of an archive lies, and who may have it open."""

import errno
import os
from pathlib import Path

from tagrank.archive.storage.lock import ArchiveInUse, DeskLock
from tagrank.archive.storage.own_state import address_of
from tagrank.files import FileError

HOME, FILE_NAME = ".tagrank", "desk.sqlite"


def database_path(folder: str | os.PathLike, database: str | os.PathLike | None = None) -> Path:
    """Where the decisions about a folder are."""
    return Path(folder) / HOME / FILE_NAME if database is None else Path(database)


def check_home(home: Path) -> None:
    """A folder of a stranger must not lead the database elsewhere."""
    if home.is_symlink():
        raise FileError(
            home, "is a link, expected a folder; remove the link, or name --decisions FILE.sqlite"
        )


def make_home(path: Path) -> None:
    """Make the folder of a database; PermissionError where it cannot be written to."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for place in (path.parent, path):
            if place.exists() and not os.access(place, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise PermissionError(
            f"{path} cannot be written ({error.strerror}); name another place with --decisions FILE.sqlite"
        ) from None


def lock_database(path: Path) -> DeskLock:
    """The lock of a database; `ArchiveInUse` says where the desk listens that has it, if it is one's own."""
    try:
        return DeskLock(path)
    except ArchiveInUse:
        # what the lock file says could come from anybody
        if address := address_of(path):
            raise ArchiveInUse(f"{path} is open at {address}; use that desk, or end it first") from None
        raise

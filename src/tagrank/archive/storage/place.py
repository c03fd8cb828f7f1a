"""Where the database of an archive lies, and who may have it open.

One desk an archive: a lock of the operating system, which ends with the process however it ended. Its file
lies beside the database, so that two accounts, or two machines on one share, see each other. It may have come
with the folder: it stays empty, and nothing in it is read.
"""

import errno
import os
import sys
from pathlib import Path

from tagrank.archive.storage.own_state import address_of
from tagrank.files import FileError, open_plain

LOCK_NAME = "desk.lock"
HOME, FILE_NAME = ".tagrank", "desk.sqlite"


class ArchiveInUse(OSError):
    """Another desk has the archive open."""


class DeskLock:
    """The lock file beside a database, held until `close`."""

    def __init__(self, database: Path) -> None:
        name = LOCK_NAME if database.name == "desk.sqlite" else f"{database.name}.lock"
        self._descriptor = open_plain(database.with_name(name), os.O_RDWR | os.O_CREAT)
        if not _try_lock(self._descriptor):
            self.close()
            raise ArchiveInUse(f"{database} is open in another process; use that desk, or end it first")

    def close(self) -> None:
        """Let go. The file stays: to remove it would let two others hold two locks."""
        os.close(self._descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def database_path(folder: str | os.PathLike, database: str | os.PathLike | None = None) -> Path:
    """Where the decisions about a folder are."""
    return Path(folder) / HOME / FILE_NAME if database is None else Path(database)


def check_home(home: Path) -> None:
    """Refuse a link: a folder from elsewhere must not say where the database lies."""
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
            f"{path} cannot be written ({error.strerror}); name another file with --decisions FILE.sqlite"
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

"""One desk an archive: a lock of the operating system, which ends with the process however it ended.

The file lies beside the database, so that two accounts, or two machines on one share, see each other. It may
have come with the folder: it stays empty, and nothing in it is read.
"""

import os
import sys
from pathlib import Path

from tagrank.files import open_plain

LOCK_NAME = "desk.lock"


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

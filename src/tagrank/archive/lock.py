"""One desk an archive: a lock of the operating system, which ends with the process however it ended."""

import os
import sys
from pathlib import Path
from typing import IO

LOCK_NAME = "desk.lock"
_LONGEST_ADDRESS = 500


class ArchiveInUse(OSError):
    """Another desk has the archive open."""


class DeskLock:
    """The lock file beside a database, held until `close`; it says where the desk listens."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(
            LOCK_NAME if database.name == "desk.sqlite" else f"{database.name}.lock"
        )
        self._file: IO[bytes] = open(self._path, "a+b")  # noqa: SIM115
        if not _try_lock(self._file):
            address = self._read_address()
            self._file.close()
            where = f"at {address}" if address else "in another process"
            raise ArchiveInUse(f"{database} is open {where}; use that desk, or end it first")
        self.write_address("")

    def write_address(self, address: str) -> None:
        """Say where the desk listens, for whoever comes second."""
        self._file.seek(0)
        self._file.truncate()
        self._file.write(address.encode()[:_LONGEST_ADDRESS])
        self._file.flush()

    def close(self) -> None:
        """Let go. The file stays: to remove it would let two others hold two locks."""
        self.write_address("")
        self._file.close()

    def _read_address(self) -> str:
        try:
            self._file.seek(0)
            text = self._file.read(_LONGEST_ADDRESS).decode(errors="replace")
        except OSError:
            # Windows lets nobody else read what is locked
            return ""
        return text if text.isprintable() else ""


def _try_lock(file: IO[bytes]) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            # a byte far behind the address, so that others can read it
            os.lseek(file.fileno(), 2**30, os.SEEK_SET)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

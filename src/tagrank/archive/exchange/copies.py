"""Copies of the file with the decisions: made while a desk is open, put back, and merged with another's."""

import os
import sqlite3
import stat
import tempfile
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path

from tagrank.archive.storage.database import Database, check_database_files
from tagrank.archive.storage.lock import DeskLock
from tagrank.files import FileError

_BESIDE = ("-wal", "-shm", "-journal")


def copy_database(source: Path, target: Path) -> int:
    """Write a copy of one moment, whole or not at all; how many decisions are in it.

    The source may be written to meanwhile. It is refused unless it holds exactly the tables of an archive.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    os.close(descriptor)
    try:
        with (
            closing(Database(source, read_only=True)) as database,
            database.reading() as connection,
            closing(sqlite3.connect(name, isolation_level=None)) as copy,
        ):
            connection.backup(copy)
            # one file, whatever the source wrote beside itself
            copy.execute("PRAGMA journal_mode = DELETE")
            (found,) = copy.execute("PRAGMA quick_check(1)").fetchone()
            if found != "ok":
                raise FileError(source, f"is damaged ({str(found)[:200]}); use another copy")
            (n_decisions,) = copy.execute("SELECT count(*) FROM decisions").fetchone()
        with open(name, "rb+") as stream:
            os.fsync(stream.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except BaseException:
        for end in ("", *_BESIDE):
            with suppress(OSError):
                os.unlink(name + end)
        raise
    return int(n_decisions)


def restore_database(source: Path, target: Path) -> tuple[int, Path | None]:
    """Put a copy in the place of an archive's file; how many decisions it holds, and where the old one is.

    Refused while a desk has the archive open. The old file is kept beside it, however damaged it is.
    """
    if os.path.lexists(target) and source.resolve() == target.resolve():
        raise FileError(source, "is the file that would be replaced; name a copy of it")
    with closing(DeskLock(target)):
        new = target.with_name(f".{target.name}.restored")
        n_decisions = copy_database(source, new)
        if target.is_file() and not target.is_symlink():
            # others who share the archive may go on reading and writing it
            os.chmod(new, stat.S_IMODE(target.stat().st_mode))
        kept = _put_aside(target) if os.path.lexists(target) else None
        os.replace(new, target)
    return n_decisions, kept


def _umask() -> int:
    """What new files are closed for; a temporary one is closed for all others."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _put_aside(path: Path) -> Path:
    with suppress(sqlite3.Error, FileError):
        check_database_files(path)  # SQLite follows what a stranger put beside it
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    stamp = datetime.now().strftime("%Y-%m-%d-%H%M%S-%f")
    kept = path.with_name(f"{path.stem}-until-{stamp}{path.suffix}")
    for end in ("", *_BESIDE):
        with suppress(FileNotFoundError):
            os.replace(f"{path}{end}", f"{kept}{end}")
    return kept

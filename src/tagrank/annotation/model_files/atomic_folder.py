"""A folder that takes the place of another in one step, even if the process is killed meanwhile.

It is filled under a hidden name beside its place, ``.model.0123456789ab.part``, and locked meanwhile. Where
the system exchanges two names in one step (Linux, macOS), a whole folder is in place at any time. Elsewhere
the old folder is first set aside as ``.model.0123456789ab.old``, and readers look for it there.
"""

import ctypes
import errno
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from tagrank.files import name_culprit

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_AT_FDCWD, _RENAME_EXCHANGE, _RENAME_SWAP = -100, 2, 2
# how systems and file systems say that they cannot exchange names; EPERM: some containers
_NO_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which takes the place of `path` only when the block ends without an error.

    Whether what is at `path` may be replaced is for the caller to decide. Of several processes that fill
    folders for the same place, each puts its own there; the last one stays.
    """
    fresh, lock = _make_locked(path)
    old = fresh.with_suffix(".old")
    try:
        yield fresh
        for entry in (*fresh.rglob("*"), fresh):
            _sync(entry)
        _put_in_place(fresh, old, path)
        _sync(path.parent)
    except BaseException as error:
        _put_back(old, path)
        if isinstance(error, OSError):
            name_culprit(error, fresh, path)
        raise
    finally:
        _clear(fresh, old, path)
        if lock is not None:
            os.close(lock)
    _sweep(path)


def folders_set_aside(path: Path) -> list[Path]:
    """Where the folder at `path` may be while its place is empty; the newest first."""
    by_age = []
    for place in _neighbours(path, "old"):
        with suppress(OSError):
            by_age.append((place.stat().st_mtime_ns, place))
    return [place for _, place in sorted(by_age, reverse=True)]


def _put_in_place(fresh: Path, old: Path, path: Path) -> None:
    while True:
        try:
            return _exchange(fresh, path)
        except FileNotFoundError:
            pass
        except OSError as error:
            if error.errno not in _NO_EXCHANGE:
                raise
            shutil.rmtree(old, ignore_errors=True)
            with suppress(FileNotFoundError):
                os.rename(path, old)
        try:
            return os.rename(fresh, path)
        except OSError as error:
            # another process has just put its folder there
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise


def _put_back(old: Path, path: Path) -> None:
    if not os.path.lexists(path):
        with suppress(OSError):
            os.rename(old, path)


def _clear(fresh: Path, old: Path, path: Path) -> None:
    shutil.rmtree(fresh, ignore_errors=True)
    if os.path.lexists(path):
        shutil.rmtree(old, ignore_errors=True)


def _sweep(path: Path) -> None:
    """Remove what processes that no longer live have left beside `path`."""
    # listed first: whatever is at the place afterwards is newer than these
    strays = [*_neighbours(path, "part"), *_neighbours(path, "old")]
    for stray in strays if path.is_dir() else ():
        with suppress(OSError):
            lock = _lock(stray)
            if lock is not None:
                shutil.rmtree(stray, ignore_errors=True)
                os.close(lock)


def _neighbours(path: Path, kind: str) -> list[Path]:
    own = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{12}}\.{kind}")
    try:
        return [path.with_name(name) for name in os.listdir(path.parent) if own.fullmatch(name)]
    except OSError:
        return []


def _make_locked(path: Path) -> tuple[Path, int | None]:
    """A new folder beside `path`, and the descriptor that keeps it locked."""
    while True:
        fresh = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
        try:
            fresh.mkdir()
        except OSError as error:
            name_culprit(error, fresh, path)
            raise
        # before it was locked, another process may have taken it for a stray
        with suppress(BlockingIOError, FileNotFoundError):
            return fresh, _lock(fresh)


def _lock(folder: Path) -> int | None:
    """A descriptor that keeps `folder` locked while the process lives; None where folders cannot be."""
    if fcntl is None:
        return None
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.stat(folder)
        return descriptor
    except OSError as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError | FileNotFoundError):
            raise
        return None


def _exchange(first: Path, second: Path) -> None:
    """Exchange two names in one step, or raise an OSError with one of `_NO_EXCHANGE`."""
    call = _system_exchange()
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), str(second))
    if call(os.fsencode(first), os.fsencode(second)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(second))


@cache
def _system_exchange() -> Any:
    if sys.platform not in ("linux", "darwin"):
        return None
    library = ctypes.CDLL(None, use_errno=True)
    if hasattr(library, "renameat2"):
        return lambda a, b: library.renameat2(_AT_FDCWD, a, _AT_FDCWD, b, _RENAME_EXCHANGE)
    if hasattr(library, "renamex_np"):
        return lambda a, b: library.renamex_np(a, b, _RENAME_SWAP)
    return None


def _sync(path: Path) -> None:
    # Windows can neither open nor sync a folder
    if path.is_dir() and os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Whether something can be written, asked before the work and not after it."""

import os
import tempfile
from pathlib import Path

from tagrank.errors import ArgumentError


def check_file(path: str | os.PathLike) -> None:
    """Raise unless a file could be written at `path`."""
    if Path(path).is_dir():
        raise IsADirectoryError(f"{os.fspath(path)} is a folder; name a file")
    _check_writable(Path(path))


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
            raise ArgumentError(f"{other} and {words} are the same file; name two")


def _check_writable(path: Path) -> None:
    """The nearest folder above `path` that exists must let us write."""
    above = next(folder for folder in path.absolute().parents if folder.exists())
    if not above.is_dir():
        raise NotADirectoryError(f"{above} is a file, so {path} cannot be made")
    try:
        # permissions do not tell of file systems that take no files
        os.rmdir(tempfile.mkdtemp(prefix=".tagrank-", dir=above))
    except PermissionError:
        raise PermissionError(f"{path} cannot be written: no permission to write into {above}") from None
    except OSError as error:
        raise OSError(
            f"{path} cannot be written: {above} takes no files ({error.strerror}); choose another place"
        ) from None

"""Whether something can be written, asked before the work and not after it."""

import os
from pathlib import Path


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


def _check_writable(path: Path) -> None:
    """The nearest folder above `path` that exists must let us write."""
    above = next(folder for folder in path.absolute().parents if folder.exists())
    if not above.is_dir():
        raise NotADirectoryError(f"{above} is a file, so {path} cannot be made")
    if not os.access(above, os.W_OK | os.X_OK):
        raise PermissionError(f"no permission to write into {above}")

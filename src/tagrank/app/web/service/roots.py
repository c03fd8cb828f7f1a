"""Paths that strangers name: only what really lies below one folder."""

from pathlib import Path

from tagrank.data.picture_files import PICTURE_SUFFIXES
from tagrank.errors import ArgumentError


class Root:
    """A folder whose pictures may be named by path, wherever links in it seem to lead."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise ArgumentError(f"root {folder} is no folder; name one that holds the pictures to serve")
        self.folder = folder.resolve()

    def find(self, name: str) -> Path:
        """The picture; whether other files exist is not told."""
        try:
            path = (self.folder / name).resolve(strict=True)
            is_inside = path.is_relative_to(self.folder) and path.is_file()
        except (OSError, ValueError, RuntimeError):
            is_inside = False
        if not is_inside or path.suffix.casefold() not in PICTURE_SUFFIXES:
            raise LookupError("there is no such picture below the root")
        return path

"""What could not be used, and why: one bad file does not stop a collection."""

import os
from dataclasses import dataclass

from tagrank.files import FileError


@dataclass(frozen=True)
class Problem:
    """A file that was left out, or not wholly understood.

    Attributes
    ----------
    path : the file
    reason : a sentence
    """

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class ProblemLog:
    """Gathers problems; a strict one raises the first as a `FileError`."""

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict
        self._found: dict[Problem, None] = {}

    def add(self, path: str | os.PathLike, reason: str) -> None:
        """Note a problem with `path`."""
        if self.strict:
            raise FileError(path, reason)
        self._found[Problem(os.fspath(path), reason)] = None

    def add_error(self, path: str | os.PathLike, error: Exception) -> None:
        """Note an error whose message may begin with the path already."""
        self.add(path, str(error).removeprefix(f"{os.fspath(path)}: "))

    def listed(self) -> tuple[Problem, ...]:
        """All problems, each once, in the order in which they were met."""
        return tuple(self._found)

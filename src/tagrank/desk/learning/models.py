"""The models of a desk, one folder each, written in one step: ``models/1``, ``models/2``, ...

They lie with what the user keeps about an archive, never in the folder of the pictures: models are believed,
and old ones removed.

A folder holds ``facts.json``, ``tags.json``, ``ids.npy`` and ``probabilities.npy``; of the newest models also
``model``, which `tagrank annotate` takes, and ``solutions``, from which the next training starts.
"""

import os
import re
import shutil
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tagrank.annotation.model_files.atomic_folder import atomic_folder
from tagrank.annotation.model_files.plain_json import format_json, parse_json
from tagrank.desk.learning.proposals import (
    FACTS,
    HELD_OUT,
    IDS,
    MODEL,
    PROBABILITIES,
    SMALLEST,
    SOLUTIONS,
    TAGS,
    Proposals,
    read_facts,
    read_text,
)
from tagrank.files import FileError, atomic_write

KEPT = 20  # models
KEPT_WHOLE = 3  # models of which all is kept: the rows of their pictures take room
_CURRENT = "current.json"
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_DAMAGE = (OSError, ValueError, LookupError, TypeError, RecursionError)


class Models:
    """Those that a user keeps of an archive.

    Attributes
    ----------
    problems : why folders were passed over when the models were last listed
    """

    def __init__(self, home: str | os.PathLike) -> None:
        self.folder = Path(home) / "models"
        if self.folder.is_symlink():
            # what is pruned there may belong to something else
            raise FileError(self.folder, "is a link, expected a folder of models; remove the link")
        self.problems: list[str] = []
        self._lock = threading.Lock()
        self._whole: set[int] = set()  # those that were read without a problem

    def list(self) -> list[dict[str, Any]]:
        """The facts of each, the newest first; a damaged folder is passed over, see `problems`."""
        found, problems = [], []
        for number in sorted(self._numbers(), reverse=True):
            try:
                found.append(self._facts(number))
            except _DAMAGE as error:
                problems.append(f"model {number} is passed over: {error}")
        self.problems = problems
        return found

    @property
    def current(self) -> int | None:
        """The model that answers: the one in use, the newest where that is damaged, None where none is."""
        numbers = sorted(self._numbers(), reverse=True)
        with suppress(*_DAMAGE):
            wanted = parse_json(read_text(self.folder / _CURRENT), where=_CURRENT).take("number", int)
            numbers.sort(key=lambda number: number != wanted)
        return next((number for number in numbers if self._is_whole(number)), None)

    def use(self, number: int) -> None:
        """Let a model answer from now on."""
        self.open(number)
        with self._lock, atomic_write(self.folder / _CURRENT) as file:
            file.write(format_json({"number": int(number)}))

    def open(self, number: int) -> Proposals:
        """What a model says; LookupError if there is none of that number, or it is damaged."""
        if int(number) not in self._numbers():
            raise LookupError(f"there is no model {number}")
        try:
            return Proposals(self.folder / str(int(number)))
        except _DAMAGE as error:
            raise LookupError(f"model {number} is damaged and cannot be used: {error}") from None

    def path(self, number: int, part: str = "") -> Path:
        """The folder of a model, or something in it."""
        return self.folder / str(number) / part

    def write(
        self,
        ids: np.ndarray,
        tags: Sequence[str],
        probabilities: np.ndarray,
        held_out: np.ndarray,
        facts: dict[str, Any],
    ) -> int:
        """A new model, which answers from now on; its number. The arrays are those of `Proposals`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        number = max(self._numbers(), default=0) + 1
        with atomic_folder(self.folder / str(number)) as folder:
            _save(folder / IDS, np.asarray(ids, dtype=np.int64))
            _save(folder / PROBABILITIES, _rounded(probabilities))
            _save(folder / HELD_OUT, _rounded(held_out))
            (folder / TAGS).write_bytes(format_json({"tags": [*tags]}))
            (folder / FACTS).write_bytes(format_json({"number": number, **facts}))
        self.use(number)
        return number

    def prune(self) -> None:
        """Remove the oldest, and what only the newest need; never the model in use."""
        current = self.current
        others = [number for number in sorted(self._numbers(), reverse=True) if number != current]
        for place, number in enumerate(others, start=1):
            if place >= KEPT:
                shutil.rmtree(self.path(number), ignore_errors=True)
            elif place >= KEPT_WHOLE:
                for part in (MODEL, SOLUTIONS):
                    shutil.rmtree(self.path(number, part), ignore_errors=True)
                self.path(number, HELD_OUT).unlink(missing_ok=True)

    def _is_whole(self, number: int) -> bool:
        if number not in self._whole:
            with suppress(LookupError):
                self.open(number)
                self._whole.add(number)
        return number in self._whole

    def _facts(self, number: int) -> dict[str, Any]:
        folder = self.path(number)
        for name in (TAGS, IDS, PROBABILITIES):
            if not (folder / name).is_file():
                raise FileError(folder / name, "is missing")
        return read_facts(folder)

    def _numbers(self) -> set[int]:
        with suppress(FileNotFoundError), os.scandir(self.folder) as entries:
            return {
                int(entry.name)
                for entry in entries
                if _NUMBER.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            }
        return set()


def _rounded(probabilities: np.ndarray) -> np.ndarray:
    """In half precision; none that is not zero becomes zero."""
    return np.where(probabilities > 0, np.maximum(probabilities, SMALLEST), 0).astype(np.float16)


def _save(path: Path, array: np.ndarray) -> None:
    """An array in a file; unlike numpy's own way of writing, this says that the disk is full."""
    with open(path, "xb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)

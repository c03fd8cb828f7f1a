"""The models of a desk, one folder each, written in one step: ``models/1``, ``models/2``, ...

`Proposals` is what one of them says of every picture; nothing in its folder can run code.

They lie with what the user keeps about an archive, never in the folder of the pictures: models are believed,
and old ones removed.

A folder holds ``facts.json``, ``tags.json``, ``ids.npy`` and ``probabilities.npy``; of the newest models also
``model``, which `tagrank annotate` takes, ``solutions``, from which the next training starts, and
``companions.npy``, what known tags say about others.
"""

import os
import re
import shutil
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tagrank.annotation.model_files.atomic_folder import atomic_folder
from tagrank.annotation.model_files.contents import format_json, parse_json
from tagrank.array_files import load_npy, map_npy, write_npy
from tagrank.files import FileError, atomic_write, open_plain

if TYPE_CHECKING:
    from tagrank.annotation import Annotator
    from tagrank.estimators.calibration.companions import Companions

PROPOSED = 0.2  # from here on a tag counts as proposed: one of five such tags is true, or more
FACTS, TAGS, IDS, PROBABILITIES = "facts.json", "tags.json", "ids.npy", "probabilities.npy"
# what is kept of the newest models only
HELD_OUT, MODEL, SOLUTIONS = "held_out.npy", "model", "solutions"
COMPANIONS, COMPANY = "companions.npy", "company.npy"
SMALLEST = float(np.finfo(np.float16).smallest_subnormal)  # a probability of nothing says: not judged
_MAX_JSON_BYTES = 32 * 2**20
_ROWS_AT_ONCE = 4096
_NEEDED = {"number": int, "made": str, "method": str, "metrics": dict, "decisions": int, "last_decision": int}
KEPT = 20  # models
KEPT_WHOLE = 3  # models of which all is kept: the rows of their pictures take room
_CURRENT = "current.json"
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_DAMAGE = (OSError, ValueError, LookupError, TypeError, RecursionError)


class Proposals:
    """The probabilities of one model.

    Parameters
    ----------
    folder : a folder that `Models.write` wrote

    Attributes
    ----------
    number : of the model
    tags : names of the columns
    ids : int64 array, the numbers of the pictures, ascending
    probabilities : float16 memory map (n, n_tags): that the tag is true, by models that did not see the
        picture; of a tag that was not listed, given that it was not; 0 where there was nothing to go by
    facts : date, method, metrics and the like
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.facts = folder, _read_facts(folder)
        self.number: int = self.facts["number"]
        self.tags = parse_json(_read_text(folder / TAGS), where=TAGS).strings("tags")
        self.ids = load_npy(folder / IDS)
        self._check_ids()
        self.probabilities = self._load_matrix(PROBABILITIES)

    @property
    def is_judged(self) -> np.ndarray:
        """Where there was anything to go by, bool (n, n_tags)."""
        return np.asarray(self.probabilities) > 0

    def held_out(self) -> np.ndarray | None:
        """That the tag is true by the picture alone, whatever is listed, float16 (n, n_tags); None if gone.

        By these models are compared: in `probabilities` there is something of the labels themselves.
        """
        return self._load_matrix(HELD_OUT) if (self.folder / HELD_OUT).is_file() else None

    def companions(self) -> "Companions | None":
        """What known tags say about others; None where they say nothing, or it is gone."""
        if not (self.folder / COMPANIONS).is_file() or not (self.folder / HELD_OUT).is_file():
            return None
        from tagrank.estimators.calibration.companions import Companions

        n_tags = len(self.tags)
        matrices, numbers = load_npy(self.folder / COMPANIONS), load_npy(self.folder / COMPANY)
        is_as_expected = matrices.shape == (2, n_tags, n_tags) and numbers.shape == (3,)
        if not is_as_expected or not (np.isfinite(matrices).all() and np.isfinite(numbers).all()):
            raise FileError(self.folder / COMPANIONS, f"must be finite numbers for {n_tags} tags")
        ties, votes = matrices.astype(np.float32)
        return Companions(ties, votes, *map(float, numbers))

    def annotator(self) -> "Annotator":
        """The model of all pictures, which annotates and explains; it is loaded when first asked for."""
        return self._annotator

    @cached_property
    def _annotator(self) -> "Annotator":
        # of all that serves pages only this needs the estimators
        from tagrank.annotation import Annotator

        if not (self.folder / MODEL).is_dir():
            raise LookupError(
                f"model {self.number} has only its proposals left, or it is still being saved; wait a moment "
                "or train again"
            )
        return Annotator.load(self.folder / MODEL)

    def _check_ids(self) -> None:
        if self.ids.dtype != np.int64 or self.ids.ndim != 1 or np.any(np.diff(self.ids) <= 0):
            raise FileError(self.folder / IDS, "must be ascending whole numbers")

    def _load_matrix(self, name: str) -> np.ndarray:
        shape = len(self.ids), len(self.tags)
        matrix = map_npy(self.folder / name, (shape, np.dtype(np.float16)))
        for start in range(0, len(matrix), _ROWS_AT_ONCE):
            part = matrix[start : start + _ROWS_AT_ONCE]
            # nan fails both comparisons
            if not np.all((part >= 0) & (part <= 1)):
                raise FileError(self.folder / name, "must lie between 0 and 1")
        return matrix


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
        facts, problems = [], []
        for number in sorted(self._numbers(), reverse=True):
            try:
                facts.append(self._facts(number))
            except _DAMAGE as error:
                problems.append(f"model {number} was skipped: {error}")
        self.problems = problems
        return facts

    @property
    def current(self) -> int | None:
        """The model that answers: the one in use, the newest where that is damaged, None where none is."""
        numbers = sorted(self._numbers(), reverse=True)
        with suppress(*_DAMAGE):
            in_use = parse_json(_read_text(self.folder / _CURRENT), where=_CURRENT).take("number", int)
            numbers.sort(key=lambda number: number != in_use)
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
        companions: "Companions | None" = None,
    ) -> int:
        """A new model, which answers from now on; its number. All are those of `Proposals`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        number = max(self._numbers(), default=0) + 1
        with atomic_folder(self.folder / str(number)) as folder:
            _save(folder / IDS, np.asarray(ids, dtype=np.int64))
            _save(folder / PROBABILITIES, _rounded(probabilities))
            _save(folder / HELD_OUT, _rounded(held_out))
            if companions is not None:
                _save(folder / COMPANIONS, np.stack([companions.ties, companions.votes]).astype(np.float32))
                _save(folder / COMPANY, np.array(companions.numbers))
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
                for name in (HELD_OUT, COMPANIONS, COMPANY):
                    self.path(number, name).unlink(missing_ok=True)

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
        return _read_facts(folder)

    def _numbers(self) -> set[int]:
        with suppress(FileNotFoundError), os.scandir(self.folder) as entries:
            return {
                int(entry.name)
                for entry in entries
                if _NUMBER.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            }
        return set()


def model_rows(listed: list[dict[str, Any]], current: int | None) -> list[dict[str, Any]]:
    """The facts of models, the newest first, with their quality on the same pictures and labels.

    These are the labels that the newest was trained on, see `measured_facts`. A model that was not measured
    on them (`is_compared` says so) has the quality that it had when it was made.
    """
    newest = listed[0] if listed else {}
    others = newest.get("others", {})
    rows = []
    for facts in listed:
        told = others.get(str(facts["number"]), {}) if facts is not newest else facts
        row = {name: value for name, value in facts.items() if name != "others"} | {
            "quality": told.get("quality", facts.get("quality")),
            "metrics": told.get("metrics", facts["metrics"]),
            "is_compared": "quality" in told,
            "current": facts["number"] == current,
        }
        rows.append(row)
    return rows


def model_json(listed: list[dict[str, Any]], number: int) -> dict[str, Any] | None:
    """The model that answers, with the quality that the list of models tells."""
    told = ("number", "made", "method", "metrics", "quality", "is_compared")
    rows = model_rows(listed, number)
    return next(({name: row[name] for name in told} for row in rows if row["current"]), None)


def _rounded(probabilities: np.ndarray) -> np.ndarray:
    """In half precision; none that is not zero becomes zero."""
    return np.where(probabilities > 0, np.maximum(probabilities, SMALLEST), 0).astype(np.float16)


def _save(path: Path, array: np.ndarray) -> None:
    with open(path, "xb") as file:
        write_npy(file, array.shape, array.dtype, [array])


def _read_facts(folder: Path) -> dict[str, Any]:
    """Date, method, metrics and the like of a model."""
    facts = parse_json(_read_text(folder / FACTS), where=FACTS).rest()
    for name, kind in _NEEDED.items():
        if type(facts.get(name)) is not kind:
            raise FileError(folder / FACTS, f"{name!r} must be {kind.__name__}")
    if str(facts["number"]) != folder.name.split(".")[0]:
        raise FileError(folder / FACTS, f"is about model {facts['number']}")
    return facts


def _read_text(path: Path) -> bytes:
    """A plain file that is not too large to be parsed."""
    with open(open_plain(path, os.O_RDONLY), "rb") as file:
        content = file.read(_MAX_JSON_BYTES + 1)
    if len(content) > _MAX_JSON_BYTES:
        raise FileError(path, f"holds more than {_MAX_JSON_BYTES:,} bytes")
    return content

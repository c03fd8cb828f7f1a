"""What one model says of every picture, read from its folder; nothing in it can run code."""

import os
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tagrank.annotation.model_files.plain_json import parse_json
from tagrank.files import FileError, load_npy, map_npy, open_plain

FACTS, TAGS, IDS, PROBABILITIES = "facts.json", "tags.json", "ids.npy", "probabilities.npy"
# what is kept of the newest models only
HELD_OUT, MODEL, SOLUTIONS = "held_out.npy", "model", "solutions"
SMALLEST = float(np.finfo(np.float16).smallest_subnormal)  # a probability of nothing says: not judged
_MAX_JSON_BYTES = 32 * 2**20
_ROWS_AT_ONCE = 4096
_NEEDED = {"number": int, "made": str, "method": str, "metrics": dict, "decisions": int, "last_decision": int}


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
        self.folder, self.facts = folder, read_facts(folder)
        self.number: int = self.facts["number"]
        self.tags = parse_json(read_text(folder / TAGS), where=TAGS).strings("tags")
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

    def annotator(self) -> Any:
        """The model of all pictures, which annotates and explains; it is loaded when first asked for."""
        return self._annotator

    @cached_property
    def _annotator(self) -> Any:
        # of all that serves pages only this needs the estimators
        from tagrank.annotation import Annotator

        if not (self.folder / MODEL).is_dir():
            raise LookupError(
                f"of model {self.number} only the proposals are kept, or it is still being saved; wait a "
                "moment, or train again"
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


def read_facts(folder: Path) -> dict[str, Any]:
    """Date, method, metrics and the like of a model."""
    facts = parse_json(read_text(folder / FACTS), where=FACTS).rest()
    for name, kind in _NEEDED.items():
        if type(facts.get(name)) is not kind:
            raise FileError(folder / FACTS, f"{name!r} must be {kind.__name__}")
    if str(facts["number"]) != folder.name.split(".")[0]:
        raise FileError(folder / FACTS, f"is about model {facts['number']}")
    return facts


def read_text(path: Path) -> bytes:
    """A plain file that is not too large to be parsed."""
    with open(open_plain(path, os.O_RDONLY), "rb") as file:
        content = file.read(_MAX_JSON_BYTES + 1)
    if len(content) > _MAX_JSON_BYTES:
        raise FileError(path, f"holds more than {_MAX_JSON_BYTES:,} bytes")
    return content

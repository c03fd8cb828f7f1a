"""A folder that remembers what is done: a JSON file for each method on each fold, and the settings of all."""

import json
import os
import re
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from tagrank.commands.compare.folds import Fold
from tagrank.commands.destinations import check_folder
from tagrank.errors import ArgumentError
from tagrank.files import atomic_write

SETTINGS = "comparison.json"
WAY_OUT = "name another folder, or begin anew with fresh=True"


class Store:
    """What is done, in a folder; without one, in memory.

    Parameters
    ----------
    folder : a new one, an empty one, or one of an earlier comparison
    """

    def __init__(self, folder: str | os.PathLike | None) -> None:
        self.folder = None if folder is None else Path(folder)
        if self.folder is not None:
            check_folder(self.folder)
            self._check_ours()

    def begin(self, settings: Mapping[str, Any], folds: list[Fold], *, fresh: bool) -> None:
        """Raise if the folder was begun with other settings or data; `fresh` forgets what it holds."""
        if self.folder is None:
            return
        known = {} if fresh else self._read(SETTINGS) or {}
        if fresh:
            self._clear()
        data = {name: list(prints) for name, prints in (known.get("data") or {}).items()}
        _check_same(self.folder, known, settings)
        for fold in folds:
            prints = data.setdefault(fold.data, [])
            if fold.number < len(prints) and prints[fold.number] != fold.fingerprint:
                raise ArgumentError(f"{self.folder} was begun with other content of {fold.data!r}; {WAY_OUT}")
            prints[fold.number :] = [fold.fingerprint, *prints[fold.number + 1 :]]
        self._write(SETTINGS, {**settings, "data": data})

    def find(self, fold: Fold, method: str) -> dict[str, Any] | None:
        """What is known of a method on a fold."""
        return None if self.folder is None else self._read(_file_name(fold, method))

    def keep(self, fold: Fold, method: str, found: Mapping[str, Any]) -> None:
        """Remember what came out of a method on a fold."""
        if self.folder is not None:
            self._write(_file_name(fold, method), {"data": fold.data, "fold": fold.number, **found})

    def _check_ours(self) -> None:
        assert self.folder is not None
        if self.folder.is_dir() and any(self.folder.iterdir()) and not (self.folder / SETTINGS).is_file():
            raise ArgumentError(
                f"{self.folder} holds other files and no comparison; name a new or an empty folder"
            )

    def _clear(self) -> None:
        assert self.folder is not None
        for path in self.folder.glob("unit-*.json"):
            path.unlink()
        (self.folder / SETTINGS).unlink(missing_ok=True)

    def _read(self, name: str) -> dict[str, Any] | None:
        assert self.folder is not None
        try:
            found = json.loads((self.folder / name).read_text())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def _write(self, name: str, content: Mapping[str, Any]) -> None:
        assert self.folder is not None
        self.folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(self.folder / name, text=True) as stream:
            json.dump(content, stream)


def _check_same(folder: Path, known: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    differing = [name for name in settings if known and known.get(name) != settings[name]]
    if differing:
        words = ", ".join(f"{name} was {known.get(name)}, is {settings[name]}" for name in differing)
        raise ArgumentError(f"{folder} was begun otherwise ({words}); {WAY_OUT}")


def _file_name(fold: Fold, method: str) -> str:
    word = re.sub(r"[^A-Za-z0-9]+", "-", fold.data).strip("-")[:40]
    mark = blake2b(fold.data.encode(errors="replace"), digest_size=4).hexdigest()
    return f"unit-{word}-{mark}-{fold.number}-{method}.json"

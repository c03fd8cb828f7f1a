"""Units of a comparison in processes of their own: one that dies, hangs or fails stops none of the others.

A folder remembers what is done: a JSON file for each method on each fold, and the settings of all.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from tagrank.commands.compare.folds import Fold
from tagrank.commands.compare.result import DONE, FAILED, SLOW, TOO_LARGE
from tagrank.commands.compare.unit import Unit, run_unit, unanswered
from tagrank.commands.destinations import check_folder
from tagrank.errors import ArgumentError
from tagrank.estimators.kernel_estimator import KernelEstimator
from tagrank.estimators.methods import find_method
from tagrank.estimators.methods.method import coefficients
from tagrank.files import atomic_write
from tagrank.progress import Progress
from tagrank.resources import available_memory, count_threads, gibibytes
from tagrank.workers import TooSlow, WorkerDied, WorkerPool

COMPARING = "comparing methods"
Key = tuple[str, int, str]


SETTINGS = "comparison.json"
WAY_OUT = "name another folder, or start again with fresh=True"


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
                raise ArgumentError(
                    f"{self.folder} has results for other content of {fold.data!r}; {WAY_OUT}"
                )
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
            raise ArgumentError(f"{self.folder} has files, but no comparison; name a new or an empty folder")

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
        words = ", ".join(f"{name} was {known.get(name)} and is now {settings[name]}" for name in differing)
        raise ArgumentError(f"{folder} has results for other settings ({words}); {WAY_OUT}")


def _file_name(fold: Fold, method: str) -> str:
    word = re.sub(r"[^A-Za-z0-9]+", "-", fold.data).strip("-")[:40]
    mark = blake2b(fold.data.encode(errors="replace"), digest_size=4).hexdigest()
    return f"unit-{word}-{mark}-{fold.number}-{method}.json"


def _key(unit: Unit) -> Key:
    return unit.fold.data, unit.fold.number, unit.method


def run_units(
    units: Sequence[Unit], store: Store, n_jobs: int | None, progress: Progress | None
) -> tuple[dict[Key, dict[str, Any]], int]:
    """What came out of every unit, and how many of them had been done before."""
    found = {_key(unit): known for unit in units if (known := _known(unit, store)) is not None}
    n_before = len(found)
    left = [unit for unit in units if _key(unit) not in found]
    tell = progress or (lambda done, total, what: None)
    tell(n_before, len(units), COMPARING)
    for unit, answer in _answers(left, n_jobs):
        found[_key(unit)] = answer
        store.keep(unit.fold, unit.method, {"method": unit.method, "max_seconds": unit.max_seconds, **answer})
        tell(len(found), len(units), COMPARING)
    return found, n_before


def _known(unit: Unit, store: Store) -> dict[str, Any] | None:
    """What was done before; what failed, or was cut short by another limit of seconds, is done again."""
    known = store.find(unit.fold, unit.method)
    if known is None or known.get("state") != DONE:
        return None
    tuning = known["tuning"]
    is_cut = tuning is not None and not tuning["is_complete"] and known["max_seconds"] != unit.max_seconds
    return None if is_cut else known


def _answers(units: Sequence[Unit], n_jobs: int | None) -> Iterator[tuple[Unit, dict[str, Any]]]:
    """Units as they are done; first those that fit into memory side by side, then those that need it all."""
    memory, n_workers = available_memory(), min(count_threads(n_jobs), max(1, len(units)))
    together, alone = [], []
    for unit in units:
        needed, only_linear = _needs(unit, memory)
        if needed > memory:
            yield (
                unit,
                unanswered(
                    TOO_LARGE,
                    f"needs about {gibibytes(needed)} of memory, but only {gibibytes(memory)} are free",
                ),
            )
        elif needed * n_workers > memory:
            alone.append(replace(unit, only_linear=only_linear))
        else:
            together.append(replace(unit, only_linear=only_linear))
    for group, n_jobs_now in ((together, n_workers), (alone, 1)):
        if group:
            yield from _in_processes(group, n_jobs_now)


def _needs(unit: Unit, memory: float) -> tuple[float, bool]:
    """Bytes that a unit takes, and whether it must do without similarities of all rows with each other."""
    entry, fold = find_method(unit.method), unit.fold
    sizes = fold.n_train, fold.n_columns, fold.n_tags
    needed = entry.memory(*sizes)
    if needed > memory and fold.kind == "row" and issubclass(entry.load(), KernelEstimator):
        return coefficients(*sizes), True
    return needed, False


def _in_processes(units: Sequence[Unit], n_workers: int) -> Iterator[tuple[Unit, dict[str, Any]]]:
    n_threads = max(1, count_threads() // n_workers)
    pool = WorkerPool(run_unit, n_workers=n_workers, n_threads=n_threads, max_seconds=units[0].max_seconds)
    questions = [replace(unit, n_threads=n_threads) for unit in units]
    with closing(pool.map(questions)) as answers:
        for unit, answer in answers:
            if isinstance(answer, TooSlow):
                answer = unanswered(SLOW, f"not finished within {unit.max_seconds:g} seconds")
            elif isinstance(answer, WorkerDied):
                answer = unanswered(FAILED, f"its process crashed ({answer})")
            yield unit, answer

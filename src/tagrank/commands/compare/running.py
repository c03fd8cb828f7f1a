"""Units of a comparison in processes of their own: one that dies, hangs or fails stops none of the others."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from tagrank.commands.compare.store import Store
from tagrank.commands.compare.unit import DONE, FAILED, SLOW, TOO_LARGE, Unit, run_unit, unanswered
from tagrank.estimators.kernel_estimator import KernelEstimator
from tagrank.estimators.methods import find_method
from tagrank.estimators.methods.method import coefficients
from tagrank.progress import Progress
from tagrank.resources import available_memory, count_threads, gibibytes
from tagrank.workers import TooSlow, WorkerDied, WorkerPool

COMPARING = "comparing methods"
Key = tuple[str, int, str]


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
                    TOO_LARGE, f"needs about {gibibytes(needed)} of memory, {gibibytes(memory)} are free"
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
                answer = unanswered(FAILED, f"its process ended before it answered ({answer})")
            yield unit, answer

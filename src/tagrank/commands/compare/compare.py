"""Methods side by side on any data: each tuned on the training part, then trained and measured alike."""

import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tagrank._version import __version__
from tagrank.annotation.bank.picture_keys import Progress
from tagrank.annotation.criterion import find_criterion
from tagrank.annotation.describing import Cache
from tagrank.annotation.search import HALVING, SEARCHES
from tagrank.commands.compare.folds import Division, Fold, keep_rows
from tagrank.commands.compare.result import BASELINES, Comparison, DataResult, signed, summarise
from tagrank.commands.compare.store import Store
from tagrank.commands.compare.unit import DONE, FAILED, SLOW, TOO_LARGE, Unit, run_unit, unanswered
from tagrank.commands.destinations import check_apart
from tagrank.commands.picture_rows import name_features
from tagrank.data import Collection
from tagrank.errors import ArgumentError, did_you_mean
from tagrank.estimators.kernel_estimator import KernelEstimator
from tagrank.estimators.methods import METHODS, find_method
from tagrank.estimators.methods.method import coefficients
from tagrank.features import Feature
from tagrank.memory import available_memory, gibibytes
from tagrank.metrics.average_ranks import AverageRanks, average_ranks
from tagrank.parallel import count_threads
from tagrank.validation import check_choice, check_positive
from tagrank.workers import TooSlow, WorkerDied, WorkerPool

ALL = "all"
USUAL_METRICS = ("Image-AUC", "Image-MAP", "Micro-F1", "Macro-F1", "Example-F1")
COMPARING = "comparing methods"


def compare(
    data: Collection | str | os.PathLike | Sequence[Collection | str | os.PathLike],
    output: str | os.PathLike | None = None,
    *,
    methods: str | Sequence[str] = ALL,
    metric: str | None = None,
    metrics: str | Sequence[str] = USUAL_METRICS,
    folds: int | None = None,
    test_size: float | None = None,
    search: str = HALVING,
    max_seconds: float | None = None,
    seed: int = 0,
    fresh: bool = False,
    view: str | None = None,
    features: str | Sequence[str] | Mapping[str, Feature] | None = None,
    cache: Cache = True,
    strict: bool = False,
    machine_tags: bool = False,
    join_sidecars: bool = False,
    hierarchy: str = "keep",
    lower_case: bool = False,
    synonyms: Mapping[str, str] | None = None,
    min_count: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Tune, train and measure methods on the same rows, and put them side by side.

    The parameters of each method are searched on the training part alone, see `tune`; then it is trained with
    the best as `train` does and measured on the test part as `evaluate` does. A method that fails, is too
    slow or would not fit into memory gets a line that says so.

    Parameters
    ----------
    data : a Collection, a folder of pictures, a file or a name, as `open_collection` takes it; or several
    output : a folder that remembers what is done: started again, the comparison goes on there
    methods : names and families of `methods`, or "all"; label frequency and logistic regression always run
    metric : by which parameters are chosen and methods are ordered, a name of `catalog_metrics`; by default
        the mean of Image-MAP and Image-AUC
    metrics : those that are shown, with intervals; the figures of all others are in the answer
    folds : cross-validate on so many; each tunes on its own training part
    test_size : share of the rows to measure on; by default the official test part, or a quarter
    search : {"halving", "grid"}, see `tune`
    max_seconds : of a method on a fold: after half of them its tuning ends with the best so far, after all
        it is ended
    seed : for everything random
    fresh : forget what the folder holds
    view, features, cache, strict, machine_tags, join_sidecars, hierarchy, lower_case, synonyms, min_count :
        as in `train`
    n_jobs : methods at the same time, in processes of their own; as many as there are cores by default
    progress : called with how much is done, of how much, and what is being done

    Returns
    -------
    Comparison
    """
    started = time.perf_counter()
    check_choice("search", search, SEARCHES)
    if folds is not None and test_size is not None:
        raise ArgumentError(f"folds={folds} and test_size={test_size} exclude each other")
    if max_seconds is not None:
        check_positive("max_seconds", max_seconds)
    names, shown = choose_methods(methods), choose_metrics(metrics)
    collections = _several(data)
    check_apart(collections, output=output)
    criterion = find_criterion(metric)
    division = Division(
        folds,
        test_size,
        seed,
        {"strict": strict, "machine_tags": machine_tags, "join_sidecars": join_sidecars},
        {"hierarchy": hierarchy, "fold_case": lower_case, "synonyms": synonyms or {}},
        min_count,
        name_features(features),
        {"cache": cache, "n_jobs": n_jobs, "strict": strict, "progress": progress},
    )
    store = Store(output)
    with tempfile.TemporaryDirectory(prefix="tagrank-compare-") as folder:
        all_folds = _divide(division, collections, Path(folder))
        if metric is None:
            criterion = find_criterion(None, min(fold.n_tags for fold in all_folds))
        settings = {
            "version": __version__,
            "metric": criterion.name,
            "metrics": list(shown),
            "folds": folds,
            "test_size": test_size,
            "search": search,
            "seed": seed,
            "view": view,
        }
        store.begin(settings, all_folds, fresh=fresh)
        unit = Unit(all_folds[0], "", criterion.name, shown, search, view, seed, 1, max_seconds)
        units = [replace(unit, fold=fold, method=name) for fold in all_folds for name in names]
        found, n_before = _run(units, store, n_jobs, progress)
    results = _results(all_folds, names, found, criterion.name, shown)
    ranks, over = _ranks(results, found, criterion.name)
    problems = tuple(dict.fromkeys(problem for fold in all_folds for problem in fold.problems))
    seconds = time.perf_counter() - started
    return Comparison(results, criterion.name, shown, ranks, over, seconds, n_before, problems)


def choose_methods(wanted: str | Sequence[str]) -> list[str]:
    """Methods by name or family, in the order of the registry, and those that all are measured by."""
    words = [wanted] if isinstance(wanted, str) else list(wanted)
    words = [word.strip() for text in words for word in text.split(",") if word.strip()] or [ALL]
    families = {entry.family.replace(" ", "-") for entry in METHODS}
    known = [ALL, *sorted(families), *(entry.name for entry in METHODS)]
    for word in words:
        if word.replace(" ", "-") not in known:
            raise ArgumentError(
                f"no method or family {word!r}{did_you_mean(word, known)}; 'tagrank methods' lists them"
            )
    chosen = {word.replace(" ", "-") for word in words}
    return [
        entry.name
        for entry in METHODS
        if entry.name in BASELINES or {ALL, entry.name, entry.family.replace(" ", "-")} & chosen
    ]


def choose_metrics(wanted: str | Sequence[str]) -> tuple[str, ...]:
    """Metrics by name, as the catalogue spells them."""
    words = [wanted] if isinstance(wanted, str) else list(wanted)
    words = [word.strip() for text in words for word in text.split(",") if word.strip()]
    return tuple(dict.fromkeys(find_criterion(word).name for word in words))


def _several(data: Any) -> list[Any]:
    if isinstance(data, Collection | str | os.PathLike):
        return [data]
    if not (found := list(data)):
        raise ArgumentError("there is nothing to compare on; name a folder of pictures, a file or a data set")
    return found


def _divide(division: Division, collections: Sequence[Any], folder: Path) -> list[Fold]:
    folds: list[Fold] = []
    for one in collections:
        taken, name = {fold.data for fold in folds}, ""
        for number, rows in enumerate(division.divide(one)):
            name = name or _free_name(rows.train.name or "data", taken)
            folds.append(keep_rows(rows, name, number, folder))
    return folds


def _free_name(name: str, taken: set[str]) -> str:
    free = name
    while free in taken:
        free = f"{name} ({len(taken) + 1})"
    return free


Key = tuple[str, int, str]


def _key(unit: Unit) -> Key:
    return unit.fold.data, unit.fold.number, unit.method


def _run(
    units: Sequence[Unit], store: Store, n_jobs: int | None, progress: Progress | None
) -> tuple[dict[Key, dict[str, Any]], int]:
    """What came out of every unit, and how many of them had been done before."""
    found = {_key(unit): known for unit in units if (known := _known(unit, store)) is not None}
    n_before = len(found)
    left = [unit for unit in units if _key(unit) not in found]
    for unit, answer in _answers(left, n_jobs):
        if progress is not None:
            progress(len(found), len(units), COMPARING)
        found[_key(unit)] = answer
        store.keep(unit.fold, unit.method, {"method": unit.method, "max_seconds": unit.max_seconds, **answer})
        if progress is not None:
            progress(len(found), len(units), COMPARING)
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


def _results(
    folds: Sequence[Fold],
    names: Sequence[str],
    found: Mapping[Key, dict[str, Any]],
    criterion: str,
    metrics: Sequence[str],
) -> list[DataResult]:
    by_data: dict[str, list[Fold]] = {}
    for fold in folds:
        by_data.setdefault(fold.data, []).append(fold)
    return [
        summarise(
            data,
            its_folds,
            {name: [found[data, fold.number, name] for fold in its_folds] for name in names},
            criterion,
            metrics,
        )
        for data, its_folds in by_data.items()
    ]


def _ranks(
    results: Sequence[DataResult], found: Mapping[Key, dict[str, Any]], criterion: str
) -> tuple[AverageRanks | None, str]:
    """Over data sets where there are several, else over the folds of the only one."""
    if len(results) > 1:
        over, blocks = (
            "data sets",
            [{line.method: line.values[criterion] for line in one.lines if line.is_done} for one in results],
        )
    else:
        over, blocks = (
            "folds",
            [
                {
                    method: answer["values"][criterion]
                    for (_, number, method), answer in found.items()
                    if number == fold.number and answer["state"] == DONE
                }
                for fold in results[0].folds
            ],
        )
    names = [name for name in blocks[0] if all(not np.isnan(block.get(name, np.nan)) for block in blocks)]
    if len(blocks) < 2 or len(names) < 2:
        return None, over
    values = [[signed(block[name], criterion) for name in names] for block in blocks]
    return average_ranks(names, np.array(values)), over

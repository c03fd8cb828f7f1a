"""Methods side by side on any data: each tuned on the training part, then trained and measured alike."""

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tagrank._version import __version__
from tagrank.annotation.bank.picture_keys import Progress
from tagrank.annotation.describing import Cache
from tagrank.annotation.search.criterion import find_criterion
from tagrank.annotation.search.search import HALVING, SEARCHES
from tagrank.commands.compare.documents import write_latex, write_markdown
from tagrank.commands.compare.folds import Division, Fold, keep_rows
from tagrank.commands.compare.page import write_comparison_page
from tagrank.commands.compare.result import BASELINES, Comparison, DataResult, signed, summarise
from tagrank.commands.compare.running import Key, run_units
from tagrank.commands.compare.store import Store
from tagrank.commands.compare.unit import DONE, Unit
from tagrank.commands.destinations import check_apart, check_distinct, check_file, check_page
from tagrank.commands.picture_rows import name_features
from tagrank.data import Collection
from tagrank.errors import ArgumentError, did_you_mean
from tagrank.estimators.methods import METHODS
from tagrank.features import Feature
from tagrank.metrics.average_ranks import AverageRanks, average_ranks
from tagrank.validation import check_choice, check_positive

ALL = "all"
USUAL_METRICS = ("Image-AUC", "Image-MAP", "Micro-F1", "Macro-F1", "Example-F1")


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
    report: str | os.PathLike | None = None,
    markdown: str | os.PathLike | None = None,
    latex: str | os.PathLike | None = None,
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
    report, markdown, latex : an HTML page, a Markdown file and a LaTeX file to write, or None
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
    check_distinct(report=report, markdown=markdown, latex=latex)
    check_apart(collections, output=output, report=report, markdown=markdown, latex=latex)
    if report is not None:
        check_page(report)
    for path in (markdown, latex):
        if path is not None:
            check_file(path)
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
        found, n_before = run_units(units, store, n_jobs, progress)
    results = _results(all_folds, names, found, criterion.name, shown)
    ranks, over = _ranks(results, found, criterion.name)
    problems = tuple(dict.fromkeys(problem for fold in all_folds for problem in fold.problems))
    seconds = time.perf_counter() - started
    comparison = Comparison(results, criterion.name, shown, ranks, over, seconds, n_before, problems)
    writers = {write_comparison_page: report, write_markdown: markdown, write_latex: latex}
    for write, path in writers.items():
        if path is not None:
            write(path, comparison)
    return comparison


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

"""Methods side by side on any data: each tuned on the training part, then trained and measured alike."""

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tagrank._version import __version__
from tagrank.annotation.choosing import HALVING, SEARCHES, find_criterion
from tagrank.annotation.describing import Cache, name_features
from tagrank.commands.compare.choices import ALL, USUAL_METRICS, choose_methods, choose_metrics
from tagrank.commands.compare.documents import write_latex, write_markdown
from tagrank.commands.compare.folds import Division, Fold, keep_rows
from tagrank.commands.compare.page import write_comparison_page
from tagrank.commands.compare.result import Comparison
from tagrank.commands.compare.running import run_units
from tagrank.commands.compare.store import Store
from tagrank.commands.compare.summary import rank, summarise_all
from tagrank.commands.compare.unit import Unit
from tagrank.commands.destinations import check_apart, check_distinct, check_file, check_page
from tagrank.data import Collection, Reading
from tagrank.errors import ArgumentError
from tagrank.features import Feature
from tagrank.progress import Progress
from tagrank.validation import check_choice, check_positive

WRITERS = {"report": write_comparison_page, "markdown": write_markdown, "latex": write_latex}


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
    reading: Reading = Reading(),
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
    view, features, cache, reading : as in `train`
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
    pages = {"report": report, "markdown": markdown, "latex": latex}
    _check_pages(pages)
    check_apart(collections, output=output, **pages)
    criterion = find_criterion(metric)
    division = Division(
        folds,
        test_size,
        seed,
        reading,
        reading.spelling(),
        name_features(features),
        {"cache": cache, "n_jobs": n_jobs, "strict": reading.strict, "progress": progress},
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
    results = summarise_all(all_folds, names, found, criterion.name, shown)
    ranks, over = rank(results, found, criterion.name)
    problems = tuple(dict.fromkeys(problem for fold in all_folds for problem in fold.problems))
    seconds = time.perf_counter() - started
    comparison = Comparison(results, criterion.name, shown, ranks, over, seconds, n_before, problems)
    for name, path in pages.items():
        if path is not None:
            WRITERS[name](path, comparison)
    return comparison


def _check_pages(pages: Mapping[str, str | os.PathLike | None]) -> None:
    """Raise unless all can be written."""
    check_distinct(**pages)
    for name, path in pages.items():
        if path is not None:
            (check_page if name == "report" else check_file)(path)


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

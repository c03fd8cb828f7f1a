"""Methods side by side on any data: each tuned on the training part, then trained and measured alike."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tagrank._version import __version__
from tagrank.commands.compare.result import (
    BASELINES,
    Comparison,
    DataResult,
    chosen_words,
    legend,
    rank_words,
    said,
    shown_metrics,
    table_lines,
)
from tagrank.commands.options import (
    CACHE,
    DATA,
    FEATURES,
    JOBS,
    METRIC,
    OUTPUT,
    SEARCH,
    SEED,
    VIEW,
    compared_names,
    metric_names,
)
from tagrank.commands.tables import BEST, QUIET, WRONG, Screen, counted, table_of, text_of
from tagrank.data.reading import Reading
from tagrank.errors import ArgumentError, did_you_mean
from tagrank.estimators.methods import METHODS, find_method, method_names
from tagrank.options import NUMBERS, ROWS, Option, positive, share
from tagrank.progress import Progress

if TYPE_CHECKING:
    from tagrank.annotation.describing import Cache
    from tagrank.commands.compare.folds import Division, Fold
    from tagrank.data import Collection
    from tagrank.features import Feature

ALL = "all"
USUAL_METRICS = ("Image-AUC", "Image-MAP", "Micro-F1", "Macro-F1", "Example-F1")
MOST_NAMED = 3


def compare(
    data: Annotated[
        Collection | str | os.PathLike | Sequence[Collection | str | os.PathLike], replace(DATA, is_many=True)
    ],
    output: Annotated[str | os.PathLike | None, OUTPUT] = None,
    *,
    methods: Annotated[
        str | Sequence[str],
        Option(kind=str, is_many=True, metavar="NAME", usual="all", complete=compared_names),
    ] = ALL,
    metric: Annotated[str | None, METRIC] = None,
    metrics: Annotated[
        str | Sequence[str],
        Option(kind=str, is_many=True, metavar="NAME", usual=", ".join(USUAL_METRICS), complete=metric_names),
    ] = USUAL_METRICS,
    folds: Annotated[int | None, Option(ROWS, low=2)] = None,
    test_size: Annotated[float | None, Option(ROWS, usual="the test part, or a quarter", check=share)] = None,
    search: Annotated[str, SEARCH] = "halving",
    max_seconds: Annotated[float | None, Option(NUMBERS, check=positive)] = None,
    seed: Annotated[int, SEED] = 0,
    fresh: Annotated[bool, Option()] = False,
    report: Annotated[str | os.PathLike | None, Option()] = None,
    markdown: Annotated[str | os.PathLike | None, Option()] = None,
    latex: Annotated[str | os.PathLike | None, Option()] = None,
    view: Annotated[str | None, VIEW] = None,
    features: Annotated[str | Sequence[str] | Mapping[str, Feature] | None, FEATURES] = None,
    cache: Annotated[Cache, CACHE] = True,
    reading: Reading = Reading(),
    n_jobs: Annotated[int | None, replace(JOBS, names=("--jobs", "--n-jobs"))] = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare methods: tune, train and measure each of them in the same way.

    Parameters are tuned on the training part only. Each method is then trained with the best parameters, as
    'tagrank train' does, and measured on the test part, as 'tagrank evaluate' does. If a method fails, is too
    slow or needs too much memory, its line says so.

    Parameters
    ----------
    data : folders of pictures, files or names from 'tagrank datasets', one or several. In Python, also
        `Collection`s
    output : folder for the results; the same command continues there after an interruption
    methods : methods or families from 'tagrank methods', separated by commas; label frequency and logistic
        regression always run, as baselines
    metric : metric to tune parameters by and to sort methods by, such as Micro-F1
    metrics : metrics to show, with intervals; separated by commas
    folds : number of cross-validation folds; parameters are tuned anew on the training part of each
    test_size : share of the rows to measure on: 0.25 for a quarter
    max_seconds : time limit for a method on one fold, in seconds: after half of it, tuning stops with the
        best so far; after all of it, the method is stopped
    fresh : delete earlier results in the output folder and start again
    report : also write an HTML report to this file
    markdown : also write the tables as Markdown to this file
    latex : also write the tables as LaTeX to this file
    n_jobs : number of methods to run at the same time, each in its own process
    search, seed, view, features, cache : as in `tune`
    reading : how to read the data and clean up their tags
    progress : called with the number of steps done, the number of steps, and the name of the work

    Returns
    -------
    Comparison

    Command line
    ------------
    tagrank compare emotions
    tagrank compare photos/ --methods ranking,neighbours --max-seconds 600 -o comparison
    tagrank compare emotions scene yeast -o comparison --report comparison.html
    tagrank compare emotions --folds 5 --metric Micro-F1 --json
    """
    from tagrank.annotation.choosing import SEARCHES, find_criterion
    from tagrank.annotation.describing import name_features
    from tagrank.commands.compare.documents import WRITERS
    from tagrank.commands.compare.folds import Division
    from tagrank.commands.compare.running import Store, run_units
    from tagrank.commands.compare.summary import rank, summarise_all
    from tagrank.commands.compare.unit import Unit
    from tagrank.commands.destinations import check_apart
    from tagrank.validation import check_choice, check_positive

    started = time.perf_counter()
    check_choice("search", search, SEARCHES)
    if folds is not None and test_size is not None:
        raise ArgumentError(
            f"folds={folds} and test_size={test_size} cannot be combined; leave one of them out"
        )
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
        try:
            found, n_before = run_units(units, store, n_jobs, progress)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(_kept(output)) from None
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
    from tagrank.commands.destinations import check_distinct, check_file, check_page

    check_distinct(**pages)
    for name, path in pages.items():
        if path is not None:
            (check_page if name == "report" else check_file)(path)


def _several(data: Any) -> list[Any]:
    from tagrank.data import Collection

    if isinstance(data, Collection | str | os.PathLike):
        return [data]
    if not (found := list(data)):
        raise ArgumentError("got no data to compare on; name a folder of pictures, a file or a data set")
    return found


def _divide(division: Division, collections: Sequence[Any], folder: Path) -> list[Fold]:
    from tagrank.commands.compare.folds import keep_rows

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


def choose_methods(wanted: str | Sequence[str]) -> list[str]:
    """Methods by name or family, in the order of the registry, and those that all are measured by."""
    words = _words(wanted) or [ALL]
    groups = [ALL, *sorted({entry.family.replace(" ", "-") for entry in METHODS})]
    chosen = {_group_or_method(word, groups) for word in words}
    return [
        entry.name
        for entry in METHODS
        if entry.name in BASELINES or {ALL, entry.name, entry.family.replace(" ", "-")} & chosen
    ]


def _group_or_method(word: str, groups: Sequence[str]) -> str:
    if word.replace(" ", "-") in groups:
        return word.replace(" ", "-")
    try:
        return find_method(word).name
    except ArgumentError:
        hint = did_you_mean(word, [*groups, *method_names()], "'tagrank methods' lists them")
        raise ArgumentError(f"no method or family {word!r}{hint}") from None


def choose_metrics(wanted: str | Sequence[str]) -> tuple[str, ...]:
    """Metrics by name, as the catalogue spells them."""
    from tagrank.annotation.choosing import find_criterion

    return tuple(dict.fromkeys(find_criterion(word).name for word in _words(wanted)))


def _words(wanted: str | Sequence[str]) -> list[str]:
    """Names, whether they came one by one or with commas between them."""
    texts = [wanted] if isinstance(wanted, str) else list(wanted)
    return [word.strip() for text in texts for word in text.split(",") if word.strip()]


def _kept(output: str | os.PathLike | None) -> str:
    if output is None:
        return "no results were saved; -o FOLDER saves them as they come"
    return f"results so far are saved in {os.fspath(output)}; the same command continues"


def show_comparison(
    comparison: Comparison,
    *,
    output: str | os.PathLike | None = None,
    report: str | os.PathLike | None = None,
    markdown: str | os.PathLike | None = None,
    latex: str | os.PathLike | None = None,
) -> Screen:
    """For each collection a line a method, what was chosen, and the ranks over all."""
    written = [path for path in (report, markdown, latex) if path is not None]
    sentences = [f"comparison written to {path}" for path in written]
    if comparison.n_before:
        sentences.append(f"{counted(comparison.n_before, 'result')} from an earlier run, see {output}")
    for words, who in _warned(comparison).items():
        more = f" and {len(who) - MOST_NAMED} more" if len(who) > MOST_NAMED else ""
        sentences.append(f"warning: {', '.join(who[:MOST_NAMED])}{more}: {words}")
    return Screen(list(_tables(comparison)), sentences, {"skipped": comparison.problems})


def _warned(comparison: Comparison) -> dict[str, list[str]]:
    """What was said while methods were trained, and by which."""
    heard: dict[str, list[str]] = {}
    for one in comparison.data:
        for line in one.lines:
            for words in line.warnings:
                heard.setdefault(words, []).append(line.method)
    return {words: list(dict.fromkeys(who)) for words, who in heard.items()}


def _tables(comparison: Comparison) -> Iterator[Any]:
    for one in comparison.data:
        yield text_of(f"{one.name}: {one.sizes}", "bold")
        yield _metric_table(comparison, one)
        yield ""
        yield from (text_of(f"{words}: {', '.join(who)}") for words, who in said(one).items())
        yield text_of(legend(comparison), QUIET)
        yield ""
        yield _chosen_table(one)
        yield ""
    if comparison.ranks is not None:
        yield text_of(rank_words(comparison))
        ranks = zip(comparison.ranks.names, comparison.ranks.ranks, strict=True)
        rows = ((name, f"{rank:.2f}") for name, rank in ranks)
        yield table_of("method", "rank", numbers=True, rows=rows)


def _metric_table(comparison: Comparison, one: DataResult) -> Any:
    criterion, *others = shown_metrics(comparison)
    table = table_of("method", criterion, "95 %", *others, "seconds", numbers=True)
    for line, values in table_lines(comparison, one):
        texts = [
            text_of(value.marks + value.text, BEST if value.is_best else WRONG if value.is_below else "")
            for value in values
        ]
        texts.insert(1, text_of(f"{values[0].low}–{values[0].high}", QUIET))
        table.add_row(line.method, *texts, f"{line.total_seconds:.1f}")
    return table


def _chosen_table(one: DataResult) -> Any:
    table = table_of("method", "tuning", "training", "prediction", numbers=True)
    table.add_column("chosen parameters")
    for line in one.lines:
        if line.is_done:
            seconds = [f"{line.seconds[part]:.2f} s" for part in ("tuning", "training", "prediction")]
            table.add_row(line.method, *seconds, text_of(chosen_words(line)))
    return table

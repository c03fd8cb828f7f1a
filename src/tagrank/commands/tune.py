"""Find the best parameters of one method by cross-validation."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tagrank.commands.options import (
    AUTO,
    CACHE,
    DATA,
    FEATURES,
    JOBS,
    METHOD_NAME,
    METRIC,
    OUTPUT,
    PART,
    SCALING,
    SEARCH,
    SEED,
    VIEW,
    MethodParameters,
)
from tagrank.commands.tables import Screen, table_of, text_of
from tagrank.data.reading import Reading
from tagrank.errors import ArgumentError
from tagrank.files import Problem, atomic_write
from tagrank.options import NUMBERS, Option, positive
from tagrank.progress import Progress

if TYPE_CHECKING:
    from tagrank.annotation.choosing import Choice
    from tagrank.annotation.describing import Cache
    from tagrank.data import Collection
    from tagrank.features import Feature

# of `train` itself
OPTIONS = ("C", "kernel", "gamma", "kernel_power", "scaling", "tol", "fit_intercept", "class_weight")
CONFIG_ENDINGS = (".yml", ".yaml")


@dataclass(frozen=True)
class Tuned:
    """The best parameters of a method, and what was tried.

    Attributes
    ----------
    method : its name
    search : what was tried, and what is best
    parameters : what to train with: those that were given, and the best of those that were searched
    facts : counts of the data, as `Collection.summary` gives them
    problems : files that were left out, and why
    """

    method: str
    search: Choice
    parameters: Mapping[str, Any]
    facts: dict[str, Any]
    problems: Sequence[Problem] = ()

    @property
    def config(self) -> dict[str, Any]:
        """What ``tagrank train -c`` takes, as a mapping."""
        return {"method": self.method, **train_options(self.parameters)}

    @property
    def command(self) -> str:
        """Options of ``tagrank train``."""
        return f"--method {self.method}{''.join(f' {word}' for word in option_words(self.parameters))}"

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        return {
            "method": self.method,
            "parameters": dict(self.parameters),
            "command": self.command,
            "config": self.config,
            "search": search_facts(self.search),
            "data": self.facts,
            "problems": [vars(problem) for problem in self.problems],
        }


def tune(
    data: Annotated[Collection | str | os.PathLike, DATA],
    output: Annotated[str | os.PathLike | None, OUTPUT] = None,
    *,
    method: Annotated[str, METHOD_NAME] = AUTO,
    metric: Annotated[str | None, METRIC] = None,
    search: Annotated[str, SEARCH] = "halving",
    folds: Annotated[int, Option(NUMBERS, low=2)] = 3,
    max_seconds: Annotated[float | None, Option(NUMBERS, check=positive)] = None,
    seed: Annotated[int, SEED] = 0,
    scaling: Annotated[str | None, SCALING] = None,
    view: Annotated[str | None, VIEW] = None,
    features: Annotated[str | Sequence[str] | Mapping[str, Feature] | None, FEATURES] = None,
    cache: Annotated[Cache, CACHE] = True,
    reading: Reading = Reading(),
    part: Annotated[str | None, PART] = None,
    n_jobs: Annotated[int | None, JOBS] = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
    **parameters: Annotated[Any, Option(group=MethodParameters)],
) -> Tuned:
    """Find the best parameters of one method by cross-validation.

    'tagrank methods METHOD' shows the values that are tried; methods with a kernel also try several kernels.
    Parameters that you give, for instance with --C or --set, are not tuned.

    Parameters
    ----------
    output : write a .yml file for 'tagrank train -c'
    method : name of a method from 'tagrank methods'; auto has no parameters to tune
    metric : metric to tune for, named as in 'tagrank evaluate', such as Micro-F1. In Python, a name of
        `catalog_metrics`; for metrics of predictions, held-out scores get one threshold for all tags
    search : halving tries all parameters on few rows and the best third of them on more rows; grid tries all
        parameters on all folds
    folds : number of cross-validation folds
    max_seconds : stop after this many seconds and keep the best so far
    scaling : how to scale the columns of rows; auto depends on the kernel, and for counts is tuned, too
    part : part of the data to tune on, or 'all'
    data, seed, view, features, cache, reading, n_jobs : as in `train`
    progress : called with the number of steps done, the number of steps, and the name of the work
    stop : function without arguments; when it returns True, the search ends with the best so far
    parameters : of the estimator, such as `kernel`; those that are given are not tuned

    Returns
    -------
    Tuned

    Command line
    ------------
    tagrank tune emotions --method label-ranker
    tagrank tune emotions --method one-vs-all --metric Micro-F1 --search grid
    tagrank tune photos/ --method label-ranker -o best.yml
    tagrank train photos/ -o model -c best.yml
    """
    from tagrank.annotation.choosing import SEARCHES, Recipe, find_criterion, search_space
    from tagrank.annotation.describing import PICTURES, describe_rows, name_features
    from tagrank.annotation.views import take_in
    from tagrank.commands.destinations import check_apart
    from tagrank.commands.given_data import (
        check_has_tags,
        choose_part,
        keep_frequent,
        known_pictures,
        open_collection,
    )
    from tagrank.data import clean_tags
    from tagrank.validation import check_choice, check_positive

    check_choice("search", search, SEARCHES)
    check_method(method)
    find_criterion(metric)
    if output is not None:
        check_config(output)
        check_apart(data, output=output)
    if max_seconds is not None:
        check_positive("max_seconds", max_seconds)
    parameters = {name: value for name, value in parameters.items() if value is not None}
    recipe = Recipe(method, parameters, seed=seed, n_jobs=n_jobs, scaling=scaling)
    features = name_features(features)
    opened = open_collection(data, reading)
    tidy = clean_tags(known_pictures(check_has_tags(opened, data)), **reading.spelling())
    rows = keep_frequent(choose_part(tidy, part, usual="train"), reading.min_count)
    if PICTURES in rows.views:
        recipe.check_pictures()
    describing: dict[str, Any] = {
        "cache": cache,
        "n_jobs": n_jobs,
        "strict": reading.strict,
        "progress": progress,
    }
    described = describe_rows(rows, features, random_state=seed, **describing)
    rows = described.collection
    found = search_space(
        recipe.with_costs(described.seconds_a_picture),
        take_in(rows, view=view, features=described.features or None),
        rows.labels,
        rows.tags,
        criterion=find_criterion(metric, len(rows.tags)),
        how=search,
        n_folds=folds,
        progress=progress,
        stop=ending(stop, max_seconds),
    )
    if not any(trial.value == trial.value for trial in found.trials):
        raise ValueError(nothing_measured(found, len(rows)))
    given = parameters if scaling in (None, AUTO) else {**parameters, "scaling": scaling}
    tuned = Tuned(recipe.method, found, {**given, **found.best}, rows.summary(), rows.problems)
    if output is not None:
        write_config(output, tuned.config)
    return tuned


def search_facts(found: Choice) -> dict[str, Any]:
    """What a search tried and what is best, as plain dicts, lists and numbers for JSON."""
    told = ("parameters", "value", "n_rows", "n_folds", "seconds", "error")
    return {
        "best": found.best,
        "value": found.value,
        "criterion": found.criterion,
        "trials": [{name: getattr(trial, name) for name in told} for trial in found.trials],
        "seconds": found.seconds,
        "is_complete": found.is_complete,
    }


def check_method(method: str) -> None:
    """Raise for "auto": it has no space of its own."""
    if method == AUTO:
        raise ArgumentError("method 'auto' has no parameters to tune; name a method from 'tagrank methods'")


def nothing_measured(found: Choice, n_rows: int) -> str:
    """Why a search has no answer."""
    if found.trials:
        return f"{found.criterion} is not defined on these {n_rows:,} rows; choose another metric"
    if not found.is_complete:
        return "the search stopped before it tried anything; give it more seconds"
    return f"{n_rows:,} rows are too few to hold some out; tuning needs at least 10"


def ending(stop: Callable[[], bool] | None, seconds: float | None) -> Callable[[], bool]:
    """A function that answers true once `stop` does, or after so many seconds."""
    end = float("inf") if seconds is None else time.monotonic() + seconds
    return lambda: time.monotonic() >= end or (stop is not None and stop())


def train_options(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters by the names of the options of ``tagrank train``; those of the method alone under "set"."""
    common = {name.replace("_", "-"): parameters[name] for name in OPTIONS if name in parameters}
    own = {name: _text(value) for name, value in parameters.items() if name not in OPTIONS}
    return {**common, "set": own} if own else common


def option_words(parameters: Mapping[str, Any]) -> list[str]:
    """The same as they are written behind ``tagrank train``."""
    options = train_options(parameters)
    own = options.pop("set", {})
    words = [f"--{name} {_text(value)}" for name, value in options.items()]
    return words + [f"--set {name}={value}" for name, value in own.items()]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    is_short = isinstance(value, float) and float(f"{value:g}") == value
    return f"{value:g}" if is_short else str(value)


def check_config(path: str | os.PathLike) -> None:
    """Raise unless a configuration could be written at `path`."""
    from tagrank.commands.destinations import check_file

    if Path(path).suffix not in CONFIG_ENDINGS:
        raise ArgumentError(
            f"{os.fspath(path)}: parameters are written to a {' or '.join(CONFIG_ENDINGS)} file"
        )
    check_file(path)


def write_config(path: str | os.PathLike, config: Mapping[str, Any]) -> None:
    """Write a YAML file, whole or not at all; missing folders are made."""
    import yaml

    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path, text=True) as stream:
        yaml.safe_dump(dict(config), stream, sort_keys=False)


def show_tuned(tuned: Tuned, *, output: str | os.PathLike | None = None) -> Screen:
    """What to train with, and a line for each configuration that was tried, the best first."""
    search = tuned.search
    table = table_of("parameters", search.criterion, "folds", "rows", "seconds", numbers=True)
    for place, trial in enumerate(search.trials):
        words = ", ".join(f"{name}={_short(value)}" for name, value in trial.parameters.items()) or "defaults"
        value = "–" if trial.error else f"{trial.value:.3f}"
        style = "bold green" if place == 0 and len(search.trials) > 1 else ""
        cells = (f"{trial.n_folds}", f"{trial.n_rows:,}", f"{trial.seconds:.2f}")
        table.add_row(text_of(words), value, *cells, style=style)
    summary = (
        f"{search.criterion} {search.value:.3f}; tried {len(search.trials)} settings in "
        f"{search.seconds:.1f} seconds"
    )
    errors = [text_of(f"failed: {trial.parameters}: {trial.error}") for trial in search.trials if trial.error]
    said = [] if search.is_complete else ["the search stopped early; this is the best so far"]
    said += [] if output is None else [f"parameters written to {output}"]
    tables: list[Any] = [text_of(tuned.command, "bold"), text_of(summary), "", table, *errors]
    return Screen(tables, said, {"skipped": tuned.problems})


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)

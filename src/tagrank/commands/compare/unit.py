"""One method on one fold: tuned, trained, measured. Runs in a worker process."""

import time
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tagrank.annotation import Annotator
from tagrank.annotation.choosing import (
    CRITERION,
    MEASURES,
    Recipe,
    find_criterion,
    open_space,
    search_space,
    usual_parameters,
)
from tagrank.annotation.views import take_in
from tagrank.commands.compare.folds import Fold, load_rows
from tagrank.commands.compare.result import DONE, FAILED
from tagrank.commands.steps.evaluating import answer
from tagrank.commands.tune import ending, search_facts
from tagrank.errors import one_line
from tagrank.metrics import Metric, catalog_metrics, metric_table
from tagrank.metrics.chance import resampled

TUNING_SHARE = 0.5  # of the seconds that a method may take


@dataclass(frozen=True)
class Unit:
    """A method to be tuned, trained and measured on a fold.

    Attributes
    ----------
    fold : the rows
    method : its name
    criterion : name of the metric by which parameters are chosen
    metrics : names of those that get intervals
    search : how parameters are searched
    view : the view to learn from, where there are several
    seed : for everything random
    n_threads : that it may use
    max_seconds : after half of them tuning ends
    only_linear : whether similarities of all rows with each other would not fit into memory
    """

    fold: Fold
    method: str
    criterion: str
    metrics: tuple[str, ...]
    search: str
    view: str | None
    seed: int
    n_threads: int
    max_seconds: float | None
    only_linear: bool = False


def run_unit(unit: Unit) -> dict[str, Any]:
    """Plain values for JSON: what came out of it, or why nothing did."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        try:
            found = _measured(unit)
        except Exception as error:
            return unanswered(FAILED, one_line(error))
    said = dict.fromkeys(" ".join(str(one.message).split()) for one in heard)
    return {**found, "warnings": list(said)}


def unanswered(state: str, reason: str) -> dict[str, Any]:
    """A unit without figures."""
    return {"state": state, "reason": reason}


def _measured(unit: Unit) -> dict[str, Any]:
    rows = _load(unit.fold.place)
    recipe = Recipe(unit.method, seed=unit.seed, n_jobs=unit.n_threads)
    started = time.perf_counter()
    parameters, tuning = _tuned(unit, recipe, rows)
    tuned = time.perf_counter()
    annotator = Annotator(recipe.with_parameters(parameters), view=unit.view, features=rows.features)
    annotator.fit(rows.train)
    trained = time.perf_counter()
    answers = answer(annotator, rows.test)
    answered = time.perf_counter()
    table = metric_table(answers.Y, answers.scores, answers.predictions)
    values = {row.name: row.value for row in table}
    values[CRITERION] = float(np.mean([values[name] for name in MEASURES]))
    return {
        "state": DONE,
        "reason": "",
        "parameters": parameters,
        "tuning": tuning,
        "seconds": {"tuning": tuned - started, "training": trained - tuned, "prediction": answered - trained},
        "values": values,
        "draws": _draws(unit, answers),
    }


def _tuned(unit: Unit, recipe: Recipe, rows: Any) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The best parameters, and how they were found; None where there was nothing to choose."""
    intake = take_in(rows.train, view=unit.view, features=rows.features)
    space = open_space(recipe, intake, only_linear=unit.only_linear)
    if len(space) == 1:
        return space[0], None
    choice = search_space(
        recipe,
        intake,
        rows.train.labels,
        rows.train.tags,
        criterion=find_criterion(unit.criterion),
        how=unit.search,
        only_linear=unit.only_linear,
        stop=ending(None, None if unit.max_seconds is None else TUNING_SHARE * unit.max_seconds),
    )
    return choice.best or usual_parameters(recipe, space[0]), search_facts(choice)


def _draws(unit: Unit, answers: Any) -> dict[str, list[float]]:
    """Values on resampled test rows, of the criterion and of the metrics that are shown."""
    wanted = dict.fromkeys((unit.criterion, *unit.metrics))
    names = dict.fromkeys(name for one in wanted for name in (MEASURES if one == CRITERION else (one,)))
    metrics: list[Metric] = [catalog_metrics()[name] for name in names]
    found = resampled(answers.Y, answers.scores, answers.predictions, metrics, seed=unit.fold.number)
    if CRITERION in wanted:
        found[CRITERION] = np.mean([found[name] for name in MEASURES], axis=0)
    return {name: [round(float(value), 6) for value in found[name]] for name in wanted}


@lru_cache(maxsize=1)
def _load(place: str) -> Any:
    return load_rows(place)

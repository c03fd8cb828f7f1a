"""Which model the desk trains: chosen once, on some of the pictures, and kept until somebody asks again."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tagrank.annotation.choosing import LIKELIHOOD, Choice, choose
from tagrank.annotation.plan import Plan
from tagrank.annotation.recipe import FEWEST_TO_HOLD_OUT, Recipe
from tagrank.desk.learning.examples import Examples, Prepared, prepare, take_in_examples, why_linear
from tagrank.estimators.compared_rows import take
from tagrank.labels import labels_from_states
from tagrank.progress import Progress

MOST_ROWS = 800  # on which is chosen: the first model is waited for
QUICK_METHODS = ("label-ranker", "one-vs-all-logistic")  # of those of the recipe, the best of each family
FEW_ROWS_METHOD = "one-vs-all-logistic"  # learns from single tags, and needs no tuning
MANY_ROWS_METHOD = "ridge-regression"  # as linear model solved in one step, and finds its own parameter


@dataclass(frozen=True)
class Setting:
    """A model to be trained.

    Attributes
    ----------
    estimator : not fitted, with its kernel
    words : what it is, for people
    choice : what was tried; None where nothing was, and for one that was kept
    note : what the user should know about it, or nothing
    """

    estimator: Any
    words: str
    choice: Choice | None = None
    note: str = ""


def choose_setting(
    examples: Examples,
    states: np.ndarray,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> tuple[Setting, Prepared]:
    """The best model by the recipe, and the rows scaled for it."""
    known = np.flatnonzero(np.any(states != 0, axis=1))
    note = why_linear(len(states)) or ""
    method = "auto"
    if note or len(known) < FEWEST_TO_HOLD_OUT:
        method = MANY_ROWS_METHOD if note else FEW_ROWS_METHOD
    common: dict[str, Any] = {"calibration": None, "seed": seed, "n_jobs": n_jobs}
    recipe = Recipe(method, {"kernel": "linear"} if note else {}, **common)
    intake = take_in_examples(examples, for_linear=bool(note))
    plan = recipe.plan(intake, examples.tags)
    prepared = prepare(examples.ids, intake, plan.usual)
    if method != "auto":
        return Setting(plan.usual, method, None, note), prepared
    some = known
    if len(known) > MOST_ROWS:
        some = np.sort(np.random.default_rng(seed).choice(known, MOST_ROWS, replace=False))
    chosen = choose(
        _quicker(plan),
        take(prepared.X, some),
        labels_from_states(states[some]),
        criterion=LIKELIHOOD,
        seed=seed,
        progress=progress,
        stop=stop,
    )
    words = type(chosen.estimator).__name__ if chosen.choice is None else chosen.choice.words
    return Setting(chosen.estimator, words, chosen.choice, note), prepared


def _quicker(plan: Plan) -> Plan:
    """Without the methods that hardly differ from others."""
    kept = [one for one in plan.candidates if one.method in QUICK_METHODS]
    return replace(plan, candidates=kept, n_leading=min(plan.n_leading, len(kept)))

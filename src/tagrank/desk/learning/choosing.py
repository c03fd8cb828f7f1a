"""Which model the desk trains: chosen once, on some of the pictures, and kept until somebody asks again."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tagrank.annotation.choosing import FEWEST_TO_HOLD_OUT, LIKELIHOOD, ChosenModel, Recipe, choose
from tagrank.desk.learning.examples import Examples, Prepared, prepare, take_in_examples, why_linear
from tagrank.estimators.compared_rows import take
from tagrank.labels import labels_from_states
from tagrank.progress import Progress

MOST_ROWS = 800  # that the choice looks at: the first model is waited for
QUICK_METHODS = ("label-ranker", "one-vs-all-logistic")  # of those of the recipe, the best of each family
FEW_ROWS_METHOD = "one-vs-all-logistic"  # learns from single tags, and needs no tuning
MANY_ROWS_METHOD = "ridge-regression"  # as linear model solved in one step, and finds its own parameter


def choose_model(
    examples: Examples,
    states: np.ndarray,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> tuple[ChosenModel, Prepared]:
    """The best model by the recipe, and the rows scaled for it."""
    known = np.flatnonzero(np.any(states != 0, axis=1))
    note = why_linear(len(states)) or ""
    method = "auto"
    if note or len(known) < FEWEST_TO_HOLD_OUT:
        method = MANY_ROWS_METHOD if note else FEW_ROWS_METHOD
    common: dict[str, Any] = {"calibration": None, "seed": seed, "n_jobs": n_jobs}
    recipe = Recipe(method, {"kernel": "linear"} if note else {}, **common)
    rows = take_in_examples(examples, for_linear=bool(note))
    candidates = recipe.candidates(rows, examples.tags)
    usual = candidates.usual.estimator
    prepared = prepare(examples.ids, rows, usual)
    if method != "auto":
        return ChosenModel(usual, words=method, note=note), prepared
    some = known
    if len(known) > MOST_ROWS:
        some = np.sort(np.random.default_rng(seed).choice(known, MOST_ROWS, replace=False))
    chosen = choose(
        # the other methods hardly differ from these
        candidates.only(lambda one: one.method in QUICK_METHODS),
        take(prepared.X, some),
        labels_from_states(states[some]),
        criterion=LIKELIHOOD,
        seed=seed,
        progress=progress,
        stop=stop,
    )
    words = type(chosen.estimator).__name__ if chosen.choice is None else chosen.choice.words
    # what is learned from later are all rows, not some
    return replace(chosen, rows=None, held_out=None, words=words, note=note), prepared

"""The best parameters of one method: a search over the space that its entry declares, by cross-validation.

Where the method has a kernel and none is given, kernels are part of the space: of rows a Gaussian and a
straight line, of pictures powers of the mean kernel. Of counts the scale of the rows is part of it, too; by
halving, it is chosen on a straight line first. By halving, all combinations are tried on one fold and
few rows first, the better third on the whole fold, and the better third of these on all folds; a grid tries
all on all folds. Where the best C is the first or the last, the next one is tried. Rows are compared once for
each kernel; values of C are one path where the class has one.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, product
from typing import Any, NamedTuple

import numpy as np

from tagrank.annotation.choosing.candidates import kernel_of
from tagrank.annotation.choosing.choice import Choice, Trial, held_out_value
from tagrank.annotation.choosing.plan import MOST_COMPARED
from tagrank.annotation.choosing.recipe import (
    FEWEST_TO_HOLD_OUT,
    KERNEL_POWER,
    PICTURE_POWERS,
    SCALING,
    Recipe,
)
from tagrank.annotation.choosing.steps import n_rows_looked_at
from tagrank.annotation.choosing.trials import (
    MOST_STEPS,
    WORTH_GOING_ON,
    cost_beyond,
    deal_folds,
    loosened,
    score_fold,
)
from tagrank.annotation.scaling import scale_views
from tagrank.annotation.views import UnscaledRows
from tagrank.data.label_matrix import Matrix
from tagrank.errors import one_line
from tagrank.estimators.compared_rows import compare_rows
from tagrank.estimators.kernel_estimator import KernelEstimator
from tagrank.estimators.methods import find_method
from tagrank.metrics import Metric
from tagrank.progress import Progress

HALVING, GRID = "halving", "grid"
SEARCHES = (HALVING, GRID)
SEARCHING = "trying parameters"
FEWEST_ROWS = 500  # of the first level of a search by halving
KEPT_SHARE, FEWEST_KEPT = 3, 2  # one of three goes on to the next level, but two at least

Parameters = dict[str, Any]


def search_space(
    recipe: Recipe,
    rows: UnscaledRows,
    labels: Matrix,
    tags: Sequence[str],
    *,
    criterion: Metric,
    how: str = HALVING,
    n_folds: int = 3,
    only_linear: bool = False,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Choice:
    """The best parameters of a method on these rows.

    Parameters
    ----------
    recipe : with the name of a method; parameters that it gives are not searched
    rows : all of them, as `take_in` gives them; of many rows some are looked at, as `choose` does
    labels : shape (n, n_labels)
    tags : their names
    criterion : what to choose by
    how : {"halving", "grid"}
    n_folds : the number of folds, in which each label keeps its share
    only_linear : whether kernels that compare all rows with each other are left out
    progress : called with the number of trials done, the number of trials, and the name of the work
    stop : function without arguments; when it returns True, the search ends with the best so far

    Returns
    -------
    Choice; its trials and its value are by the criterion as it is read, the best first
    """
    started = time.perf_counter()
    space = open_space(recipe, rows, only_linear=only_linear)
    if len(rows.names) < FEWEST_TO_HOLD_OUT:
        return Choice((), (), float("nan"), criterion.name, 0, time.perf_counter() - started)
    levels = Levels(recipe, rows, labels, tags, criterion, n_folds, progress, stop)
    is_complete = levels.run(space, _levels(how, n_folds, levels.n_training, len(space)))
    sign = 1.0 if criterion.higher_is_better else -1.0
    trials = tuple(_as_read(one, sign) for one in levels.ordered())
    if trials and all(one.error for one in trials):
        raise ValueError(trials[0].error)
    best = next((one for one in trials if not np.isnan(_value(one))), None)
    return Choice(
        trials,
        () if best is None else (best,),
        float("nan") if best is None else _value(best),
        criterion.name,
        len(levels.some),
        time.perf_counter() - started,
        is_complete=is_complete,
    )


def open_space(recipe: Recipe, rows: UnscaledRows, *, only_linear: bool = False) -> list[Parameters]:
    """All that a search may try: what the recipe leaves open of the method's space, on each kernel."""
    space = {
        name: values
        for name, values in find_method(recipe.method).space.items()
        if recipe.parameters.get(name) is None
    }
    kernels = [{}] if "kernel" in space else _kernels(recipe, rows, only_linear)
    return [
        {**scaling, **kernel, **dict(zip(space, values, strict=True))}
        for scaling in _scalings(recipe, rows)
        for kernel in kernels
        for values in product(*space.values())
    ]


def _scalings(recipe: Recipe, rows: UnscaledRows) -> list[Parameters]:
    """How counts may be scaled, the usual way first."""
    if recipe.scaling not in (None, "auto"):
        return [{}]
    usual = recipe.candidates(rows, ()).scalers
    return [{SCALING: name} for name in usual] or [{}]


def _kernels(recipe: Recipe, rows: UnscaledRows, only_linear: bool) -> list[Parameters]:
    is_given = bool(recipe.parameters.keys() & {"kernel", "gamma"}) or recipe.kernel_power is not None
    if is_given or not issubclass(find_method(recipe.method).load(), KernelEstimator):
        return [{}]
    if rows.features:
        return [{KERNEL_POWER: power} for power in PICTURE_POWERS]
    if only_linear or len(rows.names) > MOST_COMPARED:
        return [{"kernel": "linear"}]
    return [{"kernel": "rbf"}, {"kernel": "linear"}]


def usual_parameters(recipe: Recipe, parameters: Parameters) -> Parameters:
    """The usual values of what a search would choose, such as `parameters`."""
    known = find_method(recipe.method).load()().get_params(deep=False) | {KERNEL_POWER: 1, SCALING: "auto"}
    return {name: known[name] for name in parameters}


class Level(NamedTuple):
    """On how many folds, and on how many rows of each, parameters are tried."""

    n_folds: int
    n_rows: int


def _levels(how: str, n_folds: int, n_rows: int, n_combinations: int) -> list[Level]:
    last = Level(n_folds, n_rows)
    if how == GRID or n_combinations <= FEWEST_KEPT:
        return [last]
    few = max(FEWEST_ROWS, n_rows // KEPT_SHARE)
    return [*([Level(1, few)] if few < n_rows else []), Level(1, n_rows), last]


class Levels:
    """Parameters tried level by level: the folds, rows compared by each kernel, and the held-out scores."""

    def __init__(
        self,
        recipe: Recipe,
        rows: UnscaledRows,
        labels: Matrix,
        tags: Sequence[str],
        criterion: Metric,
        n_folds: int,
        progress: Progress | None,
        stop: Callable[[], bool] | None,
    ) -> None:
        self.recipe, self.rows, self.tags = recipe, rows, tags
        self.criterion, self.progress, self.stop = criterion, progress, stop or (lambda: False)
        rng = np.random.default_rng(recipe.seed)
        n_rows = labels.shape[0]
        self.some = np.sort(rng.permutation(n_rows)[: n_rows_looked_at(*labels.shape)])
        self.labels = labels[self.some]
        folds = deal_folds(self.labels, n_folds, recipe.seed)
        self.folds = [(rng.permutation(train), test) for train, test in folds]
        self.n_training = min(len(train) for train, _ in self.folds)
        self.compared: dict[str, Any] = {}
        self.scores: dict[tuple[int, int, int], np.ndarray] = {}
        self.seconds: dict[int, float] = {}
        self.trials: dict[int, tuple[int, Trial]] = {}
        self.n_done, self.n_steps = 0, 0

    def run(self, space: list[Parameters], levels: Sequence[Level]) -> bool:
        """Try what is in the space level by level; whether it came to its end.

        Of a level that is not whole nothing is taken, but for the first.
        """
        left = list(range(len(space)))
        self.n_steps = _n_steps(len(left), levels)
        if len(levels) > 1:
            left = self._with_best_scaling(space, levels[0])
        for depth, level in enumerate(levels):
            measured = self._try(space, left, level)
            is_whole = len(measured) == len(left)
            if is_whole or depth == 0:
                self.trials |= {i: (depth, trial) for i, trial in measured.items()}
            if not is_whole:
                return False
            better = sorted(left, key=lambda i: _order(measured[i]))
            n_kept = max(FEWEST_KEPT, -(-len(left) // KEPT_SHARE))
            left = sorted(i for i in better[:n_kept] if not measured[i].error)
        return self._go_on(space, levels[-1])

    def _with_best_scaling(self, space: list[Parameters], level: Level) -> list[int]:
        """Those with the scale of rows that is best on a straight line; all where it is not open."""
        everything = list(range(len(space)))
        if len({one.get(SCALING) for one in space}) < 2:
            return everything
        straight = [i for i in everything if space[i].get("kernel", "linear") == "linear"]
        measured = self._try(space, straight, level)
        self.trials |= {i: (0, trial) for i, trial in measured.items()}
        if not measured:
            return everything
        best = space[min(measured, key=lambda i: _order(measured[i]))][SCALING]
        left = [i for i in everything if space[i][SCALING] == best]
        self.n_steps += len(measured) * level.n_folds - (len(everything) - len(left)) * level.n_folds
        return left

    def _go_on(self, space: list[Parameters], level: Level) -> bool:
        """Values of C beyond those of the space, while the best is the first or the last of them."""
        for _ in range(MOST_STEPS):
            best = self.ordered()[0]
            if (beyond := _beyond(best, space)) is None:
                break
            space.append(beyond)
            place = len(space) - 1
            measured = self._try(space, [place], level)
            if not measured:
                return False
            self.trials[place] = max(depth for depth, _ in self.trials.values()), measured[place]
            if not _value(measured[place]) > _value(best) + WORTH_GOING_ON:
                break
        return True

    def ordered(self) -> list[Trial]:
        """The best first: those that went further come before the others."""
        by_depth = sorted(self.trials.values(), key=lambda one: (-one[0], *_order(one[1])))
        return [trial for _, trial in by_depth]

    def _try(self, space: Sequence[Parameters], left: Sequence[int], level: Level) -> dict[int, Trial]:
        measured = {}
        for group in _paths(space, left):
            error = ""
            try:
                self._train(space, group, level)
            except Exception as failure:
                error = one_line(failure)
            if self.stop():
                # what ended early says little
                break
            for i in group:
                value = float("nan") if error else self._value(i, level)
                measured[i] = Trial(
                    (),
                    {self.criterion.name: (value,)},
                    method=self.recipe.method,
                    value=value,
                    criterion=self.criterion.name,
                    parameters=space[i],
                    n_rows=min(level.n_rows, self.n_training),
                    n_folds=level.n_folds,
                    seconds=self.seconds.get(i, 0.0),
                    error=error,
                )
            self.n_done += len(group) * level.n_folds
            if self.progress is not None:
                self.progress(self.n_done, self.n_steps, SEARCHING)
        return measured

    def _value(self, i: int, level: Level) -> float:
        parts = [
            (self.labels[self.folds[fold][1]], self.scores[i, fold, level.n_rows])
            for fold in range(level.n_folds)
        ]
        return held_out_value(self.criterion, parts)

    def _train(self, space: Sequence[Parameters], group: Sequence[int], level: Level) -> None:
        """Held-out scores of parameters that differ in C alone, where they are not known yet."""
        recipe = self.recipe.with_parameters(space[group[0]])
        candidate = recipe.candidates(self.rows, self.tags, scaling="none").usual
        estimator = loosened(candidate.made())
        rows = self._compare(estimator, space[group[0]])
        costs = [space[i]["C"] for i in group if "C" in space[i]]
        for number, (train, test) in enumerate(self.folds[: level.n_folds]):
            if (group[0], number, level.n_rows) in self.scores:
                continue
            fold, started = (np.sort(train[: level.n_rows]), test), time.perf_counter()
            all_scores = score_fold(estimator, rows, self.labels, fold, costs=costs, stop=self.stop)
            seconds = (time.perf_counter() - started) / len(group)
            for i, scores in zip(group, all_scores, strict=True):
                self.scores[i, number, level.n_rows] = np.asarray(scores, dtype=np.float32)
                self.seconds[i] = self.seconds.get(i, 0.0) + seconds

    def _compare(self, estimator: Any, parameters: Parameters) -> Any:
        """The rows as the estimator learns from them more than once."""
        key = repr([parameters.get(name) for name in ("kernel", "gamma", KERNEL_POWER, SCALING)])
        if key not in self.compared:
            views = {name: X[self.some] for name, X in self.rows.views.items()}
            # as `Annotator` does for this estimator
            without_kernel = getattr(estimator, "column_scaling", "none")
            scaling = parameters.get(SCALING, self.recipe.scaling or "auto")
            X = scale_views(views, kernel_of(estimator), scaling, without_kernel=without_kernel)
            self.compared[key] = compare_rows(estimator, X)
        return self.compared[key]


def _paths(space: Sequence[Parameters], left: Sequence[int]) -> Iterator[list[int]]:
    """Parameters side by side that differ in C alone."""

    def others(i: int) -> str:
        return repr(
            {name: value for name, value in space[i].items() if name != "C"} if "C" in space[i] else i
        )

    for _, group in groupby(left, key=others):
        yield list(group)


def _beyond(best: Trial, space: Sequence[Parameters]) -> Parameters | None:
    """The best with the next C, where its own is the smallest or the largest beside the same others."""
    costs = [one["C"] for one in space if "C" in one and {**one, "C": 0} == {**best.parameters, "C": 0}]
    beyond = None if not costs or np.isnan(_value(best)) else cost_beyond(costs, best.parameters["C"])
    return None if beyond is None else {**best.parameters, "C": beyond}


def _as_read(trial: Trial, sign: float) -> Trial:
    """The trial with its value as the criterion tells it; a search has the higher for the better."""
    value = sign * _value(trial)
    return replace(trial, value=value, scores={trial.criterion: (value,)})


def _value(trial: Trial) -> float:
    return float("nan") if trial.value is None else trial.value


def _order(trial: Trial) -> tuple[bool, float]:
    return np.isnan(_value(trial)), -_value(trial)


def _n_steps(n_left: int, levels: Sequence[Level]) -> int:
    total = 0
    for level in levels:
        total += n_left * level.n_folds
        n_left = max(FEWEST_KEPT, -(-n_left // KEPT_SHARE))
    return total

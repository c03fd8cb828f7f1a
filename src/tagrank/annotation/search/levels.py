"""Configurations tried level by level: on few rows first, the better ones on more."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from tagrank.annotation.choosing import n_rows_looked_at
from tagrank.annotation.recipe import Recipe, kernel_of
from tagrank.annotation.scaling import arrange_views, fit_scaler
from tagrank.annotation.search.criterion import held_out_value
from tagrank.annotation.search.space import Parameters, configured, kernel_key
from tagrank.annotation.trials import MOST_STEPS, STEP, WORTH_GOING_ON, loosened, with_kernel
from tagrank.annotation.tuning import quiet_folds
from tagrank.annotation.views import Intake
from tagrank.data import LabelStratifiedKFold
from tagrank.errors import one_line
from tagrank.estimators.base import taken_by
from tagrank.estimators.compared_rows import compare_rows, rows_for
from tagrank.kernels import reads_views
from tagrank.metrics import Metric
from tagrank.progress import Progress

SEARCHING = "trying parameters"
KEPT_SHARE, FEWEST_KEPT = 3, 2  # one of three goes on to the next level, but two at least


class Trial(NamedTuple):
    """A configuration and how it did at the last level that it reached.

    Attributes
    ----------
    parameters : of the method
    value : by the criterion, the higher the better; nan where it could not be measured
    n_rows, n_folds : rows that each of its models learned from, and folds
    seconds : of all its trainings
    error : why it could not be trained
    """

    parameters: Parameters
    value: float
    n_rows: int
    n_folds: int
    seconds: float
    error: str = ""


class Level(NamedTuple):
    """On how many folds, and on how many rows of each, configurations are tried."""

    n_folds: int
    n_rows: int


class Levels:
    """The folds, rows compared by each kernel, and the held-out scores of what was tried."""

    def __init__(
        self,
        recipe: Recipe,
        rows: Intake,
        labels: Any,
        tags: Sequence[str],
        criterion: Metric,
        n_folds: int,
        progress: Progress | None,
        stop: Callable[[], bool] | None,
    ) -> None:
        self.recipe, self.rows, self.labels, self.tags = recipe, rows, labels, tags
        self.criterion, self.progress, self.stop = criterion, progress, stop or (lambda: False)
        rng = np.random.default_rng(recipe.seed)
        n_rows = labels.shape[0]
        self.some = np.sort(rng.permutation(n_rows)[: n_rows_looked_at(*labels.shape)])
        splitter = LabelStratifiedKFold(n_folds, shuffle=True, random_state=recipe.seed)
        self.folds = [
            (rng.permutation(train), test)
            for train, test in splitter.split(np.zeros((len(self.some), 1)), labels[self.some])
        ]
        self.n_training = min(len(train) for train, _ in self.folds)
        self.compared: dict[str, Any] = {}
        self.scores: dict[tuple[int, int, int], np.ndarray] = {}
        self.seconds: dict[int, float] = {}
        self.trials: dict[int, tuple[int, Trial]] = {}
        self.n_done, self.n_steps = 0, 0

    def run(self, found: list[Parameters], levels: Sequence[Level]) -> bool:
        """Try configurations level by level; whether it came to its end.

        Of a level that is not whole nothing is taken, but for the first.
        """
        left = list(range(len(found)))
        self.n_steps = _n_steps(len(left), levels)
        for depth, level in enumerate(levels):
            measured = self._try(found, left, level)
            is_whole = len(measured) == len(left)
            if is_whole or depth == 0:
                self.trials |= {i: (depth, trial) for i, trial in measured.items()}
            if not is_whole:
                return False
            better = sorted(left, key=lambda i: _order(measured[i]))
            n_kept = max(FEWEST_KEPT, -(-len(left) // KEPT_SHARE))
            left = sorted(i for i in better[:n_kept] if not measured[i].error)
        return self._go_on(found, levels[-1])

    def _go_on(self, found: list[Parameters], level: Level) -> bool:
        """Values of C beyond those of the space, while the best is the first or the last of them."""
        for _ in range(MOST_STEPS):
            best = self.ordered()[0]
            if (beyond := _beyond(best, found)) is None:
                break
            found.append(beyond)
            place = len(found) - 1
            measured = self._try(found, [place], level)
            if not measured:
                return False
            self.trials[place] = max(depth for depth, _ in self.trials.values()), measured[place]
            if not measured[place].value > best.value + WORTH_GOING_ON:
                break
        return True

    def ordered(self) -> list[Trial]:
        """The best first: those that went further come before the others."""
        found = sorted(self.trials.values(), key=lambda one: (-one[0], *_order(one[1])))
        return [trial for _, trial in found]

    def _try(self, found: Sequence[Parameters], left: Sequence[int], level: Level) -> dict[int, Trial]:
        measured = {}
        for group in _paths(found, left):
            error = ""
            try:
                self._train(found, group, level)
            except Exception as failure:
                error = one_line(failure)
            if self.stop():
                # what ended early says little
                break
            for i in group:
                value = float("nan") if error else self._value(i, level)
                n_rows = min(level.n_rows, self.n_training)
                measured[i] = Trial(found[i], value, n_rows, level.n_folds, self.seconds.get(i, 0.0), error)
            self.n_done += len(group) * level.n_folds
            if self.progress is not None:
                self.progress(self.n_done, self.n_steps, SEARCHING)
        return measured

    def _value(self, i: int, level: Level) -> float:
        parts = [
            (self.labels[self.some[self.folds[fold][1]]], self.scores[i, fold, level.n_rows])
            for fold in range(level.n_folds)
        ]
        return held_out_value(self.criterion, parts)

    def _train(self, found: Sequence[Parameters], group: Sequence[int], level: Level) -> None:
        """Held-out scores of configurations that differ in C alone, where they are not known yet."""
        estimator = loosened(self._estimator(found[group[0]]))
        rows = self._compare(estimator, found[group[0]])
        costs = [found[i]["C"] for i in group if "C" in found[i]]
        for fold, (train, test) in enumerate(self.folds[: level.n_folds]):
            if (group[0], fold, level.n_rows) in self.scores:
                continue
            train = np.sort(train[: level.n_rows])
            held_out, started = rows.held_out(test, train), time.perf_counter()
            models = self._models(estimator, rows.training(train), self.labels[self.some[train]], costs)
            for i, model in zip(group, models, strict=True):
                scores = model.decision_function(rows_for(model, held_out))
                self.scores[i, fold, level.n_rows] = np.asarray(scores, dtype=np.float32)
            seconds = (time.perf_counter() - started) / len(group)
            for i in group:
                self.seconds[i] = self.seconds.get(i, 0.0) + seconds

    def _models(self, estimator: Any, rows: Any, labels: Any, costs: Sequence[float]) -> list[Any]:
        """One for each value of C, or one where the method has none."""
        training = rows_for(estimator, rows)
        with quiet_folds():
            if costs:
                return estimator.path(training, labels, costs, **taken_by(estimator.path, stop=self.stop))
            return [clone(estimator).fit(training, labels, **taken_by(estimator.fit, stop=self.stop))]

    def _estimator(self, parameters: Parameters) -> Any:
        plan = configured(self.recipe, parameters).plan(self.rows, self.tags)
        return with_kernel(plan.usual, plan.kernels[0])

    def _compare(self, estimator: Any, parameters: Parameters) -> Any:
        """The rows as the estimator learns from them more than once."""
        key = kernel_key(parameters)
        if key not in self.compared:
            views = {name: X[self.some] for name, X in self.rows.views.items()}
            self.compared[key] = compare_rows(estimator, arrange_for(estimator, views))
        return self.compared[key]


def arrange_for(estimator: Any, views: Mapping[str, Any]) -> Any:
    """Views scaled and arranged as `Annotator` does for this estimator."""
    kernel = kernel_of(estimator)
    scaling = getattr(estimator, "column_scaling", "none")
    scalers = {
        name: fit_scaler(rows, "auto", kernel, name, without_kernel=scaling) for name, rows in views.items()
    }
    return arrange_views(views, scalers, by_view=kernel is not None and reads_views(kernel))


def _paths(found: Sequence[Parameters], left: Sequence[int]) -> Iterator[list[int]]:
    """Configurations side by side that differ in C alone."""

    def others(i: int) -> str:
        return repr(
            {name: value for name, value in found[i].items() if name != "C"} if "C" in found[i] else i
        )

    for _, group in groupby(left, key=others):
        yield list(group)


def _beyond(best: Trial, found: Sequence[Parameters]) -> Parameters | None:
    """The best with the next C, where its own is the smallest or the largest beside the same others."""
    costs = [one["C"] for one in found if "C" in one and {**one, "C": 0} == {**best.parameters, "C": 0}]
    if len(costs) < 2 or np.isnan(best.value):
        return None
    if best.parameters["C"] == max(costs):
        return {**best.parameters, "C": float(f"{max(costs) * STEP:.1g}")}
    if best.parameters["C"] == min(costs):
        return {**best.parameters, "C": float(f"{min(costs) / STEP:.1g}")}
    return None


def _order(trial: Trial) -> tuple[bool, float]:
    return np.isnan(trial.value), -trial.value


def _n_steps(n_left: int, levels: Sequence[Level]) -> int:
    total = 0
    for level in levels:
        total += n_left * level.n_folds
        n_left = max(FEWEST_KEPT, -(-n_left // KEPT_SHARE))
    return total

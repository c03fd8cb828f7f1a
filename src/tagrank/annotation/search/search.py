"""The best parameters of a method: a search over the space that its entry declares, by cross-validation.

Where the method has a kernel and none is given, kernels are part of the space: of rows a Gaussian and a
straight line, of pictures powers of the mean kernel. By halving, all configurations are tried on one fold and
few rows first, the better third on the whole fold, and the better third of these on all folds; a grid tries
all on all folds. Where the best C is the first or the last, the next one is tried. Rows are compared once for
each kernel; values of C are one path where the class has one.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tagrank.annotation.recipe import FEWEST_TO_HOLD_OUT, Recipe
from tagrank.annotation.search.levels import FEWEST_KEPT, KEPT_SHARE, Level, Levels, Trial
from tagrank.annotation.search.space import Parameters, configurations
from tagrank.annotation.views import Intake
from tagrank.metrics import Metric
from tagrank.progress import Progress

HALVING, GRID = "halving", "grid"
SEARCHES = (HALVING, GRID)
FEWEST_ROWS = 500  # of the first level of a search by halving


@dataclass(frozen=True)
class Search:
    """What was tried and what is best.

    Attributes
    ----------
    best : parameters to train with; empty where there was nothing to choose, or nothing to choose by
    value : what it reached, by the criterion as it is read; nan where nothing could be measured
    criterion : the name of a metric
    trials : every configuration that was tried, the best first
    seconds : what it took
    is_complete : whether it came to its end; else `best` is the best so far
    """

    best: Parameters
    value: float
    criterion: str
    trials: tuple[Trial, ...]
    seconds: float = field(compare=False)
    is_complete: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        return {**vars(self), "trials": [trial._asdict() for trial in self.trials]}


def search(
    recipe: Recipe,
    rows: Intake,
    labels: Any,
    tags: Sequence[str],
    *,
    criterion: Metric,
    how: str = HALVING,
    n_folds: int = 3,
    only_linear: bool = False,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Search:
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
    progress : called with how many configurations are done, of how many, and what is being done
    stop : function without arguments; once it answers true, the best so far is taken
    """
    started = time.perf_counter()
    found = configurations(recipe, rows, only_linear=only_linear)
    if len(rows.names) < FEWEST_TO_HOLD_OUT:
        return Search({}, float("nan"), criterion.name, (), time.perf_counter() - started)
    trials = Levels(recipe, rows, labels, tags, criterion, n_folds, progress, stop)
    is_complete = trials.run(found, _levels(how, n_folds, trials.n_training, len(found)))
    ordered = trials.ordered()
    if ordered and all(trial.error for trial in ordered):
        raise ValueError(ordered[0].error)
    best = next((trial for trial in ordered if not np.isnan(trial.value)), None)
    sign = 1.0 if criterion.higher_is_better else -1.0
    return Search(
        {} if best is None else best.parameters,
        float("nan") if best is None else sign * best.value,
        criterion.name,
        tuple(trial._replace(value=sign * trial.value) for trial in ordered),
        time.perf_counter() - started,
        is_complete,
    )


def _levels(how: str, n_folds: int, n_rows: int, n_configurations: int) -> list[Level]:
    last = Level(n_folds, n_rows)
    if how == GRID or n_configurations <= FEWEST_KEPT:
        return [last]
    few = max(FEWEST_ROWS, n_rows // KEPT_SHARE)
    return [*([Level(1, few)] if few < n_rows else []), Level(1, n_rows), last]

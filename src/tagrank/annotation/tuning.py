"""The cost C and a power of the kernel by cross-validation; rows are compared once, for all folds."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from tagrank.annotation.bank.picture_keys import Progress
from tagrank.annotation.recipe import CRITERION, is_compared
from tagrank.data import LabelStratifiedKFold
from tagrank.estimators.base import innermost
from tagrank.estimators.compared_rows import compare_rows, rows_for
from tagrank.kernels import Power, make_kernel
from tagrank.metrics import image_auc, image_average_precision

CRITERIA = {"Image-AUC": image_auc, "Image-MAP": image_average_precision}
COMPARING, CHOOSING = "comparing pictures with each other", "choosing C"


@dataclass(frozen=True)
class Tuning:
    """How well each cost did on held-out folds.

    Attributes
    ----------
    costs : the values of C, ascending
    scores : name of a criterion to the value that each cost reached, mean over the folds
    power : to which the kernel was raised
    """

    costs: tuple[float, ...]
    scores: Mapping[str, tuple[float, ...]]
    power: int = 1

    def best(self, criterion: str = CRITERION) -> float:
        """The cost with the highest score; the smallest of equals."""
        return self.costs[self.scores[criterion].index(self.best_score(criterion))]

    def best_score(self, criterion: str = CRITERION) -> float:
        """The highest score."""
        return max(self.scores[criterion])

    def is_at_edge(self, criterion: str = CRITERION) -> bool:
        """Whether the best cost is the smallest or the largest tried: the true optimum may lie beyond."""
        return self.best(criterion) in (self.costs[0], self.costs[-1])

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers for JSON."""
        return {
            "C": list(self.costs),
            "power": self.power,
            **{name: list(values) for name, values in self.scores.items()},
        }


def tune_cost(
    estimator: Any,
    X: Any,
    Y: Any,
    *,
    costs: Sequence[float],
    powers: Sequence[int] = (1,),
    criterion: str = CRITERION,
    n_folds: int = 3,
    seed: int = 0,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Tuning | None:
    """Try every cost on the same folds, in which each label keeps its share.

    Parameters
    ----------
    estimator : with `path` and `compare`, such as LabelRanker or OneVsAllSVM; it stays as it is
    X : rows in any form that it takes, or what its `compare` made of them
    Y : labels, shape (n, n_labels)
    costs : the values of C
    powers : to which the kernel is raised; the best one is answered, the smallest of equals
    criterion : by which the power is chosen, a key of `CRITERIA`
    n_folds : the number of folds
    seed : for the folds
    progress : called with how many folds are done, how many there are, and what is being done
    stop : function without arguments; once it answers true, what is being trained ends early

    Returns
    -------
    Tuning; None where nothing could be measured, as with a single label
    """
    rows, ascending = estimator.compare(X), sorted(float(cost) for cost in costs)
    splitter = LabelStratifiedKFold(n_folds, shuffle=True, random_state=seed)
    folds = list(splitter.split(np.zeros((Y.shape[0], 1)), Y))
    tunings = []
    for place, power in enumerate(sorted(powers)):
        raised, scores = rows.raised(power), []
        for done, (train, test) in enumerate(folds):
            if progress is not None:
                progress(place * n_folds + done, len(powers) * n_folds, CHOOSING)
            scores.append(_score_fold(estimator, raised, Y, train, test, ascending, stop))
        defined = [fold for fold in scores if not np.isnan(fold).any()]
        if not defined:
            return None
        by_criterion = map(tuple, np.mean(defined, axis=0).T.tolist())
        tunings.append(Tuning(tuple(ascending), dict(zip(CRITERIA, by_criterion, strict=True)), power))
    if progress is not None:
        progress(len(powers) * n_folds, len(powers) * n_folds, CHOOSING)
    return max(tunings, key=lambda tuning: tuning.best_score(criterion))


def fit_tuned(
    estimator: Any,
    X: Any,
    labels: Any,
    *,
    costs: Sequence[float] | None = None,
    powers: Sequence[int] = (1,),
    criterion: str = CRITERION,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
    **more: Any,
) -> tuple[Any, Tuning | None]:
    """Train an estimator, or what calibrates one, after choosing its C and a power of its kernel.

    It is not fitted, and stays as it is. Without `costs` it keeps its C, and there is no Tuning; the other
    arguments are those of `tune_cost`, and `more` is handed to `fit`.
    """
    model, tuning = clone(estimator), None
    inner = innermost(model)
    if progress is not None and is_compared(inner):
        progress(0, 1, COMPARING)
    rows = compare_rows(model, X)
    if costs is not None and hasattr(inner, "C"):
        tuning = tune_cost(
            inner, rows, labels, costs=costs, powers=powers, criterion=criterion, progress=progress, stop=stop
        )
    if tuning is not None:
        inner.set_params(C=tuning.best(criterion))
        if tuning.power > 1 and rows.raised(1) is not rows.raised(tuning.power):
            kernel = Power(make_kernel(inner.kernel, gamma=inner.gamma), tuning.power)
            inner.set_params(kernel=kernel, gamma=None)
            rows = rows.raised(tuning.power)
    if stop is not None:
        more["stop"] = stop
    return model.fit(rows_for(model, rows), labels, **more), tuning


def _score_fold(
    estimator: Any,
    rows: Any,
    Y: Any,
    train: np.ndarray,
    test: np.ndarray,
    costs: list[float],
    stop: Callable[[], bool] | None,
) -> list[list[float]]:
    """One list of scores, in the order of `CRITERIA`, for each cost."""
    with quiet_folds():
        models = estimator.path(rows.training(train), Y[train], costs, stop=stop)
    held_out = rows.held_out(test, train)
    all_scores = [model.decision_function(held_out) for model in models]
    return [[float(measure(Y[test], F)) for measure in CRITERIA.values()] for F in all_scores]


@contextmanager
def quiet_folds() -> Iterator[None]:
    """Inside, nothing is said of labels that a fold lacks; whether the data lack them is said elsewhere."""
    with warnings.catch_warnings():
        for message in (".*never positive in training", ".*there is nothing to"):
            warnings.filterwarnings("ignore", message=message)
        yield

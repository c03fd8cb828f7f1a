"""The cost C and a power of the kernel by cross-validation; rows are compared once, for all folds."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tagrank.annotation.recipe import CRITERION
from tagrank.data import LabelStratifiedKFold
from tagrank.metrics import image_auc, image_average_precision
from tagrank.progress import Progress

MEASURES = {"Image-AUC": image_auc, "Image-MAP": image_average_precision}
CRITERIA = (*MEASURES, CRITERION)
COMPARING, CHOOSING = "comparing pictures with each other", "choosing C"


@dataclass(frozen=True)
class Tuning:
    """How well each cost did on held-out folds.

    Attributes
    ----------
    costs : the values of C, ascending
    scores : name of a criterion to the value that each cost reached, mean over the folds
    power : to which the kernel was raised
    method, kernel : names of what was trained, where several were tried
    fit_intercept : whether it had an intercept; None for a method without
    value : what the log-odds made of the best scores reached, where that was measured
    criterion : by which the best is found
    settings : other parameters that were tried with several values
    """

    costs: tuple[float, ...]
    scores: Mapping[str, tuple[float, ...]]
    power: int = 1
    method: str = ""
    kernel: str = ""
    fit_intercept: bool | None = None
    value: float | None = None
    criterion: str = CRITERION
    settings: Mapping[str, Any] = field(default_factory=dict)

    def best(self, criterion: str | None = None) -> float:
        """The cost with the highest score; the smallest of equals."""
        return self.costs[self.scores[criterion or self.criterion].index(self.best_score(criterion))]

    def best_score(self, criterion: str | None = None) -> float:
        """The highest score."""
        return max(self.scores[criterion or self.criterion])

    def is_at_edge(self, criterion: str | None = None) -> bool:
        """Whether the best cost is the smallest or the largest tried: the true optimum may lie beyond."""
        return self.best(criterion) in (self.costs[0], self.costs[-1])

    @property
    def words(self) -> str:
        """What was trained, for people."""
        found = [f"{name} {_short(value)}" for name, value in self.settings.items()]
        found += [f"C {self.best():g}"] if self.costs else []
        found += [self.kernel] if self.kernel else []
        if self.fit_intercept is not None:
            found.append("with an intercept" if self.fit_intercept else "no intercept")
        return f"{self.method} ({', '.join(found)})" if found else self.method

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers for JSON."""
        return {
            "C": list(self.costs),
            "power": self.power,
            "method": self.method,
            "kernel": self.kernel,
            "fit_intercept": self.fit_intercept,
            "value": self.value,
            "settings": dict(self.settings),
            **{name: list(values) for name, values in self.scores.items()},
        }


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


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
        defined = [fold for fold in scores if not any(np.isnan(list(m.values())).any() for m in fold)]
        if not defined:
            return None
        names, means = list(defined[0][0]), np.mean([[list(m.values()) for m in f] for f in defined], axis=0)
        by_criterion = dict(zip(names, map(tuple, means.T.tolist()), strict=True))
        tunings.append(Tuning(tuple(ascending), by_criterion, power))
    if progress is not None:
        progress(len(powers) * n_folds, len(powers) * n_folds, CHOOSING)
    return max(tunings, key=lambda tuning: tuning.best_score(criterion))


def _score_fold(
    estimator: Any,
    rows: Any,
    Y: Any,
    train: np.ndarray,
    test: np.ndarray,
    costs: list[float],
    stop: Callable[[], bool] | None,
) -> list[dict[str, float]]:
    """Every measure, for each cost."""
    with quiet_folds():
        models = estimator.path(rows.training(train), Y[train], costs, stop=stop)
    held_out = rows.held_out(test, train)
    all_scores = [model.decision_function(held_out) for model in models]
    return [measure(Y[test], F) for F in all_scores]


def measure(Y: Any, scores: np.ndarray) -> dict[str, float]:
    """Every criterion to how good scores are by it; the last is the mean of the others."""
    found = {name: float(function(Y, scores)) for name, function in MEASURES.items()}
    return found | {CRITERION: float(np.mean(list(found.values())))}


@contextmanager
def quiet_folds() -> Iterator[None]:
    """Inside, nothing is said of labels that a fold lacks, nor of gaps that the last training may close."""
    with warnings.catch_warnings():
        for message in (".*never positive in training", ".*there is nothing to", "the relative duality gap"):
            warnings.filterwarnings("ignore", message=message)
        yield

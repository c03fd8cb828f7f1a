"""What candidates are chosen by, and what a choice leaves behind: the trials, and the model to be trained.

A criterion is a metric, by its name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from tagrank.annotation.scaling import Scaler
from tagrank.data.label_matrix import Matrix
from tagrank.errors import ArgumentError, did_you_mean
from tagrank.metrics import Metric, catalog_metrics, image_auc, image_average_precision

CRITERION = "MAP and AUC"
LIKELIHOOD = "log-likelihood"
MEASURES = {"Image-AUC": image_auc, "Image-MAP": image_average_precision}
CRITERIA = (*MEASURES, CRITERION)
ONE_TAG_CRITERION = "Category-AUC"  # with a single tag there is no order within a picture
N_THRESHOLDS = 50


def measure(Y: Any, scores: np.ndarray) -> dict[str, float]:
    """Every criterion to how good scores are by it; the last is the mean of the others."""
    values = {name: float(function(Y, scores)) for name, function in MEASURES.items()}
    return values | {CRITERION: float(np.mean(list(values.values())))}


_BOTH = Metric(
    CRITERION,
    lambda Y, F: measure(Y, F)[CRITERION],
    "scores",
    "samples",
    about="The mean of Image-MAP and Image-AUC.",
)


def find_criterion(name: str | None, n_tags: int = 2) -> Metric:
    """A metric by its name, in any case; None is the usual one for so many tags."""
    if name is None:
        name = CRITERION if n_tags > 1 else ONE_TAG_CRITERION
    known = {CRITERION: _BOTH, **catalog_metrics()}
    folded = {metric.casefold(): metric for metric in known}
    if name.casefold() not in folded:
        hint = did_you_mean(name, known, f"there are: {', '.join(known)}")
        raise ArgumentError(f"no metric {name!r}{hint}")
    return known[folded[name.casefold()]]


def held_out_value(metric: Metric, parts: Sequence[tuple[Matrix, np.ndarray]]) -> float:
    """How good held-out scores are, the higher the better; nan where nothing can be measured.

    Parameters
    ----------
    metric : where it takes predictions, all scores get the one threshold that is best for them
    parts : labels and scores of each fold
    """
    sign = 1.0 if metric.higher_is_better else -1.0
    if metric.takes == "predictions":
        labels, scores = _joined([Y for Y, _ in parts]), np.concatenate([F for _, F in parts])
        values = [sign * metric(labels, scores >= cut) for cut in _cuts(labels, scores)]
    else:
        values = [sign * metric(Y, F) for Y, F in parts]
    defined = [value for value in values if not np.isnan(value)]
    if not defined:
        return float("nan")
    return float(max(defined) if metric.takes == "predictions" else np.mean(defined))


def _cuts(labels: Matrix, scores: np.ndarray) -> np.ndarray:
    """Thresholds that predict from an eighth to eight times as many tags as are present.

    Of many tags few are present: equal steps through all scores would hardly meet their end.
    """
    share = (labels > 0).sum() / scores.size
    return np.unique(np.quantile(scores, 1 - np.minimum(share * np.geomspace(1 / 8, 8, N_THRESHOLDS), 1)))


def _joined(labels: Sequence[Matrix]) -> Matrix:
    return sparse.vstack(labels, format="csr") if sparse.issparse(labels[0]) else np.concatenate(labels)


@dataclass(frozen=True)
class Trial:
    """A candidate, and how well it did on rows that its models did not see.

    Attributes
    ----------
    costs : the values of C that were tried, ascending; empty where there was nothing to choose
    scores : name of a criterion to the value that each cost reached, mean over the folds
    power : to which the kernel was raised
    method, kernel : names of what was trained, where several were tried
    fit_intercept : whether it had an intercept; None for a method without
    value : what it reached in the end, where that was measured: the log-odds made of the scores with the best
        cost; in a search over a space the criterion itself, nan where it is undefined
    criterion : by which the best is found
    parameters : other parameters that were tried with several values
    n_rows, n_folds : rows that each of its models learned from at most, and folds
    seconds : what it took
    error : why it could not be trained
    """

    costs: tuple[float, ...]
    scores: Mapping[str, tuple[float, ...]]
    power: int = 1
    method: str = ""
    kernel: str = ""
    fit_intercept: bool | None = None
    value: float | None = None
    criterion: str = CRITERION
    parameters: Mapping[str, Any] = field(default_factory=dict)
    n_rows: int = 0
    n_folds: int = 0
    seconds: float = field(default=0.0, compare=False)
    error: str = ""

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
    def known_value(self) -> float:
        """The value; less than any other where there is none."""
        return -np.inf if self.value is None or np.isnan(self.value) else self.value

    @property
    def words(self) -> str:
        """What was trained, for people."""
        details = [f"{name} {_short(value)}" for name, value in self.parameters.items()]
        details += [f"C {self.best():g}"] if self.costs else []
        details += [self.kernel] if self.kernel else []
        if self.fit_intercept is not None:
            details.append("with an intercept" if self.fit_intercept else "no intercept")
        return f"{self.method} ({', '.join(details)})" if details else self.method

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers for JSON."""
        return {
            "C": list(self.costs),
            "power": self.power,
            "method": self.method,
            "kernel": self.kernel,
            "fit_intercept": self.fit_intercept,
            "value": self.value,
            "settings": dict(self.parameters),
            **{name: list(values) for name, values in self.scores.items()},
        }


@dataclass(frozen=True)
class Weighing:
    """The weights of kernels, and how they were found.

    Attributes
    ----------
    names : of the kernels, the views that they read
    weights : that were taken; they sum to one
    path : shape (n_rounds, n_kernels), the weights that were tried
    """

    names: tuple[str, ...]
    weights: tuple[float, ...]
    path: tuple[tuple[float, ...], ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers for JSON."""
        return {"names": list(self.names), "weights": list(self.weights), "path": [*map(list, self.path)]}


@dataclass(frozen=True)
class Choice:
    """The trials, and what was chosen of them.

    Attributes
    ----------
    trials : every candidate on every kernel on which it was tried; those of a search the best first
    chosen : the ones taken: one, two whose scores are added up, or none where nothing could be measured
    value : what they reach, by `criterion`; nan where nothing could be measured
    criterion : the name of a measure
    n_rows : how many rows this was measured on
    seconds : what it took
    weighing : how the weights of the sets of features were found; None where they were not
    is_complete : whether it came to its end; else what is chosen is the best so far
    plan : how the rows are compared with each other where there are too many for the usual way
    """

    trials: tuple[Trial, ...]
    chosen: tuple[Trial, ...]
    value: float
    criterion: str
    n_rows: int
    seconds: float = field(compare=False)
    weighing: Weighing | None = None
    is_complete: bool = True
    plan: str = ""

    @property
    def best(self) -> dict[str, Any]:
        """Parameters to train with; empty where there was nothing to choose, or nothing to choose by."""
        return dict(self.chosen[0].parameters) if self.chosen else {}

    @property
    def second_best(self) -> Trial | None:
        """The best of those whose method was not taken, or was not taken alone."""
        others = [one for one in self.trials if one.value is not None and (one,) != self.chosen]
        return max(others, key=lambda one: one.known_value, default=None)

    @property
    def lead(self) -> float | None:
        """By how much it is better than `second_best`."""
        second = self.second_best
        return None if second is None or second.value is None else self.value - second.value

    @property
    def words(self) -> str:
        """What was chosen, for people."""
        return " + ".join(one.words for one in self.chosen)

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        return {
            "chosen": [one.to_dict() for one in self.chosen],
            "value": self.value,
            "lead": self.lead,
            "criterion": self.criterion,
            "rows": self.n_rows,
            "seconds": self.seconds,
            "tried": [one.to_dict() for one in self.trials],
            "weights": None if self.weighing is None else self.weighing.to_dict(),
            "plan": self.plan,
        }


@dataclass(frozen=True)
class ChosenModel:
    """A model that is to be trained.

    Attributes
    ----------
    estimator : not fitted, without what goes around it
    choice : how it was found; None where there was nothing to choose, or nothing to choose by
    rows : what is learned from, compared with its kernel
    held_out : states and scores of all rows by models that did not see them, of the kind of the one to be
        trained; None where there are none
    scaler : by which `rows` were scaled, where that was chosen, too
    words : what it is, for people, where no choice says it
    note : what the user should know about it, or nothing
    """

    estimator: Any
    choice: Choice | None = None
    rows: Any = None
    held_out: tuple[np.ndarray, np.ndarray] | None = None
    scaler: Scaler | None = None
    words: str = ""
    note: str = ""


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)

"""The cost C by cross-validation: in each fold one Gram matrix serves every value."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from tagrank.annotation.bank.picture_keys import Progress
from tagrank.data import LabelStratifiedKFold
from tagrank.kernels.gram import take_rows
from tagrank.metrics import image_auc, image_average_precision

COSTS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
CRITERIA = {"Image-AUC": image_auc, "Image-MAP": image_average_precision}
CRITERION = "Image-AUC"


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
    costs: Sequence[float] = COSTS,
    n_folds: int = 3,
    seed: int = 0,
    power: int = 1,
    progress: Progress | None = None,
) -> Tuning:
    """Try every cost on the same folds, in which each label keeps its share.

    Parameters
    ----------
    estimator : with `path` and `decision_function`, such as LabelRanker or OneVsAllSVM; it stays as it is
    X : matrix, or mapping of views to matrices, of n rows; the (n, n) Gram matrix for kernel="precomputed"
    Y : labels, shape (n, n_labels)
    costs : the values of C
    n_folds : the number of folds
    seed : for the folds
    power : to be noted; `X` is the kernel raised to it already
    progress : called with how many folds are done, how many there are, and what is being done

    Returns
    -------
    Tuning
    """
    ascending = sorted(float(cost) for cost in costs)
    folds = LabelStratifiedKFold(n_folds, shuffle=True, random_state=seed)
    scores: list[list[list[float]]] = []
    for train, test in folds.split(np.zeros((Y.shape[0], 1)), Y):
        if progress is not None:
            progress(len(scores), n_folds, "choosing C")
        scores.append(_score_fold(estimator, X, Y, train, test, ascending))
    if progress is not None:
        progress(n_folds, n_folds, "choosing C")
    by_criterion = np.mean(scores, axis=0).T.tolist()
    return Tuning(tuple(ascending), dict(zip(CRITERIA, map(tuple, by_criterion), strict=True)), power)


def _score_fold(
    estimator: Any, X: Any, Y: Any, train: np.ndarray, test: np.ndarray, costs: list[float]
) -> list[list[float]]:
    """One list of scores, in the order of `CRITERIA`, for each cost."""
    with warnings.catch_warnings():
        # a rare label may miss from a fold; whether it misses from the data is said elsewhere
        for message in (".*never positive in training", ".*there is nothing to"):
            warnings.filterwarnings("ignore", message=message)
        models = estimator.path(take_block(estimator, X, train, train), Y[train], costs)
    held_out = take_block(estimator, X, test, train)
    all_scores = [model.decision_function(held_out) for model in models]
    return [[float(measure(Y[test], F)) for measure in CRITERIA.values()] for F in all_scores]


def take_block(estimator: Any, X: Any, rows: np.ndarray, training: np.ndarray) -> Any:
    """The rows of `X` that an estimator reads; of a Gram matrix their similarities to the training rows."""
    is_gram = get_tags(estimator).input_tags.pairwise
    return X[np.ix_(rows, training)] if is_gram else take_rows(X, rows)

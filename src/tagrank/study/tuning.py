"""The cost C by cross-validation: in each fold one Gram matrix serves every value."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tagrank.data import LabelStratifiedKFold
from tagrank.kernels.gram import take_rows

COSTS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


@dataclass(frozen=True)
class Tuning:
    """How well each cost did on held-out folds.

    Attributes
    ----------
    costs : the values of C, ascending
    scores : the image-based AUC of each, mean over the folds
    """

    costs: tuple[float, ...]
    scores: tuple[float, ...]

    @property
    def best(self) -> float:
        """The cost with the highest score; the smallest of equals."""
        return self.costs[self.scores.index(self.best_score)]

    @property
    def best_score(self) -> float:
        """The highest score."""
        return max(self.scores)

    @property
    def is_at_edge(self) -> bool:
        """Whether the best cost is the smallest or the largest tried: the true optimum may lie beyond."""
        return self.best in (self.costs[0], self.costs[-1])

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers for JSON."""
        return {"C": list(self.costs), "Image-AUC": list(self.scores)}


def tune_cost(
    estimator: Any,
    X: Any,
    Y: Any,
    *,
    costs: Sequence[float] = COSTS,
    n_folds: int = 3,
    seed: int = 0,
) -> Tuning:
    """Try every cost on the same folds, in which each label keeps its share.

    Parameters
    ----------
    estimator : with `path` and `score`, such as LabelRanker or OneVsAllSVM; it stays as it is
    X : matrix, or mapping of views to matrices, of n rows
    Y : labels, shape (n, n_labels)
    costs : the values of C
    n_folds : the number of folds
    seed : for the folds

    Returns
    -------
    Tuning
    """
    ascending = sorted(float(cost) for cost in costs)
    folds = LabelStratifiedKFold(n_folds, shuffle=True, random_state=seed)
    scores = [
        _score_fold(estimator, X, Y, train, test, ascending)
        for train, test in folds.split(np.zeros((Y.shape[0], 1)), Y)
    ]
    return Tuning(tuple(ascending), tuple(np.mean(scores, axis=0).tolist()))


def _score_fold(
    estimator: Any, X: Any, Y: Any, train: np.ndarray, test: np.ndarray, costs: list[float]
) -> list[float]:
    with warnings.catch_warnings():
        # a rare label may miss from a fold; whether it misses from the data is said elsewhere
        warnings.filterwarnings("ignore", message=".*never positive in training")
        models = estimator.path(take_rows(X, train), Y[train], costs)
    held_out = take_rows(X, test)
    return [float(model.score(held_out, Y[test])) for model in models]

"""How much each set of features counts in the kernel, by how well held-out pictures are ranked."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from tagrank.annotation.plan import Plan
from tagrank.annotation.tuning import COMPARING, quiet_folds
from tagrank.estimators.base import taken_by
from tagrank.estimators.compared_rows import ComparedRows
from tagrank.kernels import Sum
from tagrank.labels import label_states
from tagrank.progress import Progress

WEIGHING = "weighing the sets of features"
FEWEST_TO_WEIGH = 200  # rows with present and absent labels; fewer say little about weights


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


def weigh(
    plan: Plan, X: Any, labels: Any, progress: Progress | None, stop: Callable[[], bool] | None
) -> tuple[Plan, Any, Weighing | None]:
    """The plan with kernels of the best weights, the rows compared by them, and how the weights were found.

    The same plan and the same rows where there is nothing to weigh, or too little to weigh by.
    """
    if plan.weigher is None or _n_ranked(labels) < FEWEST_TO_WEIGH:
        return plan, X, None
    say = progress or (lambda done, total, what: None)
    say(0, 1, COMPARING)
    rows, weigher = plan.weigher.compare(X), clone(plan.weigher)
    say(0, 1, WEIGHING)
    with quiet_folds():
        weigher.fit(rows, labels, **taken_by(weigher.fit, stop=stop))
    active = [int(j) for j in weigher.active_kernels_]
    weights = tuple(float(weigher.kernel_weights_[j]) for j in active)
    kernel, fitted = (
        Sum(tuple(whole.kernels[j] for j in active), weights) for whole in (weigher.kernel, rows.kernel)
    )
    candidates = [
        one._replace(estimator=clone(one.estimator).set_params(kernel=kernel)) for one in plan.candidates
    ]
    K = np.array(rows.K.combined(weigher.kernel_weights_))
    compared = ComparedRows(weigher.X_fit_, fitted, K, rows.known)
    return replace(plan, candidates=candidates, weigher=None), compared, _described(weigher)


def _n_ranked(labels: Any) -> int:
    """How many rows have both a present and an absent label."""
    states = label_states(labels)
    return int(np.sum((states > 0).any(axis=1) & (states < 0).any(axis=1)))


def _described(weigher: Any) -> Weighing:
    path = tuple(tuple(map(float, weights)) for weights in weigher.weight_path_)
    return Weighing(tuple(weigher.kernel_names_), tuple(map(float, weigher.kernel_weights_)), path)

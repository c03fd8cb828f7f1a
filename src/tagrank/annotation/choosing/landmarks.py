"""How many landmarks stand for all rows, found on held-out rows; and what they cost beside comparing all.

More landmarks are tried, twice as many each time, on the same part of the rows, until these rank held-out
rows no better. How much better all rows would rank, compared with each other, is measured on the rows that
the choice looked at.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from tagrank.annotation.choosing.choice import CRITERION, MEASURES, measure
from tagrank.annotation.choosing.plan import Budget, RowPlan, bytes_of_some, landmark_names
from tagrank.annotation.choosing.trials import deal_folds, loosened, score_fold
from tagrank.data.label_matrix import Matrix
from tagrank.estimators.compared_rows import ComparedRows, compare_rows, sliceable, take
from tagrank.progress import Progress

MOST_LANDMARKS = 4_096
MOST_TRIED_ON = 24_000  # rows, of which a sixth is held out
N_PARTS = 6
WORTH_DOUBLING = 1e-3  # by how much twice as many must rank better
COUNTING = "choosing the number of landmarks"

Stop = Callable[[], bool]


def settle_landmarks(
    plan: RowPlan,
    budget: Budget,
    estimator: Any,
    X: Any,
    labels: Matrix,
    *,
    sample: tuple[Any, Matrix] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> RowPlan:
    """The plan with as many landmarks as are worth it, and with words for what they cost.

    Parameters
    ----------
    plan : with a first number of landmarks
    budget : of memory
    estimator : to be trained
    X, labels : all rows
    sample : rows compared with each other and their labels; None where there are none
    seed : for the folds
    progress : called with the number of steps done, the number of steps, and the name of the work
    stop : function without arguments; when it returns True, no more are tried
    """
    if plan.n_landmarks is None or not landmark_names(estimator):
        return plan
    n_rows, n_labels = labels.shape
    most = budget.most_landmarks(n_rows, n_labels, max(plan.n_landmarks, MOST_LANDMARKS))
    some = np.arange(n_rows)
    if n_rows > MOST_TRIED_ON:
        some = np.sort(np.random.default_rng(seed).choice(n_rows, MOST_TRIED_ON, replace=False))
    X_some, labels_some = take(sliceable(X), some), labels[some]
    fold = deal_folds(labels_some, N_PARTS, seed)[0]
    tried: dict[int, float] = {}
    taken, wanted = plan.n_landmarks, plan.n_landmarks
    while wanted <= min(most, len(fold[0])) and not (tried and stop is not None and stop()):
        if progress is not None:
            progress(len(tried), len(tried) + 2, COUNTING)
        model = _with_landmarks(estimator, wanted)
        scores = score_fold(loosened(model), compare_rows(model, X_some), labels_some, fold, stop=stop)[0]
        tried[wanted] = measure(labels_some[fold[1]], scores)[CRITERION]
        if wanted > taken and not tried[wanted] > tried[taken] + WORTH_DOUBLING:
            break
        taken, wanted = wanted, 2 * wanted
    words = _told(tried, taken, len(fold[0]))
    if sample is not None and isinstance(sample[0], ComparedRows) and sample[0].X is not None:
        beside = _beside_all(_with_landmarks(estimator, taken), estimator, *sample, seed, stop)
        # models whose training was cut short tell nothing about landmarks
        words += "" if stop is not None and stop() else f"; {beside}"
    return plan.with_landmarks(taken, words, bytes_of_some(n_rows, n_labels, taken))


def _with_landmarks(estimator: Any, n_landmarks: int) -> Any:
    return clone(estimator).set_params(**dict.fromkeys(landmark_names(estimator), n_landmarks))


def _told(tried: dict[int, float], taken: int, n_rows: int) -> str:
    gains = [f"{100 * (value - tried[taken]):+.2f} with {n:,}" for n, value in tried.items() if n != taken]
    if not gains:
        return f"{taken:,} is what memory and time allow"
    return f"in points of {CRITERION} {', '.join(gains)} ({n_rows:,} rows)"


def _beside_all(
    approximate: Any, exact: Any, rows: ComparedRows, labels: Matrix, seed: int, stop: Stop | None
) -> str:
    """How much better or worse landmarks rank than all rows do, on rows that are compared already."""
    fold = deal_folds(labels, N_PARTS, seed)[0]
    values = [
        measure(labels[fold[1]], score_fold(loosened(model), compared, labels, fold, stop=stop)[0])
        for model, compared in ((approximate, compare_rows(approximate, rows.X)), (exact, rows))
    ]
    gains = [f"{100 * (values[0][name] - values[1][name]):+.2f} points of {name}" for name in MEASURES]
    return f"beside comparing all, {' and '.join(gains)} ({len(fold[0]):,} rows)"

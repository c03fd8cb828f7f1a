"""What a metric is, and what every one checks before it counts: shapes, numbers, names of the labels."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tagrank.labels import label_states
from tagrank.validation import check_sparse


@dataclass(frozen=True)
class Metric:
    """One metric. Its entry, beside its formula, is all that tables, commands, pages and tests know of it.

    Attributes
    ----------
    name : str, as shown in tables
    function : callable of (Y, F) or (Y, P), returns a float
    takes : {"scores", "predictions"}, the second argument of `function`
    over : {"samples", "labels", "entries"}, what the mean runs over
    higher_is_better : bool
    measure : callable or None, the values of which the metric is the mean: of `PositiveRanks` where it takes
        scores, of states and 0/1 predictions otherwise
    about : str, what it tells, in a line for people
    formula : str, of a row, or the definition, for the table of docs/metrics.md
    """

    name: str
    function: Callable
    takes: str
    over: str
    higher_is_better: bool = True
    measure: Callable | None = None
    about: str = ""
    formula: str = ""

    def __call__(self, Y, values) -> float:
        return self.function(Y, values)


def check_scores(Y, F):
    """Labels as states and scores as a dense float array of the same shape, without nan.

    Infinite scores are ordered like any other.
    """
    states = label_states(Y)
    scores = _dense_like(Y, states, "F", F)
    if scores.dtype.kind not in "biufO":
        raise ValueError(f"F must hold real numbers, got dtype {scores.dtype}")
    try:
        kept = np.float64 if scores.dtype == object else np.result_type(scores.dtype, np.float32)
        scores = scores.astype(kept, copy=False)
    except (TypeError, ValueError):
        raise ValueError("F holds values that are not real numbers") from None
    _check_no_nan(scores)
    return states, scores


def check_predictions(Y, P):
    """Labels as states and 0/1 predictions as a dense bool array of the same shape."""
    states = label_states(Y)
    predictions = _dense_like(Y, states, "P", P)
    if predictions.dtype == bool:
        return states, predictions
    present = predictions == 1
    wrong = ~(present | (predictions == 0))
    if wrong.any():
        raise ValueError(
            f"P must hold predictions 0 or 1, got {predictions[wrong].flat[0]}; "
            "scores become predictions by a threshold: P = F > threshold"
        )
    return states, present


def _dense_like(Y, states, name, values):
    columns = getattr(values, "columns", None)
    if columns is not None and hasattr(Y, "columns") and list(columns) != list(Y.columns):
        raise ValueError(
            f"the columns of Y and {name} differ or stand in another order; use {name}[Y.columns]"
        )
    if sparse.issparse(values):
        check_sparse(name, values)
        values = values.toarray()
    values = np.asarray(values)
    if values.shape != states.shape:
        raise ValueError(
            f"{name} must have the shape of Y (n_samples, n_labels) = {states.shape}, got {values.shape}"
        )
    return values


def _check_no_nan(scores):
    # the minimum is nan when any entry is, and needs no second matrix
    if not scores.size or not np.isnan(scores.min()):
        return
    wrong = np.argwhere(np.isnan(scores))
    raise ValueError(
        f"F contains nan in {len(wrong)} entries (the first in row {wrong[0, 0]}, column {wrong[0, 1]}); "
        "a score must be a number. To leave an entry out of a metric make its label unknown: Y[i, j] = nan"
    )

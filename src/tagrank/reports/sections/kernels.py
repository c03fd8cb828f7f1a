"""How much each set of features counts, what it costs, and how the weights were found."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tagrank.annotation import Annotator
from tagrank.estimators.base import innermost_fitted
from tagrank.reports.charts import line_chart

KERNELS = "kernels"  # where a model remembers its weights
MOST_LINES = 3  # of the chart, the largest weights: more are not told apart
MOST_KERNELS = 1_000  # of a model from elsewhere


def describe_kernels(
    annotator: Annotator, seconds: Mapping[str, float] | None = None
) -> dict[str, Any] | None:
    """Plain values for the notes of a model; None where no weights were found.

    `seconds` are those that a set of features takes for one picture, where they are known.
    """
    found = _found(annotator)
    if found is None:
        return None
    names, weights, path = found
    costs = [1000 * (seconds or {}).get(name, math.nan) for name in names]
    return {
        "names": list(map(str, names)),
        "weights": [float(weight) for weight in weights],
        "milliseconds": [None if math.isnan(cost) else float(cost) for cost in costs],
        "path": [[float(weight) for weight in point] for point in path],
    }


def _found(annotator: Annotator) -> tuple[Sequence[str], Any, Any] | None:
    weighing = getattr(getattr(annotator, "choice_", None), "weighing", None)
    if weighing is not None:
        return weighing.names, weighing.weights, weighing.path
    fitted = innermost_fitted(annotator.estimator_)
    if len(getattr(fitted, "kernel_names_", ())) < 2:
        return None
    # where each tag has its own, their mean
    return fitted.kernel_names_, np.atleast_2d(fitted.kernel_weights_).mean(axis=0), fitted.weight_path_


def kernels_section(annotator: Annotator) -> dict[str, Any] | None:
    """A line for each kernel, the heaviest first, and a chart of the weights; None where none are known."""
    notes = annotator.metadata
    known = notes[KERNELS] if KERNELS in notes else describe_kernels(annotator)
    try:
        return _section(known) if isinstance(known, Mapping) else None
    except (KeyError, TypeError, ValueError, IndexError):
        # the notes of a model from elsewhere may say anything
        return None


def _section(known: Mapping[str, Any]) -> dict[str, Any]:
    lines = kernel_lines(known)
    costs = [line["milliseconds"] for line in lines]
    is_timed = all(cost is not None for cost in costs)
    return {
        "lines": lines,
        "n_active": sum(line["weight"] > 0 for line in lines),
        "total": sum(costs) if is_timed else None,
        "active": sum(line["milliseconds"] for line in lines if line["weight"] > 0) if is_timed else None,
        "chart": _chart(known),
    }


def kernel_lines(known: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Name, weight as a share of all, milliseconds a picture or None, and length of the bar."""
    weights = np.array(known["weights"], dtype=np.float64)
    if not 0 < len(weights) <= MOST_KERNELS or not np.all(weights >= 0) or not np.isfinite(weights.sum()):
        raise ValueError("weights are finite and not negative")
    shares = weights / (weights.sum() or 1.0)
    lines = [
        {
            "name": str(name),
            "weight": float(share),
            "milliseconds": None if cost is None else float(cost),
            "length": 100 * float(share / (shares.max() or 1.0)),
        }
        for name, share, cost in zip(known["names"], shares, known["milliseconds"], strict=True)
    ]
    return sorted(lines, key=lambda line: -line["weight"])


def _chart(known: Mapping[str, Any]) -> Any:
    path, weights = np.array(known["path"], dtype=np.float64), np.array(known["weights"], dtype=np.float64)
    if path.ndim != 2 or len(path) < 2 or path.shape[1] != len(weights) or not np.isfinite(path).all():
        return None
    shares = path / np.maximum(path.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    rounds = np.arange(len(path))
    shown = np.argsort(-weights, kind="stable")[:MOST_LINES]
    return line_chart(
        "Weights round by round",
        [(str(known["names"][j]), rounds, shares[:, j]) for j in shown],
        description=f"The {len(shown)} largest weights; the best ones were taken, not always the last.",
        x_label="round",
    )

"""What a model notes about itself: how it was chosen, and how much each set of features counts and costs."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tagrank.annotation import Annotator
from tagrank.annotation.choosing import Choice
from tagrank.estimators.base import innermost_fitted
from tagrank.reports.charts import line_chart

CHOICE = "choice"  # where a model remembers how it was chosen


def describe_choice(choice: Choice | None) -> dict[str, Any] | None:
    """Plain values for the notes of a model."""
    if choice is None:
        return None
    return {
        "words": choice.words,
        "summary": choice_words(choice),
        "taken": [one.words for one in choice.chosen],
        "tried": [[one.words, one.best_score(), one.value] for one in choice.trials],
        "criterion": choice.criterion,
        "plan": choice.plan,
    }


def choice_words(choice: Choice) -> str:
    """How good the chosen model is, by how much it won, and what choosing took."""
    words = f"{choice.criterion} {choice.value:.3f}"
    if choice.lead is not None:
        lead = round(100 * choice.lead, 1)
        words += f", {abs(lead):.1f} points {'above' if lead >= 0 else 'below'} the next best"
    words = (
        f"{words}; {len(choice.trials)} models tried on {choice.n_rows:,} held out in {choice.seconds:.1f} s"
    )
    return words if choice.is_complete else f"{words}, until time ran out"


def choice_section(annotator: Annotator) -> dict[str, Any] | None:
    """What won, and a line for each model that was tried; None where nothing is known of a choice."""
    known = describe_choice(getattr(annotator, "choice_", None)) or annotator.metadata.get(CHOICE)
    try:
        return _tried_lines(known) if isinstance(known, Mapping) else None
    except (KeyError, TypeError, ValueError):
        # the notes of a model from elsewhere may say anything
        return None


def _tried_lines(known: Mapping[str, Any]) -> dict[str, Any]:
    lines = [
        {"words": str(words), "cells": [_number(by_scores), _number(value)], "taken": words in known["taken"]}
        for words, by_scores, value in known["tried"]
    ]
    told = {key: str(known[key]) for key in ("words", "summary", "criterion")}
    # models of before do not say how their rows were compared
    return told | {"plan": str(known.get("plan", "")), "lines": lines}


def _number(value: float | None) -> str:
    return "–" if value is None else f"{float(value):.3f}"


KERNELS = "kernels"  # where a model remembers its weights
MOST_LINES = 3  # of the chart, the largest weights: more are not told apart
MOST_KERNELS = 1_000  # of a model from elsewhere


def describe_kernels(
    annotator: Annotator, seconds: Mapping[str, float] | None = None
) -> dict[str, Any] | None:
    """Plain values for the notes of a model; None where no weights were found.

    `seconds` are those that a set of features takes for one picture, where they are known.
    """
    found = _weights_of(annotator)
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


def _weights_of(annotator: Annotator) -> tuple[Sequence[str], Any, Any] | None:
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
        return _weight_lines(known) if isinstance(known, Mapping) else None
    except (KeyError, TypeError, ValueError, IndexError):
        # the notes of a model from elsewhere may say anything
        return None


def _weight_lines(known: Mapping[str, Any]) -> dict[str, Any]:
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
        description=f"The {len(shown)} largest weights. The model keeps the best round, not always the last.",
        x_label="round",
    )

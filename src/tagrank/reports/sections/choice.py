"""How the model was chosen: what was tried, what won, and by how much."""

from collections.abc import Mapping
from typing import Any

from tagrank.annotation import Annotator
from tagrank.annotation.choosing import Choice

CHOICE = "choice"  # where a model remembers how it was chosen


def describe_choice(choice: Choice | None) -> dict[str, Any] | None:
    """Plain values for the notes of a model."""
    if choice is None:
        return None
    return {
        "words": choice.words,
        "summary": choice_words(choice),
        "taken": [one.words for one in choice.chosen],
        "tried": [[one.words, one.best_score(), one.value] for one in choice.tried],
        "criterion": choice.criterion,
    }


def choice_words(choice: Choice) -> str:
    """How good the chosen model is, by how much it won, and what choosing took."""
    words = f"{choice.criterion} {choice.value:.3f}"
    if choice.lead is not None:
        words += f", {100 * choice.lead:.1f} points more than the next best"
    return f"{words}; {len(choice.tried)} tried on {choice.n_rows:,} held out, {choice.seconds:.1f} seconds"


def choice_section(annotator: Annotator) -> dict[str, Any] | None:
    """What won, and a line for each model that was tried; None where nothing is known of a choice."""
    known = describe_choice(getattr(annotator, "choice_", None)) or annotator.metadata.get(CHOICE)
    try:
        return _section(known) if isinstance(known, Mapping) else None
    except (KeyError, TypeError, ValueError):
        # the notes of a model from elsewhere may say anything
        return None


def _section(known: Mapping[str, Any]) -> dict[str, Any]:
    lines = [
        {"words": str(words), "cells": [_number(by_scores), _number(value)], "taken": words in known["taken"]}
        for words, by_scores, value in known["tried"]
    ]
    return {key: str(known[key]) for key in ("words", "summary", "criterion")} | {"lines": lines}


def _number(value: float | None) -> str:
    return "–" if value is None else f"{float(value):.3f}"

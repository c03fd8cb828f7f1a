"""How sure the model is: scores of present and absent tags, and what its probabilities are worth."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from tagrank.labels import label_states
from tagrank.reports.charts import LineChart, Series, histogram_chart, line_chart

N_BINS, N_SMALL_BINS, N_RELIABILITY_BINS = 40, 20, 10
FROM = 0.1  # nearly all pairs are less probable, and about them every model is right
MOST_SMALL_CHARTS = 12
OUTLIERS = 0.5  # per cent of the scores on each side that are drawn in the outermost bin


@dataclass(frozen=True)
class Answers:
    """What a model said about every picture that it was measured on, beside the truth.

    Parameters
    ----------
    tags : names of the columns
    Y : three-state labels, shape (n, n_tags)
    scores : shape (n, n_tags)
    predictions : 0 and 1, shape (n, n_tags)
    probabilities : shape (n, n_tags), or None if the model has none
    """

    tags: Sequence[str]
    Y: Any
    scores: np.ndarray
    predictions: np.ndarray
    probabilities: np.ndarray | None = None


class ReliabilityBin(NamedTuple):
    """Answers of about the same probability: their mean, how many of them are right, and their number."""

    probability: float
    observed: float
    n_answers: int


def scores_section(answers: Answers | None) -> dict[str, list[LineChart]] | None:
    """Histograms of all tags and of the most frequent ones, and the reliability of probabilities."""
    if answers is None:
        return None
    states = label_states(answers.Y)
    if not np.any(states > 0) or not np.any(states < 0):
        return None
    scores = np.asarray(answers.scores, dtype=np.float64)
    low, high = np.percentile(scores[states != 0], [OUTLIERS, 100 - OUTLIERS])
    high = high if high > low else low + 1
    large = [_histogram("Scores of all tags", states, scores, np.linspace(low, high, N_BINS + 1), "score")]
    if answers.probabilities is not None:
        probabilities = np.asarray(answers.probabilities, dtype=np.float64)
        edges = np.linspace(0, 1, N_BINS // 2 + 1)
        large.append(_histogram("Probabilities of all tags", states, probabilities, edges, "probability"))
        large += reliability_charts(states, probabilities, np.asarray(answers.predictions) > 0)
    small = [
        _histogram(
            answers.tags[j], states[:, j], scores[:, j], np.linspace(low, high, N_SMALL_BINS + 1), "score"
        )
        for j in _frequent(states)
    ]
    return {"large": large, "small": small}


def reliability(
    states: np.ndarray, probabilities: np.ndarray, *, n_bins: int = N_RELIABILITY_BINS
) -> list[ReliabilityBin]:
    """Known labels above `FROM` by their probability, in bins of equal width; empty ones are left out."""
    known = (states != 0) & (probabilities > FROM)
    present, claimed = states[known] > 0, probabilities[known]
    place = np.minimum(((claimed - FROM) / (1 - FROM) * n_bins).astype(int), n_bins - 1)
    return [
        ReliabilityBin(float(claimed[inside].mean()), float(present[inside].mean()), int(inside.sum()))
        for inside in (place == k for k in range(n_bins))
        if inside.any()
    ]


def _histogram(title: str, states: np.ndarray, values: np.ndarray, edges: np.ndarray, word: str) -> LineChart:
    groups = {"present": values[states > 0], "absent": values[states < 0]}
    medians = [f"{name} {np.median(values):.2f}" for name, values in groups.items()]
    description = f"Share of the pictures at each {word}. Medians: {', '.join(medians)}."
    return histogram_chart(title, groups, description=description, x_label=word, edges=edges)


def reliability_charts(
    states: np.ndarray, probabilities: np.ndarray, predicted: np.ndarray
) -> list[LineChart]:
    """What probabilities claim against what is right, with the number of pairs of each bin; none without."""
    bins = reliability(states, probabilities)
    if not bins:
        return []
    series: list[Series] = [
        ("observed", [step.probability for step in bins], [step.observed for step in bins]),
        ("perfect", [0, 1], [0, 1]),
    ]
    chart = line_chart(
        "Are the probabilities right?",
        series,
        description=f"{_claims(states, probabilities, predicted)}{_gap(bins)}",
        x_label="probability",
    )
    counts = [f"{step.n_answers:,}" for step in bins]
    return [replace(chart, lines=[replace(chart.lines[0], notes=counts), *chart.lines[1:]])]


def _claims(states: np.ndarray, probabilities: np.ndarray, predicted: np.ndarray) -> str:
    """What predicted tags claim to be true, and how many of them are listed."""
    chosen = predicted & (states != 0)
    if not chosen.any():
        return ""
    claim, listed = probabilities[chosen].mean(), np.mean(states[chosen] > 0)
    return f"Predicted tags have a mean probability of {claim:.0%}, and {listed:.0%} of them are listed. "


def _gap(bins: Sequence[ReliabilityBin]) -> str:
    sizes = [step.n_answers for step in bins]
    gap = np.average([abs(step.probability - step.observed) for step in bins], weights=sizes)
    return (
        f"{sum(sizes):,} pairs of picture and tag have a probability above {FROM:.0%}. In ten bins of "
        f"probability, the share of listed tags differs from the probability by {100 * gap:.1f} points on "
        "average. The numbers in the chart count pairs."
    )


def _frequent(states: np.ndarray) -> list[int]:
    """The most frequent tags that are also absent somewhere."""
    n_present = np.count_nonzero(states > 0, axis=0)
    drawable = (n_present > 0) & np.any(states < 0, axis=0)
    return [int(j) for j in np.argsort(-n_present, kind="stable") if drawable[j]][:MOST_SMALL_CHARTS]

"""What a new model changed: its quality beside that of others on the same labels, and proposals."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from tagrank.desk.learning.learn import Learned, held_out_metrics
from tagrank.desk.learning.models import PROPOSED, Models, Proposals
from tagrank.labels import labels_from_states
from tagrank.reports.quality import QualityNote, measured_quality

MOST_TAGS = 200  # whose numbers of proposals are told


def measured_facts(learned: Learned, models: Models) -> dict[str, Any]:
    """What a training is worth, and the other models that are kept whole, all by the labels of today.

    Returns
    -------
    facts : "quality", "threshold" and "metrics" of the training, and in "others" those of other models by
        their numbers, counted over the same pictures and tags; of what a model did not know it found nothing
    """
    threshold = float(learned.model.threshold_)
    return {
        "quality": _quality_on(learned, learned.probabilities, threshold).to_dict(),
        "threshold": threshold,
        "metrics": learned.metrics,
        "others": {str(number): told for number, told in _others(learned, models)},
    }


def _others(learned: Learned, models: Models) -> Iterator[tuple[int, dict[str, Any]]]:
    for facts in models.list():
        with suppress(LookupError, OSError, ValueError):
            proposals = models.open(facts["number"])
            values = proposals.held_out()
            if values is not None:
                yield proposals.number, _measure(learned, proposals, values)


def _measure(learned: Learned, proposals: Proposals, values: np.ndarray) -> dict[str, Any]:
    probabilities = _aligned(proposals, learned.ids, learned.tags, values).astype(np.float32)
    told: dict[str, Any] = {"metrics": held_out_metrics(learned.states, probabilities)}
    threshold = proposals.facts.get("threshold")
    if isinstance(threshold, (int, float)):
        told["quality"] = _quality_on(learned, probabilities, threshold).to_dict()
    return told


def _quality_on(learned: Learned, probabilities: np.ndarray, threshold: float) -> QualityNote:
    """What the tags are worth whose probabilities (n, n_tags) reach a threshold.

    They are counted by the labels of `learned`, whichever model they come from; what no model of that
    training could judge is left out.
    """
    states = np.where(learned.is_judged, learned.states, 0).astype(np.int8)
    n_pictures = int(np.count_nonzero(np.any(states != 0, axis=1)))
    pictures = f"{n_pictures:,} picture{'' if n_pictures == 1 else 's'}"
    return measured_quality(
        labels_from_states(states),
        probabilities >= threshold,
        f"on {pictures} with models that were not trained on them",
        estimator=learned.model,
        decided=learned.examples.decided_mask(),
        audited=learned.examples.audited_mask(),
    )


def changes_between(before: Proposals | None, after: Proposals, learned: Learned) -> dict[str, Any]:
    """In the form in which pages show it; `learned` is the training that `after` came from."""
    is_open = (learned.states <= 0) & ~learned.examples.closed_mask()
    proposed_after = is_open & (np.asarray(after.probabilities) >= PROPOSED)
    old = np.zeros(is_open.shape, dtype=np.float16)
    if before is not None:
        old = _aligned(before, after.ids, after.tags, before.probabilities)
    proposed_before = is_open & (old >= PROPOSED)
    counts = np.column_stack([proposed_before.sum(axis=0), proposed_after.sum(axis=0)])
    order = np.argsort(-np.abs(counts[:, 1] - counts[:, 0]), kind="stable")
    order = order[counts[order].any(axis=1)]
    gained = set() if before is None else set(after.tags) - set(before.tags)
    lost = set() if before is None else set(before.tags) - set(after.tags)
    return {
        "model": after.number,
        "before": None if before is None else before.number,
        **_qualities(before, after),
        "tags": [
            {
                "tag": after.tags[j],
                "proposed_before": int(counts[j, 0]),
                "proposed_after": int(counts[j, 1]),
            }
            for j in order[:MOST_TAGS].tolist()
        ],
        "gained": sorted(gained),
        "lost": sorted(lost),
        "new": int(np.count_nonzero(proposed_after & ~proposed_before)),
        "gone": int(np.count_nonzero(proposed_before & ~proposed_after)),
    }


def _qualities(before: Proposals | None, after: Proposals) -> dict[str, Any]:
    """The quality of both and their metrics, from the facts of the newer one: on the same labels."""
    told = {} if before is None else after.facts["others"].get(str(before.number), {})
    metrics = told.get("metrics", {})
    return {
        "quality": {"before": told.get("quality"), "after": after.facts["quality"]},
        "metrics": [
            {"name": name, "before": metrics.get(name), "after": value}
            for name, value in after.facts["metrics"].items()
        ],
    }


def _aligned(before: Proposals, ids: np.ndarray, tags: list[str], values: np.ndarray) -> np.ndarray:
    """Values of one model in the places of other pictures and tags; 0 where it has none."""
    aligned = np.zeros((len(ids), len(tags)), dtype=np.float16)
    _, here, there = np.intersect1d(before.ids, ids, assume_unique=True, return_indices=True)
    places = {tag: place for place, tag in enumerate(before.tags)}
    columns = [(places[tag], j) for j, tag in enumerate(tags) if tag in places]
    if columns:
        old, new = np.array(columns).T
        aligned[np.ix_(there, new)] = values[here][:, old]
    return aligned

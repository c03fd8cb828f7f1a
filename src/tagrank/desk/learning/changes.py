"""What a new model changed: metrics beside those of the last one on the same labels, and proposals."""

from typing import Any

import numpy as np

from tagrank.desk.learning.metrics import held_out_metrics
from tagrank.desk.learning.proposals import Proposals
from tagrank.desk.queues import PROPOSED

MOST_TAGS = 200  # whose numbers of proposals are told


def changes_between(before: Proposals | None, after: Proposals, learned: Any) -> dict[str, Any]:
    """In the form in which pages show it; `learned` is the training that `after` came from."""
    is_open = (learned.states <= 0) & ~learned.examples.decided_mask()
    proposed_after = is_open & (np.asarray(after.probabilities) >= PROPOSED)
    old = np.zeros(is_open.shape, dtype=np.float16)
    if before is not None:
        old = _aligned(before, after, before.probabilities)
    proposed_before = is_open & (old >= PROPOSED)
    counts = np.column_stack([proposed_before.sum(axis=0), proposed_after.sum(axis=0)])
    order = np.argsort(-np.abs(counts[:, 1] - counts[:, 0]), kind="stable")
    order = order[counts[order].any(axis=1)]
    gained = set() if before is None else set(after.tags) - set(before.tags)
    lost = set() if before is None else set(before.tags) - set(after.tags)
    return {
        "model": after.number,
        "before": None if before is None else before.number,
        "metrics": _metrics(before, after, learned),
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


def _metrics(before: Proposals | None, after: Proposals, learned: Any) -> list[dict[str, Any]]:
    """Of both on the labels of today, where both judged; else of each on the labels of its own day."""
    values = None if before is None else before.held_out()
    if before is None or values is None:
        told = {} if before is None else before.facts["metrics"]
        both = told, learned.metrics
    else:
        old = _aligned(before, after, values)
        states = np.where((old > 0) & learned.is_judged, learned.states, 0)
        both = (
            held_out_metrics(states, old.astype(np.float32)),
            held_out_metrics(states, learned.probabilities),
        )
    return [{"name": name, "before": both[0].get(name), "after": value} for name, value in both[1].items()]


def _aligned(before: Proposals, after: Proposals, values: np.ndarray) -> np.ndarray:
    """Values of one model in the places of another; 0 where it has none."""
    found = np.zeros((len(after.ids), len(after.tags)), dtype=np.float16)
    _, here, there = np.intersect1d(before.ids, after.ids, assume_unique=True, return_indices=True)
    places = {tag: place for place, tag in enumerate(before.tags)}
    columns = [(places[tag], j) for j, tag in enumerate(after.tags) if tag in places]
    if columns:
        old, new = np.array(columns).T
        found[np.ix_(there, new)] = values[here][:, old]
    return found

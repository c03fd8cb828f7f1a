"""What a new model changed: its metrics beside those of the last one on the same labels, and its proposals."""

from typing import Any

import numpy as np

from tagrank.desk.learning.metrics import held_out_metrics
from tagrank.desk.learning.proposals import Proposals

PROBABLE = 0.5  # from here on a tag is proposed
MOST_TAGS = 200  # whose numbers of proposals are told


def changes_between(before: Proposals | None, after: Proposals, learned: Any) -> dict[str, Any]:
    """In the form in which pages show it; `learned` is the training that `after` came from."""
    is_open = (learned.states <= 0) & ~learned.examples.decided_mask()
    proposed_after = is_open & (np.asarray(after.probabilities) >= PROBABLE)
    old = np.zeros(is_open.shape, dtype=np.float16) if before is None else _aligned(before, after)
    proposed_before = is_open & (old >= PROBABLE)
    counts = np.column_stack([proposed_before.sum(axis=0), proposed_after.sum(axis=0)])
    order = [
        int(j) for j in np.argsort(-np.abs(counts[:, 1] - counts[:, 0]), kind="stable") if counts[j].any()
    ]
    gained = set() if before is None else set(after.tags) - set(before.tags)
    lost = set() if before is None else set(before.tags) - set(after.tags)
    return {
        "model": after.number,
        "before": None if before is None else before.number,
        "metrics": _metrics(None if before is None else old, learned),
        "tags": [
            {
                "tag": after.tags[j],
                "proposed_before": int(counts[j, 0]),
                "proposed_after": int(counts[j, 1]),
            }
            for j in order[:MOST_TAGS]
        ],
        "gained": sorted(gained),
        "lost": sorted(lost),
        "new": int(np.count_nonzero(proposed_after & ~proposed_before)),
        "gone": int(np.count_nonzero(proposed_before & ~proposed_after)),
    }


def _metrics(old: np.ndarray | None, learned: Any) -> list[dict[str, Any]]:
    """Of both on the labels of today, where both judged; of pictures that both know."""
    before: dict[str, float] = {}
    if old is not None:
        states = np.where((old > 0) & learned.is_judged, learned.states, 0)
        before = held_out_metrics(states, old.astype(np.float32))
        after = held_out_metrics(states, learned.probabilities)
    else:
        after = learned.metrics
    return [{"name": name, "before": before.get(name), "after": value} for name, value in after.items()]


def _aligned(before: Proposals, after: Proposals) -> np.ndarray:
    """The probabilities of one model in the places of another; 0 where it has none."""
    found = np.zeros((len(after.ids), len(after.tags)), dtype=np.float16)
    _, here, there = np.intersect1d(before.ids, after.ids, assume_unique=True, return_indices=True)
    places = {tag: place for place, tag in enumerate(before.tags)}
    columns = [(places[tag], j) for j, tag in enumerate(after.tags) if tag in places]
    if columns:
        old, new = np.array(columns).T
        found[np.ix_(there, new)] = before.probabilities[here][:, old]
    return found

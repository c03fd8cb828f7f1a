"""How good models are on pictures that they did not see, all on the labels of one moment."""

from typing import Any

import numpy as np

from tagrank.labels import labels_from_states
from tagrank.metrics import image_auc, image_average_precision
from tagrank.reports.quality import QualityNote, measured_quality

METRICS = {"Image-MAP": image_average_precision, "Image-AUC": image_auc}


def held_out_metrics(states: np.ndarray, probabilities: np.ndarray) -> dict[str, float]:
    """Every metric that is defined, of probabilities under states, both (n, n_tags)."""
    known = np.flatnonzero(np.any(states > 0, axis=1) & np.any(states < 0, axis=1))
    if not len(known):
        return {}
    labels, values = labels_from_states(states[known]), probabilities[known]
    found = {name: float(function(labels, values)) for name, function in METRICS.items()}
    return {name: value for name, value in found.items() if not np.isnan(value)}


def quality_on(learned: Any, probabilities: np.ndarray, threshold: float) -> QualityNote:
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
        f"on {pictures} by models that did not see them",
        estimator=learned.model,
        decided=learned.examples.decided_mask(),
    )

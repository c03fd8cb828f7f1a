"""How good held-out probabilities are."""

import numpy as np

from tagrank.labels import labels_from_states
from tagrank.metrics import image_auc, image_average_precision

METRICS = {"Image-MAP": image_average_precision, "Image-AUC": image_auc}


def held_out_metrics(states: np.ndarray, probabilities: np.ndarray) -> dict[str, float]:
    """Every metric that is defined, of probabilities under states, both (n, n_tags)."""
    known = np.flatnonzero(np.any(states > 0, axis=1) & np.any(states < 0, axis=1))
    if not len(known):
        return {}
    labels, values = labels_from_states(states[known]), probabilities[known]
    found = {name: float(function(labels, values)) for name, function in METRICS.items()}
    return {name: value for name, value in found.items() if not np.isnan(value)}

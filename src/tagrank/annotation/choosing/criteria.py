"""What candidates are chosen by and methods are ordered by: a metric, by its name."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from tagrank.errors import ArgumentError, did_you_mean
from tagrank.metrics import Metric, catalog_metrics, image_auc, image_average_precision

CRITERION = "MAP and AUC"
LIKELIHOOD = "log-likelihood"
MEASURES = {"Image-AUC": image_auc, "Image-MAP": image_average_precision}
CRITERIA = (*MEASURES, CRITERION)
ONE_TAG_CRITERION = "Category-AUC"  # with a single tag there is no order within a picture
N_THRESHOLDS = 50


def measure(Y: Any, scores: np.ndarray) -> dict[str, float]:
    """Every criterion to how good scores are by it; the last is the mean of the others."""
    values = {name: float(function(Y, scores)) for name, function in MEASURES.items()}
    return values | {CRITERION: float(np.mean(list(values.values())))}


_BOTH = Metric(
    CRITERION,
    lambda Y, F: measure(Y, F)[CRITERION],
    "scores",
    "samples",
    about="The mean of Image-MAP and Image-AUC.",
)


def find_criterion(name: str | None, n_tags: int = 2) -> Metric:
    """A metric by its name, in any case; None is the usual one for so many tags."""
    if name is None:
        name = CRITERION if n_tags > 1 else ONE_TAG_CRITERION
    known = {CRITERION: _BOTH, **catalog_metrics()}
    folded = {metric.casefold(): metric for metric in known}
    if name.casefold() not in folded:
        hint = did_you_mean(name, known)
        raise ArgumentError(f"no metric {name!r}{hint}; there are: {', '.join(known)}")
    return known[folded[name.casefold()]]


def held_out_value(metric: Metric, parts: Sequence[tuple[Any, np.ndarray]]) -> float:
    """How good held-out scores are, the higher the better; nan where nothing can be measured.

    Parameters
    ----------
    metric : where it takes predictions, all scores get the one threshold that is best for them
    parts : labels and scores of each fold
    """
    sign = 1.0 if metric.higher_is_better else -1.0
    if metric.takes == "predictions":
        labels, scores = _joined([Y for Y, _ in parts]), np.concatenate([F for _, F in parts])
        values = [sign * metric(labels, scores >= cut) for cut in _cuts(labels, scores)]
    else:
        values = [sign * metric(Y, F) for Y, F in parts]
    defined = [value for value in values if not np.isnan(value)]
    if not defined:
        return float("nan")
    return float(max(defined) if metric.takes == "predictions" else np.mean(defined))


def _cuts(labels: Any, scores: np.ndarray) -> np.ndarray:
    """Thresholds that predict from an eighth to eight times as many tags as are present.

    Of many tags few are present: equal steps through all scores would hardly meet their end.
    """
    share = (labels > 0).sum() / scores.size
    return np.unique(np.quantile(scores, 1 - np.minimum(share * np.geomspace(1 / 8, 8, N_THRESHOLDS), 1)))


def _joined(labels: Sequence[Any]) -> Any:
    return sparse.vstack(labels, format="csr") if sparse.issparse(labels[0]) else np.concatenate(labels)

"""From which probability on a tag is written down, where the model is not to decide."""

from typing import Any

from tagrank.errors import ArgumentError
from tagrank.validation import check_share


def threshold_for(estimator: Any, min_probability: float | None, precision: float | None) -> float | None:
    """The probability from which on a tag is written down; None leaves the decision to the estimator."""
    if min_probability is not None and precision is not None:
        raise ArgumentError(
            f"min_probability={min_probability} and precision={precision} exclude each other: each says "
            "what to write down"
        )
    if min_probability is not None:
        check_share("min_probability", min_probability)
        if not hasattr(estimator, "predict_proba") or not hasattr(estimator, "probabilities_of"):
            raise ArgumentError(
                f"min_probability={min_probability:g} needs a model with probabilities; this one has none: "
                "train it again with a calibration"
            )
        return min_probability
    if precision is None:
        return None
    check_share("precision", precision)
    if not hasattr(estimator, "curve_"):
        raise ArgumentError(
            f"precision={precision:g} needs a model that knows how often its tags are right, this one does "
            "not; train it again with calibration 'shared', the usual one, or give a min_probability"
        )
    return estimator.curve_.for_precision(precision)

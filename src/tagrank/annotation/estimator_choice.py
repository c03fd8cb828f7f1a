"""Which estimator an Annotator trains, and with which kernel."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from tagrank.annotation.nesting import innermost
from tagrank.annotation.views import Intake
from tagrank.estimators import CalibratedRanker, LabelRanker
from tagrank.features import Feature
from tagrank.kernels import Kernel, Linear, Sum, make_kernel

FEWEST_TO_CALIBRATE = 10


def choose_estimator(given: Any, intake: Intake) -> Any:
    """An unfitted copy of `given`, or the default, with the kernel that suits the views."""
    if given is None:
        return _default(intake)
    _check_estimator(given)
    estimator = clone(given)
    inner = innermost(estimator)
    several_features = intake.features is not None and len(intake.views) > 1
    if several_features and isinstance(getattr(inner, "kernel", None), str):
        inner.set_params(kernel=_mean_over_views(inner, list(intake.views)), gamma=None)
    return estimator


def _check_estimator(given: Any) -> None:
    if isinstance(given, type) or not all(hasattr(given, name) for name in ("fit", "get_params")):
        example = f"{given.__name__}()" if isinstance(given, type) else "LabelRanker()"
        raise TypeError(
            f"estimator must be a tagrank estimator such as {example}, or None for the default, got {given!r}"
        )


def mean_kernel(features: Mapping[str, Feature]) -> Kernel:
    """The mean of the kernels that suit these sets of features, each on its own view.

    Embeddings together have the weight of all other sets together: each of them tells more.
    """
    families = Counter(feature.family for feature in features.values())
    parts = tuple(make_kernel(feature.kernel).on(name) for name, feature in features.items())
    weights = (1 / (len(families) * families[feature.family]) for feature in features.values())
    return Sum(parts, tuple(weights))


def _default(intake: Intake) -> Any:
    kernel = mean_kernel(intake.features) if intake.features else "rbf"
    ranker = LabelRanker(kernel=kernel, random_state=0)
    return CalibratedRanker(ranker, random_state=0) if len(intake.names) >= FEWEST_TO_CALIBRATE else ranker


def kernel_of(estimator: Any) -> Kernel | None:
    """The kernel that an estimator will use, None if it has none."""
    inner = innermost(estimator)
    return make_kernel(inner.kernel, gamma=inner.gamma) if hasattr(inner, "kernel") else None


def take_tag_weights(estimator: Any, tags: list[str], n_rows: int) -> dict[str, Any]:
    """Weights by tag name as weights of samples: the estimator knows the tags by number only."""
    inner = innermost(estimator)
    weights = getattr(inner, "class_weight", None)
    if not isinstance(weights, Mapping) or not any(isinstance(key, str) for key in weights):
        return {}
    if strangers := [key for key in weights if key not in tags]:
        raise ValueError(f"class_weight names tags that the collection does not have: {strangers}")
    inner.set_params(class_weight=None)
    return {"sample_weight": np.tile([weights.get(tag, 1.0) for tag in tags], (n_rows, 1))}


def _mean_over_views(inner: Any, views: list[str]) -> Kernel | str:
    kernel = make_kernel(inner.kernel, gamma=inner.gamma)
    if isinstance(kernel, Linear):
        # on columns side by side it is the sum already, and trains on the rows themselves
        return "linear"
    return Sum(tuple(kernel.on(view) for view in views), (1 / len(views),) * len(views))

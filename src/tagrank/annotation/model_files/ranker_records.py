"""What is stored of the rankers that derive from LabelRanker, and of the one that learns from a stream."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tagrank.annotation.model_files.array_shelf import ArrayShelf
from tagrank.annotation.model_files.plain_json import Fields
from tagrank.estimators.online.label_stream import LabelStream
from tagrank.estimators.online.online_ranker import OnlineRanker

_COUNTS = ("n_seen_", "n_updates_", "n_iter_")
Describe = Callable[[Any, ArrayShelf], dict[str, Any]]
Rebuild = Callable[[Fields, ArrayShelf, int], Any]


def ranker_record(
    describe_ranker: Describe, rebuild_margin: Callable[..., Rebuild], Ranker: Any, own: dict[str, Any]
) -> tuple[Describe, Rebuild]:
    """How a ranker with parameters of its `own`, name and type, is described and rebuilt."""

    def describe(estimator: Any, shelf: ArrayShelf) -> dict[str, Any]:
        description = describe_ranker(estimator, shelf)
        params = dict(description["params"])
        return {**description, "own": {name: params.pop(name) for name in own}, "params": params}

    def rebuild(fields: Fields, shelf: ArrayShelf, n_tags: int) -> Any:
        estimator = rebuild_margin(Ranker)(fields, shelf, n_tags)
        given = fields.fields("own")
        estimator.set_params(**{name: given.take(name, kind) for name, kind in own.items()})
        given.finish()
        estimator.threshold_rule_ = shelf.take("threshold_rule", "f", (2,))
        estimator.always_predicts_ = fields.take("always_predicts", bool)
        return estimator

    return describe, rebuild


def describe_stream(estimator: OnlineRanker, shelf: ArrayShelf) -> dict[str, Any]:
    """A fitted OnlineRanker as plain JSON values: enough to go on learning."""
    params = estimator.get_params(deep=False)
    seed = params["random_state"]
    params["random_state"] = int(seed) if isinstance(seed, int | np.integer) else None
    shelf.put("weights", estimator._weights)
    shelf.put("total", estimator._total)
    shelf.put("n_present", estimator.stream_.n_present)
    shelf.put("n_known", estimator.stream_.n_known)
    return {"params": params, "counts": {name: int(getattr(estimator, name)) for name in _COUNTS}}


def rebuild_stream(fields: Fields, shelf: ArrayShelf, n_tags: int) -> OnlineRanker:
    """The estimator that `describe_stream` described."""
    params, nothing = fields.fields("params"), type(None)
    estimator = OnlineRanker(
        pairs=params.take("pairs", str),
        step=params.take("step", str),
        average=params.take("average", bool),
        max_iter=params.take("max_iter", int),
        random_state=params.take("random_state", (int, nothing)),
    )
    params.finish()
    estimator._check_parameters()
    stream = LabelStream(np.arange(n_tags), one_dimensional=False)
    stream.n_present = shelf.take("n_present", "i", (n_tags,))
    stream.n_known = shelf.take("n_known", "i", (n_tags,))
    weights = shelf.take("weights", "f", (n_tags, None))
    estimator.n_features_in_ = weights.shape[1]
    estimator._begin(stream, weights.shape[1])
    estimator._weights[:] = weights
    estimator._total[:] = shelf.take("total", "f", weights.shape)
    counts = fields.fields("counts")
    for name in _COUNTS:
        setattr(estimator, name, counts.take(name, int))
    counts.finish()
    return estimator._finish()

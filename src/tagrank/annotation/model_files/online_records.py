"""What is stored of a model that learns from a stream: enough to go on learning after it was loaded."""

from typing import Any

import numpy as np

from tagrank.annotation.model_files.array_shelf import ArrayShelf
from tagrank.annotation.model_files.plain_json import Fields
from tagrank.estimators.online.kernel_rows import KernelRows
from tagrank.estimators.online.label_stream import LabelStream
from tagrank.estimators.online.online_joint_svm import OnlineJointSVM
from tagrank.kernels import Kernel, Linear, kernel_from_dict

_COUNTS = ("n_seen_", "n_updates_", "n_iter_")


def describe_online(estimator: OnlineJointSVM, shelf: ArrayShelf) -> dict[str, Any]:
    """A fitted OnlineJointSVM as plain JSON values, its arrays put on `shelf`."""
    from tagrank.solvers.joint_perceptron import LinearWeights

    params = estimator.get_params(deep=False)
    seed = params["random_state"]
    params["random_state"] = int(seed) if isinstance(seed, int | np.integer) else None
    if isinstance(params["kernel"], Kernel):
        params["kernel"] = params["kernel"].to_dict()
    del params["n_jobs"]
    weights = estimator.growing_weights()
    views = None
    if isinstance(weights, LinearWeights):
        shelf.put("weights", weights.W)
    else:
        shelf.put("weights", weights.A)
        if isinstance(weights.X, dict):
            views = list(weights.X)
            for i, rows in enumerate(weights.X.values()):
                shelf.at("rows").put_matrix(str(i), rows)
        else:
            shelf.put_matrix("rows", weights.X)
    if weights.total is not None:
        shelf.put("total", weights.total)
    shelf.put("n_present", estimator.stream_.n_present)
    shelf.put("n_known", estimator.stream_.n_known)
    return {
        "params": params,
        "kernel": estimator.kernel_.to_dict(),
        "n_columns": getattr(estimator, "n_features_in_", None),
        "views": views,
        "counts": {name: int(getattr(estimator, name)) for name in _COUNTS},
        "squared_norm": float(estimator._squared_norm),
        "always_predicts": bool(estimator.always_predicts_),
    }


def rebuild_online(fields: Fields, shelf: ArrayShelf, n_tags: int) -> OnlineJointSVM:
    """The estimator that `describe_online` described."""
    estimator = OnlineJointSVM(**_take_params(fields.fields("params")))
    estimator._check_parameters()
    estimator.kernel_ = kernel_from_dict(fields.mapping("kernel"))
    if not estimator.kernel_.fixed:
        raise ValueError(f"the kernel {estimator.kernel_!r} has no width")
    n_columns = fields.take("n_columns", (int, type(None)))
    if n_columns is not None:
        estimator.n_features_in_ = n_columns
    counts = fields.fields("counts")
    for name in _COUNTS:
        setattr(estimator, name, counts.take(name, int))
    counts.finish()
    if estimator.n_seen_ < 1:
        raise ValueError(f"a trained model has seen at least one sample, got {estimator.n_seen_}")
    stream = LabelStream(np.arange(n_tags), one_dimensional=False)
    stream.n_present = shelf.take("n_present", "i", (n_tags,))
    stream.n_known = shelf.take("n_known", "i", (n_tags,))
    estimator.stream_ = stream
    estimator._squared_norm = fields.take("squared_norm", float)
    estimator.always_predicts_ = fields.take("always_predicts", bool)
    estimator._weights = _take_weights(estimator, fields, shelf, n_tags)
    estimator._finish()
    return estimator


def _take_weights(estimator: OnlineJointSVM, fields: Fields, shelf: ArrayShelf, n_tags: int) -> Any:
    from tagrank.solvers.joint_perceptron import LinearWeights

    n_columns = getattr(estimator, "n_features_in_", None)
    views = fields.take("views", (list, type(None)))
    is_linear = isinstance(estimator.kernel_, Linear)
    weights = shelf.take("weights", "f", (n_columns if is_linear else None, n_tags))
    total = shelf.take("total", "f", weights.shape) if estimator.average else None
    if is_linear:
        held = LinearWeights(len(weights), n_tags, weights.dtype, averaged=False)
        held.W, held.total = weights, total
        return held
    if views is None:
        rows = shelf.take_matrix("rows", (len(weights), n_columns))
    else:
        parts = shelf.at("rows")
        rows = {str(view): parts.take_matrix(str(i), (len(weights), None)) for i, view in enumerate(views)}
    return KernelRows(estimator.kernel_, rows, weights, total)


def _take_params(fields: Fields) -> dict[str, Any]:
    params = {
        "margin": fields.take("margin", float),
        "average": fields.take("average", bool),
        "kernel": fields.take("kernel", (str, dict)),
        "gamma": fields.take("gamma", (float, type(None))),
        "center": fields.take("center", bool),
        "max_iter": fields.take("max_iter", int),
        "random_state": fields.take("random_state", (int, type(None))),
    }
    fields.finish()
    if isinstance(params["kernel"], dict):
        params["kernel"] = kernel_from_dict(params["kernel"])
    return params

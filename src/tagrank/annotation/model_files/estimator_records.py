"""What is stored of each estimator: an explicit list, class by class.

A model file names a class of this list or it is refused; nothing is imported or called by name. Of the
training rows only those with a coefficient that is not zero are stored, and none for a linear model, whose
`coef_` says all.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from typing import Any

import numpy as np
from sklearn.base import clone

from tagrank.annotation.model_files.array_shelf import ArrayShelf
from tagrank.annotation.model_files.joint_records import joint_record
from tagrank.annotation.model_files.online_records import describe_online, rebuild_online
from tagrank.annotation.model_files.plain_json import Fields
from tagrank.annotation.model_files.ranker_records import describe_stream, ranker_record, rebuild_stream
from tagrank.estimators import (
    CalibratedRanker,
    Calibration,
    IncompleteLabelRanker,
    LabelFrequency,
    LabelRanker,
    OneVsAllSVM,
    PairwiseRanker,
    PriorMarginClassifier,
    calibration_from_arrays,
)
from tagrank.kernels import Kernel, Precomputed, kernel_from_dict
from tagrank.kernels.gram import take_rows
from tagrank.solvers.solution import TracePoint

_CERTIFICATE = ("primal_objective_", "dual_objective_", "duality_gap_")


@dataclass(frozen=True)
class Record:
    """How one class is stored.

    Attributes
    ----------
    describe : (estimator, shelf) -> plain JSON values; arrays go to the shelf
    rebuild : (fields, shelf, n_tags) -> the fitted estimator
    """

    describe: Callable[[Any, ArrayShelf], dict[str, Any]]
    rebuild: Callable[[Fields, ArrayShelf, int], Any]


def describe_estimator(estimator: Any, shelf: ArrayShelf) -> dict[str, Any]:
    """A fitted estimator as plain JSON values, its arrays put on `shelf`."""
    name = type(estimator).__name__
    if name not in RECORDS:
        raise TypeError(f"{name} cannot be stored in a model folder; {', '.join(RECORDS)} can")
    return {"class": name, **RECORDS[name].describe(estimator, shelf)}


def rebuild_estimator(fields: Fields, shelf: ArrayShelf, n_tags: int) -> Any:
    """The fitted estimator that `describe_estimator` described."""
    name = fields.take("class", str)
    if name not in RECORDS:
        raise ValueError(f"unknown class {name[:40]!r}; known are {', '.join(RECORDS)}")
    estimator = RECORDS[name].rebuild(fields, shelf, n_tags)
    estimator.classes_ = np.arange(n_tags)
    estimator._one_dimensional = False
    fields.finish()
    return estimator


def _describe_margin(estimator: Any, shelf: ArrayShelf) -> dict[str, Any]:
    params = estimator.get_params(deep=False)
    weights, seed = params["class_weight"], params["random_state"]
    if isinstance(params["kernel"], Kernel):
        params["kernel"] = params["kernel"].to_dict()
    params["class_weight"] = (
        [list(pair) for pair in weights.items()] if isinstance(weights, dict) else weights
    )
    params["random_state"] = int(seed) if isinstance(seed, int | np.integer) else None
    # how many threads and how much talk suit the machine, not the model
    del params["n_jobs"], params["verbose"]
    shelf.put("intercept", estimator.intercept_)
    shelf.put("never_positive", estimator.never_positive_)
    shelf.put("trace", np.array(estimator.trace_, dtype=np.float64).reshape(-1, len(TracePoint._fields)))
    return {
        "params": params,
        "kernel": estimator.kernel_.to_dict(),
        "n_columns": getattr(estimator, "n_features_in_", None),
        "certificate": {name: getattr(estimator, name) for name in _CERTIFICATE},
        "n_iter": int(estimator.n_iter_),
        "converged": bool(estimator.converged_),
        "views": _put_function(estimator, shelf),
    }


def _put_function(estimator: Any, shelf: ArrayShelf) -> list[str] | None:
    """Store what scores are computed from; the names of the views if the rows are a mapping."""
    if hasattr(estimator, "coef_"):
        shelf.put("coef", estimator.coef_)
        return None
    if isinstance(estimator.kernel_, Precomputed):
        shelf.put("dual_coef", estimator.dual_coef_)
        return None
    shelf.put("dual_coef", estimator.dual_coef_[estimator.support_])
    rows = take_rows(estimator.X_fit_, estimator.support_)
    if not isinstance(rows, dict):
        shelf.put_matrix("rows", rows)
        return None
    for i, matrix in enumerate(rows.values()):
        shelf.at("rows").put_matrix(str(i), matrix)
    return list(rows)


def _rebuild_margin(make: Callable[..., Any]) -> Callable[[Fields, ArrayShelf, int], Any]:
    def rebuild(fields: Fields, shelf: ArrayShelf, n_tags: int) -> Any:
        estimator = make(**_take_params(fields.fields("params")))
        estimator.kernel_ = kernel_from_dict(fields.mapping("kernel"))
        if not estimator.kernel_.fixed:
            raise ValueError(f"the kernel {estimator.kernel_!r} has no width")
        estimator.intercept_ = shelf.take("intercept", "f", (n_tags,))
        estimator.never_positive_ = shelf.take("never_positive", "b", (n_tags,))
        estimator.trace_ = [
            TracePoint(int(point[0]), *map(float, point[1:])) for point in shelf.take("trace", "f", (None, 5))
        ]
        certificate = fields.fields("certificate")
        for name in _CERTIFICATE:
            value = certificate.take(name, (float, type(None)))
            setattr(estimator, name, math.nan if value is None else value)
        certificate.finish()
        estimator.n_iter_ = fields.take("n_iter", int)
        estimator.converged_ = fields.take("converged", bool)
        n_columns = fields.take("n_columns", (int, type(None)))
        if n_columns is not None:
            estimator.n_features_in_ = n_columns
        _take_function(estimator, fields, shelf, n_tags)
        return estimator

    return rebuild


def _take_function(estimator: Any, fields: Fields, shelf: ArrayShelf, n_tags: int) -> None:
    n_columns = getattr(estimator, "n_features_in_", None)
    views = fields.take("views", (list, type(None)))
    if "coef" in shelf:
        estimator.coef_ = shelf.take("coef", "f", (n_tags, n_columns))
        return
    estimator.dual_coef_ = shelf.take("dual_coef", "f", (None, n_tags))
    estimator.support_ = np.flatnonzero(np.any(estimator.dual_coef_ != 0, axis=1))
    n_rows = len(estimator.dual_coef_)
    if isinstance(estimator.kernel_, Precomputed):
        if n_rows != n_columns:
            raise ValueError(f"{n_rows} coefficients do not fit similarities to {n_columns} training rows")
    elif views is None:
        estimator.X_fit_ = shelf.take_matrix("rows", (n_rows, n_columns))
    else:
        rows = shelf.at("rows")
        estimator.X_fit_ = {
            str(view): rows.take_matrix(str(i), (n_rows, None)) for i, view in enumerate(views)
        }


def _take_params(fields: Fields) -> dict[str, Any]:
    nothing = type(None)
    params = {
        "C": fields.take("C", float),
        "kernel": fields.take("kernel", (str, dict)),
        "gamma": fields.take("gamma", (float, nothing)),
        "class_weight": fields.take("class_weight", (str, list, nothing)),
        "fit_intercept": fields.take("fit_intercept", bool),
        "tol": fields.take("tol", float),
        "max_iter": fields.take("max_iter", int),
        "max_seconds": fields.take("max_seconds", (float, nothing)),
        "random_state": fields.take("random_state", (int, nothing)),
    }
    fields.finish()
    if isinstance(params["kernel"], dict):
        params["kernel"] = kernel_from_dict(params["kernel"])
    if isinstance(params["class_weight"], list):
        params["class_weight"] = dict(params["class_weight"])
    return params


def _describe_ranker(estimator: Any, shelf: ArrayShelf) -> dict[str, Any]:
    shelf.put("threshold_rule", estimator.threshold_rule_)
    return {**_describe_margin(estimator, shelf), "always_predicts": bool(estimator.always_predicts_)}


def _rebuild_ranker(fields: Fields, shelf: ArrayShelf, n_tags: int) -> Any:
    estimator = _rebuild_margin(LabelRanker)(fields, shelf, n_tags)
    estimator.threshold_rule_ = shelf.take("threshold_rule", "f", (2,))
    estimator.always_predicts_ = fields.take("always_predicts", bool)
    return estimator


def _describe_prior(estimator: Any, shelf: ArrayShelf) -> dict[str, Any]:
    shelf.put("prior", estimator.prior_)
    description = _describe_margin(estimator, shelf)
    prior = description["params"].pop("prior")
    return {**description, "prior": prior if isinstance(prior, str) else None}


def _rebuild_prior(fields: Fields, shelf: ArrayShelf, n_tags: int) -> Any:
    estimator = _rebuild_margin(PriorMarginClassifier)(fields, shelf, n_tags)
    estimator.prior_ = shelf.take("prior", "f", (n_tags, n_tags))
    name = fields.take("prior", (str, type(None)))
    estimator.prior = estimator.prior_ if name is None else name
    return estimator


def _describe_frequency(estimator: Any, shelf: ArrayShelf) -> dict[str, Any]:
    shelf.put("frequencies", estimator.frequencies_)
    return {}


def _rebuild_frequency(fields: Fields, shelf: ArrayShelf, n_tags: int) -> Any:
    estimator = LabelFrequency()
    estimator.frequencies_ = shelf.take("frequencies", "f", (n_tags,))
    return estimator


def _describe_calibrated(estimator: Any, shelf: ArrayShelf) -> dict[str, Any]:
    shelf.put("thresholds", estimator.thresholds_)
    if estimator.calibration_ is not None:
        for name, array in estimator.calibration_.to_arrays().items():
            shelf.at("calibration").put(name, array)
    return {
        "method": estimator.method,
        "strategy": estimator.strategy,
        "n_tags": int(estimator.n_tags),
        "estimator": describe_estimator(estimator.estimator_, shelf.at("estimator")),
    }


def _rebuild_calibrated(fields: Fields, shelf: ArrayShelf, n_tags: int) -> Any:
    inner = rebuild_estimator(fields.fields("estimator"), shelf.at("estimator"), n_tags)
    estimator = CalibratedRanker(
        clone(inner),
        method=fields.take("method", (str, type(None))),
        strategy=fields.take("strategy", (str, type(None))),
        n_tags=fields.take("n_tags", int),
    )
    estimator._check_parameters()
    estimator.estimator_ = inner
    estimator.thresholds_ = shelf.take("thresholds", "f", (n_tags,), infinite=True)
    estimator.calibration_ = None
    if estimator.method is not None:
        estimator.calibration_ = _take_calibration(shelf.at("calibration"), n_tags)
    if hasattr(inner, "n_features_in_"):
        estimator.n_features_in_ = inner.n_features_in_
    return estimator


def _take_calibration(shelf: ArrayShelf, n_tags: int) -> Calibration:
    lengths = {"slope": n_tags, "offset": n_tags, "knot_starts": n_tags + 1}
    return calibration_from_arrays(
        {
            field.name: shelf.take(
                field.name, "i" if field.name == "knot_starts" else "f", (lengths.get(field.name),)
            )
            for field in dataclass_fields(Calibration)
        }
    )


RECORDS = {
    "CalibratedRanker": Record(_describe_calibrated, _rebuild_calibrated),
    "OneVsAllSVM": Record(_describe_margin, _rebuild_margin(OneVsAllSVM)),
    "LabelRanker": Record(_describe_ranker, _rebuild_ranker),
    "IncompleteLabelRanker": Record(
        *ranker_record(
            _describe_ranker,
            _rebuild_margin,
            IncompleteLabelRanker,
            {"solver": str, "eta": (float, type(None))},
        )
    ),
    "PairwiseRanker": Record(
        *ranker_record(_describe_ranker, _rebuild_margin, PairwiseRanker, {"pairs": str})
    ),
    "OnlineRanker": Record(describe_stream, rebuild_stream),
    "PriorMarginClassifier": Record(_describe_prior, _rebuild_prior),
    "LabelFrequency": Record(_describe_frequency, _rebuild_frequency),
    "JointSVM": Record(*joint_record(_describe_margin, _rebuild_margin)),
    "OnlineJointSVM": Record(describe_online, rebuild_online),
}

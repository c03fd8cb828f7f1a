"""Estimators as model folders of format 2 described them, class by class, brought into today's form.

Only names change here; whether values are what they must be is seen when the estimator is rebuilt.
"""

from typing import Any

from tagrank.annotation.model_files.array_shelf import ArrayShelf
from tagrank.annotation.model_files.plain_json import Fields

_CERTIFICATE = ("primal_objective_", "dual_objective_", "duality_gap_")
_COUNTS = ("n_seen_", "n_updates_", "n_iter_")
_PLAIN = (bool, int, float, str, list, dict, type(None))
_ONLINE = ("OnlineRanker", "OnlineJointSVM")
_RANKERS = ("LabelRanker", "IncompleteLabelRanker", "PairwiseRanker")


def upgrade_estimator(fields: Fields, shelf: ArrayShelf) -> Fields:
    """What `rebuild_estimator` reads, made of what format 2 wrote; arrays get their new names."""
    name = fields.take("class", str)
    if name == "CalibratedRanker":
        params, state = _upgrade_calibrated(fields, shelf)
    elif name == "LabelFrequency":
        params, state = {}, {"n_features_in_": None, "frequencies_": True}
    elif name in _ONLINE:
        params, state = _upgrade_online(name, fields, shelf)
    else:
        params, state = _upgrade_margin(name, fields, shelf)
    fields.finish()
    return Fields({"class": name, "params": params, "state": state}, where=fields.where)


def _upgrade_calibrated(fields: Fields, shelf: ArrayShelf) -> tuple[dict, dict]:
    inner = upgrade_estimator(fields.fields("estimator"), shelf.at("estimator"))
    params = {name: fields.take(name, _PLAIN) for name in ("method", "strategy", "n_tags")}
    arrays = ("slope", "offset", "knot_starts", "knot_scores", "knot_probabilities")
    state = {"estimator_": inner.rest(), "thresholds_": True, "n_features_in_": None}
    for name in arrays:
        state[name] = _rename(shelf, f"calibration.{name}", name)
    return params, state


def _upgrade_margin(name: str, fields: Fields, shelf: ArrayShelf) -> tuple[dict, dict]:
    params, views = _params(fields), fields.take("views", _PLAIN)
    certificate = fields.fields("certificate")
    state = {key: certificate.take(key, _PLAIN) for key in _CERTIFICATE}
    certificate.finish()
    state |= {
        "n_features_in_": fields.take("n_columns", _PLAIN),
        "kernel_": fields.take("kernel", _PLAIN),
        "n_iter_": fields.take("n_iter", _PLAIN),
        "converged_": fields.take("converged", _PLAIN),
        "never_positive_": True,
        "intercept_": True,
        "trace_": True,
        "coef_": True if "coef" in shelf else None,
        "dual_coef_": True if "dual_coef" in shelf else None,
        "X_fit_": _rows(views, shelf),
    }
    if name in _RANKERS:
        state |= {"threshold_rule_": True, "always_predicts_": fields.take("always_predicts", _PLAIN)}
        params |= fields.mapping("own") if "own" in fields else {}
    if name == "PriorMarginClassifier":
        prior = fields.take("prior", _PLAIN)
        state["prior_"], params["prior"] = True, {"matrix": True} if prior is None else prior
        if prior is None:
            shelf.rename("prior", "params.prior", keep=True)
    if name == "JointSVM":
        _upgrade_joint(fields, shelf, params, state)
    return params, state


def _upgrade_joint(fields: Fields, shelf: ArrayShelf, params: dict, state: dict) -> None:
    own = fields.mapping("joint")
    del params["fit_intercept"]
    state["reads_scores"] = own.pop("reads_scores", None)
    output = own.pop("output_kernel", None)
    if output is None:
        output = {"matrix": _rename(shelf, "output_kernel", "params.output_kernel")}
    params |= own | {"output_kernel": {"output": output} if "class" in output else output}
    state["always_predicts_"] = fields.take("always_predicts", _PLAIN)
    state["label_values_"] = True
    for attribute, array in (
        ("label_similarity_", "label_similarity"),
        ("present", "present"),
        ("agreement", "agreement"),
    ):
        state[attribute] = True if array in shelf else None


def _upgrade_online(name: str, fields: Fields, shelf: ArrayShelf) -> tuple[dict, dict]:
    params, counts = _params(fields), fields.fields("counts")
    state = {key: counts.take(key, _PLAIN) for key in _COUNTS} | {"n_present": True, "n_known": True}
    counts.finish()
    if name == "OnlineRanker":
        state |= {"n_features_in_": None, "_weights": True, "_total": True}
        return params, state
    return params, state | {
        "n_features_in_": fields.take("n_columns", _PLAIN),
        "kernel_": fields.take("kernel", _PLAIN),
        "squared_norm": fields.take("squared_norm", _PLAIN),
        "always_predicts_": fields.take("always_predicts", _PLAIN),
        "weights": True,
        "total": True if "total" in shelf else None,
        "X_fit_": _rows(fields.take("views", _PLAIN), shelf),
    }


def _params(fields: Fields) -> dict[str, Any]:
    params = fields.mapping("params")
    if isinstance(params.get("kernel"), dict):
        params["kernel"] = {"kernel": params["kernel"]}
    if isinstance(params.get("class_weight"), list):
        params["class_weight"] = {"pairs": params["class_weight"]}
    return params


def _rows(views: Any, shelf: ArrayShelf) -> Any:
    """The views of the rows, true for one matrix, None where there are none."""
    return views or (True if "rows" in shelf or "rows.data" in shelf else None)


def _rename(shelf: ArrayShelf, old: str, new: str) -> bool | None:
    return True if shelf.rename(old, new) else None

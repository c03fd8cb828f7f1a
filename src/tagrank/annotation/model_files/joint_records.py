"""What is stored of joint methods, beside what every max-margin estimator stores."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from tagrank.annotation.model_files.array_shelf import ArrayShelf
from tagrank.annotation.model_files.plain_json import Fields
from tagrank.estimators.joint.joint_svm import JointSVM
from tagrank.estimators.joint.label_transfer import LabelTransfer
from tagrank.estimators.joint.output_kernels import OddsRatioOutputs, OutputKernel, PolynomialOutputs

_OWN = ("center", "decoding", "n_neighbors")
_OUTPUTS = {kind.__name__: kind for kind in (OddsRatioOutputs, PolynomialOutputs)}
Describe = Callable[[Any, ArrayShelf], dict[str, Any]]
Rebuild = Callable[[Fields, ArrayShelf, int], Any]


def joint_record(
    describe_margin: Describe, rebuild_margin: Callable[[Any], Rebuild]
) -> tuple[Describe, Rebuild]:
    """How a JointSVM is described and rebuilt, given how the estimators it derives from are."""

    def describe(estimator: Any, shelf: ArrayShelf) -> dict[str, Any]:
        values = describe_margin(estimator, shelf)
        params = values["params"]
        own = {name: params.pop(name) for name in _OWN}
        own["output_kernel"] = _describe_output(params.pop("output_kernel"), shelf)
        params["fit_intercept"] = False
        shelf.put("label_values", estimator.label_values_)
        if estimator.label_similarity_ is not None:
            shelf.put("label_similarity", estimator.label_similarity_)
        if estimator.transfer_ is not None:
            shelf.put("present", estimator.transfer_.present)
            shelf.put("agreement", estimator.transfer_.agreement)
            own["reads_scores"] = estimator.transfer_.reads_scores
        return {**values, "joint": own, "always_predicts": bool(estimator.always_predicts_)}

    def rebuild(fields: Fields, shelf: ArrayShelf, n_tags: int) -> Any:
        own = fields.fields("joint")
        given: dict[str, Any] = {
            "center": own.take("center", bool),
            "decoding": own.take("decoding", str),
            "n_neighbors": own.take("n_neighbors", int),
            "output_kernel": _take_output(own.take("output_kernel", (str, dict, type(None))), shelf, n_tags),
        }

        def make(*, fit_intercept: bool, **params: Any) -> JointSVM:
            return JointSVM(**params, **given)

        estimator = rebuild_margin(make)(fields, shelf, n_tags)
        estimator._check_parameters()
        estimator.label_values_ = shelf.take("label_values", "f", (2, n_tags))
        estimator.label_similarity_ = None
        if "label_similarity" in shelf:
            estimator.label_similarity_ = shelf.take("label_similarity", "f", (n_tags, n_tags))
        estimator.always_predicts_ = fields.take("always_predicts", bool)
        estimator.transfer_ = None
        if estimator.decoding == "transfer":
            estimator.transfer_ = _take_transfer(estimator, own, shelf, n_tags)
        own.finish()
        return estimator

    return describe, rebuild


def _take_transfer(estimator: Any, own: Fields, shelf: ArrayShelf, n_tags: int) -> LabelTransfer:
    reads_scores = own.take("reads_scores", bool)
    present = shelf.take("present", "f", (None, n_tags))
    n_columns = n_tags if reads_scores else len(estimator.support_)
    agreement = shelf.take("agreement", "f", (n_columns, len(present)))
    return LabelTransfer(present, agreement, estimator.n_neighbors, reads_scores)


def _describe_output(output: Any, shelf: ArrayShelf) -> str | dict[str, Any] | None:
    """A name, the fields of a small object, or None for a matrix, which goes to the shelf."""
    if isinstance(output, str):
        return output
    if type(output).__name__ in _OUTPUTS:
        return {"class": type(output).__name__, **asdict(output)}
    if callable(output) or isinstance(output, OutputKernel):
        raise TypeError("a JointSVM whose output kernel is a function cannot be stored in a model folder")
    shelf.put("output_kernel", np.asarray(output, dtype=np.float64))
    return None


def _take_output(value: Any, shelf: ArrayShelf, n_tags: int) -> Any:
    if isinstance(value, str):
        return value
    if value is None:
        return shelf.take("output_kernel", "f", (n_tags, n_tags))
    numbers = {key: number for key, number in value.items() if key != "class"}
    kind = _OUTPUTS.get(str(value.get("class")))
    if kind is None or not all(isinstance(number, int | float) for number in numbers.values()):
        raise ValueError(f"unknown output kernel {str(value)[:60]}")
    known = set(kind.__dataclass_fields__)
    if set(numbers) != known:
        raise ValueError(
            f"the output kernel {kind.__name__} must have the numbers {', '.join(sorted(known))}"
        )
    return kind(**numbers)

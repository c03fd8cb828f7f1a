"""What a training leaves to the next, also if the desk was closed in between."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tagrank.annotation.choosing import ChosenModel
from tagrank.annotation.model_files.plain_json import Fields
from tagrank.annotation.model_files.storage import ModelFileError, read_model, write_model
from tagrank.desk.learning.choosing import MANY_ROWS_METHOD, QUICK_METHODS
from tagrank.desk.learning.examples import Prepared
from tagrank.desk.learning.folds import N_FOLDS, OUTSIDE
from tagrank.desk.learning.models import SOLUTIONS, Models
from tagrank.desk.learning.solutions import Solution, Solutions
from tagrank.estimators import ScoreSum
from tagrank.estimators.methods import find_method
from tagrank.kernels import kernel_from_dict, make_kernel

METHODS = (*QUICK_METHODS, MANY_ROWS_METHOD)


@dataclass(frozen=True)
class Remembered:
    """What one training leaves to the next; rows only in the process that trained."""

    chosen: ChosenModel
    solutions: Solutions
    prepared: Prepared | None = None


def save_remembered(models: Models, number: int, learned: Any) -> None:
    """Write what the next training starts from into the folder of a model."""
    solutions: Solutions = learned.solutions
    arrays: dict[str, np.ndarray] = {"ids": solutions.ids, "folds": solutions.folds}
    for name, solution in _named(solutions).items():
        for place, part in enumerate(solution):
            arrays[f"{name}.{place}.data"] = part.data.astype(np.float32)
            arrays[f"{name}.{place}.indices"] = part.indices.astype(np.int32)
            arrays[f"{name}.{place}.indptr"] = part.indptr.astype(np.int64)
    content = {
        "tags": solutions.tags,
        "n_folds": len(solutions.of_folds),
        "n_parts": len(solutions.of_all),
        "words": learned.chosen.words,
        "note": learned.chosen.note,
        "estimator": describe_estimator(learned.chosen.estimator),
    }
    write_model(models.path(number, SOLUTIONS), content, arrays)


def load_remembered(models: Models, number: int) -> Remembered | None:
    """What was written, or None where it is gone or damaged: then the model is chosen again."""
    with suppress(ModelFileError, OSError, ValueError, LookupError, TypeError):
        content, arrays = read_model(models.path(number, SOLUTIONS))
        tags = content.strings("tags")
        ids, folds = arrays["ids"], arrays["folds"]
        shape = len(ids), len(tags)
        if ids.ndim != 1 or np.any(np.diff(ids) <= 0) or folds.shape != ids.shape:
            raise ValueError("pictures must be ascending numbers")
        if np.any((folds < OUTSIDE) | (folds >= N_FOLDS)):
            raise ValueError("unknown folds")
        n_folds, n_parts = content.take("n_folds", int), content.take("n_parts", int)
        of_folds = [_read(arrays, f"fold_{number}", n_parts, shape) for number in range(n_folds)]
        solutions = Solutions(ids, tags, folds, of_folds, _read(arrays, "all", n_parts, shape))
        estimator = rebuild_estimator(content.fields("estimator"))
        return Remembered(
            ChosenModel(estimator, words=content.take("words", str), note=content.take("note", str)),
            solutions,
        )
    return None


def describe_estimator(estimator: Any) -> dict[str, Any]:
    """An estimator that is to be trained, as plain JSON values."""
    if isinstance(estimator, ScoreSum):
        return {
            "first": describe_estimator(estimator.first),
            "second": describe_estimator(estimator.second),
            "first_weight": float(estimator.first_weight),
            "second_weight": float(estimator.second_weight),
        }
    method = next(name for name in METHODS if type(estimator) is find_method(name).load())
    kernel = make_kernel(estimator.kernel, gamma=estimator.gamma).to_dict()
    described = {"method": method, "kernel": kernel}
    if hasattr(estimator, "C"):
        described |= {"C": float(estimator.C), "fit_intercept": bool(estimator.fit_intercept)}
    return described


def rebuild_estimator(fields: Fields) -> Any:
    """The estimator that `describe_estimator` described; its parameters are checked as those of a user."""
    if "first" in fields:
        weights = {name: fields.take(name, float) for name in ("first_weight", "second_weight")}
        return ScoreSum(
            rebuild_estimator(fields.fields("first")), rebuild_estimator(fields.fields("second")), **weights
        )
    method = fields.take("method", str)
    if method not in METHODS:
        raise ValueError(f"unknown method {method[:40]!r}")
    estimator = find_method(method).load()(kernel=kernel_from_dict(fields.mapping("kernel")))
    if "C" in fields:
        tuned = {"C": fields.take("C", float), "fit_intercept": fields.take("fit_intercept", bool)}
        estimator.set_params(**tuned, random_state=0)
    estimator._check_parameters()
    return estimator


def _named(solutions: Solutions) -> dict[str, Solution]:
    return {f"fold_{number}": one for number, one in enumerate(solutions.of_folds)} | {
        "all": solutions.of_all
    }


def _read(arrays: Mapping[str, np.ndarray], name: str, n_parts: int, shape: tuple[int, int]) -> Solution:
    parts = []
    for place in range(n_parts):
        data, indices, indptr = (arrays[f"{name}.{place}.{what}"] for what in ("data", "indices", "indptr"))
        matrix = sparse.csr_array((data, indices, indptr), shape=shape)
        matrix.check_format(full_check=True)
        if not np.all(np.isfinite(data)):
            raise ValueError("solutions must be finite")
        parts.append(matrix)
    return tuple(parts)

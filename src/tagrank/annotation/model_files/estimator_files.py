"""Fitted estimators in model files: what a class declares as stored, written and read by one piece of code.

A model file names a class of the registry or it is refused; nothing is imported or called by name. Parameters
are checked as those of a user are, arrays by the kinds and sizes that the class declares.
"""

import inspect
import math
from typing import Any

import numpy as np

from tagrank.annotation.model_files.contents import ArrayShelf, Fields
from tagrank.estimators import CalibratedRanker, ProbabilityRanker, ScoreSum
from tagrank.estimators.base import (
    MAY_BE_ZERO,
    FittedEstimator,
    FittedKernel,
    Numbers,
    Rows,
    Texts,
    Value,
    stored_by,
)
from tagrank.estimators.joint.output_kernels import describe_output, output_from_dict
from tagrank.estimators.methods import METHODS
from tagrank.kernels import Kernel, kernel_from_dict, make_kernel

AROUND_OTHERS = (CalibratedRanker, ProbabilityRanker, ScoreSum)
Sizes = dict[str, int]


def _classes() -> dict[str, Any]:
    """Name of each class that a model file may hold to the function that loads it."""
    return {kind.__name__: lambda kind=kind: kind for kind in AROUND_OTHERS} | {
        method.estimator: method.load for method in METHODS
    }


def describe_estimator(estimator: Any, shelf: ArrayShelf) -> dict[str, Any]:
    """A fitted estimator as plain JSON values, its arrays put on `shelf`."""
    name, known = type(estimator).__name__, _classes()
    if name not in known or known[name]() is not type(estimator):
        raise TypeError(f"{name} cannot be stored in a model folder; {', '.join(known)} can")
    declared, state = stored_by(type(estimator)), estimator.stored_state()
    return {
        "class": name,
        "params": _describe_params(estimator, shelf.at("params")),
        "state": {
            attribute: _describe(kind, attribute, state[attribute], shelf)
            for attribute, kind in declared.items()
        },
    }


def rebuild_estimator(fields: Fields, shelf: ArrayShelf, n_tags: int) -> Any:
    """The fitted estimator that `describe_estimator` described."""
    name, known = fields.take("class", str), _classes()
    if name not in known:
        raise ValueError(f"unknown class {name[:40]!r}; known are {', '.join(known)}")
    make = known[name]()
    params = _take_params(make, fields.fields("params"), shelf.at("params"), n_tags)
    described, sizes = fields.fields("state"), {"n_labels": n_tags}
    state = {
        attribute: _take(kind, attribute, described, shelf, sizes)
        for attribute, kind in stored_by(make).items()
    }
    described.finish()
    fields.finish()
    if "estimator_" in state:
        params["estimator"] = state["estimator_"]
    estimator = make(**params)
    estimator._check_parameters()
    estimator.classes_, estimator._one_dimensional = np.arange(n_tags), False
    estimator.restore(state)
    return estimator


def _describe(kind: Any, name: str, value: Any, shelf: ArrayShelf) -> Any:
    """What stands in the JSON for one attribute; arrays go to the shelf."""
    if isinstance(kind, FittedEstimator):
        return describe_estimator(value, shelf.at(_file_name(name)))
    if value is None:
        return None
    if isinstance(kind, FittedKernel):
        return value.to_dict()
    if isinstance(kind, Value):
        return kind.kind(value)
    if isinstance(kind, Texts):
        return list(map(str, value))
    if isinstance(kind, Numbers):
        shelf.put(_file_name(name), value)
    elif isinstance(value, dict):
        for i, rows in enumerate(value.values()):
            shelf.at("rows").put_matrix(str(i), rows)
        return list(value)
    else:
        shelf.put_matrix("rows", value)
    return True


def _take(kind: Any, name: str, described: Fields, shelf: ArrayShelf, sizes: Sizes) -> Any:
    """The attribute that `_describe` described."""
    if isinstance(kind, FittedEstimator):
        return rebuild_estimator(described.fields(name), shelf.at(_file_name(name)), sizes[kind.n_labels])
    if isinstance(kind, FittedKernel):
        kernel = kernel_from_dict(described.mapping(name))
        if not kernel.fixed:
            raise ValueError(f"the kernel {kernel!r} has no width")
        return kernel
    if isinstance(kind, Value):
        return _take_value(kind, name, described, sizes)
    if isinstance(kind, Texts):
        return _take_texts(kind, name, described, sizes)
    if isinstance(kind, Numbers) and kind.optional and name not in described:
        return None  # a model of before such numbers were known
    there = described.take(name, (bool, list, type(None)))
    if there is None and (isinstance(kind, Rows) or kind.optional):
        return None
    if isinstance(kind, Rows):
        return _take_rows(kind, there, shelf, sizes)
    shape = tuple(sizes.get(size) if isinstance(size, str) else size for size in kind.shape)
    array = shelf.take(_file_name(name), kind.kind, shape, infinite=kind.infinite, least=kind.least)
    for size, length in zip(kind.shape, array.shape, strict=True):
        if isinstance(size, str):
            _note_size(sizes, size, length, name)
    return array


def _note_size(sizes: Sizes, size: str, length: int, name: str) -> None:
    """Remember how long an axis is, by which others are measured."""
    if sizes.setdefault(size, length) != length:
        raise ValueError(f"{name} must have {sizes[size]} of {size}, got {length}")
    if length == 0 and size not in MAY_BE_ZERO:
        raise ValueError(f"{name} is empty; expected {size} to be at least 1")


def _take_value(kind: Value, name: str, described: Fields, sizes: Sizes) -> Any:
    may_be_nothing = kind.optional or kind.kind is float
    value = described.take(name, (kind.kind, type(None)) if may_be_nothing else kind.kind)
    if isinstance(value, int | float) and value < kind.least:
        raise ValueError(f"{name} must be at least {kind.least:g}, got {value!r}")
    if name == "n_features_in_" and value is not None:
        sizes["n_features"] = value
    return math.nan if value is None and not kind.optional else value


def _take_texts(kind: Texts, name: str, described: Fields, sizes: Sizes) -> list[str]:
    texts = described.take(name, list)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{name} must be a list of texts")
    _note_size(sizes, kind.length, len(texts), name)
    return texts


def _take_rows(kind: Rows, views: Any, shelf: ArrayShelf, sizes: Sizes) -> Any:
    if not isinstance(views, list):
        rows = shelf.take_matrix("rows", (sizes.get(kind.n_rows), sizes.get("n_features")))
        _note_size(sizes, kind.n_rows, rows.shape[0], "the matrix of rows")
        return rows
    if not views:
        raise ValueError("the training rows have no views; expected at least one")
    parts, rows_of_views = shelf.at("rows"), {}
    for i, view in enumerate(views):
        rows_of_views[str(view)] = parts.take_matrix(str(i), (sizes.get(kind.n_rows), None))
        _note_size(sizes, kind.n_rows, rows_of_views[str(view)].shape[0], f"the view {view!r}")
    return rows_of_views


def _file_name(attribute: str) -> str:
    return attribute.strip("_").lower()


def _describe_params(estimator: Any, shelf: ArrayShelf) -> dict[str, Any]:
    return {
        name: _describe_param(name, value, shelf)
        for name, value in estimator.get_params(deep=False).items()
        if name not in estimator.unstored_parameters
    }


def _describe_param(name: str, value: Any, shelf: ArrayShelf) -> Any:
    """A plain value, or an object whose only key says what it is."""
    if name == "random_state":
        return int(value) if isinstance(value, int | np.integer) else None
    if value is None or isinstance(value, bool | int | float | str | np.generic):
        return value
    if isinstance(value, Kernel) or (name == "kernel" and _are_kernels(value)):
        return {"kernel": make_kernel(value).to_dict()}
    if isinstance(value, list | tuple | np.ndarray) and any(isinstance(part, str) for part in value):
        return {"texts": list(map(str, value))}
    if (output := describe_output(value)) is not None:
        return {"output": output}
    if isinstance(value, dict):
        return {"pairs": [list(pair) for pair in value.items()]}
    if callable(value):
        raise TypeError(f"{name} is a function, which cannot be stored in a model folder")
    numbers = np.asarray(value, dtype=np.float64)
    if numbers.ndim == 1:
        return {"numbers": numbers.tolist()}
    shelf.put(name, numbers)
    return {"matrix": True}


def _are_kernels(value: Any) -> bool:
    is_list = isinstance(value, list | tuple) and len(value) > 0
    return is_list and all(isinstance(part, Kernel | str) for part in value)


def _take_params(make: Any, fields: Fields, shelf: ArrayShelf, n_tags: int) -> dict[str, Any]:
    names = [name for name in make._get_param_names() if name not in make.unstored_parameters]
    # older files know nothing of a parameter that came later, and mean what the class did before
    parameters = inspect.signature(make).parameters
    optional = {name for name in names if parameters[name].default is not inspect.Parameter.empty}
    plain = (bool, int, float, str, dict, type(None))
    params = {
        name: _take_param(name, fields.take(name, plain), shelf, n_tags)
        for name in names
        if name in fields or name not in optional
    }
    fields.finish()
    params |= {name: value for name, value in make.parameters_before.items() if name not in params}
    seed = params.get("random_state")
    if seed is not None and (type(seed) is not int or not 0 <= seed < 2**32):
        raise ValueError(f"random_state must be a whole number from 0 to 2**32 - 1, or nothing, got {seed!r}")
    return params


def _take_param(name: str, value: Any, shelf: ArrayShelf, n_tags: int) -> Any:
    if not isinstance(value, dict):
        return value
    fields = Fields(value, where=name)
    if "kernel" in fields:
        parameter: Any = kernel_from_dict(fields.mapping("kernel"))
    elif "output" in fields:
        parameter = output_from_dict(fields.mapping("output"))
    elif "pairs" in fields:
        pairs = fields.take("pairs", list)
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise ValueError(f"{name} must be pairs of a label and its weight")
        parameter = {key: weight for key, weight in pairs if isinstance(key, str | int)}
    elif "numbers" in fields:
        parameter = fields.take("numbers", list)
        if not all(isinstance(number, int | float) for number in parameter):
            raise ValueError(f"{name} must be a list of numbers")
    elif "texts" in fields:
        parameter = fields.take("texts", list)
        if not all(isinstance(text, str) for text in parameter):
            raise ValueError(f"{name} must be a list of texts")
    else:
        fields.take("matrix", bool)
        parameter = shelf.take(name, "f", (n_tags, n_tags))
    fields.finish()
    return parameter

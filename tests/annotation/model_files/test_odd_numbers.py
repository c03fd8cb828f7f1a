"""Stored numbers of every method replaced by odd ones: refused, or a finite answer of the right shape."""

import copy
import json
import warnings

import numpy as np
import pytest

from tagrank.annotation import ModelFileError
from tagrank.annotation.model_files.contents import ArrayShelf, Fields
from tagrank.annotation.model_files.estimator_files import describe_estimator, rebuild_estimator
from tagrank.annotation.model_files.storage import model_errors
from tagrank.estimators import CalibratedRanker, OneVsAllSVM, ProbabilityRanker
from tagrank.estimators.methods import METHODS

N_LABELS, N_COLUMNS = 4, 5
QUICK = {"max_iter": 20, "random_state": 0}
MODELS = {
    **{method.name: lambda method=method: method.load()() for method in METHODS},
    **{
        f"{method.name} {kernel}": lambda method=method, kernel=kernel: method.load()(kernel=kernel)
        for method in METHODS
        for kernel in ("linear", "rbf")
        if method.load()().get_params().get("kernel", kernel) != kernel
    },
    "ProbabilityRanker": lambda: ProbabilityRanker(OneVsAllSVM(), cv=2),
    "CalibratedRanker": lambda: CalibratedRanker(OneVsAllSVM(), cv=2),
    "CalibratedRanker isotonic": lambda: CalibratedRanker(OneVsAllSVM(), cv=2, method="isotonic"),
}
FLOATS = (0.0, -0.0, 1e-310, -1e-310, 1e-99, -1e-99, -1.0, 1.0, 1e99, -1e99, np.inf, -np.inf, np.nan)
INTEGERS = (0, 1, -1, 100, np.iinfo(np.int64).max, np.iinfo(np.int64).min)
VALUES = (None, 0, -1, 1, 2**62, -(2**62), 10**30, 1e-310, 1e99, -1e99, 0.5, True, False, "x", [], {})


def odd_arrays(array):
    for axis in range(array.ndim):
        yield np.delete(array, slice(None), axis=axis)
        yield array.take([0], axis=axis) if array.shape[axis] else np.ones_like(array)
        yield np.concatenate([array, array], axis=axis)
    yield array.T.copy()
    yield array.ravel().copy()
    yield array[None].copy()
    yield np.zeros((), dtype=array.dtype)
    for value in {"f": FLOATS, "i": INTEGERS}.get(array.dtype.kind, (False, True)):
        if array.dtype.kind == "i" and not np.iinfo(array.dtype).min <= value <= np.iinfo(array.dtype).max:
            continue
        yield np.full_like(array, value)
        if array.size:
            changed = array.copy()
            changed.flat[0] = value
            yield changed


def places(described, path=()):
    """Where a plain value stands in the description of an estimator."""
    if isinstance(described, dict):
        for key, value in described.items():
            yield from places(value, (*path, key))
    else:
        yield path


def with_value(described, path, value):
    changed = copy.deepcopy(described)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return changed


def check_answer(described, arrays, X):
    """A ModelFileError, or finite scores and probabilities; says whether it answered."""
    try:
        with model_errors("model"):
            shelf = ArrayShelf(dict(arrays))
            model = rebuild_estimator(Fields(copy.deepcopy(described), where="model"), shelf, N_LABELS)
            shelf.finish()
    except ModelFileError:
        return False
    try:
        scores = model.decision_function(X)
    except ValueError:
        # a model of many columns, of which it reads few, is a good model of other rows
        if model.n_features_in_ != N_COLUMNS:
            return False
        raise
    assert scores.shape == (len(X), N_LABELS)
    assert np.isfinite(scores).all()
    assert np.isin(model.predict(X), (0, 1)).all()
    if hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(X)
        assert np.all((probabilities >= 0) & (probabilities <= 1))
    return True


@pytest.mark.parametrize("name", MODELS)
def test_odd_numbers_are_refused_or_answered(name):
    rng = np.random.default_rng(0)
    X, Y = np.abs(rng.normal(size=(24, N_COLUMNS))), (rng.random((24, N_LABELS)) < 0.45).astype(float)
    Y[:N_LABELS] = np.eye(N_LABELS)
    model, new = MODELS[name](), np.abs(rng.normal(size=(6, N_COLUMNS)))
    model.set_params(**{key: value for key, value in QUICK.items() if key in model.get_params()})
    # it is about damage to a good model, and odd numbers overflow in many places before the answer is finite
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model.fit(X, Y)
        shelf = ArrayShelf()
        described = json.loads(json.dumps(describe_estimator(model, shelf), default=np.generic.item))
        assert check_answer(described, shelf.arrays, new)
        for key, array in shelf.arrays.items():
            for odd in odd_arrays(array):
                check_answer(described, {**shelf.arrays, key: odd}, new)
        for path in [*places(described["state"], ("state",)), *places(described["params"], ("params",))]:
            for value in VALUES:
                check_answer(with_value(described, path, value), shelf.arrays, new)

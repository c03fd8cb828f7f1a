"""Estimators answer with names: tag sets, and DataFrames whose columns are tags, if they are asked for."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from tagrank.annotation import Annotator
from tagrank.data import Collection
from tagrank.estimators import (
    CalibratedRanker,
    LabelPowerset,
    OneVsAllLogistic,
    OneVsAllSVM,
    ProbabilityRanker,
)
from tagrank.estimators.scorers import image_auc_scorer

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(40, 3)), columns=["x", "y", "z"], index=[f"row {i}" for i in range(40)])
TAGS = ["a", "b", "c"]
Y = pd.DataFrame((X.to_numpy() > 0).astype(float), columns=TAGS)
MODELS = {
    "OneVsAllSVM": OneVsAllSVM(random_state=0),
    "OneVsAllLogistic": OneVsAllLogistic(random_state=0),
    "LabelPowerset": LabelPowerset(random_state=0),
    "CalibratedRanker": CalibratedRanker(OneVsAllSVM(random_state=0), random_state=0),
    "ProbabilityRanker": ProbabilityRanker(OneVsAllSVM(random_state=0), random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_frames_with_the_names_of_the_tags(name):
    model = clone(MODELS[name]).fit(X, Y)
    names = [word for word in ("decision_function", "predict_proba", "predict") if hasattr(model, word)]
    arrays = {word: getattr(model, word)(X) for word in names}
    assert all(isinstance(array, np.ndarray) for array in arrays.values())
    assert model.set_output(transform="pandas") is model
    for word in names:
        frame = getattr(model, word)(X)
        assert frame.columns.tolist() == TAGS
        assert frame.index.equals(X.index)
        np.testing.assert_array_equal(frame.to_numpy(), arrays[word])
    assert model.set_output().predict(X).shape == (40, 3)
    assert isinstance(model.predict(X), pd.DataFrame)
    assert isinstance(model.set_output(transform="default").predict(X), np.ndarray)
    with pytest.raises(ValueError, match="transform must be one of 'pandas', 'default', got 'polars'"):
        model.set_output(transform="polars")


def test_clones_keep_it_and_whatever_goes_around_reads_arrays():
    framed = OneVsAllSVM(random_state=0).set_output(transform="pandas")
    assert isinstance(clone(framed).fit(X, Y).predict(X), pd.DataFrame)
    inside = (clone(framed), OneVsAllSVM(random_state=0))
    plain, around = (ProbabilityRanker(one, random_state=0).fit(X, Y) for one in inside)
    np.testing.assert_array_equal(plain.predict_proba(X), around.predict_proba(X))
    assert plain.score(X, Y) == around.score(X, Y)
    search = GridSearchCV(framed, {"C": [0.1, 1]}, scoring=image_auc_scorer, cv=2).fit(X, Y)
    assert search.predict(X).columns.tolist() == TAGS
    collection = Collection({"features": X.to_numpy()}, Y)
    by_frames = Annotator(framed, costs=[0.1, 1]).fit(collection)
    by_arrays = Annotator(OneVsAllSVM(random_state=0), costs=[0.1, 1]).fit(collection)
    np.testing.assert_array_equal(by_frames.scores(collection), by_arrays.scores(collection))
    assert by_frames.annotate(collection) == by_arrays.annotate(collection)


@pytest.mark.parametrize("name", MODELS)
def test_tag_sets_out_are_those_of_the_predictions(name):
    sets = [{tag for tag, value in zip(TAGS, row, strict=True) if value} for row in Y.to_numpy()]
    for labels in (Y, sets):
        model = clone(MODELS[name]).fit(X, labels)
        expected = [{tag for tag, value in zip(TAGS, row, strict=True) if value} for row in model.predict(X)]
        assert model.predict_tags(X) == expected
        assert model.set_output(transform="pandas").predict_tags(X) == expected
    assert clone(MODELS[name]).fit(X, Y.to_numpy()).predict_tags(X)[0] <= {0, 1, 2}


def test_classes_of_one_dimension():
    y = np.where(X.x > 0, "high", "low")
    model = OneVsAllLogistic(random_state=0).fit(X, y).set_output(transform="pandas")
    assert model.predict_tags(X) == [{name} for name in model.predict(X)]
    assert model.decision_function(X).shape == (40,)
    assert model.predict_proba(X).columns.tolist() == ["high", "low"]

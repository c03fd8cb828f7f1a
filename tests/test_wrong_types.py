"""Wrong kinds of arguments: every public face says what it expected and what came, in its own words."""

import datetime
import re

import numpy as np
import pytest
from scipy import sparse

import tagrank
from tagrank.estimators.methods import METHODS, find_method

X = np.abs(np.random.default_rng(0).normal(size=(12, 3)))
Y = np.array([[1, 0, 1], [0, 1, 0]] * 6, dtype=float)
# what Python, NumPy and SciPy say when nobody looked before
INTERNAL = re.compile(
    r"has no attribute|is not iterable|not subscriptable|unhashable|not supported between|has no len"
    r"|unsupported operand|cannot be interpreted|inhomogeneous shape after|iteration over a 0-d"
    r"|truth value of|too large to convert|sub-views are not|not callable"
)
WRONG_ROWS = {
    "text": "abc",
    "none": None,
    "number": 3,
    "bytes": b"abc",
    "view of bytes": memoryview(b"abcd"),
    "mapping": {"a": 1},
    "ragged": [[1, 2], [3]],
    "objects": np.array([object()] * 12),
    "scalar array": np.array(3.0),
    "three dimensions": np.zeros((12, 3, 2)),
    "empty": [],
    "no rows": np.zeros((0, 3)),
    "no columns": np.zeros((12, 0)),
    "a date": datetime.datetime(2020, 1, 1),
    "dates": [datetime.datetime(2020, 1, 1)] * 12,
    "texts": ["a"] * 12,
    "nothings": [None] * 12,
    "complex": X * 1j,
    "nan": np.full((12, 3), np.nan),
    "a class": dict,
    "a function": len,
    "an object": object(),
    "a sparse line": sparse.coo_array(np.ones(3)),
    "too large": [[10**400] * 3] * 12,
}


def said(call):
    """The sentence of the error that the call must raise."""
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    message = str(caught.value)
    assert len(message) > 12
    assert not INTERNAL.search(message), message
    return message


@pytest.mark.parametrize("wrong", WRONG_ROWS)
@pytest.mark.parametrize("name", [method.name for method in METHODS if method.name != "label-frequency"])
def test_rows_of_every_method(name, wrong):
    said(lambda: find_method(name).load()().fit(WRONG_ROWS[wrong], Y))


def test_a_view_of_numbers_is_read_as_rows():
    model = tagrank.OneVsAllSVM().fit(memoryview(X), Y)
    np.testing.assert_array_equal(model.decision_function(memoryview(X)), model.decision_function(X))


@pytest.mark.parametrize("wrong", WRONG_ROWS)
def test_rows_to_answer(wrong):
    model = tagrank.OneVsAllSVM().fit(X, Y)
    said(lambda: model.decision_function(WRONG_ROWS[wrong]))


@pytest.mark.parametrize("wrong", [[[1, 2], [3]], [[10**400] * 3] * 12, object(), 3, None])
def test_labels(wrong):
    said(lambda: tagrank.OneVsAllSVM().fit(X, wrong))


COLLECTION = tagrank.Collection(views={"features": X}, labels=Y, tags=["a", "b", "c"])
OTHERS = {
    "CalibratedRanker(None)": lambda: tagrank.CalibratedRanker(None).fit(X, Y),
    "CalibratedRanker(3)": lambda: tagrank.CalibratedRanker(3).fit(X, Y),
    "ProbabilityRanker(class)": lambda: tagrank.ProbabilityRanker(tagrank.LabelRanker).fit(X, Y),
    "Annotator.fit(array)": lambda: tagrank.Annotator().fit(X),
    "Annotator.fit(None)": lambda: tagrank.Annotator().fit(None),
    "write_tags(3)": lambda: tagrank.write_tags(3, "x.csv"),
    "write_tags(None)": lambda: tagrank.write_tags(None),
    "write_tags of a number": lambda: tagrank.write_tags({"a.jpg": 3}, "x.csv"),
    "write_tags of a text": lambda: tagrank.write_tags({"a.jpg": "sky"}, "x.csv"),
    "write_tags of None": lambda: tagrank.write_tags({"a.jpg": None}),
    "write_tags for a number": lambda: tagrank.write_tags({3: ["sky"]}),
    "explain(3)": lambda: tagrank.explain(3, X),
    "clean_tags(3)": lambda: tagrank.clean_tags(3),
    "clean_tags(synonyms=3)": lambda: tagrank.clean_tags(COLLECTION, synonyms=3),
    "clean_tags(min_count)": lambda: tagrank.clean_tags(COLLECTION, min_count="2"),
    "Collection(3)": lambda: tagrank.Collection(views=3),
    "Collection(feature_names=3)": lambda: tagrank.Collection(views={"a": X}, feature_names=3),
    "Recipe(parameters=3)": lambda: tagrank.Recipe(parameters=3),
    "FeatureBank(3)": lambda: tagrank.FeatureBank(3),
    "FeatureBank of numbers": lambda: tagrank.FeatureBank({"a": 3}),
    "describe_pictures": lambda: tagrank.describe_pictures(3, {}),
    "choose_features(3)": lambda: tagrank.choose_features(3),
    "choose_features([3])": lambda: tagrank.choose_features([3]),
    "from_frame(3)": lambda: tagrank.from_frame(3),
    "load_dataset(3)": lambda: tagrank.load_dataset(3),
    "draw_pictures(None)": lambda: tagrank.draw_pictures(None),
    "draw_pictures(size)": lambda: tagrank.draw_pictures(size="large"),
    "hide_labels": lambda: tagrank.hide_labels(Y, "half"),
    "hide_labels(share_of)": lambda: tagrank.hide_labels(Y, 0.5, share_of=2),
    "hide_labels(mark)": lambda: tagrank.hide_labels(Y, 0.5, mark=["nan"]),
    "iterative_split": lambda: tagrank.iterative_split(Y, test_size="half"),
    "LabelStratifiedKFold": lambda: tagrank.LabelStratifiedKFold("5"),
    "Polynomial": lambda: tagrank.Polynomial(degree="3"),
    "encode_tag_sets(3)": lambda: tagrank.encode_tag_sets(3),
    "encode_tag_sets of numbers": lambda: tagrank.encode_tag_sets([3]),
    "encode_tag_sets(tags)": lambda: tagrank.encode_tag_sets([{"a"}], tags=3),
    "partial_fit(classes)": lambda: tagrank.OnlineRanker().partial_fit(X, Y, classes=3),
    "partial_fit(lists)": lambda: tagrank.OnlineRanker().partial_fit(X, Y, classes=[["a"], ["b"], ["c"]]),
    "image_auc": lambda: tagrank.image_auc([[1, 0], [1]], X),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_faces(name):
    said(OTHERS[name])

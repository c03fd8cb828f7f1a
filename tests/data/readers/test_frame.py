"""DataFrames in and out."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from tagrank.data.collection import Collection
from tagrank.data.readers.frame import from_frame, to_frame


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_frames_read_back(kind):
    whole = Collection(
        views={"features": kind(np.arange(6.0).reshape(3, 2))},
        labels=kind(np.array([[1, 0], [np.nan, 1], [0, 0]])),
        tags=["sky", "sea"],
        names=["a", "b", "c"],
        part=["train", "train", "test"],
        feature_names={"features": ["red", "blue"]},
    )
    frame = to_frame(whole)
    assert list(frame.columns) == ["red", "blue", "part", "tag:sky", "tag:sea"]
    again = from_frame(frame)
    assert repr(again) == repr(whole)
    assert (again.names, again.feature_names) == (whole.names, whole.feature_names)
    np.testing.assert_array_equal(again.X, np.arange(6.0).reshape(3, 2))
    np.testing.assert_array_equal(again.states(), whole.states())


def test_tag_columns_and_nullable_types():
    frame = pd.DataFrame({"a": [1, 2], "sky": pd.array([True, None], dtype="boolean"), "note": ["x", "y"]})
    collection = from_frame(frame, tag_columns=["sky"], drop=["note"])
    np.testing.assert_array_equal(collection.Y, [[1], [np.nan]])
    assert collection.names is None
    with pytest.raises(ValueError, match="column 'note' must hold numbers"):
        from_frame(frame, tag_columns=["sky"])
    with pytest.raises(ValueError, match="no column 'skye'; did you mean 'sky'"):
        from_frame(frame, tag_columns=["skye"])


def test_lists_of_tags():
    frame = pd.DataFrame({"image": ["a.jpg", "b.jpg", "c.jpg"], "tags": ["sky|sea", ["sky"], None]})
    collection = from_frame(frame)
    assert collection.view("pictures") == ["a.jpg", "b.jpg", "c.jpg"]
    np.testing.assert_array_equal(collection.states(), [[1, 1], [-1, 1], [0, 0]])


def test_views_side_by_side():
    frame = to_frame(
        Collection(views={"colour": np.eye(2), "edges": np.eye(2)}, labels=[[1], [0]], tags=["sky"])
    )
    assert list(frame.columns) == [
        "colour.colour0",
        "colour.colour1",
        "edges.edges0",
        "edges.edges1",
        "tag:sky",
    ]


def test_without_pandas_a_sentence_helps(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'tagrank\[pandas\]'"):
        to_frame(Collection(views={"features": np.eye(2)}))

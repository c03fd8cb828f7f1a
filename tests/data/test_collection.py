"""Collection: shapes that agree, parts, subsets, stacked views and what it says about itself."""

import numpy as np
import pytest
from scipy import sparse

from tagrank.data.collection import Collection, concatenate_parts
from tagrank.files import Problem

X = np.arange(12.0).reshape(4, 3)
Y = np.array([[1, 0], [np.nan, 1], [0, 0], [np.nan, np.nan]])


def build(**changes):
    fields = {"views": {"features": X}, "labels": Y, "tags": ["sky", "sea"], "name": "coast"}
    return Collection(**(fields | changes))


def test_summary_counts_three_states():
    facts = build(part=["train", "train", "test", "test"]).summary()
    assert facts["rows"] == 4
    assert facts["views"] == {"features": 3}
    assert facts["cardinality"] == 0.5
    assert facts["density"] == 0.25
    assert facts["unknown share"] == 3 / 8
    assert facts["rows without tag"] == 2
    assert facts["rows wholly unknown"] == 1
    assert facts["tags never present"] == 0
    assert facts["parts"] == {"test": 2, "train": 2}
    assert "4 rows" in repr(build())
    assert "37.5% unknown" in repr(build())


def test_sparse_labels_behave_like_dense_ones():
    stored = sparse.csr_array(
        ([1, np.nan, 1, np.nan, np.nan], ([0, 1, 1, 3, 3], [0, 0, 1, 0, 1])), shape=(4, 2)
    )
    assert build(labels=stored).summary() == build().summary()
    np.testing.assert_array_equal(build(labels=stored).states(), build().states())


@pytest.mark.parametrize("rows", [[2, 0], np.array([True, False, True, False]), slice(1, 3)])
def test_subset_takes_the_same_rows_everywhere(rows):
    whole = build(views={"features": X, "pictures": list("abcd")}, names=list("wxyz"), part=list("1212"))
    some, expected = whole.subset(rows), np.arange(4)[rows]
    np.testing.assert_array_equal(some.view("features"), X[expected])
    np.testing.assert_array_equal(some.Y, Y[expected])
    assert some.view("pictures") == ["abcd"[i] for i in expected]
    assert some.names == ["wxyz"[i] for i in expected]
    assert list(some.part) == ["1212"[i] for i in expected]


def test_parts():
    whole = build(part=["train", "test", "train", "neither"])
    np.testing.assert_array_equal(whole.train.X, X[[0, 2]])
    np.testing.assert_array_equal(whole.test.X, X[[1]])
    with pytest.raises(ValueError, match="no 'train' part"):
        _ = build().train


def test_concatenate_parts_is_the_inverse_of_the_parts():
    whole = build(part=["train", "train", "test", "test"], names=list("abcd"))
    again = concatenate_parts({"train": whole.train, "test": whole.test}, name="coast")
    np.testing.assert_array_equal(again.X, X)
    np.testing.assert_array_equal(again.Y, Y)
    assert again.names == whole.names
    assert list(again.part) == list(whole.part)
    with pytest.raises(ValueError, match="differ in their tags"):
        concatenate_parts({"train": whole, "test": whole.with_labels(Y[:, :1], ["sky"])})


def test_problems_are_counted_and_kept():
    bad = Problem("a.jpg", "is empty")
    assert str(bad) == "a.jpg: is empty"
    whole = build(part=["train", "train", "test", "test"], problems=[bad])
    assert whole.summary()["problems"] == 1
    assert "problems: 1" in repr(whole)
    assert list(whole.subset([0]).problems) == [bad]
    assert list(whole.with_labels(Y).problems) == [bad]
    assert concatenate_parts({"train": whole.train, "test": whole.test}).problems == (bad,)
    assert build().problems == ()


def test_stacked_views_know_their_columns():
    several = build(views={"colour": X, "edges": sparse.csr_array(X[:, :2])})
    matrix, columns = several.stacked()
    np.testing.assert_array_equal(matrix.toarray()[:, columns["edges"]], X[:, :2])
    np.testing.assert_array_equal(matrix.toarray()[:, columns["colour"]], X)
    with pytest.raises(ValueError, match="several views"):
        _ = several.X
    with pytest.raises(KeyError, match="there are: colour, edges"):
        several.view("gist")


def test_labels_as_tag_sets_and_made_up_names():
    collection = build(labels=[{"sky"}, {"sea", "sky"}, None, set()], tags=())
    assert collection.tags == ["sea", "sky"]
    np.testing.assert_array_equal(collection.states(), [[-1, 1], [1, 1], [0, 0], [0, 0]])
    assert build(tags=()).tags == ["0", "1"]
    assert build(labels=None, tags=()).Y.shape == (4, 0)


def test_the_caller_keeps_his_labels():
    stored = sparse.csr_array(np.array([[1.0, 0], [0, 1], [1, 1], [0, 0]]))
    stored.data[0] = 0
    build(labels=stored)
    assert stored.nnz == 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": Y[:3]}, "rows differ: view 'features' has 4, labels has 3"),
        ({"names": ["a"]}, "names has 1"),
        ({"tags": ["sky", "sky"]}, "duplicate tag names: sky"),
        ({"tags": ["sky"]}, "2 columns but 1 tag names"),
        ({"labels": np.where(np.isnan(Y), -1, Y)}, "np.where"),
        ({"labels": Y[:, 0]}, "two dimensions"),
        ({"views": {}}, "at least one view"),
        ({"views": {"labels": X[:3], "part": X}}, "view 'labels' has 3, view 'part' has 4"),
        ({"feature_names": {"features": ["a"]}}, "names 1 columns"),
    ],
)
def test_what_does_not_fit_is_named(changes, message):
    with pytest.raises(ValueError, match=message):
        build(**changes)


def test_one_example_and_one_label():
    tiny = Collection(views={"features": X[:1]}, labels=[[1]], tags=["sky"])
    assert len(tiny) == 1
    assert tiny.summary()["cardinality"] == 1


def test_parts_are_joined_by_the_names_of_their_columns():
    def part(X, names):
        return Collection({"features": np.array(X)}, [[1], [0]], feature_names={"features": names})

    train = part([[1.0, 2.0], [3.0, 4.0]], ["a", "b"])
    both = concatenate_parts({"train": train, "test": part([[6.0, 5.0], [8.0, 7.0]], ["b", "a"])})
    np.testing.assert_array_equal(both.test.X, [[5, 6], [7, 8]])
    assert both.feature_names == {"features": ["a", "b"]}
    with pytest.raises(ValueError, match=r"part 'test' must have the 2 columns of the first part.*: 'a'"):
        concatenate_parts({"train": train, "test": part([[6.0, 5.0], [8.0, 7.0]], ["b", "c"])})


def test_a_part_is_a_word():
    # an array of text would take the room of the longest in every row
    with pytest.raises(ValueError, match="part has a word of 100,000 characters; at most 200"):
        Collection({"x": np.zeros((2, 1))}, part=["train", "x" * 100_000])


@pytest.mark.parametrize("form", ["csr", "coo"])
@pytest.mark.parametrize("what", ["view 'colour'", "Y"])
def test_damaged_sparse_matrices_are_refused(form, what):
    """Their indices lead outside; scipy would follow them."""
    damaged = sparse.csr_array(np.eye(4))
    damaged.indices[0] = 10**8
    if form == "coo":
        damaged = sparse.coo_array(np.eye(4))
        damaged.coords[0][0] = 10**8
    X, Y = (damaged, np.eye(4)) if what != "Y" else (np.eye(4), damaged)
    with pytest.raises(ValueError, match=f"{what} is a damaged sparse matrix"):
        Collection(views={"colour": X}, labels=Y)

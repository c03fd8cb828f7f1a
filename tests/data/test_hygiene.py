"""Tag hygiene against a slow, obvious three-state "or"."""

import numpy as np
import pytest
from scipy import sparse

from tagrank.data import Collection, clean_tags
from tagrank.data.collection import DecidedLabel
from tagrank.data.hygiene import merge_labels
from tagrank.data.label_matrix import as_labels
from tagrank.errors import ArgumentError


def collection(tags, labels=None, kind=np.asarray):
    labels = np.eye(len(tags)) if labels is None else labels
    return Collection(views={"features": np.zeros((len(labels), 1))}, labels=kind(labels), tags=tags)


def slow_merge(labels, renamed):
    tags = list(dict.fromkeys(name for names in renamed for name in names))
    merged = np.zeros((len(labels), len(tags)))
    for i, row in enumerate(labels):
        for j, tag in enumerate(tags):
            values = [value for value, names in zip(row, renamed, strict=True) if tag in names]
            merged[i, j] = 1 if 1 in values else np.nan if np.isnan(values).any() else 0
    return merged, tags


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_present_wins_then_unknown_then_absent(kind):
    rng = np.random.default_rng(3)
    labels = rng.choice([0, 1, np.nan], size=(200, 6), p=[0.6, 0.2, 0.2])
    renamed = [["a"], ["b", "a"], ["c"], ["a", "a"], [], ["c", "b"]]
    expected, tags = slow_merge(labels, renamed)
    merged, found = merge_labels(as_labels(kind(labels)), renamed)
    merged = merged.full()
    assert found == tags
    assert sparse.issparse(merged) == (kind is sparse.csr_array)
    np.testing.assert_array_equal(merged.toarray() if sparse.issparse(merged) else merged, expected)


def test_nothing_changes_unless_asked():
    before = collection(["Sky", "sky", "places|rome"])
    after = clean_tags(before)
    assert after.tags == before.tags
    np.testing.assert_array_equal(after.Y, before.Y)


def test_case_and_blanks():
    after = clean_tags(
        collection(["Sky", "sea", " sky"], [[1, 0, 0], [0, 0, 1], [0, 1, np.nan]]), fold_case=True
    )
    assert after.tags == ["sky", "sea"]
    np.testing.assert_array_equal(after.Y, [[1, 0], [1, 0], [np.nan, 1]])


def test_synonyms():
    before = collection(["Kitty", "cat", "dog"])
    assert clean_tags(before, synonyms={"Kitty": "cat"}).tags == ["cat", "dog"]
    assert clean_tags(before, synonyms={"kitty": "cat"}).tags == ["Kitty", "cat", "dog"]
    assert clean_tags(before, fold_case=True, synonyms={"KITTY": "Cat"}).tags == ["cat", "dog"]


@pytest.mark.parametrize(
    ("hierarchy", "tags", "labels"),
    [
        ("leaf", ["rome", "places", "dog"], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        (
            "ancestors",
            ["places", "europe", "rome", "animals", "dog"],
            [[1, 1, 1, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 1, 1]],
        ),
        ("keep", ["places|europe|rome", "places", "animals/dog"], np.eye(3)),
    ],
)
def test_hierarchical_keywords(hierarchy, tags, labels):
    after = clean_tags(collection(["places|europe|rome", "places", "animals/dog"]), hierarchy=hierarchy)
    assert after.tags == tags
    np.testing.assert_array_equal(after.Y, labels)


def test_separators_can_be_chosen():
    tags = ["b/w", "places>rome"]
    assert clean_tags(collection(tags), hierarchy="leaf", separators=">").tags == ["b/w", "rome"]
    with pytest.raises(ValueError, match="hierarchy must be one of 'keep', 'leaf', 'ancestors'"):
        clean_tags(collection(tags), hierarchy="leaves")


def test_minimum_count_counts_merged_tags_and_ignores_unknown_ones():
    labels = [[1, 0, 1, np.nan], [0, 1, 0, np.nan], [0, 0, 0, 1]]
    after = clean_tags(collection(["Sky", "sky", "sea", "sun"], labels), fold_case=True, min_count=2)
    assert after.tags == ["sky"]
    np.testing.assert_array_equal(after.Y, [[1], [1], [0]])
    assert clean_tags(after, min_count=9).Y.shape == (3, 0)


def test_parents():
    labels = [[1, 0, 0], [0, 1, 0], [np.nan, 0, 1]]
    parents = {"jet": ["plane"], "plane": ["vehicle"]}
    after = clean_tags(collection(["Jet", "plane", "sky"], labels), fold_case=True, parents=parents)
    assert after.tags == ["jet", "plane", "vehicle", "sky"]
    np.testing.assert_array_equal(after.Y, [[1, 1, 1, 0], [0, 1, 1, 0], [np.nan, np.nan, np.nan, 1]])
    assert set(after.implies) == {("jet", "plane"), ("jet", "vehicle"), ("plane", "vehicle")}
    assert after.implied_columns().tolist() == [[0, 1], [0, 2], [1, 2]]
    # what was implied before is so by new names, too
    again = clean_tags(after, synonyms={"plane": "aircraft"})
    assert set(again.implies) == {("jet", "aircraft"), ("jet", "vehicle"), ("aircraft", "vehicle")}


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ({"jet": ["plane"], "plane": ["jet"]}, r"circle.*'jet' implies 'plane' implies 'jet'"),
        ({"jet": "plane"}, "lists of tags by tag, got 'plane' for 'jet'"),
        ({"jet": [3]}, "lists of tags by tag"),
        (["jet"], "mapping of tags to their parents"),
    ],
)
def test_wrong_parents(parents, message):
    with pytest.raises((ArgumentError, TypeError), match=message):
        clean_tags(collection(["jet", "plane", "sky"]), parents=parents)


def test_a_decided_no_says_nothing_of_parents():
    before = collection(["jet", "sky"], [[0, 1], [1, 0]]).replaced(
        names=["a", "b"], decided=[DecidedLabel("a", "jet", False), DecidedLabel("b", "jet", False)]
    )
    after = clean_tags(before, parents={"jet": ["plane"]})
    assert {label[:2] for label in after.decided} == {("a", "jet"), ("b", "jet"), ("b", "plane")}

"""Pairs of tags, counted by hand and by plain loops; unknown labels belong to no pair."""

import numpy as np
import pytest

from tagrank.reports.tags import Confusion, Imbalance, co_occurrence, confusions

TAGS = ["sea", "lake", "boat", "night"]


def draw(n=60, n_tags=7, seed=0):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, n_tags)) < 0.4).astype(float)
    Y[rng.random(Y.shape) < 0.15] = np.nan
    return Y, (rng.random((n, n_tags)) < 0.4).astype(int), [f"tag {j}" for j in range(n_tags)]


def test_confusions_by_hand():
    Y = np.array([[1, 0, 1, 0], [1, 0, 0, 0], [1, np.nan, 0, 0], [0, 1, 0, 1]])
    P = np.array([[0, 1, 1, 0], [0, 1, 0, 0], [0, 1, 0, 1], [1, 0, 0, 1]])
    assert confusions(Y, P, TAGS) == [
        Confusion("sea", "lake", 2, n_missed=3, n_wrong=2),
        Confusion("sea", "night", 1, n_missed=3, n_wrong=1),
        Confusion("lake", "sea", 1, n_missed=1, n_wrong=1),
    ]


def test_confusions_by_loops():
    Y, P, tags = draw()
    counts = {}
    for labels, predicted in zip(Y, P, strict=True):
        for i, missed in enumerate(tags):
            for j, given in enumerate(tags):
                if labels[i] == 1 and not predicted[i] and labels[j] == 0 and predicted[j]:
                    counts[missed, given] = counts.get((missed, given), 0) + 1
    found = confusions(Y, P, tags)
    assert {(pair.missed, pair.given): pair.n_both for pair in found} == counts
    assert [pair.n_both for pair in found] == sorted(counts.values(), reverse=True)
    assert confusions(Y, P, tags, n_pairs=5) == found[:5]


def test_a_perfect_model_confuses_nothing():
    Y, _, tags = draw()
    assert confusions(Y, np.nan_to_num(Y), tags) == []


def test_shares_by_loops():
    Y, P, tags = draw()
    found = co_occurrence(Y, P, tags)
    assert sorted(found.tags) == tags
    known = ~np.isnan(Y)
    for matrix, present in ((found.true, Y == 1), (found.predicted, (P == 1) & known)):
        for i, row in enumerate(map(tags.index, found.tags)):
            for j, column in enumerate(map(tags.index, found.tags)):
                rows = present[:, row] & known[:, column]
                assert matrix[i, j] == pytest.approx(np.mean(present[rows, column]))


def test_the_most_frequent_tags_companions_together():
    rng = np.random.default_rng(1)
    first, second = rng.random(200) < 0.5, rng.random(200) < 0.4
    columns = [first, second, first ^ (rng.random(200) < 0.05), second ^ (rng.random(200) < 0.05)]
    rare, never = np.arange(200) < 3, np.zeros(200)
    Y = np.column_stack([*columns, rare, never]).astype(float)
    tags = ["a1", "b1", "a2", "b2", "rare", "never"]
    found = co_occurrence(Y, Y, tags, n_tags=4)
    assert {frozenset(found.tags[:2]), frozenset(found.tags[2:])} == {
        frozenset(["a1", "a2"]),
        frozenset(["b1", "b2"]),
    }
    assert found.imbalances == []
    assert "never" not in co_occurrence(Y, Y, tags).tags


def test_pairs_that_are_predicted_too_often_or_too_rarely():
    Y = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 1]])
    P = np.array([[1, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]])
    found = co_occurrence(Y, P, TAGS[:3])
    (pair,) = found.imbalances
    assert {pair.first, pair.second} == {"sea", "lake"}
    assert pair == Imbalance(pair.first, pair.second, n_true=2, n_predicted=0)
    # nobody predicts "lake": nothing can be said about its company
    assert np.isnan(found.predicted[found.tags.index("lake")]).all()


@pytest.mark.parametrize("n_tags", [0, 1, 2])
def test_few_tags(n_tags):
    found = co_occurrence(np.ones((3, n_tags)), np.ones((3, n_tags)), TAGS[:n_tags])
    assert found.tags == TAGS[:n_tags]
    assert found.true.tolist() == np.ones((n_tags, n_tags)).tolist()

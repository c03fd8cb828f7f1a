"""Label-balanced splits: exact sizes, better balance than chance, unknown labels left out of account."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score

from tagrank.data import Collection, LabelStratifiedKFold, iterative_split, load_dataset, split_collection


def labels(n_samples=403, n_labels=30, seed=0):
    rng = np.random.default_rng(seed)
    rates = np.geomspace(0.01, 0.4, n_labels)
    return (rng.random((n_samples, n_labels)) < rates).astype(float)


def imbalance(Y, parts):
    """Mean distance between the positives of a label in a part and its fair share, relative to the share."""
    present = Y == 1
    fair = present.sum(axis=0) / len(Y)
    return np.mean([np.abs(present[rows].mean(axis=0) - fair) / np.maximum(fair, 1e-12) for rows in parts])


def folds_of(Y, n_splits=5, **options):
    return [test for _, test in LabelStratifiedKFold(n_splits, **options).split(None, Y)]


@pytest.mark.parametrize("options", [{}, {"shuffle": True, "random_state": 0}])
def test_folds_partition_the_samples_and_balance_the_labels(options):
    Y = labels()
    folds = folds_of(Y, **options)
    assert [len(fold) for fold in folds] == [81, 81, 81, 80, 80]
    np.testing.assert_array_equal(np.sort(np.concatenate(folds)), np.arange(403))
    for train, test in LabelStratifiedKFold(5, **options).split(None, Y):
        np.testing.assert_array_equal(np.union1d(train, test), np.arange(403))
        assert len(train) + len(test) == 403
    chance = np.array_split(np.random.default_rng(0).permutation(403), 5)
    assert imbalance(Y, folds) < 0.5 * imbalance(Y, chance)


def test_a_label_with_as_many_positives_as_folds_is_in_each():
    Y = labels()
    Y[:, 0] = 0
    Y[[5, 17, 100, 200, 300], 0] = 1
    for seed in range(3):
        assert [Y[fold, 0].sum() for fold in folds_of(Y, shuffle=True, random_state=seed)] == [1] * 5


@pytest.mark.parametrize("test_size", [0.25, 0.1, 100])
def test_split_in_two(test_size):
    Y = labels()
    train, test = iterative_split(Y, test_size=test_size, random_state=0)
    assert len(test) == (100 if test_size == 100 else round(403 * test_size))
    np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(403))
    chance = np.random.default_rng(0).permutation(403)[: len(test)]
    assert imbalance(Y, [test]) < 0.6 * imbalance(Y, [chance])


def test_dense_sparse_and_tag_sets_agree():
    Y = labels(100, 6)
    expected = iterative_split(Y, random_state=3)[1]
    np.testing.assert_array_equal(iterative_split(sparse.csr_array(Y), random_state=3)[1], expected)
    tag_sets = [{"abcdef"[j] for j in np.flatnonzero(row)} for row in Y]
    assert len(iterative_split(tag_sets, random_state=3)[1]) == len(expected)


def test_seeds():
    Y = labels()
    first, again, other = (iterative_split(Y, random_state=seed)[1] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_unknown_labels_count_neither_way(kind):
    Y = labels(400, 10)
    Y[np.random.default_rng(1).random(Y.shape) < 0.3] = np.nan
    Y[:40] = np.nan
    Y[40:80] = 0
    without = ~(Y == 1).any(axis=1)
    without[:40] = False
    # rows about which nothing is known are spread evenly, and so are others without any label; these come
    # last here and make up for the exact sizes of the folds
    for fold in folds_of(kind(Y), 4, shuffle=True, random_state=0):
        assert np.isnan(Y[fold]).all(axis=1).sum() == 10
        assert abs(without[fold].sum() - without.sum() / 4) <= 5
    # an unknown label weighs as much as an absent one: not at all
    np.testing.assert_array_equal(folds_of(np.where(np.isnan(Y[80:]), 0, Y[80:])), folds_of(Y[80:]))


def test_classes_in_one_dimension():
    y = np.repeat(["cat", "dog"], [30, 60])
    for fold in folds_of(y, 3):
        assert (y[fold] == "cat").sum() == 10


def test_one_label_and_labels_never_present():
    assert [len(fold) for fold in folds_of(np.zeros((10, 3)), 2)] == [5, 5]
    train, test = iterative_split(np.array([[1], [1], [0], [0]]), test_size=0.5, random_state=0)
    assert len(train) == len(test) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: iterative_split(np.ones((1, 1))), "leaves one of the two parts of 1 samples empty"),
        (lambda: iterative_split(np.ones((9, 1)), test_size=9), "leaves one of the two parts"),
        (lambda: iterative_split(-np.ones((9, 1))), "Y contains -1"),
        (lambda: folds_of(np.ones((3, 1)), 5), "n_splits=5 is more than the 3 samples"),
        (lambda: LabelStratifiedKFold(1), "at least 2"),
        (lambda: LabelStratifiedKFold(3, random_state=0), "without shuffle=True"),
    ],
)
def test_what_cannot_be_split_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_collections():
    whole = Collection(views={"features": np.arange(403.0)[:, None]}, labels=labels())
    parted = split_collection(whole, test_size=0.2, random_state=0)
    assert (len(parted.train), len(parted.test)) == (322, 81)
    np.testing.assert_array_equal(parted.X, whole.X)


def test_scikit_learn_takes_the_splitter():
    X, Y = np.zeros((60, 2)), labels(60, 3)
    splitter = LabelStratifiedKFold(3, shuffle=True, random_state=0)
    assert splitter.get_n_splits() == 3
    assert len(cross_val_score(DummyClassifier(), X, Y, cv=splitter)) == 3
    search = GridSearchCV(DummyClassifier(), {"strategy": ["prior", "most_frequent"]}, cv=splitter).fit(X, Y)
    assert search.n_splits_ == 3
    assert "n_splits=3" in repr(splitter)


def test_many_labels(research_data):
    collection = load_dataset("delicious")
    Y = collection.Y.toarray()
    folds = folds_of(collection.Y, shuffle=True, random_state=0)
    chance = np.array_split(np.random.default_rng(0).permutation(len(Y)), 5)
    assert imbalance(Y, folds) < 0.35 * imbalance(Y, chance)

"""LabelPowerset: which sets are classes, how unknown labels are completed, and what labels score."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from tagrank import Gaussian, LabelPowerset
from tagrank.estimators.transformations.label_powerset import complete_states, find_label_sets


@pytest.fixture(scope="module")
def problem():
    """80 samples whose labels come in three combinations."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    kinds = np.digitize(X[:, 0] + 0.2 * rng.normal(size=80), [-0.5, 0.6])
    Y = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]], float)[kinds]
    X.flags.writeable = Y.flags.writeable = False
    return X, Y, kinds


def test_unknown_labels_are_those_of_the_most_frequent_set_that_agrees():
    states = np.array(
        [[1, 1, -1], [1, 1, -1], [1, -1, 1], [1, 0, 0], [0, -1, 0], [-1, 0, 1], [0, 0, 0]], np.int8
    )
    completed = complete_states(states).astype(int).tolist()
    assert completed[3:] == [[1, 1, 0], [1, 0, 1], [0, 0, 1], [1, 1, 0]]
    sets, set_of = find_label_sets(states)
    assert sets[set_of[:6]].astype(int).tolist() == completed[:6]
    assert set_of[6] == -1


def test_rare_sets_are_pruned_with_their_samples():
    states = np.array([[1, -1], [1, -1], [-1, 1], [1, 0]], np.int8)
    sets, set_of = find_label_sets(states, 2)
    assert sets.tolist() == [[True, False]]
    assert set_of.tolist() == [0, 0, -1, 0]
    with pytest.raises(ValueError, match="no label set has min_count=4 samples; the most frequent has 3"):
        find_label_sets(states, 4)


def test_labels_of_pruned_sets_are_ranked_last(problem):
    X, Y, _ = problem
    Y = np.column_stack([Y, np.arange(80) == 0]).astype(float)
    model = LabelPowerset(min_count=2).fit(X, Y)
    assert model.never_positive_.tolist() == [False] * 4 + [True]
    scores = model.decision_function(X)
    assert np.all(scores[:, 4] < scores[:, :4].min(axis=1))


def test_scores_are_shares_of_sets_as_scikit_learn_finds_them(problem):
    X, Y, kinds = problem
    with_one = np.column_stack([X, np.ones(80)])
    peer = OneVsRestClassifier(LogisticRegression(C=10, fit_intercept=False, tol=1e-8)).fit(with_one, kinds)
    expected = peer.predict_proba(with_one) @ [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]]
    model = LabelPowerset(cost=10, kernel="linear", random_state=0).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=0.05)
    shares = model.classifier_.predict_proba(X)
    shares /= shares.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.decision_function(X), shares @ model.label_sets_, atol=1e-12)
    agreed = model.predict(X) == np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]])[peer.predict(with_one)]
    assert agreed.all(axis=1).mean() > 0.95


def test_only_sets_that_were_seen_are_predicted(problem):
    X, Y, _ = problem
    model = LabelPowerset().fit(X, Y)
    seen = {tuple(row) for row in Y.astype(int)}
    new = np.random.default_rng(1).normal(size=(50, 2), scale=2)
    assert {tuple(row) for row in model.predict(new)} <= seen
    assert {tuple(row) for row in model.choose(model.decision_function(new))} <= seen
    sure = model.classifier_.decision_function(new).max(axis=1) > 2
    assert sure.any()
    np.testing.assert_array_equal(model.choose(model.decision_function(new))[sure], model.predict(new)[sure])


def test_kernels_pass_through(problem):
    X, Y, _ = problem
    by_name = LabelPowerset(gamma=0.5, random_state=0).fit(X, Y).decision_function(X)
    K = Gaussian(gamma=0.5)(X)
    np.testing.assert_allclose(
        LabelPowerset(kernel="precomputed", random_state=0).fit(K, Y).decision_function(K), by_name, atol=1e-2
    )
    views = {"left": X[:, :1], "right": X[:, 1:]}
    kernel = Gaussian().on("left") + Gaussian().on("right")
    assert LabelPowerset(kernel=kernel).fit(views, Y).score(views, Y) > 0.9

"""Votes of neighbours and their probabilities, against loops over samples and labels."""

import numpy as np
import pytest

from tagrank.data import find_dataset, load_dataset
from tagrank.estimators import BayesianNeighbors, NearestNeighbors


@pytest.fixture(scope="module")
def problem():
    """40 samples to learn from and 20 others, 3 labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = (X[:, :3] + 0.5 * rng.normal(size=(60, 3)) > 0.3).astype(float)
    X.flags.writeable = Y.flags.writeable = False
    return X[:40], Y[:40], X[40:]


def nearest(x, X, k, leave_out=None):
    D = ((X - x) ** 2).sum(axis=1)
    if leave_out is not None:
        D[leave_out] = np.inf
    return np.argsort(D, kind="stable")[:k]


def posterior(X, Y, x, label, *, k, s):
    """Algorithm of the paper (Zhang and Zhou 2007, figure 1), for one sample and label."""
    prior = (s + Y[:, label].sum()) / (2 * s + len(Y))
    counts = {0: np.zeros(k + 1), 1: np.zeros(k + 1)}
    for i in range(len(X)):
        counts[int(Y[i, label])][int(Y[nearest(X[i], X, k, i), label].sum())] += 1
    c = int(Y[nearest(x, X, k), label].sum())
    has, has_not = ((s + counts[b][c]) / (s * (k + 1) + counts[b].sum()) for b in (1, 0))
    return prior * has / (prior * has + (1 - prior) * has_not)


def test_shares_of_neighbours(problem):
    X, Y, Z = problem
    scores = NearestNeighbors(n_neighbors=5).fit(X, Y).decision_function(Z)
    for x, row in zip(Z, scores, strict=True):
        np.testing.assert_allclose(row, (Y[nearest(x, X, 5)].sum(axis=0) + Y.mean(axis=0)) / 6)


def test_weighted_votes(problem):
    X, Y, Z = problem
    scores = NearestNeighbors(n_neighbors=5, voting="similarity").fit(X, Y).decision_function(Z)
    for x, row in zip(Z, scores, strict=True):
        found = nearest(x, X, 5)
        squares = ((X[found] - x) ** 2).sum(axis=1)
        weights = np.exp(-squares / squares.mean())
        votes = 5 * weights @ Y[found] / weights.sum()
        np.testing.assert_allclose(row, (votes + Y.mean(axis=0)) / 6)


def test_neighbours_who_do_not_know_have_no_vote(problem):
    X, Y, Z = problem
    Y = np.where(np.random.default_rng(1).random(Y.shape) < 0.5, np.nan, Y)
    model = NearestNeighbors(n_neighbors=5).fit(X, Y)
    for x, row in zip(Z, model.decision_function(Z), strict=True):
        votes = Y[nearest(x, X, 5)]
        expected = (np.nansum(votes, axis=0) + np.nanmean(Y, axis=0)) / ((~np.isnan(votes)).sum(axis=0) + 1)
        np.testing.assert_allclose(row, expected)


@pytest.mark.parametrize("smoothing", [1.0, 0.3])
def test_posteriors_are_those_of_the_paper(problem, smoothing):
    X, Y, Z = problem
    model = BayesianNeighbors(n_neighbors=4, smoothing=smoothing).fit(X, Y)
    expected = [[posterior(X, Y, x, label, k=4, s=smoothing) for label in range(3)] for x in Z]
    np.testing.assert_allclose(model.predict_proba(Z), expected, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(Z), np.array(expected) >= 0.5)


def test_unknown_labels_leave_the_others_as_they_are(problem):
    X, Y, Z = problem
    partly = Y.copy()
    partly[::2, 0] = np.nan
    whole, less = (BayesianNeighbors(n_neighbors=4).fit(X, labels).predict_proba(Z) for labels in (Y, partly))
    np.testing.assert_array_equal(whole[:, 1:], less[:, 1:])
    assert not np.array_equal(whole[:, 0], less[:, 0])


def test_a_label_that_no_neighbour_knows_has_its_prior():
    X = np.arange(10.0)[:, None]
    Y = np.repeat([[np.nan], [np.nan], [1.0], [0.0], [1.0]], 2, axis=0)
    model = BayesianNeighbors(n_neighbors=2).fit(X, Y)
    assert model.predict_proba([[0.4]])[0, 0] == pytest.approx(5 / 8)
    assert NearestNeighbors(n_neighbors=2).fit(X, Y).decision_function([[0.4]])[0, 0] == pytest.approx(2 / 3)


@pytest.mark.parametrize("kind", [NearestNeighbors, BayesianNeighbors])
@pytest.mark.parametrize("n_samples", [1, 2, 7])
def test_more_neighbours_than_samples(problem, kind, n_samples):
    X, _, Z = problem
    Y = np.ones((n_samples, 2))
    Y[1:, 1] = 0
    model = kind(n_neighbors=50).fit(X[:n_samples], Y)
    assert np.isfinite(model.decision_function(Z)).all()
    few = kind(n_neighbors=n_samples).fit(X[:n_samples], Y)
    np.testing.assert_array_equal(few.decision_function(Z), model.decision_function(Z))


@pytest.mark.parametrize("name", ["emotions", "scene"])
@pytest.mark.skipif(find_dataset("emotions") is None, reason="needs data")
def test_posteriors_are_those_of_scikit_multilearn(name):
    adapt = pytest.importorskip("skmultilearn.adapt")
    train, test = load_dataset(name).train, load_dataset(name).test
    X, Z = (np.hstack([np.asarray(rows) for rows in part.views.values()])[:400] for part in (train, test))
    Y = train.states()[:400] > 0
    peer = adapt.MLkNN(k=10, ignore_first_neighbours=1).fit(X, Y)
    peer.ignore_first_neighbours = 0  # it would skip the nearest of new samples, too
    expected = peer.predict_proba(Z).toarray()
    np.testing.assert_allclose(BayesianNeighbors().fit(X, Y).predict_proba(Z), expected, atol=1e-12)

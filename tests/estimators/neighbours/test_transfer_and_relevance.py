"""LabelTransfer and RelevanceModel against loops."""

import numpy as np
import pytest

from tagrank.estimators import LabelTransfer, RelevanceModel


@pytest.fixture(scope="module")
def problem():
    """30 samples to learn from and 15 others, 6 labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(45, 3))
    Y = (rng.random((45, 6)) < [0.6, 0.5, 0.4, 0.3, 0.2, 0.1]).astype(float)
    Y[0] = 0
    X.flags.writeable = Y.flags.writeable = False
    return X[:30], Y[:30], X[30:]


def transferred(x, X, Y, n_neighbors, n_labels):
    """The rule of the paper: labels in the order in which they are taken, labels of no neighbour left out."""
    order = np.argsort(((X - x) ** 2).sum(axis=1))[:n_neighbors]
    frequency = Y.mean(axis=0)
    first = sorted(np.flatnonzero(Y[order[0]]), key=lambda l: -frequency[l])
    local = Y[order[1:]].sum(axis=0)
    together = Y.T @ Y[:, first].sum(axis=1) if len(first) else np.ones(6)
    rest = [l for l in np.flatnonzero(local) if l not in first]
    return [*first, *sorted(rest, key=lambda l: (-round(together[l] * local[l], 9), -frequency[l]))][
        :n_labels
    ]


def test_labels_are_taken_in_the_order_of_the_rule(problem):
    X, Y, Z = problem
    scores = LabelTransfer(n_neighbors=4).fit(X, Y).decision_function(np.vstack([Z, X[:1]]))
    for x, row in zip(np.vstack([Z, X[:1]]), scores, strict=True):
        expected = transferred(x, X, Y, 4, 6)
        assert np.argsort(-row, kind="stable")[: len(expected)].tolist() == expected


def test_labels_that_no_neighbour_has_follow_by_frequency(problem):
    X, Y, _ = problem
    scores = LabelTransfer(n_neighbors=1).fit(X, Y).decision_function(X)
    frequency = Y.mean(axis=0)
    for i in range(30):
        absent = np.flatnonzero(Y[i] == 0)
        np.testing.assert_allclose(scores[i, absent], frequency[absent] / 2)
        assert np.all(scores[i, Y[i] > 0] > 1)


def test_as_many_labels_as_asked_for(problem):
    X, Y, Z = problem
    assert set(LabelTransfer(n_transferred=2).fit(X, Y).predict(Z).sum(axis=1)) == {2}
    never = Y.copy()
    never[:, 0] = 0
    with pytest.warns(UserWarning, match="never positive"):
        assert not LabelTransfer(n_transferred=6).fit(X, never).predict(Z)[:, 0].any()


def test_relevance_is_that_of_the_definition(problem):
    X, Y, Z = problem
    model = RelevanceModel(bandwidth=0.5, smoothing=0.2).fit(X, Y)
    scale = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)).sum() / (30 * 29)
    mu = 30 * (1 - 0.2) / 0.2
    for x, row in zip(Z, model.decision_function(Z), strict=True):
        k = np.exp(-((X - x) ** 2).sum(axis=1) / (0.5 * scale) ** 2)
        np.testing.assert_allclose(row, k @ ((mu * Y + Y.sum(axis=0)) / (mu + 30)) / k.sum())


def test_relevance_far_from_everything_and_unknown_labels(problem):
    X, Y, Z = problem
    far = RelevanceModel().fit(X, Y).decision_function([[1e6, 0, 0]])
    assert np.isfinite(far).all()
    partly = Y.copy()
    partly[::2, 0] = np.nan
    model = RelevanceModel(bandwidth=0.5, smoothing=0).fit(X, partly)
    known = RelevanceModel(bandwidth=0.5, smoothing=0).fit(X, Y)
    known.states_, known.X_fit_ = known.states_[1::2], known.X_fit_[1::2]
    np.testing.assert_allclose(model.decision_function(Z)[:, 0], known.decision_function(Z)[:, 0])


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LabelTransfer(n_transferred=0), "n_transferred must be a positive integer, got 0"),
        (LabelTransfer(n_neighbors=2.5), "n_neighbors must be a positive integer, got 2.5"),
        (RelevanceModel(bandwidth=0), "bandwidth must be a positive number, got 0"),
        (RelevanceModel(smoothing=1), "smoothing must be a number from 0 to below 1, got 1"),
    ],
)
def test_refused_parameters(problem, estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(*problem[:2])

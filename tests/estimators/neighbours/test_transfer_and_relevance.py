"""LabelTransfer and RelevanceModel against loops."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from tagrank.estimators import LabelTransfer, RelevanceModel
from tagrank.estimators.neighbours.label_transfer import alike_pairs
from tagrank.kernels import ChiSquared, Gaussian


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


VIEWS = Gaussian().on("a") + ChiSquared().on("b") + Gaussian().on("noise")


@pytest.fixture(scope="module")
def views():
    """80 samples to learn from and 20 others, 6 labels; the last of three views is noise, one row is far."""
    rng = np.random.default_rng(5)
    X = {"a": rng.normal(size=(100, 4)), "b": rng.random((100, 3)), "noise": rng.normal(size=(100, 4))}
    X["a"][3] *= 40
    strength = X["a"] @ rng.normal(size=(4, 6)) + 3 * X["b"] @ rng.normal(size=(3, 6))
    Y = (strength > np.median(strength, axis=0)).astype(float)
    parts = ({name: rows[part] for name, rows in X.items()} for part in (slice(80), slice(80, None)))
    return (*parts, Y[:80])


def view_distances(A, B):
    """Distances (n_a, n_b, 3) of the views, by loops over them."""
    D = [np.sqrt(((A[name][:, None] - B[name][None]) ** 2).sum(axis=2)) for name in ("a", "noise")]
    sums = A["b"][:, None] + B["b"][None]
    chi = np.sqrt(((A["b"][:, None] - B["b"][None]) ** 2 / sums).sum(axis=2))
    return np.stack([D[0], chi, D[1]], axis=2)


def test_published_distances_are_divided_by_the_largest(views):
    X, Z, Y = views
    D = view_distances(X, X)
    joint = (view_distances(Z, X) / D.max(axis=(0, 1))).sum(axis=2)
    model = LabelTransfer(kernel=VIEWS, distance_unit="largest", n_neighbors=4).fit(X, Y)
    np.testing.assert_array_equal(model._nearest(Z)[0], np.argsort(joint, axis=1)[:, :4])
    np.testing.assert_allclose(model.weights_.sum(), 1)
    # the outlier decides how far the others are from each other
    usual = LabelTransfer(kernel=VIEWS, distance_unit="mean", n_neighbors=4).fit(X, Y)
    by_mean = (view_distances(Z, X) / (D.sum(axis=(0, 1)) / (80 * 79))).sum(axis=2)
    np.testing.assert_array_equal(usual._nearest(Z)[0], np.argsort(by_mean, axis=1)[:, :4])
    assert model.weights_[0] < usual.weights_[0] / 3
    compared = model.compare(X)
    within = LabelTransfer(kernel=VIEWS, distance_unit="largest").fit(compared.training(np.arange(80)), Y)
    np.testing.assert_allclose(within.weights_, model.weights_, rtol=1e-5)


@pytest.mark.parametrize("unit", ["mean", "largest"])
def test_lasso_weights_are_those_of_a_logistic_regression(views, unit):
    X, _, Y = views
    model = LabelTransfer(kernel=VIEWS, distance_unit=unit, weighting="lasso", sparsity=0.004).fit(X, Y)
    D = view_distances(X, X)
    D /= D.max(axis=(0, 1)) if unit == "largest" else D.sum(axis=(0, 1)) / (80 * 79)
    common = Y @ Y.T
    alike, different = alike_pairs(Y > 0, 4)
    assert common[alike].min() == 4
    assert (
        len(alike[0])
        == len(different[0])
        == min((np.triu(common >= 4, 1)).sum(), (np.triu(common == 0, 1)).sum())
    )
    assert not common[different].any()
    rows = np.vstack([D[alike], D[different]])
    far = np.repeat([0, 1], len(alike[0]))
    # liblinear penalizes the constant: as a wide one it costs nothing
    peer = LogisticRegression(
        l1_ratio=1,
        C=1 / (0.004 * len(rows)),
        solver="liblinear",
        intercept_scaling=1e4,
        tol=1e-10,
        max_iter=10**5,
    ).fit(rows, far)
    expected = peer.coef_[0]
    assert expected.min() >= 0
    largest = D.max(axis=(0, 1)) if unit == "largest" else 1
    scales = view_distances(X, X).sum(axis=(0, 1)) / (80 * 79)
    in_means = expected / (view_distances(X, X).max(axis=(0, 1)) / scales) if unit == "largest" else expected
    np.testing.assert_allclose(model.weights_, in_means / largest / (in_means / largest).sum(), atol=2e-3)
    assert model.weights_[2] < 0.1 * model.weights_[:2].min()


def test_where_pairs_tell_nothing_the_weights_are_those_of_the_kernel(views):
    X, _, Y = views
    for labels, more in ((np.ones((80, 2)), {}), (Y, {"sparsity": 1e6})):
        model = LabelTransfer(kernel=VIEWS, weighting="lasso", **more).fit(X, labels)
        np.testing.assert_allclose(model.weights_, 1 / 3)
    # too few pairs share four labels: those with fewer are alike
    few = np.eye(4)[np.arange(80) % 4]
    assert len(alike_pairs(few > 0, 4)[0][0]) == 4 * 20 * 19 / 2
    assert len(alike_pairs(np.eye(3) > 0, 1)[0][0]) == 0


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


@pytest.mark.parametrize("kernel", ["rbf", "chi2"])
def test_densities_of_parts_are_those_of_the_definition(kernel):
    rng = np.random.default_rng(2)
    X, Z = rng.random((25, 3, 4)), rng.random((6, 3, 4))
    Y = (rng.random((25, 5)) < 0.4).astype(float)
    model = RelevanceModel(kernel=kernel, n_regions=3, bandwidth=0.7, smoothing=0.2).fit(X.reshape(25, -1), Y)

    def distance(r, q):
        return np.sqrt(((r - q) ** 2 / (r + q if kernel == "chi2" else 1)).sum())

    parts = X.reshape(75, 4)
    scale = np.mean([distance(parts[i], parts[j]) for i in range(75) for j in range(75) if i != j])
    mu = 25 * (1 - 0.2) / 0.2
    frequencies = (mu * Y + Y.sum(axis=0)) / (mu + 25)
    scores = model.decision_function(Z.reshape(6, -1))
    for parts_of_x, row in zip(Z, scores, strict=True):
        weights = np.array(
            [
                np.prod(
                    [
                        np.mean([np.exp(-((distance(r, q) / (0.7 * scale)) ** 2)) for q in x])
                        for r in parts_of_x
                    ]
                )
                for x in X
            ]
        )
        np.testing.assert_allclose(row, weights @ frequencies / weights.sum(), rtol=1e-6)


def test_parts_of_views_of_sparse_rows_and_folds():
    rng = np.random.default_rng(3)
    X, Y = rng.random((40, 12)), (rng.random((40, 3)) < 0.4).astype(float)
    whole = RelevanceModel(n_regions=3).fit(X, Y).decision_function(X)
    stored = sparse.csr_array(X)
    np.testing.assert_allclose(RelevanceModel(n_regions=3).fit(stored, Y).decision_function(stored), whole)
    views = {"only": X}
    model = RelevanceModel(kernel=Gaussian().on("only"), n_regions=3)
    np.testing.assert_allclose(model.fit(views, Y).decision_function(views), whole)
    chi = RelevanceModel(kernel="chi2", n_regions=3)
    compared = chi.compare(X)
    within = chi.fit(compared.training(np.arange(30)), Y[:30])
    held_out = within.decision_function(compared.held_out(np.arange(30, 40), np.arange(30)))
    alone = RelevanceModel(kernel="chi2", n_regions=3).fit(X[:30], Y[:30]).decision_function(X[30:])
    np.testing.assert_allclose(held_out, alone)


def test_parts_must_be_equal_and_rows():
    X, Y = np.random.default_rng(0).random((10, 10)), np.eye(10, 2)
    with pytest.raises(ValueError, match="n_regions must divide the number of columns, got 3 for 10"):
        RelevanceModel(n_regions=3).fit(X, Y)
    with pytest.raises(ValueError, match="n_regions=2 needs rows, got similarities"):
        RelevanceModel(n_regions=2, kernel="precomputed").fit(X @ X.T, Y)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LabelTransfer(n_transferred=0), "n_transferred must be a positive integer, got 0"),
        (LabelTransfer(n_neighbors=2.5), "n_neighbors must be a positive integer, got 2.5"),
        (LabelTransfer(distance_unit="median"), "distance_unit must be one of"),
        (LabelTransfer(weighting="ridge"), "weighting must be one of"),
        (LabelTransfer(n_shared=0), "n_shared must be a positive integer, got 0"),
        (LabelTransfer(sparsity=0), "sparsity must be a positive number, got 0"),
        (RelevanceModel(n_regions=0), "n_regions must be a positive integer, got 0"),
        (RelevanceModel(bandwidth=0), "bandwidth must be a positive number, got 0"),
        (RelevanceModel(smoothing=1), "smoothing must be a number from 0 to below 1, got 1"),
    ],
)
def test_refused_parameters(problem, estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(*problem[:2])

"""The nearest rows against all differences, on rows that make rounding and ties matter."""

import numpy as np
import pytest
from scipy import sparse

from tagrank.estimators import LabelRanker, NearestNeighbors
from tagrank.estimators.neighbours.distances import nearest_of, nearest_rows
from tagrank.kernels import ChiSquared, Gaussian, Linear, Polynomial
from tagrank.kernels.gram import n_rows

RNG = np.random.default_rng(0)
ROWS = {
    "normal": RNG.normal(size=(500, 7)),
    "float32": RNG.normal(size=(500, 7)).astype(np.float32),
    "far from the origin": 1e7 + RNG.normal(size=(500, 7)),
    "ties": RNG.integers(0, 2, (500, 7)).astype(float),
    "duplicates": np.repeat(RNG.normal(size=(20, 7)), 25, axis=0),
    "an outlier": np.vstack([RNG.normal(size=(499, 7)), np.full((1, 7), 1e9)]),
    "all the same": np.ones((500, 3)),
    "one column": RNG.normal(size=(500, 1)),
}


def expected_neighbours(X, Z, k, *, leave_one_out):
    D = ((X[:, None].astype(np.float64) - Z[None].astype(np.float64)) ** 2).sum(axis=2)
    if leave_one_out:
        np.fill_diagonal(D, np.inf)
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return order, np.sqrt(np.take_along_axis(D, order, axis=1))


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("leave_one_out", [True, False])
def test_nearest_rows_are_exact(name, leave_one_out):
    X = ROWS[name]
    indices, distances = nearest_rows(X, X, 5, leave_one_out=leave_one_out)
    expected, lengths = expected_neighbours(X, X, 5, leave_one_out=leave_one_out)
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_allclose(distances, lengths, rtol=1e-12)
    if leave_one_out:
        assert not np.any(indices == np.arange(500)[:, None])


def test_other_rows_and_all_of_few():
    X, Z = ROWS["normal"][:3], ROWS["normal"][3:9]
    indices, _ = nearest_rows(X, Z, 6)
    np.testing.assert_array_equal(indices, expected_neighbours(X, Z, 6, leave_one_out=False)[0])


@pytest.mark.filterwarnings("ignore:overflow|invalid:RuntimeWarning")
@pytest.mark.parametrize("kernel", ["rbf", "chi2"])
def test_rows_that_are_too_far_for_numbers_have_some_neighbours(histograms, kernel):
    X, _ = histograms
    found, _ = neighbours_of(kernel, X, np.full((2, 6), 1e300))
    assert found.min() >= 0
    assert found.max() < len(X)


def test_smallest_entries_equal_ones_by_index():
    indices, values = nearest_of(np.array([[3.0, 1, 2, 1], [0, 0, 0, 5]]), 3)
    assert indices.tolist() == [[1, 3, 2], [0, 1, 2]]
    assert values.tolist() == [[1, 1, 2], [0, 0, 0]]
    assert nearest_of(np.array([[0.0, 1, 2], [1, 0, 2]]), 1, own=0)[0].tolist() == [[1], [0]]


def neighbours_of(kernel, X, Z, **options):
    Y = np.eye(n_rows(X), 2)
    model = NearestNeighbors(kernel=kernel, n_neighbors=4, **options).fit(X, Y)
    return model._nearest(Z)[0], model


@pytest.fixture(scope="module")
def histograms():
    X = np.random.default_rng(1).random((60, 6))
    X.flags.writeable = False
    return X[:40], X[40:]


@pytest.mark.parametrize("kernel", [Gaussian(), Linear(), Polynomial(), ChiSquared(), 2.0 * Gaussian()])
def test_kernels_similarities_and_sparse_rows_have_the_same_neighbours(histograms, kernel):
    X, Z = histograms
    fitted = kernel.fit(X)
    squares = fitted.diagonal(Z)[:, None] + fitted.diagonal(X) - 2 * fitted(Z, X)
    expected = np.argsort(squares, axis=1, kind="stable")[:, :4]
    np.testing.assert_array_equal(neighbours_of(kernel, X, Z)[0], expected)
    by_sparse, _ = neighbours_of(kernel, sparse.csr_array(X), sparse.csr_array(Z))
    np.testing.assert_array_equal(by_sparse, expected)
    by_gram, _ = neighbours_of("precomputed", fitted(X), fitted(Z, X))
    np.testing.assert_array_equal(by_gram, expected)


def test_views_add_distances_that_are_divided_by_their_mean(histograms):
    X, Z = histograms
    kernel = 0.25 * Gaussian().on("a") + 0.75 * ChiSquared().on("b")
    views = [{"a": 100 * rows[:, :3], "b": rows[:, 3:]} for rows in (X, Z)]
    found, model = neighbours_of(kernel, *views)

    def means(D):
        return D / D[:40].sum() * 40 * 39

    def euclid(A, B):
        return np.sqrt(((A[:, None] - B[None]) ** 2).sum(axis=2))

    def chi_square(A, B):
        return np.sqrt(((A[:, None] - B[None]) ** 2 / (A[:, None] + B[None])).sum(axis=2))

    both = np.vstack([X, Z])
    D = 0.25 * means(euclid(both[:, :3], X[:, :3])) + 0.75 * means(chi_square(both[:, 3:], X[:, 3:]))
    np.testing.assert_array_equal(found, np.argsort(D[40:], axis=1)[:, :4])
    compared = model.compare(views[0])
    within = model.fit(compared.training(np.arange(30)), np.ones((30, 1)))
    held_out, _ = within._nearest(compared.held_out(np.arange(30, 40), np.arange(30)))
    np.testing.assert_array_equal(held_out, np.argsort(D[30:40, :30], axis=1)[:, :4])


def test_large_problems_share_no_distances_between_folds(histograms, monkeypatch):
    monkeypatch.setattr("tagrank.estimators.neighbours.neighbor_estimator.LARGEST_COMPARED", 10)
    model = NearestNeighbors(kernel="chi2")
    assert type(model.compare(histograms[0])).__name__ == "PlainRows"


def test_rows_that_others_have_compared(histograms):
    X, Z = histograms
    kernel = Gaussian().on("a") + ChiSquared().on("b")
    views = [{"a": rows[:, :3], "b": rows[:, 3:]} for rows in (X, Z)]
    compared = LabelRanker(kernel=kernel).compare(views[0])
    model = NearestNeighbors(kernel=kernel, n_neighbors=4)
    expected = model.fit(views[0], np.eye(40, 2)).decision_function(views[1])
    np.testing.assert_array_equal(model.fit(compared, np.eye(40, 2)).decision_function(views[1]), expected)
    folds = model.compare(compared).training(np.arange(30))
    np.testing.assert_allclose(folds.K, model.compare(views[0]).K[:30, :30])

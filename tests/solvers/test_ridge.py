"""Ridge regression in closed form against scikit-learn's, and leaving one out against fits without it."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

from tagrank.solvers.ridge import leave_one_out, ridge_on

SHAPES = {"more samples": (30, 7), "more columns": (12, 25)}


@pytest.fixture(params=SHAPES)
def problem(request):
    rng = np.random.default_rng(0)
    n_samples, n_features = SHAPES[request.param]
    X = rng.normal(size=(n_samples, n_features)) + 3
    X[rng.random(X.shape) < 0.5] = 0
    Y = rng.normal(size=(n_samples, 4))
    return X, Y - Y.mean(axis=0)


@pytest.fixture(params=["dense", "sparse", "gram"])
def pose(request):
    forms = {
        "dense": lambda X: ridge_on(X, "rows"),
        "sparse": lambda X: ridge_on(sparse.csr_array(X), "rows"),
        "gram": lambda X: ridge_on(X @ X.T, "gram"),
    }
    return forms[request.param]


@pytest.mark.parametrize("alpha", [0.1, 10.0])
def test_it_is_that_of_scikit_learn(problem, pose, alpha):
    X, Y = problem
    ridge, peer = pose(X), Ridge(alpha).fit(X, Y)
    found = ridge.solve(Y, alpha)
    np.testing.assert_allclose(ridge.scores(found), peer.predict(X), atol=1e-10)
    np.testing.assert_allclose(ridge.offsets(found), -peer.intercept_, atol=1e-10)
    np.testing.assert_allclose(ridge.inner(found, found), peer.coef_ @ peer.coef_.T, atol=1e-10)


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 100.0])
def test_leaving_one_out_equals_a_fit_without_it(problem, pose, alpha):
    X, Y = problem
    (found,) = leave_one_out(pose(X).spectrum(), Y, [alpha])
    for i in range(len(X)):
        others = np.arange(len(X)) != i
        expected = Ridge(alpha, solver="svd").fit(X[others], Y[others]).predict(X[i : i + 1])[0]
        np.testing.assert_allclose(found[i], expected, atol=1e-7)


def test_a_part_of_the_samples_is_a_problem_of_its_own(problem, pose):
    X, Y = problem
    rows = np.array([1, 3, 4, 8, 10])
    part = pose(X).take(rows)
    targets = Y[rows] - Y[rows].mean(axis=0)
    expected = Ridge(2.0).fit(X[rows], targets).predict(X[rows])
    np.testing.assert_allclose(part.scores(part.solve(targets, 2.0)), expected, atol=1e-10)


def test_single_precision_is_given_up_where_it_fails():
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(40, 3))
    K = (factor @ factor.T).astype(np.float32)
    Y = factor - factor.mean(axis=0)
    ridge = ridge_on(K, "gram")
    np.testing.assert_allclose(ridge.scores(ridge.solve(Y, 1e-5)), Y, atol=1e-3)


def test_a_penalty_that_cannot_mend_similarities_is_refused():
    with pytest.raises(ValueError, match=r"alpha=0\.001 is too small"):
        ridge_on(np.array([[0.0, 5.0], [5.0, 0.0]]), "gram").solve(np.array([[1.0], [-1.0]]), 1e-3)

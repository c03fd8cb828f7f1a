"""RidgeRegression against scikit-learn's, and the choice of its penalty."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from tagrank.estimators import RidgeRegression, ridge_regression
from tagrank.kernels import Gaussian, Linear
from tagrank.metrics import image_auc


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5)) + 2
    Y = (X @ rng.normal(size=(5, 3)) + rng.normal(size=(40, 3)) > 1).astype(float)
    X.flags.writeable = Y.flags.writeable = False
    return X, Y


@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array])
def test_linear_is_that_of_scikit_learn(problem, hold):
    X, Y = problem
    model = RidgeRegression(alpha=3.0, kernel="linear").fit(hold(X), Y)
    peer = Ridge(3.0).fit(X, 2 * Y - 1)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-10)
    np.testing.assert_allclose(model.decision_function(X), peer.predict(X), atol=1e-10)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X) >= 0)


def test_with_a_kernel_it_is_that_of_scikit_learn_on_centred_similarities(problem):
    X, Y = problem
    K = Gaussian(gamma=0.1)(X)
    centring = np.eye(40) - 1 / 40
    signs = 2 * Y - 1
    peer = KernelRidge(alpha=0.5, kernel="precomputed").fit(
        centring @ K @ centring, signs - signs.mean(axis=0)
    )
    model = RidgeRegression(alpha=0.5, kernel="rbf", gamma=0.1).fit(X, Y)
    np.testing.assert_allclose(model.dual_coef_, peer.dual_coef_, atol=1e-10)
    expected = peer.predict(centring @ K @ centring) + signs.mean(axis=0)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-10)


def test_every_way_to_hold_the_rows_gives_one_model(problem):
    X, Y = problem
    scores = [
        RidgeRegression(kernel="linear").fit(X, Y).decision_function(X),
        RidgeRegression(kernel="precomputed").fit(X @ X.T, Y).decision_function(X @ X.T),
        RidgeRegression(kernel=Linear().on("a")).fit({"a": X}, Y).decision_function({"a": X}),
    ]
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-9)
    np.testing.assert_allclose(scores[2], scores[0], atol=1e-9)


def quality(alpha, X, Y):
    """Of scikit-learn's, refitted without each sample."""
    scores = cross_val_predict(Ridge(alpha, solver="svd"), X, 2 * Y - 1, cv=LeaveOneOut())
    scores = scores.reshape(Y.shape)
    return np.nan_to_num(image_auc(Y, scores)), -np.sum((scores - (2 * Y - 1)) ** 2)


@pytest.mark.parametrize("labels", [slice(None), slice(0, 1)], ids=["ranking", "one label: squared error"])
def test_the_penalty_is_the_best_of_those_that_leave_one_out(problem, labels, monkeypatch):
    monkeypatch.setattr(ridge_regression, "PENALTIES", np.logspace(-3, 2, 6))
    X, Y = problem[0][:25], problem[1][:25, labels]
    penalties = np.var(X, axis=0).sum() * ridge_regression.PENALTIES
    expected = max(penalties, key=lambda alpha: quality(alpha, X, Y))
    assert RidgeRegression(kernel="linear").fit(X, Y).alpha_ == pytest.approx(expected)


def test_many_samples_choose_their_penalty_on_a_part(problem, monkeypatch):
    X, Y = problem
    monkeypatch.setattr(ridge_regression, "MOST_LEFT_OUT", 20)
    model, again = (RidgeRegression(kernel="linear").fit(X, Y) for _ in range(2))
    assert model.alpha_ == again.alpha_
    expected = RidgeRegression(alpha=model.alpha_, kernel="linear").fit(X, Y)
    np.testing.assert_array_equal(model.coef_, expected.coef_)


def test_an_unknown_label_counts_as_the_mean_of_the_known(problem):
    X, Y = problem
    unknown = Y.copy()
    unknown[:10, 0] = np.nan
    imputed = 2 * unknown - 1
    imputed[:10, 0] = imputed[10:, 0].mean()
    model = RidgeRegression(alpha=1.0, kernel="linear").fit(X, unknown)
    np.testing.assert_allclose(model.decision_function(X), Ridge(1.0).fit(X, imputed).predict(X), atol=1e-10)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_sample_without_known_labels_does_not_count(problem, kernel):
    X, Y = problem
    unknown = Y.copy()
    unknown[5:9] = np.nan
    kept = np.delete(np.arange(40), np.arange(5, 9))
    model = RidgeRegression(kernel=kernel, gamma=0.1).fit(X, unknown)
    without = RidgeRegression(kernel=kernel, gamma=0.1).fit(X[kept], Y[kept])
    np.testing.assert_allclose(model.decision_function(X), without.decision_function(X), atol=1e-9)


def test_rows_that_do_not_differ_are_answered_by_the_means():
    model = RidgeRegression().fit(np.ones((4, 2)), [[1, 0], [1, 0], [1, 1], [0, 0]])
    np.testing.assert_allclose(model.decision_function(np.ones((1, 2))), [[0.5, -0.5]])


def test_one_sample_is_enough():
    for kernel in ("linear", "rbf"):
        model = RidgeRegression(kernel=kernel).fit([[1.0, 2.0]], [[1, 1]])
        np.testing.assert_allclose(model.decision_function([[5.0, 0.0]]), [[1, 1]])


@pytest.mark.parametrize("alpha", [0, -1, "big", np.inf])
def test_a_penalty_must_be_positive(problem, alpha):
    with pytest.raises(ValueError, match="alpha must be a positive number"):
        RidgeRegression(alpha=alpha).fit(*problem)

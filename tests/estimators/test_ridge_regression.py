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


def quality(alpha, X, Y, measured=None):
    """Of scikit-learn's, refitted without each sample, on the labels `measured` if they are others."""
    scores = cross_val_predict(Ridge(alpha, solver="svd"), X, 2 * Y - 1, cv=LeaveOneOut())
    scores = scores.reshape(Y.shape)
    quality = np.nan_to_num(image_auc(Y if measured is None else measured, scores))
    return quality, -np.sum((scores - (2 * Y - 1)) ** 2)


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


@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array])
def test_each_label_is_learned_where_it_is_known(problem, hold):
    X, Y = problem
    unknown = np.where(np.random.default_rng(1).random(Y.shape) < 0.4, np.nan, Y)
    model = RidgeRegression(alpha=1.0, kernel="linear").fit(hold(X), unknown)
    for label, y in enumerate(unknown.T):
        known = ~np.isnan(y)
        expected = Ridge(1.0).fit(X[known], 2 * y[known] - 1)
        np.testing.assert_allclose(model.decision_function(X)[:, label], expected.predict(X), atol=1e-3)


def test_each_label_is_learned_where_it_is_known_with_a_kernel(problem):
    X, Y = problem
    unknown = np.where(np.random.default_rng(1).random(Y.shape) < 0.4, np.nan, Y)
    unknown[0, 0], unknown[0, 1:] = Y[0, 0], np.nan
    model = RidgeRegression(alpha=0.5, gamma=0.1).fit(X, unknown)
    for label, y in enumerate(unknown.T):
        known = ~np.isnan(y)
        alone = RidgeRegression(alpha=0.5, gamma=0.1).fit(X[known], unknown[known][:, [label]])
        np.testing.assert_allclose(
            model.decision_function(X)[:, [label]], alone.decision_function(X), atol=1e-3
        )


def test_labels_that_are_all_known_take_no_steps(problem, monkeypatch):
    def refuse(*args, **options):
        raise AssertionError("nothing is unknown")

    monkeypatch.setattr(ridge_regression, "fill_unknown", refuse)
    RidgeRegression().fit(*problem)


def test_the_penalty_falls_with_the_share_that_is_known(problem):
    X, Y = problem
    unknown = np.where(np.random.default_rng(1).random(Y.shape) < 0.4, np.nan, Y)
    unknown = unknown[~np.isnan(unknown).all(axis=1)]
    X = X[: len(unknown)]
    imputed = np.where(np.isnan(unknown), np.nanmean(unknown, axis=0), unknown)
    penalties = np.var(X, axis=0).sum() * ridge_regression.PENALTIES
    expected = max(penalties, key=lambda alpha: quality(alpha, X, imputed, unknown))
    model = RidgeRegression(kernel="linear").fit(X, unknown)
    assert model.alpha_ == pytest.approx(expected * np.mean(~np.isnan(unknown)))


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

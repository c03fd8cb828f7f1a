"""OneVsAllLogistic: beside a general convex solver and scikit-learn; probabilities."""

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from tagrank import (
    LabelRanker,
    OneVsAllLogistic,
    OneVsAllSVM,
    find_dataset,
    image_auc,
    image_average_precision,
    load_dataset,
)

EXACT = {"tol": 1e-11, "max_iter": 50_000, "random_state": 0}


@pytest.fixture(scope="module")
def problem():
    """40 samples, 4 labels, a tenth of the labels unknown, a weight for each entry."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    X[rng.random(X.shape) < 0.3] = 0
    Y = (X @ rng.normal(size=(5, 4)) + rng.normal(size=(40, 4)) > 0.7).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    weights = rng.uniform(0.2, 2, size=Y.shape)
    for array in (X, Y, weights):
        array.flags.writeable = False
    return X, Y, weights


def fit(way, X, Y, weights, **options):
    """Scores on the training samples of a model that was given the rows in one of the ways, and the model."""
    model = OneVsAllLogistic(kernel="precomputed" if way == "gram" else "linear", **EXACT, **options)
    rows = {"gram": X @ X.T, "dense": X, "sparse": sparse.csr_array(X)}[way]
    model.fit(rows, Y, sample_weight=weights)
    assert model.converged_
    return model.decision_function(rows), model


@pytest.mark.parametrize("C", [0.1, 1, 10])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("way", ["gram", "dense", "sparse"])
def test_optimum_is_that_of_a_convex_solver(problem, way, fit_intercept, C):
    X, Y, weights = problem
    scores, model = fit(way, X, Y, weights, C=C, fit_intercept=fit_intercept)
    costs = C * np.where(np.isnan(Y), 0, weights)
    rows = np.column_stack([X, np.ones(40)]) if fit_intercept else X
    W = cp.Variable((rows.shape[1], 4))
    losses = cp.logistic(-cp.multiply(np.where(Y > 0, 1, -1), rows @ W))
    convex = cp.Problem(cp.Minimize(cp.sum_squares(W) / 2 + cp.sum(cp.multiply(costs, losses))))
    convex.solve(solver="CLARABEL", tol_gap_rel=1e-9, tol_gap_abs=1e-9, tol_feas=1e-9)
    assert model.primal_objective_ == pytest.approx(convex.value, rel=1e-7)
    np.testing.assert_allclose(scores, rows @ W.value, atol=1e-4)


@pytest.mark.parametrize("way", ["gram", "dense", "sparse"])
def test_gradient_of_the_primal_is_zero(problem, way):
    """By finite differences in the scores that a change of one coefficient leads to."""
    X, Y, weights = problem
    _, model = fit(way, X, Y, weights)
    K, A, costs = X @ X.T + 1, model.dual_coef_, np.where(np.isnan(Y), 0, weights)

    def primal(A):
        scores = K @ A
        return (A * scores).sum() / 2 + (costs * np.logaddexp(0, -np.where(Y > 0, 1, -1) * scores)).sum()

    assert primal(A) == pytest.approx(model.primal_objective_, rel=1e-9)
    for i in range(0, 40, 7):
        for label in range(4):
            step = np.zeros_like(A)
            step[i, label] = 1e-5
            assert abs(primal(A + step) - primal(A - step)) / 2e-5 < 1e-3


def test_each_label_is_the_logistic_regression_of_scikit_learn(problem):
    X, Y, _ = problem
    model = OneVsAllLogistic(kernel="linear", **EXACT).fit(X, Y)
    for label, y in enumerate(Y.T):
        known = ~np.isnan(y)
        peer = LogisticRegression(solver="liblinear", tol=1e-9, max_iter=10_000).fit(X[known], y[known])
        np.testing.assert_allclose(model.coef_[label], peer.coef_[0], atol=1e-4)
        np.testing.assert_allclose(model.intercept_[label], peer.intercept_[0], atol=1e-4)


def test_probabilities_are_those_of_the_log_odds(problem):
    X, Y, _ = problem
    model = OneVsAllLogistic(random_state=0).fit(X, Y)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities, expit(model.decision_function(X)))
    np.testing.assert_array_equal(model.predict(X), probabilities >= 0.5)
    known = ~np.isnan(Y)
    assert np.abs((probabilities - np.nan_to_num(Y)).mean(axis=0, where=known)).max() < 0.02


def test_probability_of_a_label_never_present_is_zero(problem):
    X, Y, _ = problem
    with pytest.warns(UserWarning, match="1 of 5 labels are never positive"):
        model = OneVsAllLogistic(random_state=0).fit(X, np.column_stack([Y, np.zeros(40)]))
    assert not model.predict_proba(X)[:, 4].any()
    assert not model.predict(X)[:, 4].any()


def test_probabilities_of_classes_sum_to_one(problem):
    X, Y, _ = problem
    classes = np.nan_to_num(Y[:, :2]) @ [1, 2]
    model = OneVsAllLogistic(random_state=0).fit(X, classes)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))


@pytest.mark.parametrize("way", ["gram", "sparse"])
def test_path_down_to_small_costs(way):
    """A start whose scores are far too large: terms of the gap are then many times the cost of an entry."""
    rng = np.random.default_rng(1)
    X = rng.normal(scale=0.2, size=(600, 30))
    Y = (X @ rng.normal(size=(30, 5)) + rng.normal(size=(600, 5)) > 1.2).astype(float)
    rows = X @ X.T if way == "gram" else sparse.csr_array(X)
    model = OneVsAllLogistic(kernel="precomputed" if way == "gram" else "linear", random_state=0)
    costs = (100.0, 1.0, 0.01)
    for cost, found in zip(costs, model.path(rows, Y, costs), strict=True):
        assert found.converged_
        alone = clone(model).set_params(C=cost).fit(rows, Y)
        assert found.primal_objective_ == pytest.approx(alone.primal_objective_, rel=2e-3)


def rows_of_any_size(n_columns, n_rows=300):
    """Rows whose columns are of 1e-3 to 1e3, with four labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    Y = (X[:, :4] + 0.3 * rng.normal(size=(n_rows, 4)) > 0.5).astype(float)
    return X * 10.0 ** rng.integers(-3, 4, n_columns), Y


@pytest.mark.parametrize(
    ("make", "n_columns"), [(OneVsAllSVM, 10), (OneVsAllLogistic, 10), (OneVsAllLogistic, 250)]
)
def test_columns_that_nobody_scaled_are_learned_by_newton_steps(make, n_columns):
    X, Y = rows_of_any_size(n_columns)
    model = make(kernel="linear").fit(X, Y)
    assert model.duality_gap_ <= 1e-3
    assert model.n_iter_ < 100


@pytest.mark.parametrize(
    ("make", "is_told"), [(OneVsAllSVM, True), (LabelRanker, True), (LabelRanker, False)]
)
def test_a_training_that_stays_behind_says_that_columns_are_not_scaled(make, is_told):
    X, Y = rows_of_any_size(100)
    rows = X if is_told else X / np.abs(X).max(axis=0)
    with pytest.warns(ConvergenceWarning) as told:
        make(kernel="linear", max_iter=2, tol=1e-9).fit(rows, Y)
    assert ("scale the columns first" in str(told[0].message)) == is_told


def test_rows_beyond_all_range_are_refused_by_newton_steps():
    X, Y = rows_of_any_size(10)
    with pytest.raises(ValueError, match=r"mean k\(x, x\) must lie between 0 and 1e\+30"):
        OneVsAllSVM(kernel="linear", engine="primal").fit(1e20 * X, Y)


@pytest.mark.skipif(find_dataset("medical") is None, reason="needs the data set medical below TAGRANK_DATA")
def test_texts_are_ranked_as_by_scikit_learn():
    """At the usual tolerance, on sparse rows."""
    collection = load_dataset("medical")
    X, rows = (part.X.toarray() for part in (collection.train, collection.test))
    Y = collection.train.Y.toarray()
    is_learnable = Y.any(axis=0) & ~Y.all(axis=0)
    Y, truth = Y[:, is_learnable], collection.test.Y.toarray()[:, is_learnable]
    model = OneVsAllLogistic(kernel="linear", random_state=0).fit(sparse.csr_array(X), Y)
    peers = [LogisticRegression(solver="liblinear").fit(X, y).decision_function(rows) for y in Y.T]
    expected, scores = np.column_stack(peers), model.decision_function(rows)
    for metric in (image_auc, lambda *both: np.nanmean(image_average_precision(*both))):
        assert metric(truth, scores) == pytest.approx(metric(truth, expected), abs=2e-3)

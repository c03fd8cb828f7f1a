"""PriorMarginClassifier reaches the optimum of a convex solver, on every path, for any prior."""

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

from tagrank.estimators.prior_margin import PriorMarginClassifier, correlation_prior

N_LABELS = 5
EXACT = {"tol": 1e-6, "max_iter": 30_000, "random_state": 0}
WAYS = {
    "gram": ("precomputed", lambda X: X @ X.T),
    "dense rows": ("linear", np.asarray),
    "sparse rows": ("linear", sparse.csr_array),
}


@pytest.fixture(scope="module")
def problem():
    """40 samples; a sixth of the labels unknown, and every degenerate row."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    Y = (X @ rng.normal(size=(4, N_LABELS)) + rng.normal(size=(40, N_LABELS)) > 0).astype(float)
    Y[rng.random(Y.shape) < 0.15] = np.nan
    Y[0], Y[1], Y[2], X[[3, 7]] = 1, 0, np.nan, 0
    X.flags.writeable = Y.flags.writeable = False
    return X, Y


def make_factor(rank):
    """R = P P' has this rank."""
    return np.random.default_rng(rank).normal(size=(N_LABELS, rank))


def optimum(X, Y, factor, C):
    """By a convex solver: R = P P' is the problem of f_l = sum_r P_lr g_r with independent g_r."""
    known = ~np.isnan(Y)
    signs = np.where(Y == 1, 1.0, -1.0)
    G = cp.Variable((X.shape[1], factor.shape[1]))
    losses = cp.pos(1 - cp.multiply(signs, X @ G @ factor.T))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(G) / 2 + 2 * C * cp.sum(cp.multiply(known, losses))))
    problem.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10, tol_feas=1e-10)
    return problem.value


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("rank", "C"), [(N_LABELS, 0.1), (N_LABELS, 1), (2, 0.1), (2, 5), (1, 1)])
def test_optimum_is_that_of_a_convex_solver(problem, way, rank, C):
    X, Y = problem
    factor, (kernel, hold) = make_factor(rank), WAYS[way]
    R = factor @ factor.T
    model = PriorMarginClassifier(C, prior=R, kernel=kernel, **EXACT).fit(hold(X), Y)
    value = optimum(X, Y, factor, C)
    assert model.converged_
    assert model.primal_objective_ == pytest.approx(value, rel=1e-5)
    assert model.dual_objective_ == pytest.approx(value, rel=1e-5)
    assert all(point.gap >= 0 for point in model.trace_)
    np.testing.assert_allclose(model.dual_coef_, model.dual_variables_ @ R, atol=1e-12)
    scores = X @ X.T @ model.dual_coef_
    np.testing.assert_allclose(model.decision_function(hold(X)), scores, atol=1e-9)
    states = np.nan_to_num(2 * Y - 1)
    inner = (model.dual_variables_ * scores).sum() / 2
    losses = np.abs(states) * np.maximum(1 - states * scores, 0)
    assert model.primal_objective_ == pytest.approx(inner + 2 * C * losses.sum(), rel=1e-9)
    assert model.dual_objective_ == pytest.approx(np.abs(model.dual_variables_).sum() - inner, rel=1e-9)
    inside = (model.dual_variables_ * states >= 0) & (np.abs(model.dual_variables_) <= 2 * C * np.abs(states))
    assert np.all(inside)


@pytest.mark.parametrize("way", WAYS)
def test_identity_is_one_linear_svc_a_label_with_twice_the_cost(problem, way):
    X, Y = problem
    kernel, hold = WAYS[way]
    model = PriorMarginClassifier(0.5, prior="identity", kernel=kernel, **EXACT).fit(hold(X), Y)
    value = 0
    for label in range(N_LABELS):
        known = ~np.isnan(Y[:, label])
        machine = LinearSVC(
            loss="hinge", C=2 * 0.5, fit_intercept=False, tol=1e-8, max_iter=10**6, random_state=0
        ).fit(X[known], Y[known, label])
        margins = (2 * Y[known, label] - 1) * machine.decision_function(X[known])
        value += (machine.coef_**2).sum() / 2 + np.maximum(1 - margins, 0).sum()
        np.testing.assert_allclose((X.T @ model.dual_coef_)[:, label], machine.coef_[0], atol=5e-3)
    assert model.primal_objective_ == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_rounded_training_is_certified_in_full(problem, kernel):
    X, Y = problem
    model = PriorMarginClassifier(kernel=kernel, random_state=0).fit(X, Y)
    scores = model.kernel_(X, X) @ model.dual_coef_
    states = np.nan_to_num(2 * Y - 1)
    inner = (model.dual_variables_ * scores).sum() / 2
    primal = inner + 2 * (np.abs(states) * np.maximum(1 - states * scores, 0)).sum()
    assert model.primal_objective_ == pytest.approx(primal, rel=1e-6)
    assert 0 <= model.duality_gap_ <= 1e-3


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_path_equals_separate_training(problem, kernel):
    factor = make_factor(2)
    model = PriorMarginClassifier(prior=factor @ factor.T, kernel=kernel, **EXACT)
    costs = [0.1, 1.0]
    for cost, fitted in zip(costs, model.path(*problem, costs), strict=True):
        alone = PriorMarginClassifier(cost, prior=factor @ factor.T, kernel=kernel, **EXACT).fit(*problem)
        assert cost == fitted.C
        assert fitted.primal_objective_ == pytest.approx(alone.primal_objective_, rel=1e-5)


@pytest.mark.parametrize("way", ["dense rows", "sparse rows"])
def test_intercept_is_a_constant_feature_that_the_prior_couples(problem, way):
    X, Y = problem
    R, hold = make_factor(N_LABELS) @ make_factor(N_LABELS).T, WAYS[way][1]
    options = {"prior": R, "kernel": "linear", **EXACT}
    model = PriorMarginClassifier(0.1, fit_intercept=True, **options).fit(hold(X), Y)
    with_one = np.column_stack([X, np.ones(len(X))])
    expected = PriorMarginClassifier(0.1, **options).fit(hold(with_one), Y)
    assert model.primal_objective_ == pytest.approx(expected.primal_objective_, rel=1e-5)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(with_one), atol=5e-3)


def test_the_prior_of_a_frame_is_put_in_order(problem):
    X, Y = problem
    names = ["sea", "boat", "car", "sky", "tree"]
    R = correlation_prior(Y)
    shuffled = [3, 0, 4, 2, 1]
    frame = pd.DataFrame(R, index=names, columns=names).iloc[shuffled, shuffled]
    model = PriorMarginClassifier(prior=frame, kernel="linear", random_state=0)
    model.fit(X, pd.DataFrame(Y, columns=names))
    np.testing.assert_array_equal(model.prior_, R)
    with pytest.raises(ValueError, match="nothing about the labels sea"):
        model.set_params(prior=frame.drop(columns="sea")).fit(X, pd.DataFrame(Y, columns=names))


def test_correlation_of_the_training_labels_is_the_default(problem):
    X, Y = problem
    np.testing.assert_array_equal(PriorMarginClassifier().fit(X, Y).prior_, correlation_prior(Y))


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (np.eye(4), r"each of the 5 labels, got shape \(4, 4\)"),
        (-np.ones((5, 5)) + 2 * np.eye(5), "smallest eigenvalue is -3"),
        (np.diag([1, 1, 0, 1, 1]), r"prior\[2, 2\] = 0"),
        (np.triu(np.ones((5, 5))), "symmetric"),
        ("covariance", "'correlation', 'identity', got 'covariance'"),
    ],
)
def test_bad_priors(problem, prior, message):
    with pytest.raises(ValueError, match=message):
        PriorMarginClassifier(prior=prior).fit(*problem)


@pytest.mark.parametrize("way", WAYS)
def test_a_label_without_known_entries_and_a_sample_without_labels(problem, way):
    X, Y = problem
    Y = Y.copy()
    Y[:, 2], Y[5] = np.nan, np.nan
    kernel, hold = WAYS[way]
    with pytest.warns(UserWarning, match="never positive"):
        model = PriorMarginClassifier(kernel=kernel, **EXACT).fit(hold(X), Y)
    assert model.converged_
    assert not model.dual_variables_[:, 2].any()
    assert not model.dual_variables_[5].any()
    assert not model.predict(hold(X))[:, 2].any()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("tied", [True, False])
def test_a_label_without_known_entries_is_scored_by_the_prior(problem, way, tied):
    """Label 2 goes with label 0 and against label 4, or with nobody."""
    X, Y = problem
    Y, R = Y.copy(), np.eye(N_LABELS)
    Y[:, 2] = np.nan
    if tied:
        R[2, [0, 4]] = R[[0, 4], 2] = 0.6, -0.5
    kernel, hold = WAYS[way]
    model = PriorMarginClassifier(prior=R, kernel=kernel, **EXACT)
    if not tied:
        with pytest.warns(UserWarning, match="1 of 5 labels are never positive .* ranked last: 2"):
            scores = model.fit(hold(X), Y).decision_function(hold(X))
        assert np.all(scores[:, 2] < np.delete(scores, 2, axis=1).min(axis=1))
        return
    scores = model.fit(hold(X), Y).decision_function(hold(X))
    np.testing.assert_allclose(scores[:, 2], 0.6 * scores[:, 0] - 0.5 * scores[:, 4], atol=1e-9)
    np.testing.assert_array_equal(model.predict(hold(X))[:, 2], scores[:, 2] >= 0)
    [by_path] = model.path(hold(X), Y, [1.0])
    assert not by_path.never_positive_.any()


def test_a_label_only_known_to_be_absent_may_be_lifted_by_the_prior(problem):
    X, Y = problem
    Y = Y.copy()
    Y[:, 2] = 0
    R = np.eye(N_LABELS)
    R[2, 0] = R[0, 2] = 0.9
    scores = PriorMarginClassifier(prior=R, random_state=0).fit(X, Y).decision_function(X)
    assert np.corrcoef(scores[:, 0], scores[:, 2])[0, 1] > 0.5
    assert scores[:, 2].mean() < scores[:, 0].mean()


def test_a_prior_of_other_places_is_followed():
    """Two labels alike in training, opposite where the model is used; few of the second are known."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 6))
    first = X[:, 0] + 0.3 * rng.normal(size=400) > 0
    Y = np.column_stack([first, ~first]).astype(float)
    train, test = Y[:200].copy(), Y[200:]
    train[5:, 1] = np.nan
    wrong = {}
    for name, r in (("alike", 0.9), ("independent", 0.0), ("opposite", -0.9)):
        model = PriorMarginClassifier(prior=[[1, r], [r, 1]], kernel="linear", random_state=0)
        wrong[name] = np.mean(model.fit(X[:200], train).predict(X[200:]) != test)
    assert wrong["opposite"] < wrong["independent"] < wrong["alike"]

"""Methods that regress onto codes of the labels, against what their papers define."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh, sqrtm
from sklearn.linear_model import Ridge, orthogonal_mp
from sklearn.svm import LinearSVC

from tagrank.estimators import (
    CanonicalCorrelation,
    CompressedSensing,
    LabelSpaceTransform,
    RidgeRegression,
    SharedSubspace,
)
from tagrank.solvers.sparse_decoding import compressive_pursuit, matching_pursuit

ALL = [LabelSpaceTransform, CanonicalCorrelation, CompressedSensing, SharedSubspace]
FIXED = {"alpha": 2.0, "kernel": "linear"}


@pytest.fixture(params=[(40, 6), (15, 30)], ids=["more samples", "more columns"])
def problem(request):
    rng = np.random.default_rng(0)
    n_samples, n_features = request.param
    X = rng.normal(size=(n_samples, n_features)) + 1
    strength = X @ rng.normal(size=(n_features, 5)) + rng.normal(size=(n_samples, 5))
    return X, (strength > np.quantile(strength, 0.6, axis=0)).astype(float)


def centred(values):
    return values - values.mean(axis=0)


def seeded(kind, **parameters):
    more = {"random_state": 0} if kind is CompressedSensing else {}
    return kind(**parameters, **more)


def test_principal_components_are_regressed_onto_and_decoded(problem):
    X, Y = problem
    signs = 2 * Y - 1
    V = np.linalg.svd(centred(signs), full_matrices=False)[2][:2].T
    codes = Ridge(2.0).fit(X, centred(signs) @ V).predict(X)
    model = LabelSpaceTransform(n_components=2, **FIXED).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), codes @ V.T + signs.mean(axis=0), atol=1e-10)
    np.testing.assert_allclose(np.abs(model.components_), np.abs(V.T), atol=1e-10)


def test_canonical_correlations_solve_the_generalised_problem(problem):
    X, Y = problem
    rows, labels = centred(X), centred(2 * Y - 1)
    c = 0.5 * np.trace(labels.T @ labels) / 5
    across = rows.T @ labels
    regularised = labels.T @ labels + c * np.eye(5)
    expected = eigh(
        across @ np.linalg.solve(regularised, across.T),
        rows.T @ rows + 2.0 * np.eye(X.shape[1]),
        eigvals_only=True,
    )[::-1]
    model = CanonicalCorrelation(n_components=3, label_penalty=0.5, **FIXED).fit(X, Y)
    np.testing.assert_allclose(model.correlations_, expected[:3], atol=1e-10)
    S = np.linalg.inv(sqrtm(regularised).real)
    V = np.linalg.eigh(S @ across.T @ model_weights(X, labels) @ S)[1][:, -3:]
    codes = Ridge(2.0).fit(X, labels @ S @ V).predict(X)
    scores = codes @ V.T @ np.linalg.inv(S) + (2 * Y - 1).mean(axis=0)
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-9)


def model_weights(X, targets):
    return Ridge(2.0).fit(X, targets).coef_.T


@pytest.mark.parametrize("share_hidden", [0.0, 0.3])
@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_machines_on_the_projections_are_those_of_liblinear(problem, kernel, share_hidden, monkeypatch):
    monkeypatch.setattr("tagrank.estimators.shared_spaces.canonical_correlation.TOL", 1e-8)
    X, Y = problem
    Y = np.where(np.random.default_rng(4).random(Y.shape) < share_hidden, np.nan, Y)
    rows = X @ X.T if kernel == "precomputed" else X
    more = {"n_components": 3, "label_penalty": 0.5, "alpha": 2.0, "kernel": kernel}
    model = CanonicalCorrelation(classifier="svm", cost=0.3, **more).fit(rows, Y)
    # what ridge regression on the known labels fits stands in the place of unknown ones
    ridge = RidgeRegression(**FIXED).fit(X, Y).decision_function(X)
    labels = centred(np.where(np.isnan(Y), ridge, 2 * Y - 1))
    S = np.linalg.inv(sqrtm(labels.T @ labels + 0.5 * np.trace(labels.T @ labels) / 5 * np.eye(5)).real)
    H = Ridge(2.0).fit(X, labels).predict(X)
    V = np.linalg.eigh(S @ labels.T @ H @ S)[1][:, -3:]
    codes = Ridge(2.0).fit(X, labels @ S @ V).predict(X)
    codes = centred(codes) / codes.std(axis=0)
    scores = model.decision_function(rows)
    for label, score in enumerate(scores.T):
        known = ~np.isnan(Y[:, label])
        peer = LinearSVC(C=0.3, loss="hinge", tol=1e-8, max_iter=10**6, random_state=0)
        peer.fit(codes[known], Y[known, label])
        expected = np.append(peer.coef_, peer.intercept_)
        design = np.column_stack([codes, np.ones(len(codes))])
        found = np.linalg.lstsq(design, score, rcond=None)[0]
        np.testing.assert_allclose(design @ found, score, atol=1e-7)  # nothing but the projections
        signs = 2 * Y[known, label] - 1

        def objective(w, design=design[known], signs=signs):
            return w @ w / 2 + 0.3 * np.maximum(0, 1 - signs * (design @ w)).sum()

        assert objective(found) == pytest.approx(objective(expected), rel=1e-5)
        np.testing.assert_allclose(found, expected, atol=0.01)


def test_directions_without_correlation_change_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    Y = (X @ rng.normal(size=(2, 6)) > 0).astype(float)
    # two columns have two directions
    some, all_of_them = (
        CanonicalCorrelation(classifier="svm", n_components=n, **FIXED).fit(X, Y) for n in (2, 6)
    )
    np.testing.assert_allclose(some.coef_, all_of_them.coef_, atol=1e-6)
    assert some.score(X, Y) > 0.9


@pytest.mark.parametrize("share_hidden", [0.0, 0.4])
@pytest.mark.parametrize("Estimator", [LabelSpaceTransform, CanonicalCorrelation])
def test_with_all_directions_it_is_ridge_regression(problem, Estimator, share_hidden):
    X, Y = problem
    Y = np.where(np.random.default_rng(3).random(Y.shape) < share_hidden, np.nan, Y)
    expected = RidgeRegression().fit(X, Y).decision_function(X)
    model = Estimator(n_components=100).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)


def subspace_objective(X, Y, U, P, alpha, within):
    inside = P @ U
    return np.sum((Y - X @ U) ** 2) + alpha * np.sum((U - inside) ** 2) + within * alpha * np.sum(inside**2)


def alternate(X, Y, r, alpha, within, rng):
    """The least objective that alternating minimisation reaches from a random subspace."""
    basis = np.linalg.qr(rng.normal(size=(X.shape[1], r)))[0]
    for _ in range(300):
        P = basis @ basis.T
        penalty = alpha * (np.eye(len(P)) - (1 - within) * P)
        U = np.linalg.solve(X.T @ X + penalty, X.T @ Y)
        basis = np.linalg.svd(U, full_matrices=False)[0][:, :r]
    return subspace_objective(X, Y, U, basis @ basis.T, alpha, within)


def test_the_shared_subspace_is_the_best_there_is(problem):
    X, Y = problem
    rng = np.random.default_rng(1)
    rows, labels = centred(X), centred(2 * Y - 1)
    U = SharedSubspace(n_components=2, within=0.2, **FIXED).fit(X, Y).coef_.T
    basis = np.linalg.svd(U, full_matrices=False)[0][:, :2]
    found = subspace_objective(rows, labels, U, basis @ basis.T, 2.0, 0.2)
    others = [alternate(rows, labels, 2, 2.0, 0.2, rng) for _ in range(10)]
    assert found == pytest.approx(min(others), rel=1e-6)


def test_the_shared_subspace_of_the_published_closed_form(problem):
    X, Y = problem
    rows, labels, n = centred(X), centred(2 * Y - 1), len(X)
    a, b = 2.0 * 0.8 / n, 2.0 * 0.2 / n
    identity = np.eye(X.shape[1])
    inverse = np.linalg.inv(rows.T @ rows / n + (a + b) * identity)
    S1, half = identity - a * inverse, inverse @ rows.T @ labels
    basis = np.linalg.qr(eigh(half @ half.T, S1)[1][:, -2:])[0]
    U = np.linalg.solve(np.linalg.inv(inverse) - a * basis @ basis.T, rows.T @ labels / n)
    model = SharedSubspace(n_components=2, within=0.2, **FIXED).fit(X, Y)
    np.testing.assert_allclose(model.coef_.T, U, atol=1e-9)


@pytest.mark.parametrize("Estimator", ALL)
def test_every_way_to_hold_the_rows_gives_one_model(problem, Estimator):
    X, Y = problem
    rows = seeded(Estimator, n_components=3, **FIXED).fit(X, Y).decision_function(X)
    stored = sparse.csr_array(X)
    filled = seeded(Estimator, n_components=3, **FIXED).fit(stored, Y).decision_function(stored)
    gram = seeded(Estimator, n_components=3, **FIXED | {"kernel": "precomputed"}).fit(X @ X.T, Y)
    np.testing.assert_allclose(filled, rows, atol=1e-8)
    np.testing.assert_allclose(gram.decision_function(X @ X.T), rows, atol=1e-8)


@pytest.mark.parametrize("Estimator", ALL)
@pytest.mark.parametrize("n_components", [0, 1.5, -0.1, "many", True])
def test_components_are_counted_or_a_share(problem, Estimator, n_components):
    with pytest.raises(ValueError, match="n_components must be"):
        Estimator(n_components=n_components).fit(*problem)


def test_codes_are_those_of_the_regression_onto_projections(problem):
    X, Y = problem
    model = CompressedSensing(n_components=4, random_state=0, **FIXED).fit(X, Y)
    A = model.projections_
    codes = Ridge(2.0).fit(X, Y @ A.T).predict(X)
    expected = 2 * matching_pursuit(A, codes, model.n_present_) - 1
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)
    assert model.n_present_ == round(Y.sum() / len(Y))


@pytest.fixture
def measurements():
    rng = np.random.default_rng(0)
    A = (rng.integers(2, size=(25, 40)) * 2 - 1) / 5
    Y = np.zeros((30, 40))
    for row in Y:
        row[rng.choice(40, 3, replace=False)] = 1
    return A, Y


def test_matching_pursuit_is_that_of_scikit_learn(measurements):
    A, Y = measurements
    Z = Y @ A.T + 0.1 * np.random.default_rng(1).normal(size=(30, 25))
    expected = orthogonal_mp(A, Z.T, n_nonzero_coefs=3).T
    found = matching_pursuit(A, Z, 3)
    kept = expected != 0
    np.testing.assert_allclose(found[kept], expected[kept], atol=1e-7)
    rest = (Z - expected @ A.T) @ A
    np.testing.assert_allclose(found[~kept], rest[~kept], atol=1e-7)


@pytest.mark.parametrize("decode", [matching_pursuit, compressive_pursuit])
def test_sparse_vectors_are_found_again(measurements, decode):
    A, Y = measurements
    assert np.mean(np.abs(decode(A, Y @ A.T, 3) - Y).max(axis=1) < 1e-6) > 0.8


@pytest.mark.parametrize("decode", [matching_pursuit, compressive_pursuit])
def test_more_present_than_measured_is_cut(decode):
    found = decode(np.array([[1.0, -1.0, 1.0]]), np.array([[2.0], [0.0]]), 3)
    assert found.shape == (2, 3)
    assert np.all(np.isfinite(found))

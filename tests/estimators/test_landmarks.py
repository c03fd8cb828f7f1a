"""Kernels that are approximated by similarities to some training rows."""

import inspect

import numpy as np
import pytest

from tagrank import Annotator, Gaussian, estimators
from tagrank.data import Collection
from tagrank.estimators import OneVsAllLogistic, OneVsAllSVM, RidgeRegression, ScoreSum
from tagrank.kernels.maps import NystroemMap

WITH_LANDMARKS = {
    name: kind
    for name in estimators.__all__
    if inspect.isclass(kind := getattr(estimators, name))
    and hasattr(kind, "get_params")
    and "landmarks" in inspect.signature(kind).parameters
}


def draw(n_samples=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 3))
    Y = (np.sin(2 * X @ rng.normal(size=(3, 5))) + 0.3 * rng.normal(size=(n_samples, 5)) > 0.2).astype(float)
    return X, Y


def made(kind, **options):
    known = inspect.signature(kind).parameters
    usual = {"random_state": 0, "tol": 1e-4, "alpha": 1.0, "n_components": 3, "n_codes": 3}
    return kind(**{name: value for name, value in (usual | options).items() if name in known})


@pytest.mark.parametrize("name", WITH_LANDMARKS)
def test_with_all_rows_as_landmarks_it_is_the_exact_model(name):
    X, Y = draw()
    exact = made(WITH_LANDMARKS[name], kernel=Gaussian(gamma=0.3)).fit(X, Y)
    other = made(WITH_LANDMARKS[name], kernel=Gaussian(gamma=0.3), landmarks=len(X)).fit(X, Y)
    at = draw(seed=1)[0]
    expected = exact.decision_function(at)
    assert np.abs(other.decision_function(at) - expected).max() < 0.02 * np.ptp(expected)


@pytest.mark.parametrize("name", WITH_LANDMARKS)
def test_folds_score_as_models_of_their_rows_do(name):
    X, Y = draw()
    estimator = made(WITH_LANDMARKS[name], landmarks=40)
    rows = estimator.compare(X)
    train, test = np.arange(0, 80), np.arange(80, 120)
    model = estimator.fit(rows.training(train), Y[train])
    held_out = model.decision_function(rows.held_out(test, train))
    assert held_out.shape == (40, 5)
    assert np.isfinite(held_out).all()
    # the same coefficients of the landmarks speak for rows that are handed over
    model.X_fit_, model.support_ = X[rows.landmarks], np.arange(len(rows.landmarks))
    model.kernel_ = rows.kernel
    np.testing.assert_allclose(model.decision_function(X[test]), held_out, atol=2e-3)


@pytest.mark.parametrize("name", ["LabelRanker", "OneVsAllLogistic", "RidgeRegression"])
def test_a_model_stores_its_landmarks_only(name, tmp_path):
    X, Y = draw()
    rows = Collection({"rows": X}, Y, list("abcde"))
    model = Annotator(made(WITH_LANDMARKS[name], landmarks=30)).fit(rows)
    model.save(tmp_path / "model")
    again = Annotator.load(tmp_path / "model")
    np.testing.assert_allclose(again.scores(X), model.scores(X), atol=1e-5)
    assert len(again.estimator_.X_fit_) <= 30
    assert len(again.training_names_) == len(again.estimator_.X_fit_)


def test_sums_of_two_models_have_the_same_landmarks():
    X, Y = draw()
    options = {"landmarks": 40, "tol": 1e-4, "random_state": 0}
    both = ScoreSum(OneVsAllSVM(**options), OneVsAllLogistic(**options)).fit(X, Y)
    parts = [one(**options).fit(X, Y).decision_function(X) for one in (OneVsAllSVM, OneVsAllLogistic)]
    np.testing.assert_allclose(both.decision_function(X), sum(parts), atol=1e-6)
    assert len(both.support_) <= 40


def test_a_path_over_costs_starts_from_the_last():
    X, Y = draw()
    models = OneVsAllLogistic(landmarks=40, random_state=0).path(X, Y, [0.1, 1.0])
    alone = OneVsAllLogistic(1.0, landmarks=40, random_state=0).fit(X, Y)
    assert models[1].primal_objective_ == pytest.approx(alone.primal_objective_, rel=2e-3)


def test_pivots_leave_less_unexplained_than_any_rows():
    """Of rows in a few heaps of very different sizes, which rows that are drawn alike mostly miss."""
    rng = np.random.default_rng(0)
    centres = 6 * rng.normal(size=(30, 4))
    X = np.vstack([centres[k] + 0.2 * rng.normal(size=(600 if k == 0 else 5, 4)) for k in range(30)])
    left = {}
    for sampling in ("uniform", "pivots"):
        shown = NystroemMap(Gaussian(gamma=0.5), n_components=40, sampling=sampling, random_state=0)
        left[sampling] = np.mean(1 - np.sum(shown.fit(X).transform(X[600:]) ** 2, axis=1))
    assert left["pivots"] < 0.7 * left["uniform"]


def test_pivots_end_where_nothing_is_left():
    X = np.repeat(np.eye(3), 20, axis=0)
    shown = NystroemMap(Gaussian(gamma=1.0), n_components=50, sampling="pivots", random_state=0).fit(X)
    np.testing.assert_allclose(shown.transform(X) @ shown.transform(X).T, shown.kernel_(X), atol=1e-5)


def test_what_is_not_a_number_of_rows_is_refused():
    with pytest.raises(ValueError, match="landmarks must be"):
        OneVsAllSVM(landmarks=0).fit(*draw())


def test_ridge_chooses_its_penalty_on_them():
    X, Y = draw()
    assert RidgeRegression(landmarks=40).fit(X, Y).alpha_ > 0


def test_what_makes_similarities_of_columns_is_the_pseudoinverse():
    X, _ = draw()
    # twice the same rows: some directions have no length
    rows = OneVsAllLogistic(landmarks=60).compare(np.repeat(X[:40], 2, axis=0))
    assert rows.projection.shape[1] < 60
    expected = rows.Z @ np.linalg.pinv(rows.projection)
    held_out = rows.held_out(np.arange(len(rows)), np.arange(1)).K
    np.testing.assert_allclose(held_out, expected, atol=1e-4)
    np.testing.assert_allclose(held_out, rows.kernel(rows.X, rows.X[rows.landmarks]), atol=1e-3)

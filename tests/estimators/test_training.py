"""How training ends: certificates, limits of time and passes, interruption, paths over C, the intercept."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tagrank import LabelRanker

EXACT = {"tol": 1e-7, "max_iter": 20_000, "random_state": 0}


@pytest.fixture(scope="module")
def problem():
    """50 samples, 4 noisy labels."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 4))
    Y = (X + 0.7 * rng.normal(size=X.shape) > 0.3).astype(float)
    X.flags.writeable = Y.flags.writeable = False
    return X, Y


def check_certificate(model):
    gap = (model.primal_objective_ - model.dual_objective_) / model.primal_objective_
    assert model.duality_gap_ == pytest.approx(gap, rel=1e-6, abs=1e-12)
    assert model.duality_gap_ >= 0
    assert model.trace_[-1].gap == model.duality_gap_
    assert model.converged_ == (model.duality_gap_ <= model.tol)


def test_converged_training_is_certified(problem, Estimator):
    model = Estimator(random_state=0).fit(*problem)
    check_certificate(model)
    assert model.converged_


def test_too_few_passes_warn_with_the_gap(problem, Estimator):
    with pytest.warns(
        ConvergenceWarning, match=r"duality gap is \d\.\d\de.*after 1 passes.*raise max_iter"
    ) as caught:
        model = Estimator(C=100, tol=1e-9, max_iter=1).fit(*problem)
    assert f"{model.duality_gap_:.2e}" in str(caught[0].message)
    assert not model.converged_
    check_certificate(model)


def test_time_limit_ends_with_a_certificate(problem, Estimator):
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        model = Estimator(C=100, tol=1e-12, max_seconds=1e-6).fit(*problem)
    check_certificate(model)
    assert model.predict(problem[0]).shape == (50, 4)


def test_interruption_leaves_a_fitted_estimator(problem, Estimator):
    def interrupt(point):
        if point.n_iter >= 2:
            raise KeyboardInterrupt

    model = Estimator(C=100, tol=1e-9, random_state=0)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(*problem, callback=interrupt)
    check_certificate(model)
    assert model.score(*problem) > 0.8


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_path_equals_separate_training(problem, Estimator, kernel):
    costs = [0.1, 1.0]
    models = Estimator(kernel=kernel, **EXACT).path(*problem, costs)
    assert [model.C for model in models] == costs
    for model in models:
        check_certificate(model)
        alone = Estimator(kernel=kernel, C=model.C, **EXACT).fit(*problem)
        assert model.primal_objective_ == pytest.approx(alone.primal_objective_, rel=1e-6)
        X = problem[0]
        np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=5e-3)


def test_intercept_is_a_constant_feature(problem, WithIntercept):
    X, Y = problem
    with_one = np.column_stack([X, np.ones(50)])
    expected = WithIntercept(kernel="linear", fit_intercept=False, **EXACT).fit(with_one, Y)
    model = WithIntercept(kernel="linear", fit_intercept=True, **EXACT).fit(X, Y)
    assert model.primal_objective_ == pytest.approx(expected.primal_objective_, rel=1e-6)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(with_one), atol=5e-3)
    np.testing.assert_allclose(model.intercept_, expected.coef_[:, -1], atol=5e-3)


def test_intercept_of_similarities_adds_one(problem, WithIntercept):
    X, Y = problem
    K = X @ X.T
    expected = WithIntercept(kernel="precomputed", fit_intercept=False, **EXACT).fit(K + 1, Y)
    model = WithIntercept(kernel="precomputed", fit_intercept=True, **EXACT).fit(K, Y)
    assert model.primal_objective_ == pytest.approx(expected.primal_objective_, rel=1e-6)
    np.testing.assert_allclose(model.decision_function(K), expected.decision_function(K + 1), atol=5e-3)


def test_a_gram_matrix_that_does_not_fit_is_not_begun():
    X, Y = np.zeros((400_000, 1)), np.tile([[1, 0], [0, 1]], (200_000, 1))
    with pytest.raises(MemoryError, match=r"400,000 samples take 596\.0 GiB, .* free; landmarks=1024"):
        LabelRanker().fit(X, Y)

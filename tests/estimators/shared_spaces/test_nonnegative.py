"""Nonnegative factorizations of samples and labels."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import nnls

from tagrank.estimators import AsymmetricFactorization, MixedFactorization
from tagrank.estimators.shared_spaces.nonnegative import above_and_below

BOTH = [AsymmetricFactorization, MixedFactorization]
EXACT = {"tol": 1e-9, "max_iter": 5000, "random_state": 0}


@pytest.fixture(scope="module")
def problem():
    """Samples and labels that are made of three parts."""
    rng = np.random.default_rng(0)
    codes = rng.random((50, 3)) * (rng.random((50, 3)) < 0.6) + 0.01
    X = codes @ rng.random((3, 8))
    Y = (codes @ np.array([[1.0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]) > 0.3).astype(float)
    X.flags.writeable = Y.flags.writeable = False
    return X, Y


@pytest.mark.parametrize("Estimator", BOTH)
def test_it_finds_parts(problem, Estimator):
    X, Y = problem
    model = Estimator(n_components=3, **EXACT).fit(X[:40], Y[:40])
    assert model.score(X[40:], Y[40:]) > 0.85
    assert model.parts_.shape == (3, 8)
    assert min(model.parts_.min(), model.label_parts_.min()) >= 0


@pytest.mark.parametrize("Estimator", BOTH)
def test_codes_of_new_samples_are_least_squares_without_negative_values(problem, Estimator):
    X, Y = problem
    model = Estimator(n_components=3, **EXACT).fit(X[:40], Y[:40])
    codes = np.array([nnls(model.parts_.T, row)[0] for row in X[40:]])
    expected = 2 * codes @ model.label_parts_ - 1
    np.testing.assert_allclose(model.decision_function(X[40:]), expected, atol=1e-3)


def test_parts_of_samples_belong_to_the_codes_of_the_labels(problem):
    X, Y = problem
    model = AsymmetricFactorization(n_components=3, **EXACT).fit(X, Y)
    codes = np.array([nnls(model.label_parts_.T, row)[0] for row in Y])
    np.testing.assert_allclose(codes @ model.label_parts_, Y, atol=1e-2)
    expected = np.array([nnls(codes, column)[0] for column in X.T]).T
    np.testing.assert_allclose(model.parts_, expected, atol=0.02 * expected.max())


def test_the_balance_decides_what_is_explained(problem):
    X, Y = problem
    samples, labels = (
        MixedFactorization(n_components=2, balance=balance, **EXACT).fit(X, Y) for balance in (0.99, 0.01)
    )

    def misses(model, rows, parts):
        codes = np.array([nnls(parts.T, row)[0] for row in rows])
        return np.sum((rows - codes @ parts) ** 2)

    assert misses(samples, X, samples.parts_) < misses(labels, X, labels.parts_)
    assert misses(labels, Y, labels.label_parts_) < misses(samples, Y, samples.label_parts_)


@pytest.mark.parametrize("Estimator", BOTH)
def test_sparse_rows_give_the_same_model(problem, Estimator):
    X, Y = problem
    dense = Estimator(n_components=3, **EXACT).fit(X - 0.5, Y)
    held = Estimator(n_components=3, **EXACT).fit(sparse.csr_array(X - 0.5), Y)
    np.testing.assert_allclose(
        held.decision_function(sparse.csr_array(X)), dense.decision_function(X), atol=1e-3
    )


def test_columns_with_negative_values_are_read_as_two():
    X = np.array([[1.0, -2.0], [3.0, 4.0]])
    expected = [[1, 0, 2], [3, 4, 0]]
    np.testing.assert_array_equal(above_and_below(X, [1]), expected)
    np.testing.assert_array_equal(above_and_below(sparse.csr_array(X), [1]).toarray(), expected)


@pytest.mark.parametrize("Estimator", BOTH)
def test_values_below_zero_that_training_did_not_have_are_cut(problem, Estimator):
    X, Y = problem
    model = Estimator(n_components=3, random_state=0).fit(X, Y)
    lowered = X.copy()
    lowered[:, 0] = -5
    zeroed = X.copy()
    zeroed[:, 0] = 0
    np.testing.assert_array_equal(model.decision_function(lowered), model.decision_function(zeroed))


@pytest.mark.parametrize("Estimator", BOTH)
@pytest.mark.parametrize("X", [np.zeros((5, 2)), np.ones((5, 2))], ids=["zeros", "constant"])
def test_rows_that_do_not_differ_get_equal_scores(Estimator, X):
    model = Estimator(n_components=50).fit(X, [[1, 0], [1, 1], [0, 1], [1, 0], [1, 0]])
    assert np.ptp(model.decision_function(X), axis=0).max() < 1e-12


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"n_components": 0}, "n_components"), ({"max_iter": 0}, "max_iter"), ({"tol": -1}, "tol")],
)
@pytest.mark.parametrize("Estimator", BOTH)
def test_wrong_parameters_are_named(problem, Estimator, parameters, message):
    with pytest.raises(ValueError, match=f"{message} must be"):
        Estimator(**parameters).fit(*problem)


def test_the_balance_lies_between_zero_and_one(problem):
    with pytest.raises(ValueError, match="balance must lie between 0 and 1, got 1"):
        MixedFactorization(balance=1).fit(*problem)

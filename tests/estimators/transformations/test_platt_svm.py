"""PlattSVM: the machine inside, the sigmoids of held-out scores, probabilities."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from tagrank import OneVsAllSVM, PlattSVM
from tagrank.estimators.calibration.calibrated import fit_platt, prior_probabilities

EXACT = {"C": 2.0, "tol": 1e-8, "max_iter": 10_000, "random_state": 0}


@pytest.fixture(scope="module")
def problem():
    """90 samples, 3 labels of different frequency, some unknown."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 4))
    Y = (X @ rng.normal(size=(4, 3)) + rng.normal(size=(90, 3)) > [0, 1, 2]).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    X.flags.writeable = Y.flags.writeable = False
    return X, Y


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_scores_are_those_of_the_machine_through_a_sigmoid_of_held_out_scores(problem, kernel):
    X, Y = problem
    model = PlattSVM(kernel=kernel, **EXACT)
    rows = X if kernel == "linear" else X @ X.T
    model.fit(rows, Y)
    held_out = np.zeros(Y.shape)
    for train, test in model._folds(90):
        assert not set(train) & set(test)
        held_out[test] = (
            OneVsAllSVM(kernel="linear", **EXACT).fit(X[train], Y[train]).decision_function(X[test])
        )
    states = np.nan_to_num(np.where(np.isnan(Y), 0, 2 * Y - 1)).astype(np.int8)
    sigmoid = fit_platt(states, held_out, prior_probabilities(states))
    np.testing.assert_allclose(model.slope_, sigmoid.slope, rtol=1e-3)
    machine = OneVsAllSVM(kernel="linear", **EXACT).fit(X, Y)
    expected = machine.decision_function(X) * sigmoid.slope + sigmoid.offset
    np.testing.assert_allclose(model.decision_function(rows), expected, atol=1e-3)
    assert model.primal_objective_ == pytest.approx(machine.primal_objective_, rel=1e-6)


def test_probabilities_are_those_of_the_scores(problem):
    X, Y = problem
    model = PlattSVM(random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), expit(model.decision_function(X)))
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X) >= 0.5)


def test_probabilities_of_new_samples_are_nearer_to_the_truth_than_chance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    truth = expit(2 * X @ rng.normal(size=(3, 2)) - [0, 1])
    Y = (rng.random(truth.shape) < truth).astype(float)
    found = PlattSVM(kernel="linear", random_state=0).fit(X[:300], Y[:300]).predict_proba(X[300:])
    logistic = [LogisticRegression().fit(X[:300], y).predict_proba(X[300:])[:, 1] for y in Y[:300].T]
    errors = np.abs(found - truth[300:]).mean()
    assert errors < 1.5 * np.abs(np.transpose(logistic) - truth[300:]).mean()


def test_sparse_rows_are_held_out_too(problem):
    X, Y = problem
    dense = PlattSVM(kernel="linear", **EXACT).fit(X, Y)
    by_rows = PlattSVM(kernel="linear", **EXACT).fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(by_rows.decision_function(X), dense.decision_function(X), atol=1e-3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_when_stopped_the_machine_answers(problem):
    X, Y = problem
    model = PlattSVM(random_state=0).fit(X, Y, stop=lambda: True)
    assert (model.slope_ == 1).all()
    assert not model.intercept_.any()

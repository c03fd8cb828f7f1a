"""RankingAreaSVM: ranks the samples of a label, through a sigmoid that makes labels comparable."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from tagrank import RankingAreaSVM


@pytest.fixture(scope="module")
def problem():
    """80 samples, 3 labels of different frequency, some unknown."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 4))
    Y = (X @ rng.normal(size=(4, 3)) + rng.normal(size=(80, 3)) > [0, 1, 2]).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    X.flags.writeable = Y.flags.writeable = False
    return X, Y


def test_rows_and_similarities_give_the_same_model(problem):
    X, Y = problem
    options = {"C": 10.0, "tol": 1e-8}
    dense = RankingAreaSVM(kernel="linear", **options).fit(X, Y)
    by_rows = RankingAreaSVM(kernel="linear", **options).fit(sparse.csr_array(X), Y)
    by_gram = RankingAreaSVM(kernel="precomputed", **options).fit(X @ X.T, Y)
    np.testing.assert_allclose(by_rows.decision_function(X), dense.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(by_gram.decision_function(X @ X.T), dense.decision_function(X), atol=1e-3)
    np.testing.assert_allclose(by_gram.dual_coef_.T @ X, dense.coef_, atol=1e-3)


def test_scores_are_the_most_likely_log_odds_of_training_samples(problem):
    """With Platt's targets; the derivatives of the weighted likelihood are zero."""
    X, Y = problem
    weights = np.where(np.isnan(Y), 0, np.random.default_rng(0).uniform(0.5, 2, Y.shape))
    model = RankingAreaSVM(C=1.0).fit(X, Y, sample_weight=weights)
    machine = (model.decision_function(X) - model.intercept_) / model.slope_
    n_present, n_absent = (weights * (Y == 1)).sum(axis=0), (weights * (Y == 0)).sum(axis=0)
    targets = np.where(Y == 1, (n_present + 1) / (n_present + 2), 1 / (n_absent + 2))
    residuals = weights * (targets - expit(model.decision_function(X)))
    np.testing.assert_allclose(residuals.sum(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose((residuals * machine).sum(axis=0), 0, atol=1e-6)


def test_a_higher_cost_raises_the_area(problem):
    X, Y = problem
    known = ~np.isnan(Y[:, 1])

    def area(C):
        scores = RankingAreaSVM(C=C).fit(X, Y).decision_function(X)[:, 1]
        return roc_auc_score(Y[known, 1], scores[known])

    assert 0.5 < area(1.0) < area(1000.0)


def test_a_label_that_is_always_present_is_ranked_by_its_frequency(problem):
    X, Y = problem
    model = RankingAreaSVM().fit(X, np.column_stack([Y, np.ones(80)]))
    assert not model.dual_coef_[:, 3].any()
    assert model.intercept_[3] == pytest.approx(np.log(81))

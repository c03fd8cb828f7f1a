"""C by cross-validation: the path over all costs scores as single trainings do, and the best one wins."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from tagrank.annotation.choosing import Trial, tune_cost
from tagrank.annotation.choosing.candidates import Candidate
from tagrank.annotation.choosing.trials import Trials
from tagrank.data import LabelStratifiedKFold
from tagrank.estimators import LabelRanker, RidgeRegression
from tagrank.estimators.methods import METHODS
from tagrank.kernels import Gaussian
from tagrank.metrics import image_auc, image_average_precision

COSTS = (0.01, 0.3, 10)


@pytest.fixture(scope="module")
def problem():
    """90 rows, 5 labels of a noisy linear kind, the last too rare for every fold, some unknown."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(90, 6))
    Y = (X @ rng.normal(size=(6, 5)) + rng.normal(size=(90, 5)) > [0, 0.5, 1, 1, 9]).astype(float)
    Y[:2, 4] = 1
    Y[rng.random(Y.shape) < 0.1] = np.nan
    return X, Y


@pytest.mark.parametrize("Estimator", [method.load() for method in METHODS if "C" in method.space])
@pytest.mark.filterwarnings("ignore:.*never positive")
def test_scores_are_those_of_single_trainings(problem, Estimator):
    X, Y = problem
    estimator = Estimator(tol=1e-8, max_iter=10_000, random_state=0)
    found = tune_cost(estimator, X, Y, costs=COSTS[::-1], seed=3)
    assert found.costs == COSTS
    expected = np.zeros((2, len(COSTS)))
    of_all_rows = clone(estimator).set_params(kernel=Gaussian().fit(X))
    for train, test in LabelStratifiedKFold(3, shuffle=True, random_state=3).split(X, Y):
        for j, cost in enumerate(COSTS):
            F = clone(of_all_rows).set_params(C=cost).fit(X[train], Y[train]).decision_function(X[test])
            expected[:, j] += [image_auc(Y[test], F) / 3, image_average_precision(Y[test], F) / 3]
    np.testing.assert_allclose(list(found.scores.values())[:2], expected, atol=1e-3)
    np.testing.assert_allclose(found.scores["MAP and AUC"], np.mean(expected, axis=0), atol=1e-3)
    assert not hasattr(estimator, "dual_coef_")


def test_views(problem):
    X, Y = problem
    views = {"left": X[:, :3], "right": X[:, 3:]}
    kernel = Gaussian().on("left") + Gaussian().on("right")
    found = tune_cost(LabelRanker(kernel=kernel, random_state=0), views, Y, costs=COSTS)
    assert found.best_score() > 0.7


def test_best_cost():
    trial = Trial((0.1, 1.0, 10.0), {"Image-AUC": (0.6, 0.8, 0.8), "Image-MAP": (0.5, 0.5, 0.7)})
    assert trial.best("Image-AUC") == 1.0
    assert not trial.is_at_edge("Image-AUC")
    assert trial.best("Image-MAP") == replace(trial, criterion="Image-MAP").best() == 10.0
    assert trial.is_at_edge("Image-MAP")
    assert trial.to_dict()["C"] == [0.1, 1.0, 10.0]


@pytest.mark.filterwarnings("ignore:.*never positive")
def test_what_an_estimator_chooses_is_the_same_in_every_fold(problem):
    X, Y = problem
    alpha = RidgeRegression(kernel="linear").fit(X, Y).alpha_
    hooks = {"progress": None, "stop": None}
    trials = Trials(Y, "Image-AUC", n_folds=3, seed=0, n_expected=2, **hooks)
    left_open, given = (RidgeRegression(alpha=a, kernel="linear") for a in (None, alpha))
    scores = [trials.try_costs(Candidate("", "", one), one.compare(X)).scores for one in (left_open, given)]
    np.testing.assert_array_equal(*scores)

"""Trainings that start from the solution of an earlier one: the same optimum, and an honest certificate."""

import numpy as np
import pytest
from sklearn.base import clone

from tagrank import LabelRanker, OneVsAllLogistic, OneVsAllSVM
from tagrank.estimators import JointSVM, MultipleKernelRanker, PriorMarginClassifier, ScoreSum

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X @ RNG.normal(size=(4, 5)) + RNG.normal(size=(60, 5)) > 1).astype(float)
CHANGED = np.where(RNG.random(Y.shape) < 0.05, 1 - Y, Y)
MODELS = [
    LabelRanker(C=3, tol=1e-6),
    LabelRanker(C=3, kernel="linear", tol=1e-6),
    OneVsAllSVM(C=3, fit_intercept=True, tol=1e-6),
    OneVsAllLogistic(C=3, tol=1e-6),
    JointSVM(C=3, tol=1e-6),
    PriorMarginClassifier(C=3, tol=1e-6),
    MultipleKernelRanker(C=3, kernel=["rbf", "linear"], tol=1e-4),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_optimum_does_not_depend_on_the_start(model):
    before = clone(model).fit(X, Y)
    warm, cold = clone(model).fit(X, CHANGED, start=before.dual_solution_), clone(model).fit(X, CHANGED)
    assert warm.duality_gap_ <= model.tol
    gap = (warm.duality_gap_ + cold.duality_gap_) * abs(cold.primal_objective_)
    assert abs(warm.primal_objective_ - cold.primal_objective_) <= gap + 1e-9


def test_a_training_that_starts_at_its_end_is_over_at_once():
    before = LabelRanker(C=10, tol=1e-6).fit(X, Y)
    assert LabelRanker(C=10, tol=1e-6).fit(X, Y, start=before.dual_solution_).n_iter_ == 0


def test_a_sum_starts_from_two():
    model = ScoreSum(LabelRanker(C=3, tol=1e-6), OneVsAllLogistic(C=3, tol=1e-6))
    before = clone(model).fit(X, Y)
    again = clone(model).fit(X, Y, start=before.dual_solution_)
    assert again.n_iter_ == 0
    np.testing.assert_allclose(again.decision_function(X), before.decision_function(X), atol=1e-9)


def test_a_start_of_another_shape_is_refused():
    before = LabelRanker().fit(X[:50], Y[:50])
    with pytest.raises(ValueError, match=r"start must have the shape \(60, 5\)"):
        LabelRanker().fit(X, Y, start=before.dual_solution_)

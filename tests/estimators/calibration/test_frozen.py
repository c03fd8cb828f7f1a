"""What an estimator chooses while it trains is chosen once, and is the same in all folds of a calibration."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from tagrank.estimators import (
    CalibratedRanker,
    LabelCompletion,
    LabelRanker,
    MultipleKernelRanker,
    MultipleKernelSVM,
    OneVsAllSVM,
    ProbabilityRanker,
    RidgeRegression,
    SharedSubspace,
)
from tagrank.estimators.calibration import held_out
from tagrank.estimators.calibration.held_out import freeze, frozen_copy, hold_out, leaves_open
from tagrank.estimators.methods import METHODS
from tagrank.kernels import Gaussian

AROUND = [CalibratedRanker, ProbabilityRanker]


@pytest.fixture(scope="module")
def problem():
    """90 samples, 5 labels; small parts of them choose other penalties than the whole."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 30))
    Y = (X[:, :3] @ rng.normal(size=(3, 5)) + 2 * rng.normal(size=(90, 5)) > 1).astype(float)
    X.flags.writeable = Y.flags.writeable = False
    return X, Y


@pytest.fixture
def penalties(monkeypatch):
    """The penalty of every ridge regression that is trained, with how many samples it had."""
    trained, fit = [], RidgeRegression.fit

    def noting(self, X, y):
        fit(self, X, y)
        trained.append((len(y), self.alpha_))
        return self

    monkeypatch.setattr(RidgeRegression, "fit", noting)
    return trained


def test_parts_of_the_samples_would_choose_otherwise(problem):
    X, Y = problem
    parts = np.split(np.arange(90), 3)
    alphas = {RidgeRegression(kernel="linear").fit(X[rows], Y[rows]).alpha_ for rows in parts}
    assert len(alphas) > 1


@pytest.mark.parametrize("Around", AROUND)
@pytest.mark.parametrize("Estimator", [RidgeRegression, LabelCompletion, SharedSubspace])
def test_the_folds_have_the_penalty_of_the_last_model(problem, penalties, Around, Estimator):
    model = Around(Estimator(kernel="linear"), cv=3, random_state=0).fit(*problem)
    expected = Estimator(kernel="linear").fit(*problem).alpha_
    assert model.estimator_.alpha_ == expected
    folds = [alpha for n_samples, alpha in penalties if n_samples < 90]
    assert folds == [expected] * 3
    assert model.estimator_.alpha is None


def test_held_out_scores_are_those_of_a_given_penalty(problem):
    X, Y = problem
    alpha = RidgeRegression(kernel="linear").fit(X, Y).alpha_
    left_open, given = (
        ProbabilityRanker(RidgeRegression(alpha=a, kernel="linear"), random_state=0).fit(X, Y)
        for a in (None, alpha)
    )
    np.testing.assert_array_equal(left_open.predict_proba(X), given.predict_proba(X))


@pytest.mark.parametrize("weights", ["held-out", "best"])
def test_weights_of_kernels_that_were_looked_for(weights):
    rng = np.random.default_rng(1)
    views = {"a": rng.normal(size=(60, 2)), "b": rng.normal(size=(60, 2))}
    Y = (views["a"] @ rng.normal(size=(2, 3)) + rng.normal(size=(60, 3)) > 0).astype(float)
    kernel = [Gaussian().on("a"), Gaussian().on("b")]
    model = MultipleKernelRanker(kernel=kernel, weights=weights, random_state=0).fit(views, Y)
    again = frozen_copy(model).fit(views, Y)
    np.testing.assert_allclose(again.kernel_weights_, model.kernel_weights_)
    half = {view: rows[::2] for view, rows in views.items()}
    np.testing.assert_allclose(frozen_copy(model).fit(half, Y[::2]).kernel_weights_, model.kernel_weights_)


def test_which_estimators_leave_something_open():
    open_methods = {method.name for method in METHODS if leaves_open(method.load()())}
    assert open_methods == {
        "ridge-regression",
        "label-completion",
        "label-space-transform",
        "canonical-correlation",
        "compressed-sensing",
        "shared-subspace",
    }
    assert not leaves_open(RidgeRegression(alpha=1.0))
    assert not leaves_open(MultipleKernelRanker(weights="learned"))
    assert not leaves_open(MultipleKernelSVM(weights="best"))
    assert leaves_open(ProbabilityRanker(CalibratedRanker(RidgeRegression())))
    assert not leaves_open(ProbabilityRanker(LabelRanker()))


def test_one_around_another(problem, penalties):
    inner = CalibratedRanker(RidgeRegression(kernel="linear"), cv=2, random_state=0)
    model = ProbabilityRanker(inner, cv=2, random_state=0).fit(*problem)
    assert {alpha for _, alpha in penalties} == {model.estimator_.estimator_.alpha_}


def test_what_leaves_nothing_open_is_taken_as_it_is(problem):
    estimator = OneVsAllSVM()
    assert freeze(estimator, estimator.compare(problem[0]), problem[1]) is estimator


def test_nothing_but_parameters_is_carried_over(problem):
    frozen = frozen_copy(RidgeRegression().fit(*problem))
    assert frozen.alpha is not None
    assert set(vars(frozen)) == set(vars(RidgeRegression()))


def test_a_search_of_scikit_learn_is_made_once(problem):
    X, Y = problem
    search = GridSearchCV(RidgeRegression(kernel="linear"), {"alpha": [0.1, 10.0, 1000.0]}, cv=3)
    model = ProbabilityRanker(search, cv=3, random_state=0).fit(X, Y)
    best = model.estimator_.best_params_["alpha"]
    given = ProbabilityRanker(RidgeRegression(alpha=best, kernel="linear"), cv=3, random_state=0).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(X), given.predict_proba(X))


@pytest.mark.parametrize("Around", AROUND)
def test_who_ends_the_training_on_everything_gets_whole_folds(problem, monkeypatch, Around):
    asked = []

    def noting(*args, stop, **options):
        asked.append(stop)
        return hold_out(*args, stop=stop, **options)

    monkeypatch.setattr(held_out, "hold_out", noting)
    model = Around(RidgeRegression(), cv=3, random_state=0)
    for is_ended in (False, True):
        model.fit(*problem, stop=lambda answer=is_ended: answer)
    assert [stop is None for stop in asked] == [False, True]

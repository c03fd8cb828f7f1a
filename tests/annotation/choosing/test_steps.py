"""The choice of a model: everything on the same folds, and what is chosen is what is trained."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from tagrank import Annotator, Collection, Recipe
from tagrank.annotation.choosing import LIKELIHOOD, Candidate, Candidates, choose, steps, trials
from tagrank.annotation.choosing.choice import measure
from tagrank.data import LabelStratifiedKFold
from tagrank.estimators import (
    LabelFrequency,
    LabelPowerset,
    LabelRanker,
    OneVsAllLogistic,
    OneVsAllSVM,
    ScoreSum,
)
from tagrank.estimators.calibration.shared import fit_shared
from tagrank.estimators.methods import METHODS
from tagrank.kernels import ChiSquared, Gaussian, Power


@pytest.fixture
def problem():
    rng = np.random.default_rng(5)
    views = {"colour": rng.exponential(size=(60, 6)), "gist": rng.standard_normal((60, 4))}
    signal = np.hstack([views["colour"][:, :2] - 1, views["gist"][:, :2]])
    labels = (signal + 0.3 * rng.standard_normal(signal.shape) > 0.3).astype(float)
    labels[7, 2] = np.nan
    return views, labels


KERNEL = 0.5 * ChiSquared().on("colour") + 0.5 * Gaussian().on("gist")


def only(*candidates):
    """The first on its kernel, the others on the same."""
    return Candidates(None, [candidates[:1]], candidates[1:])


def one_method(estimator, costs=None):
    return only(Candidate("this", "family", estimator, costs))


@pytest.mark.parametrize("Estimator", [method.load() for method in METHODS if "C" in method.space])
def test_without_a_choice_the_rows_are_only_compared(problem, Estimator):
    views, labels = problem
    estimator = Estimator(C=2.0, kernel=KERNEL, tol=1e-8, random_state=0)
    chosen = choose(one_method(estimator), views, labels)
    assert chosen.choice is None
    assert chosen.held_out is None
    fitted = chosen.estimator.fit(chosen.rows, labels)
    plain = clone(estimator).fit(views, labels)
    np.testing.assert_allclose(fitted.decision_function(views), plain.decision_function(views), atol=1e-4)


def test_held_out_scores_are_those_of_models_that_did_not_see_the_row(problem):
    views, labels = problem
    ranker = OneVsAllSVM(kernel=KERNEL, tol=1e-2, random_state=0)
    chosen = choose(one_method(ranker, costs=(0.1, 1, 10)), views, labels, seed=4)
    assert chosen.choice.chosen[0].costs == (0.1, 1.0, 10.0)
    assert chosen.choice.chosen[0].best() == chosen.estimator.C
    states, scores = chosen.held_out
    rows = chosen.estimator.compare(views)
    for train, test in LabelStratifiedKFold(3, shuffle=True, random_state=4).split(labels, labels):
        model = clone(chosen.estimator).fit(rows.training(train), labels[train])
        np.testing.assert_allclose(
            scores[test], model.decision_function(rows.held_out(test, train)), atol=0.1
        )
    assert states[7, 2] == 0


def test_a_power_of_the_kernel_is_chosen(problem):
    views, labels = problem
    X = views["gist"]
    ranker = LabelRanker(kernel="rbf", gamma=0.02, tol=1e-6, random_state=0)
    plain = Candidate("this", "family", ranker, (0.1, 1), kernel_words="plain")
    third = plain._replace(kernel_words="third", power=3)
    chosen = choose(Candidates(None, [[plain], [third]]), X, labels)
    values = {one.kernel: one.best_score() for one in chosen.choice.trials}
    assert chosen.choice.chosen[0].kernel == max(values, key=values.get) == "third"
    assert chosen.estimator.kernel == Power(Gaussian(0.02), 3)
    again = LabelRanker(chosen.estimator.C, kernel=Gaussian(0.06), tol=1e-6, random_state=0).fit(X, labels)
    fitted = chosen.estimator.fit(chosen.rows, labels)
    np.testing.assert_allclose(fitted.decision_function(X), again.decision_function(X), atol=1e-3)


def test_the_costs_go_on_while_the_best_is_the_last(problem):
    views, labels = problem
    logistic = OneVsAllLogistic(kernel="rbf", fit_intercept=False, random_state=0)
    candidate = Candidate("this", "family", logistic, (0.01, 0.1), extends=True)
    found = choose(only(candidate), views["gist"], labels).choice.chosen[0]
    assert found.costs[-1] > 0.1 or found.costs[0] < 0.01
    assert found.best_score() > max(found.scores[found.criterion][:2])
    kept = choose(only(candidate._replace(extends=False)), views["gist"], labels).choice.chosen[0]
    assert kept.costs == (0.01, 0.1)


def test_an_intercept_is_taken_where_it_is_better():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    labels = (X @ rng.normal(size=(3, 4)) > [2.5, 2.5, -2.5, 0]).astype(float)
    candidate = Candidate(
        "this", "family", OneVsAllSVM(1.0, kernel="linear", random_state=0), (1.0,), tries_intercept=True
    )
    chosen = choose(only(candidate), X, labels)
    assert chosen.estimator.fit_intercept
    assert chosen.choice.chosen[0].fit_intercept


def test_the_best_method_wins_and_its_lead_is_told(problem):
    views, labels = problem
    X = views["gist"]
    candidates = [
        Candidate("frequency", "baseline", LabelFrequency(), None),
        Candidate("svm", "classification", OneVsAllSVM(kernel="rbf", random_state=0), (1.0,)),
    ]
    chosen = choose(only(*candidates), X, labels)
    assert isinstance(chosen.estimator, OneVsAllSVM | ScoreSum)
    choice = chosen.choice
    assert choice.value == max(one.value for one in choice.trials)
    assert choice.lead == pytest.approx(choice.value - min(one.value for one in choice.trials))
    states, scores = chosen.held_out
    expected = measure(labels, fit_shared(states, scores).log_odds(scores))
    assert choice.value == pytest.approx(expected[choice.criterion], abs=0.05)
    assert choice.to_dict()["chosen"][0]["method"] == "svm"


def test_two_models_are_added_up_where_that_is_better(problem, monkeypatch):
    views, labels = problem
    X = views["gist"]
    candidates = [
        Candidate("ranker", "ranking", LabelRanker(kernel="rbf", random_state=0), (1.0,)),
        Candidate("logistic", "classification", OneVsAllLogistic(kernel="rbf", random_state=0), (1.0,)),
    ]
    monkeypatch.setattr(steps, "WORTH_ADDING", -1.0)
    chosen = choose(only(*candidates), X, labels)
    assert isinstance(chosen.estimator, ScoreSum)
    assert len(chosen.choice.chosen) == 2
    fitted = chosen.estimator.fit(chosen.rows, labels)
    alone = {
        type(one).__name__: clone(one).fit(X, labels)
        for one in (chosen.estimator.first, chosen.estimator.second)
    }
    expected = sum(
        weight * alone[name].decision_function(X)
        for name, weight in (
            (fitted.first_name_, fitted.first_weight),
            (fitted.second_name_, fitted.second_weight),
        )
    )
    np.testing.assert_allclose(fitted.decision_function(X), expected, atol=1e-2)
    monkeypatch.setattr(steps, "WORTH_ADDING", 1.0)
    assert len(choose(only(*candidates), X, labels).choice.chosen) == 1


def test_by_likelihood(problem):
    views, labels = problem
    offered = one_method(OneVsAllSVM(kernel="rbf", random_state=0), costs=(0.01, 1.0))
    choice = choose(offered, views["gist"], labels, criterion=LIKELIHOOD).choice
    assert choice.value < 0
    assert set(choice.trials[0].scores) == {LIKELIHOOD}


def test_many_rows_are_chosen_on_some(problem, monkeypatch):
    views, labels = problem
    monkeypatch.setattr(steps, "MOST_ROWS", 40)
    chosen = choose(
        one_method(OneVsAllSVM(kernel="rbf", random_state=0), costs=(0.1, 1)), views["gist"], labels
    )
    assert chosen.choice.n_rows == 40
    assert chosen.held_out is None
    assert len(chosen.rows) == 60


def test_of_many_similarities_some_are_taken_both_ways(problem, monkeypatch):
    views, labels = problem
    K = views["gist"] @ views["gist"].T
    monkeypatch.setattr(steps, "MOST_ROWS", 40)
    chosen = choose(one_method(OneVsAllSVM(kernel="precomputed", random_state=0), costs=(0.1, 1)), K, labels)
    assert chosen.choice.n_rows == 40
    assert chosen.estimator.fit(chosen.rows, labels).decision_function(K).shape == labels.shape


def test_progress_is_told_to_the_end(problem):
    views, labels = problem
    told = []
    offered = one_method(OneVsAllSVM(kernel="rbf", random_state=0), costs=(0.1, 1))
    choose(offered, views["gist"], labels, progress=lambda *told_now: told.append(told_now))
    assert told[0] == (0, 1, trials.COMPARING)
    assert [done for done, _, what in told if what == trials.CHOOSING] == [0, 1, 2, 3]
    assert told[-1][0] == told[-1][1]


def test_estimators_without_a_cost(problem):
    views, labels = problem
    chosen = choose(one_method(LabelFrequency()), views["gist"], labels)
    assert chosen.choice is None
    assert chosen.estimator.fit(views["gist"], labels).decision_function(views["gist"]).shape == labels.shape


def test_rows_are_tried_with_a_straight_line_too():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 30))
    labels = (X @ rng.normal(size=(30, 4)) + rng.normal(size=(150, 4)) > 0.5).astype(float)
    collection = Collection({"x": X}, labels, list("abcd"))
    annotator = Annotator().fit(collection)
    tried = {(one.method, one.kernel) for one in annotator.choice_.trials}
    assert {
        ("label-ranker", "Gaussian"),
        ("label-ranker", "linear"),
        ("one-vs-all-logistic", "linear"),
    } <= tried
    assert {method for method, _ in tried} == {
        "label-ranker",
        "incomplete-label-ranker",
        "one-vs-all",
        "one-vs-all-logistic",
        "ridge-regression",
        "label-powerset",
    }
    again = Annotator(Recipe("one-vs-all", {"kernel": "linear"})).fit(
        Collection({"x": X}, labels, list("abcd"))
    )
    assert {one.method for one in again.choice_.trials} == {"one-vs-all"}
    assert replace(annotator.choice_, seconds=0.0) == annotator.choice_


@pytest.mark.filterwarnings("ignore:.*never present in training")
@pytest.mark.filterwarnings("ignore:.*nothing to rank")
@pytest.mark.parametrize("state", [0.0, 1.0, np.nan])
def test_nothing_to_choose_by(state):
    X = np.random.default_rng(0).normal(size=(30, 3))
    labels = np.full((30, 2), state)
    labels[0, 0] = 0 if np.isnan(state) else state
    annotator = Annotator().fit(Collection({"x": X}, labels, ["a", "b"]))
    assert np.all(np.isfinite(annotator.scores(X)))


def test_a_method_that_would_learn_too_many_label_sets_is_left_out(problem, monkeypatch):
    views, labels = problem
    candidates = [
        Candidate("ranker", "ranking", LabelRanker(kernel="rbf", random_state=0), (1.0,)),
        Candidate("sets", "transformations", LabelPowerset(random_state=0), None),
    ]
    tried = choose(only(*candidates), views["gist"], labels).choice.trials
    assert [one.method for one in tried] == ["ranker", "sets"]
    monkeypatch.setattr(steps, "MOST_OUTPUTS", len(np.unique(np.nan_to_num(labels), axis=0)) // 2)
    tried = choose(only(*candidates), views["gist"], labels).choice.trials
    assert [one.method for one in tried] == ["ranker"]


def draw_rows(n=450, seed=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    return X, (X[:, :5] + 0.8 * rng.normal(size=(n, 5)) > 0.6).astype(float)


def test_a_method_that_is_far_behind_is_tried_on_one_fold_only():
    X, labels = draw_rows()
    candidates = [
        Candidate("svm", "classification", OneVsAllSVM(kernel="linear", random_state=0), (1.0,)),
        Candidate("frequency", "baseline", LabelFrequency(), None),
    ]
    choice = choose(only(*candidates), X, labels).choice
    by_name = {trial.method: trial for trial in choice.trials}
    assert by_name["frequency"].n_folds == 1
    assert by_name["frequency"].value is None
    assert by_name["svm"].n_folds == 3
    assert [one.method for one in choice.chosen] == ["svm"]


def test_values_of_C_that_are_far_behind_never_win():
    X, labels = draw_rows()
    labels[:, 0] = np.random.default_rng(0).random(len(labels)) < 0.1
    ranker = LabelRanker(kernel="rbf", random_state=0)
    tried = choose(one_method(ranker, (1e-6, 0.3, 1.0)), X, labels)
    (trial,) = tried.choice.trials
    assert trial.best() > 1e-6
    assert trial.best() == tried.estimator.C
    assert np.isfinite(trial.scores["MAP and AUC"]).all()


def test_once_time_is_up_nothing_more_is_tried():
    X, labels = draw_rows()
    candidates = only(
        Candidate("svm", "classification", OneVsAllSVM(kernel="linear", random_state=0), (1.0,)),
        Candidate("ranker", "ranking", LabelRanker(kernel="linear", random_state=0), (1.0,)),
    )
    choice = choose(replace(candidates, max_seconds=1e-6), X, labels).choice
    assert [trial.method for trial in choice.trials] == ["svm"]
    assert not choice.is_complete
    assert choose(replace(candidates, max_seconds=1e6), X, labels).choice.is_complete


@pytest.mark.parametrize("method", ["label-ranker", "ridge-regression", "auto"])
def test_seconds_are_the_budget_of_the_whole(method):
    X, labels = draw_rows(120)
    recipe = Recipe(method, {"max_seconds": 1000.0})
    found = Annotator(recipe).fit(Collection({"features": X}, labels))
    inner = found.estimator_.estimator_
    limits = {value for name, value in inner.get_params().items() if name.endswith("max_seconds")}
    assert all(0 < limit <= 1000 / 6 for limit in limits)
    assert found.choice_ is None or found.choice_.is_complete

"""The search over a method's space: folds and values are those of a plain loop, and halving saves trials."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from tagrank.annotation.choosing import (
    CRITERION,
    Recipe,
    find_criterion,
    open_space,
    search_space,
    usual_parameters,
)
from tagrank.annotation.choosing.choice import held_out_value
from tagrank.annotation.choosing.search import Levels
from tagrank.annotation.views import take_in
from tagrank.data import LabelStratifiedKFold
from tagrank.errors import ArgumentError
from tagrank.estimators import LabelRanker
from tagrank.metrics import f_measure, image_auc, image_average_precision


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = (X @ rng.normal(size=(4, 5)) + rng.normal(size=(60, 5)) > 0.3).astype(float)
    return X, Y


def run(rows, method="label-ranker", metric=None, parameters=None, **options):
    X, Y = rows
    recipe = Recipe(method, parameters or {}, seed=0)
    tags = [f"tag {j}" for j in range(Y.shape[1])]
    return search_space(recipe, take_in(X), Y, tags, criterion=find_criterion(metric), **options)


def test_a_grid_finds_what_a_plain_loop_finds(rows):
    X, Y = rows
    found = run(rows, parameters={"kernel": "linear"}, how="grid")
    X = StandardScaler().fit_transform(X)
    values = {}
    for cost in (0.1, 0.3, 1.0, 3.0, 10.0):
        folds = []
        for train, test in LabelStratifiedKFold(3, shuffle=True, random_state=0).split(X, Y):
            scores = LabelRanker(cost, kernel="linear", random_state=0).fit(X[train], Y[train])
            scores = scores.decision_function(X[test])
            folds.append((image_auc(Y[test], scores) + image_average_precision(Y[test], scores)) / 2)
        values[cost] = np.mean(folds)
    by_search = {trial.parameters["C"]: trial.value for trial in found.trials}
    # models that are only compared are trained to a gap of one hundredth
    assert all(by_search[cost] == pytest.approx(value, abs=0.01) for cost, value in values.items())
    assert found.value == max(by_search.values())
    assert found.best == {"C": max(by_search, key=by_search.get)}


def test_halving_tries_all_but_few_on_all_folds(rows):
    found = run(rows)
    grid = run(rows, how="grid")
    declared = [trial for trial in found.trials if 0.1 <= trial.parameters["C"] <= 10]
    assert len(declared) == 10
    assert 2 <= sum(trial.n_folds == 3 for trial in declared) <= 4
    assert all(trial.n_folds == 3 for trial in grid.trials)
    assert found.is_complete
    assert found.trials[0].parameters == found.best
    # whatever both tried on all folds has the same value, up to a gap of one hundredth
    values = {str(trial.parameters): trial.value for trial in grid.trials}
    for trial in found.trials:
        if trial.n_folds == 3 and str(trial.parameters) in values:
            assert trial.value == pytest.approx(values[str(trial.parameters)], abs=0.01)


def test_many_rows_begin_with_few():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2400, 3))
    Y = (X[:, [0, 1, 2, 0]] > 0.2).astype(float)
    found = run((X, Y), "label-ranker", parameters={"kernel": "linear"})
    assert {(trial.n_rows, trial.n_folds) for trial in found.trials} >= {(533, 1), (1600, 3)}


def test_what_is_given_is_not_searched(rows):
    X, _ = rows
    recipe = Recipe("label-ranker", {"C": 2.0})
    assert open_space(recipe, take_in(X)) == [{"kernel": "rbf"}, {"kernel": "linear"}]
    assert open_space(recipe, take_in(X), only_linear=True) == [{"kernel": "linear"}]
    assert open_space(Recipe("label-ranker", {"C": 2.0, "kernel": "poly"}), take_in(X)) == [{}]
    assert open_space(Recipe("label-frequency"), take_in(X)) == [{}]
    assert recipe.with_parameters({"kernel_power": 2, "tol": 0.1}).kernel_power == 2


def test_c_goes_on_beyond_the_space_while_that_is_better(monkeypatch):
    # the larger, the better, up to 27
    monkeypatch.setattr(
        Levels,
        "_value",
        lambda self, i, level: min(0.9, self.scores[i, 0, level.n_rows]),
    )
    monkeypatch.setattr(Levels, "_train", train_by_cost)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 2)), np.eye(2)[rng.integers(2, size=30)]
    found = run(rows, parameters={"kernel": "linear"})
    assert sorted(trial.parameters["C"] for trial in found.trials) == [0.1, 0.3, 1, 3, 10, 30, 90]
    assert found.best["C"] == 30


def train_by_cost(self, found, group, level):
    for i in group:
        for fold in range(level.n_folds):
            self.scores[i, fold, level.n_rows] = found[i]["C"] / 30


def test_a_search_that_is_stopped_keeps_the_last_whole_level(rows, monkeypatch):
    trained = []
    train = Levels._train

    def count(self, found, group, level):
        train(self, found, group, level)
        trained.append((level.n_folds, len(group)))

    monkeypatch.setattr(Levels, "_train", count)
    whole = run(rows)
    assert whole.is_complete
    assert trained[:2] == [(1, 5), (1, 5)]
    n_groups = len(trained)
    # in the middle of the last level the first one counts
    trained.clear()
    cut = run(rows, stop=lambda: len(trained) > 2)
    assert not cut.is_complete
    assert n_groups > 2
    assert len(cut.trials) == 10
    assert all(trial.n_folds == 1 for trial in cut.trials)
    # in the middle of the first level, what it had measured
    trained.clear()
    cut = run(rows, stop=lambda: len(trained) > 1)
    assert {trial.parameters["kernel"] for trial in cut.trials} == {"rbf"}
    assert cut.best["kernel"] == "rbf"
    nothing = run(rows, stop=lambda: True)
    assert nothing.best == {}
    assert nothing.trials == ()


def test_usual_parameters(rows):
    X, _ = rows
    recipe = Recipe("label-ranker")
    assert usual_parameters(recipe, open_space(recipe, take_in(X))[0]) == {"kernel": "rbf", "C": 1.0}


def test_configurations_that_fail_are_told_and_passed_over(rows, monkeypatch):
    path = LabelRanker.path

    def fail(self, *args, **options):
        if self.kernel == "linear":
            raise ValueError("no straight lines today")
        return path(self, *args, **options)

    monkeypatch.setattr(LabelRanker, "path", fail)
    found = run(rows)
    assert found.best["kernel"] == "rbf"
    assert {trial.error for trial in found.trials if trial.parameters["kernel"] == "linear"} == {
        "no straight lines today"
    }
    with pytest.raises(ValueError, match="no straight lines today"):
        run(rows, parameters={"kernel": "linear"})


def test_one_threshold_is_found_where_few_tags_are_present():
    rng = np.random.default_rng(0)
    Y = (rng.random((200, 300)) < 0.005).astype(float)
    F = Y + 0.4 * rng.normal(size=Y.shape)
    best = max(f_measure(Y, cut <= F) for cut in np.quantile(F, 1 - np.geomspace(0.001, 0.02, 200)))
    assert held_out_value(find_criterion("micro-f1"), [(Y, F)]) == pytest.approx(best, abs=0.01)


def test_metrics_of_predictions_get_the_best_common_threshold():
    rng = np.random.default_rng(0)
    Y, F = (rng.random((30, 4)) < 0.4).astype(float), rng.normal(size=(30, 4)).round(1)
    expected = max(f_measure(Y, cut <= F) for cut in np.unique(F))
    found = held_out_value(find_criterion("micro-f1"), [(Y[:10], F[:10]), (Y[10:], F[10:])])
    assert found == pytest.approx(expected, abs=0.01)
    assert found <= expected


def test_less_is_better_for_losses(rows):
    found = run(rows, metric="Ranking loss", parameters={"kernel": "linear"})
    at_the_end = [trial.value for trial in found.trials if trial.n_folds == 3]
    assert found.value == min(at_the_end) > 0


def test_names_of_metrics():
    assert find_criterion(None).name == CRITERION
    assert find_criterion(None, 1).name == "Category-AUC"
    with pytest.raises(ArgumentError, match="did you mean 'Micro-F1'"):
        find_criterion("Micro-F2")


def test_few_rows_are_not_searched(rows):
    X, Y = rows
    found = run((X[:9], Y[:9]))
    assert found.best == {}
    assert found.trials == ()

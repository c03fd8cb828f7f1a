"""A model whose tags imply others contradicts none: in its order, its percentages and its decision."""

import json

import numpy as np
import pytest

from tagrank.annotation import Annotator, ModelFileError, explain
from tagrank.annotation.choosing import Recipe
from tagrank.commands.missing.held_out import hold_out
from tagrank.data import Collection, clean_tags
from tagrank.estimators import OneVsAllSVM

PARENTS = {"jet": ["plane"], "plane": ["vehicle"]}


def rows(n=120, seed=0):
    """Tags of which single models know little, so that what they say contradicts itself."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, 4))
    labels = (X[:, :3] + 1.5 * generator.standard_normal((n, 3)) > 0.8).astype(float)
    labels[0] = 1
    before = Collection({"features": X}, labels, ["jet", "plane", "sea"], names=[f"{i}" for i in range(n)])
    return clean_tags(before, parents=PARENTS)


def contradictions(values, tags):
    column = {tag: j for j, tag in enumerate(tags)}
    pairs = [("jet", "plane"), ("jet", "vehicle"), ("plane", "vehicle")]
    return sum(int(np.sum(values[:, column[a]] > values[:, column[b]])) for a, b in pairs)


@pytest.fixture(scope="module")
def model():
    recipe = Recipe("one-vs-all", {"C": 1.0, "kernel": "linear"}, seed=0)
    return Annotator(recipe).fit(rows())


def test_order_percentage_and_decision_are_one_number(model):
    new = rows(300, seed=1)
    free = model.estimator_.decision_function(model._rows(new))
    assert contradictions(free, model.tags) > 0
    scores, probabilities = model.scores(new), model.probabilities(new)
    assert contradictions(scores, model.tags) == contradictions(probabilities, model.tags) == 0
    np.testing.assert_array_equal(probabilities, model.probabilities_of(scores))
    written = (probabilities >= model.estimator_.threshold_).astype(int)
    np.testing.assert_array_equal(model.predict(new), written)
    assert contradictions(model.deciding(0.4).predict(new), model.tags) == 0
    for i, ranked in enumerate(model.annotate(new)):
        found = [entry.probability for entry in ranked]
        assert found == sorted(found, reverse=True)
        assert {entry.tag: entry.probability for entry in ranked} == dict(
            zip(model.tags, probabilities[i].tolist(), strict=True)
        )


def test_explanations_tell_the_same_probabilities(model):
    new = rows(40, seed=2)
    for i in range(len(new)):
        one = new.subset([i])
        told = {found.tag: found.probability for found in explain(model, one, tags=model.tags)}
        assert list(told.values()) == model.probabilities(one)[0].tolist()


@pytest.mark.parametrize("calibration", ["platt", "isotonic"])
def test_curves_of_single_tags(calibration):
    recipe = Recipe("one-vs-all", {"C": 1.0, "kernel": "linear"}, calibration=calibration, seed=0)
    model = Annotator(recipe).fit(rows())
    new = rows(300, seed=1)
    assert contradictions(model.estimator_.predict_proba(model._rows(new)), model.tags) > 0
    probabilities = model.probabilities(new)
    assert contradictions(probabilities, model.tags) == 0
    np.testing.assert_allclose(probabilities, model.probabilities_of(model.scores(new)))


def test_without_probabilities_scores_stay():
    model = Annotator(OneVsAllSVM(C=1.0, kernel="linear")).fit(rows())
    new = rows(30, seed=1)
    np.testing.assert_array_equal(model.scores(new), model.estimator_.decision_function(model._rows(new)))
    assert model.probabilities(new) is None


def test_round_trip(model, tmp_path):
    model.save(tmp_path / "model", keep_rows=True)
    again = Annotator.load(tmp_path / "model")
    new = rows(50, seed=3)
    np.testing.assert_array_equal(again.scores(new), model.scores(new))
    assert {("jet", "vehicle"), ("jet", "plane")} < set(again.training_.implies)


def test_models_without_hierarchy_have_no_such_array(tmp_path):
    plain = rows().replaced(implies=())
    Annotator(OneVsAllSVM(C=1.0, kernel="linear")).fit(plain).save(tmp_path / "model")
    assert "implied" not in json.loads((tmp_path / "model" / "model.json").read_text())["arrays"]
    assert Annotator.load(tmp_path / "model").implied_.shape == (0, 2)


@pytest.mark.parametrize("pairs", [[[0, 4]], [[-1, 0]], [[2, 2]], [[0, 1, 2]], [0, 1], [[0.5, 1.0]]])
def test_a_hostile_hierarchy_is_refused(model, tmp_path, pairs):
    from copy import copy

    wrong = copy(model)
    wrong.implied_ = np.array(pairs)
    with pytest.raises(ModelFileError, match="implied"):
        wrong.save(tmp_path / "model")


def test_missing_tags_do_not_contradict_their_parents():
    given = rows()
    wanted = OneVsAllSVM(C=1.0, kernel="linear")
    free = hold_out(given.replaced(implies=()), wanted, folds=3)
    found = hold_out(given, wanted, folds=3)
    assert contradictions(free.probabilities, given.tags) > 0
    assert contradictions(found.probabilities, given.tags) == 0

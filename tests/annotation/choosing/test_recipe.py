"""One recipe: Python, `train` and `missing` choose alike, for pictures and for rows."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from tagrank import (
    Annotator,
    LabelPowerset,
    LabelRanker,
    OneVsAllLogistic,
    OneVsAllSVM,
    ProbabilityRanker,
    Recipe,
    RidgeRegression,
    draw_pictures,
    missing,
    train,
)
from tagrank.annotation.views import UnscaledRows
from tagrank.estimators.base import innermost_fitted
from tagrank.estimators.methods import METHODS, find_method
from tagrank.kernels import Gaussian, Power

pytestmark = pytest.mark.usefixtures("quick_words")


@pytest.fixture(scope="module")
def drawings():
    return draw_pictures(60, size=48, random_state=0)


def test_both_quick_starts_give_the_same_model_of_pictures(drawings):
    by_command = train(drawings, part="train", features="fast", cache=False).annotator
    in_python = Annotator(features="fast").fit(drawings.train)
    _assert_alike(by_command, in_python, drawings.test)
    assert isinstance(in_python.estimator_, ProbabilityRanker)
    power = in_python.choice_.chosen[0].power
    assert power in (1, 2, 4)
    assert isinstance(innermost_fitted(in_python.estimator_).kernel_, Power) == (power > 1)


def test_both_quick_starts_choose_the_same_features(drawings, monkeypatch):
    for place in ("tagrank.annotation.views", "tagrank.annotation.describing"):
        monkeypatch.setattr(f"{place}.usual_features", lambda: ["colour"])
    by_command = train(drawings, part="train", cache=False, C=1.0).annotator
    in_python = Annotator(Recipe(parameters={"C": 1.0})).fit(drawings.train)
    assert list(by_command.features_) == list(in_python.features_) == ["colour"]
    _assert_alike(by_command, in_python, drawings.test)


def test_both_give_the_same_model_of_rows(make_collection):
    collection = make_collection()
    _assert_alike(train(collection).annotator, Annotator().fit(collection), collection)


def _assert_alike(first, second, rows):
    assert first.tuning_ == second.tuning_
    np.testing.assert_allclose(first.scores(rows), second.scores(rows), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(first.probabilities(rows), second.probabilities(rows), rtol=1e-6)
    np.testing.assert_array_equal(first.predict(rows), second.predict(rows))


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_searches_the_space_of_its_entry(method, make_collection):
    annotator = Annotator(method.name).fit(make_collection())
    assert type(innermost_fitted(annotator.estimator_)) is method.load()
    if "C" in method.space:
        assert set(annotator.tuning_.costs) >= set(method.space["C"])
        assert annotator.tuning_.best() == innermost_fitted(annotator.estimator_).C
    else:
        assert annotator.tuning_ is None
    if others := method.space.keys() - {"C"}:
        chosen = annotator.choice_.chosen[0]
        assert chosen.parameters.keys() == others
        assert chosen.parameters.items() <= innermost_fitted(annotator.estimator_).get_params().items()
        tried = {tuple(one.parameters.values()) for one in annotator.choice_.trials}
        assert tried == set(product(*(method.space[name] for name in chosen.parameters)))


def test_missing_searches_the_same_space(make_collection):
    found = missing(make_collection(), folds=3, method="incomplete-label-ranker")
    assert set(found.choice.chosen[0].costs) >= set(find_method("incomplete-label-ranker").space["C"])


def test_what_is_given_is_not_chosen(make_collection):
    collection = make_collection()
    plain = Annotator(LabelRanker(C=3.0)).fit(collection)
    assert plain.tuning_ is None
    assert type(plain.estimator_) is LabelRanker
    given = Annotator(Recipe("one-vs-all", {"C": 0.5, "kernel": "linear"}, calibration=None)).fit(collection)
    assert given.tuning_ is None
    assert given.estimator_.get_params() | {"C": 0.5, "kernel": "linear"} == given.estimator_.get_params()


def test_a_power_of_the_kernel_may_be_given(make_collection):
    rows = make_collection()
    given = train(rows, method="one-vs-all", C=1.0, kernel_power=3).annotator
    by_hand = Annotator(Recipe("one-vs-all", {"C": 1.0, "kernel": Gaussian() ** 3})).fit(rows)
    assert isinstance(innermost_fitted(given.estimator_).kernel_, Power)
    assert np.allclose(given.scores(rows), by_hand.scores(rows), atol=1e-6)
    few = Annotator(Recipe("one-vs-all", kernel_power=3)).fit(rows.subset(slice(9)))
    assert isinstance(innermost_fitted(few.estimator_).kernel_, Power)


def test_few_rows_leave_nothing_to_hold_out(make_collection):
    annotator = Annotator().fit(make_collection(9))
    assert annotator.tuning_ is None
    assert type(annotator.estimator_) is LabelRanker


def test_a_single_tag_is_learned_by_its_likelihood(make_collection):
    collection = make_collection()
    single = collection.with_labels(collection.labels[:, :1], ["sea"])
    annotator = Annotator().fit(single)
    assert annotator.choice_.criterion == "log-likelihood"
    assert isinstance(
        innermost_fitted(annotator.estimator_),
        OneVsAllSVM | OneVsAllLogistic | RidgeRegression | LabelPowerset,
    )
    probabilities = annotator.probabilities(single)[:, 0]
    present = single.states()[:, 0] > 0
    assert probabilities[present].mean() > probabilities[~present].mean() + 0.3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"method": "label-rankr"}, "did you mean 'label-ranker'"),
        ({"parameters": {"costs": 1}}, "has no parameter costs"),
        ({"method": "label-frequency", "parameters": {"C": 1.0}}, "it has: none"),
        ({"method": "label-frequency", "kernel_power": 2}, "'label-frequency' has none"),
        ({"kernel_power": 0}, "kernel_power must be a positive integer"),
    ],
)
def test_wishes_that_cannot_be_met(arguments, words):
    with pytest.raises(ValueError, match=words):
        Recipe(**arguments)


def test_a_parameter_that_is_given_leaves_out_methods_without_it(make_collection):
    collection = make_collection()
    tried = {one.method for one in Annotator().fit(collection).choice_.trials}
    assert {"label-ranker", "ridge-regression", "label-powerset"} <= tried
    given = {one.method for one in Annotator(Recipe(parameters={"C": 1.0})).fit(collection).choice_.trials}
    assert given == tried - {"ridge-regression", "label-powerset"}


def test_costs_are_given_to_the_methods_that_have_them(make_collection):
    annotator = Annotator(costs=[0.3, 3.0]).fit(make_collection())
    costs = {one.method: one.costs for one in annotator.choice_.trials}
    assert costs["label-ranker"] == (0.3, 3.0)
    assert costs["ridge-regression"] == ()


@pytest.mark.parametrize(("n_pictures", "expected"), [(20, "alone"), (60, "both"), (250, "all")])
def test_few_pictures_are_read_by_their_embedding(n_pictures, expected):
    def feature(family):
        return SimpleNamespace(family=family, kernel="rbf")

    names = [str(i) for i in range(n_pictures)]
    views = {"network": np.ones((n_pictures, 2)), "colour": np.ones((n_pictures, 2))}
    features = {"network": feature("embedding"), "colour": feature("descriptor")}
    candidates = Recipe().candidates(UnscaledRows(views, names, features, {}), ["sea", "boat"])
    words = {group[0].kernel_words.startswith("embedding alone") for group in candidates.on_kernels}
    assert words == {"alone": {True}, "both": {True, False}, "all": {False}}[expected]
    for group in candidates.on_kernels:
        read = {part.view for part in (group[0].kernel or group[0].estimator.kernel).kernels}
        assert read == ({"network"} if group[0].kernel else {"network", "colour"})
    without = Recipe().candidates(
        UnscaledRows(views, names, dict.fromkeys(views, feature("other")), {}), ["a", "b"]
    )
    assert not any(group[0].kernel for group in without.on_kernels)

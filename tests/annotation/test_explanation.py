"""Explanations: their parts add up to the score that the model gives, and name the right pictures."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from tagrank.annotation import Annotator
from tagrank.annotation.explanation import BLIND, NEVER_PRESENT, NO_ROWS, NO_SUM, explain
from tagrank.data import Collection
from tagrank.estimators import CalibratedRanker, LabelFrequency, LabelRanker, OneVsAllSVM, ScoreSum
from tagrank.estimators.methods import METHODS
from tagrank.kernels import ChiSquared, Gaussian, Intersection, Linear, Polynomial, Sum

COLOUR, EDGES = Gaussian().on("colour"), Intersection().on("edges")
MODELS = {
    "ranker": ("dense", LabelRanker(random_state=0), {"features"}),
    "one against all": ("dense", OneVsAllSVM(fit_intercept=True, random_state=0), {"features"}),
    "calibrated": ("dense", CalibratedRanker(LabelRanker(random_state=0), random_state=0), {"features"}),
    "sum": ("views", LabelRanker(kernel=0.3 * COLOUR + EDGES, random_state=0), {"colour", "edges"}),
    "power": ("views", LabelRanker(kernel=(0.3 * COLOUR + EDGES) ** 3, random_state=0), {"colour", "edges"}),
    "calibrated sum": (
        "views",
        CalibratedRanker(OneVsAllSVM(kernel=COLOUR + 2.0 * EDGES, random_state=0), random_state=0),
        {"colour", "edges"},
    ),
    "nested sum": (
        "views",
        OneVsAllSVM(kernel=Sum((Sum((COLOUR, EDGES), (1.0, 3.0)), COLOUR), (0.5, 0.1)), random_state=0),
        {"colour", "edges"},
    ),
    "product": ("views", LabelRanker(kernel=COLOUR * EDGES, random_state=0), {"colour × edges"}),
    "side by side": ("views", LabelRanker(kernel="rbf", random_state=0), {"all"}),
    "columns": (
        "dense",
        LabelRanker(kernel=ChiSquared().on(slice(0, 3)) + Gaussian().on([4, 5]), random_state=0),
        {"columns 0:3", "columns 4, 5"},
    ),
    "linear": ("dense", OneVsAllSVM(kernel="linear", fit_intercept=True, random_state=0), {"features"}),
    "linear on views": ("views", LabelRanker(kernel="linear", random_state=0), {"colour", "edges"}),
    "sum of linear": (
        "views",
        LabelRanker(kernel=Linear().on("colour") + Polynomial(degree=2).on("edges"), random_state=0),
        {"colour", "edges"},
    ),
    "sparse": ("sparse", LabelRanker(kernel="intersection", random_state=0), {"features"}),
    "precomputed": ("precomputed", LabelRanker(kernel="precomputed", random_state=0), {"similarities"}),
}


def whole(explanation):
    """The score put together again from training pictures, and from features."""
    examples = sum(part.contribution for part in explanation.for_ + explanation.against)
    return (
        explanation.intercept + examples + explanation.others,
        explanation.intercept + sum(explanation.shares.values()),
    )


@pytest.fixture(scope="module", params=MODELS)
def case(request, make_collection):
    kind, estimator, features = MODELS[request.param]
    collection = make_collection(kind=kind)
    collection = replace(collection, names=[f"photo {i}" for i in range(len(collection))])
    return Annotator(estimator).fit(collection), collection, features


@pytest.mark.parametrize("n_examples", [0, 3, 1000])
def test_the_parts_add_up_to_the_score(case, n_examples):
    annotator, collection, features = case
    for i in (0, 7):
        row = collection.subset([i])
        explanations = explain(annotator, row, tags=collection.tags, n_examples=n_examples)
        scores = annotator.estimator_.decision_function(annotator._rows(row))[0]
        assert [explanation.score for explanation in explanations] == list(scores)
        for explanation in explanations:
            np.testing.assert_allclose(whole(explanation), explanation.score, rtol=1e-6)
            assert set(explanation.shares) == features
            assert len(explanation.for_) <= n_examples
            assert not explanation.note
            if n_examples == 1000:
                assert explanation.others == 0


def test_examples_are_those_that_contribute_most(make_collection):
    collection = make_collection()
    collection = replace(collection, names=[f"photo {i}" for i in range(len(collection))])
    annotator = Annotator(LabelRanker(kernel="rbf", gamma=0.3, random_state=0), scaling="none").fit(
        collection
    )
    (found,) = explain(annotator, collection.subset([4]), tags=["boat"], n_examples=2)
    X, coefficients = collection.view("features"), annotator.estimator_.dual_coef_[:, 1]
    contributions = np.exp(-0.3 * np.sum((X - X[4]) ** 2, axis=1)) * coefficients
    order = np.argsort(contributions)
    assert [part.name for part in found.for_] == [f"photo {i}" for i in order[:-3:-1]]
    assert [part.name for part in found.against] == [f"photo {i}" for i in order[:2]]
    np.testing.assert_allclose([part.contribution for part in found.for_], contributions[order[:-3:-1]])
    states = dict(zip(collection.names, collection.states()[:, 1], strict=True))
    for part in found.for_ + found.against:
        assert states[part.name] == (1 if part.present else -1)


def test_shares_are_those_of_each_kernel_alone(make_collection):
    collection = make_collection(kind="views")
    ranker = LabelRanker(kernel=0.25 * COLOUR + 0.75 * EDGES, random_state=0)
    annotator = Annotator(ranker, scaling="none").fit(collection)
    (found,) = explain(annotator, collection.subset([3]), tags=["street"])
    estimator = annotator.estimator_
    for (weight, kernel), view in zip(estimator.kernel_.terms, ("colour", "edges"), strict=True):
        rows = {view: collection.view(view)}
        K = kernel(rows, {view: collection.view(view)[[3]]})[:, 0]
        assert found.shares[view] == pytest.approx(weight * K @ estimator.dual_coef_[:, 2])


def test_given_tags_are_explained_best_first(fitted, collection):
    for i in range(5):
        ranked = fitted.annotate(collection.subset([i]))[0]
        explained = [explanation.tag for explanation in explain(fitted, collection.subset([i]))]
        assert explained == (ranked.predicted or ranked.tags[:1])


def test_single_precision(make_collection):
    collection = make_collection(kind="float32")
    annotator = Annotator(LabelRanker(random_state=0)).fit(collection)
    for explanation in explain(annotator, collection.subset([0]), tags=collection.tags, n_examples=1000):
        size = sum(abs(part.contribution) for part in explanation.for_ + explanation.against)
        np.testing.assert_allclose(whole(explanation), explanation.score, atol=1e-6 * size)


def test_names_after_loading(case, tmp_path):
    annotator, collection, _ = case
    annotator.save(tmp_path / "model")
    loaded = Annotator.load(tmp_path / "model")
    loaded.training_names_ = None
    row = collection.subset([2])
    before = explain(annotator, row, tags=["sea"])[0]
    after = explain(loaded, row, tags=["sea"])[0]
    np.testing.assert_allclose(whole(after), before.score, rtol=1e-6)
    np.testing.assert_allclose(list(after.shares.values()), list(before.shares.values()))
    if hasattr(loaded.estimator_, "coef_"):
        assert after.note == NO_ROWS
        assert after.for_ == after.against == ()
        return
    assert all(part.name.startswith("training picture ") for part in after.for_)
    inner = getattr(annotator.estimator_, "estimator_", annotator.estimator_)
    stored = inner.support_ if hasattr(inner, "X_fit_") else range(len(collection))
    loaded.training_names_ = [collection.names[i] for i in stored]
    named = explain(loaded, row, tags=["sea"])[0]
    assert [part.name for part in named.for_] == [part.name for part in before.for_]
    assert [part.present for part in named.against] == [part.present for part in before.against]


def test_tags_never_present_and_methods_that_do_not_look(make_collection):
    collection = make_collection()
    labels = np.array(collection.labels)
    labels[:, 1] = 0
    poor = Collection({"features": collection.view("features")}, labels, collection.tags)
    with pytest.warns(UserWarning, match="never present"):
        annotator = Annotator(LabelRanker(random_state=0)).fit(poor)
    never, seen = explain(annotator, poor.subset([0]), tags=["boat", "sea"])
    assert (never.note, never.for_, never.shares) == (NEVER_PRESENT, (), {})
    assert never.score == never.intercept < seen.score
    frequency = Annotator(LabelFrequency()).fit(collection)
    assert {found.note for found in explain(frequency, collection.subset([0]))} == {BLIND}


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_has_an_answer(make_collection, method):
    collection = make_collection()
    found = explain(Annotator(method.load()()).fit(collection), collection.subset([0]))
    assert all(np.isfinite(one.score) for one in found)
    is_sum = {one.note for one in found} <= {"", NEVER_PRESENT, NO_ROWS}
    assert is_sum or {one.note for one in found} <= {BLIND, NO_SUM}


def test_plain_json(fitted, collection):
    (found,) = explain(fitted, collection.subset([0]), tags=["sea"], n_examples=2)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["tag"] == "sea"
    assert plain["score"] == found.score
    assert plain["for"][0] == {
        "name": found.for_[0].name,
        "contribution": found.for_[0].contribution,
        "present": found.for_[0].present,
    }


def test_bad_requests_are_named(fitted, collection):
    with pytest.raises(ValueError, match="expected one picture to explain, got 36"):
        explain(fitted, collection)
    with pytest.raises(ValueError, match="no tag 'seas'"):
        explain(fitted, collection.subset([0]), tags=["seas"])
    with pytest.raises(ValueError, match="n_examples"):
        explain(fitted, collection.subset([0]), n_examples=-1)


def test_rows_in_other_forms(fitted, collection):
    row = collection.view("features")[[5]]
    expected = explain(fitted, collection.subset([5]), tags=["sea"])
    assert explain(fitted, row, tags=["sea"]) == expected
    loose = explain(fitted, {"features": sparse.csr_array(row)}, tags=["sea"])[0]
    assert loose.score == pytest.approx(fitted.scores({"features": sparse.csr_array(row)})[0, 0])


def test_a_sum_of_two_models_is_called_by_both():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    Y = (X > 0).astype(float)
    both = ScoreSum(LabelRanker(), OneVsAllSVM())
    annotator = Annotator(both).fit(Collection({"x": X}, Y, ["a", "b", "c"]))
    assert annotator.metadata["method"] == "LabelRanker + OneVsAllSVM"

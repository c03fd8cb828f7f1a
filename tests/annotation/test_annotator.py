"""Annotator: what it takes in, how it scales, whom it warns; RankedTags and their order."""

import re

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from scipy import sparse
from sklearn.exceptions import NotFittedError

from tagrank.annotation import Annotator, RankedTag
from tagrank.annotation.ranked_tags import rank_tags
from tagrank.data import Collection
from tagrank.data.drawn_pictures import draw_pictures
from tagrank.estimators import LabelFrequency, LabelRanker, OneVsAllSVM, ProbabilityRanker
from tagrank.features import PRESETS, extract_features
from tagrank.kernels import ChiSquared, Gaussian, Power, Sum
from tagrank.metrics import image_auc

pytestmark = pytest.mark.usefixtures("quick_words")


@pytest.fixture(scope="module")
def drawings():
    return draw_pictures(60, size=48)


@pytest.fixture(scope="module")
def picture_annotator(drawings):
    return Annotator(features="fast").fit(drawings.train)


def test_pictures_become_ranked_tags(drawings, picture_annotator):
    test = drawings.test
    assert isinstance(picture_annotator.estimator_, ProbabilityRanker)
    kernel = picture_annotator.estimator_.estimator_.kernel_
    kernel = kernel.kernel if isinstance(kernel, Power) else kernel
    assert isinstance(kernel, Sum)
    assert kernel.weights == (0.25,) * 4
    assert [type(part.kernel) for part in kernel.kernels] == [ChiSquared, ChiSquared, Gaussian, ChiSquared]
    frequency = Annotator(LabelFrequency()).fit(drawings.train)
    assert (
        image_auc(test.Y, picture_annotator.scores(test)) > image_auc(test.Y, frequency.scores(test)) + 0.02
    )
    ranked = picture_annotator.annotate(test)
    assert [row.name for row in ranked] == test.names
    assert all(sorted(row.tags) == sorted(drawings.tags) for row in ranked)
    probabilities, predicted = picture_annotator.probabilities(test), picture_annotator.predict(test)
    for i, row in enumerate(ranked):
        for tag, _, probability, given in row:
            assert probability == probabilities[i, drawings.tags.index(tag)]
            assert given == predicted[i, drawings.tags.index(tag)]


def test_pictures_in_every_form(drawings, picture_annotator, tmp_path):
    images = drawings.test.X[:3]
    paths = [tmp_path / f"{i}.png" for i in range(3)]
    for image, path in zip(images, paths, strict=True):
        Image.fromarray(image).save(path)
    expected = picture_annotator.scores(drawings.test)[:3]
    extracted = extract_features(images)
    for data in (images, list(images), paths, list(map(str, paths)), extracted, {"photos": paths}):
        np.testing.assert_allclose(picture_annotator.scores(data), expected, atol=1e-5)
    np.testing.assert_allclose(
        picture_annotator.scores(np.hstack(list(extracted.values()))), expected, atol=1e-5
    )
    assert [row.name for row in picture_annotator.annotate(paths)] == [str(path) for path in paths]
    assert picture_annotator.annotate(images)[1].name == "picture 1"
    np.testing.assert_allclose(picture_annotator.scores(images[0]), expected[:1], atol=1e-5)


def test_one_descriptor_and_kernels_by_name(drawings):
    colour = Annotator(LabelRanker(kernel="rbf"), features=["colour"]).fit(drawings.train)
    assert list(colour.columns_) == ["colour"]
    assert isinstance(colour.estimator_.kernel_, Gaussian)
    both = Annotator(LabelRanker(kernel="chi2", gamma=0.5), features="fast").fit(drawings.train)
    assert both.estimator_.kernel_.kernels == tuple(ChiSquared(0.5).on(name) for name in PRESETS["fast"])
    linear = Annotator(OneVsAllSVM(kernel="linear"), features="fast").fit(drawings.train)
    assert linear.estimator_.coef_.shape[1] == sum(linear.columns_.values())
    with pytest.raises(ValueError, match="no features 'shape'"):
        Annotator(features=["shape"]).fit(drawings.train)


def test_rows_in_every_form(make_collection):
    collection = make_collection()
    annotator = Annotator(LabelRanker()).fit(collection)
    expected = annotator.scores(collection)
    X = collection.X
    for data in (X, X.tolist(), pd.DataFrame(X), {"features": X}, {"other": X}):
        np.testing.assert_allclose(annotator.scores(data), expected, atol=1e-12)
    with pytest.raises(
        ValueError, match=r"view 'features' must have 7 columns, as in training, got shape \(36, 6\)"
    ):
        annotator.scores(X[:, :6])
    with pytest.raises(ValueError, match=r"expected the views features \(7 columns\), got a, b"):
        annotator.scores({"a": X, "b": X})
    with pytest.raises(ValueError, match="view 'features' contains NaN"):
        annotator.scores(np.full((2, 7), np.nan))


def test_a_chosen_view_is_the_only_one_read(make_collection):
    collection = make_collection(kind="views")
    chosen = Annotator(LabelRanker(random_state=0), view="colour").fit(collection)
    alone = Annotator(LabelRanker(random_state=0)).fit(
        Collection({"colour": collection.view("colour")}, collection.labels)
    )
    np.testing.assert_array_equal(chosen.scores(collection), alone.scores(collection.view("colour")))
    with pytest.raises(ValueError, match="no view 'shape' in the data; there are: colour, edges"):
        Annotator(view="shape").fit(collection)


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize(
    ("scaling", "kernel", "expected"),
    [
        ("auto", "rbf", standardised),
        ("auto", "linear", standardised),
        ("auto", "chi2", lambda X: X),
        ("standard", "rbf", standardised),
        ("minmax", "chi2", lambda X: (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))),
        ("none", "rbf", lambda X: X),
    ],
)
def test_columns_are_scaled_for_their_kernel(scaling, kernel, expected, make_collection):
    collection = make_collection()
    collection = Collection({"x": collection.X * 10.0 ** np.arange(7)}, collection.labels, collection.tags)
    annotator = Annotator(LabelRanker(kernel=kernel, random_state=0), scaling=scaling).fit(collection)
    plain = LabelRanker(kernel=kernel, random_state=0).fit(expected(collection.X), collection.labels)
    np.testing.assert_allclose(
        annotator.scores(collection), plain.decision_function(expected(collection.X)), atol=1e-9
    )


def test_scaling_looks_at_what_each_kernel_reads(make_collection):
    collection = make_collection()
    kernel = Gaussian().on([0, 1, 2]) + ChiSquared().on(slice(2, 5))
    scaler = Annotator(LabelRanker(kernel=kernel)).fit(collection).scalers_["features"]
    assert (scaler.width != 1).tolist() == [True, True, False, False, False, True, True]
    by_view = Gaussian().on("colour") + ChiSquared().on("edges")
    scalers = Annotator(LabelRanker(kernel=by_view)).fit(make_collection(kind="views")).scalers_
    assert scalers["colour"] is not None
    assert scalers["edges"] is None
    assert Annotator(LabelRanker()).fit(make_collection(kind="sparse")).scalers_["features"] is None


def test_constant_columns_and_values_outside_the_range(make_collection):
    collection = make_collection()
    X = np.hstack([collection.X, np.full((36, 1), 0.1)])
    for scaling in ("standard", "minmax"):
        kernel = "chi2" if scaling == "minmax" else "rbf"
        annotator = Annotator(LabelRanker(kernel=kernel), scaling=scaling).fit(
            Collection({"x": X}, collection.labels)
        )
        assert np.isfinite(annotator.scores(np.vstack([X[:2] - 5, X[:2] + 5]))).all()
    sparse_rows = Collection({"x": sparse.csr_array(X)}, collection.labels)
    scaled = Annotator(LabelRanker(), scaling="standard").fit(sparse_rows).estimator_.X_fit_
    np.testing.assert_allclose(scaled.toarray()[:, :7], X[:, :7] / X[:, :7].std(axis=0), rtol=1e-9)


def test_tags_never_present_come_last_and_are_named(make_collection):
    collection = make_collection()
    labels = collection.labels.copy()
    labels[:, 1] = 0
    for estimator in (LabelRanker(), OneVsAllSVM(kernel="linear"), LabelFrequency()):
        with pytest.warns(UserWarning, match="1 of 4 tags are never present in training .*: boat") as caught:
            annotator = Annotator(estimator).fit(collection.with_labels(labels))
        assert len(caught) == 1
        assert all(row.tags[-1] == "boat" for row in annotator.annotate(collection))


def test_weights_by_tag_name(make_collection):
    collection = make_collection()
    annotator = Annotator(OneVsAllSVM(class_weight={"boat": 3.0}, C=0.2, random_state=0), scaling="none")
    scores = annotator.fit(collection).scores(collection)
    costs = np.tile([1.0, 3.0, 1.0, 1.0], (36, 1))
    plain = OneVsAllSVM(C=0.2, random_state=0).fit(collection.X, collection.labels, sample_weight=costs)
    np.testing.assert_array_equal(scores, plain.decision_function(collection.X))
    assert annotator.estimator.class_weight == {"boat": 3.0}
    with pytest.raises(ValueError, match=r"does not have: \['ship'\]"):
        Annotator(LabelRanker(class_weight={"ship": 1.0})).fit(collection)


def test_bad_use(make_collection):
    collection = make_collection()
    with pytest.raises(ValueError, match="not fitted yet"):
        Annotator().annotate(collection)
    with pytest.raises(ValueError, match="scaling must be one of"):
        Annotator(scaling="log").fit(collection)
    annotator = Annotator(LabelFrequency()).fit(collection)
    with pytest.raises(ValueError, match="n_tags must be at least 1, or None for all, got 0"):
        annotator.annotate(collection, n_tags=0)
    annotator.estimator = LabelRanker(C=-1)
    with pytest.raises(ValueError, match="C must be a positive number"):
        annotator.fit(collection)
    with pytest.raises(ValueError, match="not fitted yet"):
        annotator.annotate(collection)
    with pytest.raises(ValueError, match="no tags to learn from"):
        Annotator().fit(Collection({"x": collection.X}))


def test_nothing_is_asked_of_an_annotator_that_learned_nothing(collection):
    for method in (Annotator().scores, Annotator().predict, Annotator().probabilities, Annotator().annotate):
        with pytest.raises(NotFittedError, match=r"not fitted yet: call fit\(pictures, tags\)"):
            method(collection)


@pytest.mark.parametrize(("given", "example"), [(3, "LabelRanker()"), (OneVsAllSVM, "OneVsAllSVM()")])
def test_something_else_than_an_estimator(collection, given, example):
    with pytest.raises(TypeError, match=re.escape(f"must be a tagrank estimator such as {example}, ")):
        Annotator(given).fit(collection)


def test_a_misspelt_method(collection):
    with pytest.raises(ValueError, match=r"no method 'label-rankr'; did you mean 'label-ranker'"):
        Annotator("label-rankr").fit(collection)


def test_one_row_and_one_tag_are_enough():
    one = Collection({"x": np.array([[1.0, 2.0]])}, [{"sea"}])
    with pytest.warns(UserWarning, match="there is nothing to rank"):
        annotator = Annotator().fit(one)
    assert annotator.annotate(one)[0].tags == ["sea"]


def test_progress_is_reported(make_collection):
    points = []
    Annotator(LabelRanker()).fit(make_collection(), callback=points.append)
    assert points
    assert points[-1].gap <= 1e-3


def test_the_given_estimator_stays_untouched(drawings):
    estimator = LabelRanker(kernel="chi2")
    Annotator(estimator).fit(drawings.train)
    assert estimator.kernel == "chi2"
    assert not hasattr(estimator, "dual_coef_")


def test_ranking_order_and_ties():
    scores = np.array([[0.5, 2.0, 0.5, 9.0], [1.0, 1.0, 1.0, 1.0]])
    ranked = rank_tags(
        scores,
        ["a", "b", "c", "never"],
        names=["x", "y"],
        predicted=scores > 1,
        last=np.array([False, False, False, True]),
    )
    assert [row.tags for row in ranked] == [["b", "a", "c", "never"], ["a", "b", "c", "never"]]
    assert ranked[0].predicted == ["b", "never"]
    assert ranked[0].top(2).tags == ["b", "a"]
    assert next(iter(ranked[0])) == RankedTag("b", 2.0, None, True)
    assert ranked[0].top(1).to_dict() == {
        "name": "x",
        "tags": [{"tag": "b", "score": 2.0, "probability": None, "predicted": True}],
    }
    with pytest.raises(AttributeError):
        ranked[0].name = "z"

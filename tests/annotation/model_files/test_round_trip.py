"""Every estimator with every kernel on every kind of rows answers the same after saving and loading."""

import json
import shutil
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.utils import get_tags

from tagrank.annotation import Annotator
from tagrank.data import Collection
from tagrank.data.drawn_pictures import draw_pictures
from tagrank.estimators import (
    CalibratedRanker,
    CanonicalCorrelation,
    LabelCompletion,
    LabelFrequency,
    LabelRanker,
    LabelTransfer,
    MultipleKernelRanker,
    OneVsAllSVM,
    ProbabilityRanker,
    RelevanceModel,
    ScoreSum,
    TagPropagation,
)
from tagrank.estimators.methods import METHODS
from tagrank.features import Feature
from tagrank.kernels import ChiSquared, Gaussian, Hellinger, Intersection, Linear, Polynomial

KERNELS = {
    "linear": "linear",
    "poly": "poly",
    "rbf": "rbf",
    "chi2": "chi2",
    "intersection": "intersection",
    "hellinger": "hellinger",
    "whole vector": ChiSquared(whole_vector=True),
    "sum": Gaussian() + 0.5 * ChiSquared(),
    "power": (Gaussian() + 0.5 * ChiSquared()) ** 3,
    "product": Gaussian(gamma=0.7) * Polynomial(degree=2),
    "columns": Linear().on(slice(0, 3)) + Intersection().on([3, 5]) + Hellinger().on(6),
    "unit diagonal": (Polynomial() + Linear()).unit_diagonal(),
    "unit trace": Gaussian().unit_trace() + Intersection().unit_trace(),
}
ESTIMATORS = {
    "OneVsAllSVM": lambda kernel: OneVsAllSVM(kernel=kernel, fit_intercept=True, class_weight={1: 2.0}),
    "LabelRanker": lambda kernel: LabelRanker(kernel=kernel, random_state=3, C=2),
}


def check_round_trip(annotator, data, folder, **options):
    annotator.save(folder, **options)
    loaded = Annotator.load(folder)
    assert loaded.annotate(data) == annotator.annotate(data)
    np.testing.assert_array_equal(loaded.scores(data), annotator.scores(data))
    np.testing.assert_array_equal(loaded.predict(data), annotator.predict(data))
    assert loaded.tags == annotator.tags
    assert loaded.metadata == annotator.metadata
    return loaded


@pytest.mark.parametrize("kind", ["dense", "float32", "sparse"])
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel(kernel, name, kind, make_collection, tmp_path):
    annotator = Annotator(ESTIMATORS[name](KERNELS[kernel])).fit(make_collection(kind=kind))
    loaded = check_round_trip(annotator, make_collection(9, kind=kind, seed=1), tmp_path / "model")
    assert loaded.estimator_.get_params() == annotator.estimator_.get_params()
    assert loaded.estimator_.kernel_ == annotator.estimator_.kernel_
    assert loaded.estimator_.trace_ == annotator.estimator_.trace_
    assert loaded.estimator_.duality_gap_ == annotator.estimator_.duality_gap_


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize(
    "kernel", ["rbf", Gaussian().on("colour") + Linear().on("edges").unit_trace()], ids=str
)
def test_several_views(name, kernel, make_collection, tmp_path):
    annotator = Annotator(ESTIMATORS[name](kernel)).fit(make_collection(kind="views"))
    check_round_trip(annotator, make_collection(9, kind="views", seed=1), tmp_path / "model", keep_rows=True)


def test_of_rows_that_are_kept_only_those_are_that_the_model_reads(make_collection, tmp_path):
    collection = make_collection(kind="views")
    annotator = Annotator(LabelRanker(kernel=Gaussian().on("colour"), random_state=0)).fit(collection)
    loaded = check_round_trip(annotator, make_collection(9, kind="views"), tmp_path / "model", keep_rows=True)
    assert list(loaded.training_.views) == ["colour"]


@pytest.mark.parametrize(
    ("method", "strategy"),
    [("platt", "f1"), ("platt", "top_k"), ("platt", None), ("isotonic", "cardinality"), (None, "global")],
)
def test_calibration(method, strategy, make_collection, tmp_path):
    inner = OneVsAllSVM(kernel="linear", C=0.1, tol=0.01, random_state=0)
    estimator = CalibratedRanker(inner, method=method, strategy=strategy, n_tags=2, random_state=0)
    annotator = Annotator(estimator).fit(make_collection(120))
    data = make_collection(9, seed=1)
    loaded = check_round_trip(annotator, data, tmp_path / "model")
    if method is None:
        assert loaded.probabilities(data) is None
    else:
        np.testing.assert_array_equal(loaded.probabilities(data), annotator.probabilities(data))
    np.testing.assert_array_equal(loaded.estimator_.thresholds_, annotator.estimator_.thresholds_)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("completeness", [None, 0.6])
def test_one_probability_of_two_models(kernel, completeness, make_collection, tmp_path):
    both = [kind(kernel=kernel, random_state=0) for kind in (LabelRanker, OneVsAllSVM)]
    estimator = ProbabilityRanker(
        ScoreSum(*both, first_weight=2.0), completeness=completeness, random_state=0
    )
    annotator = Annotator(estimator).fit(make_collection(120))
    data = make_collection(9, seed=1)
    loaded = check_round_trip(annotator, data, tmp_path / "model")
    np.testing.assert_array_equal(loaded.probabilities(data), annotator.probabilities(data))
    found, before = loaded.estimator_, annotator.estimator_
    assert (found.threshold_, found.completeness_) == (before.threshold_, before.completeness_)
    assert found.quality_ == before.quality_
    rows = loaded._rows(data)
    np.testing.assert_allclose(found.estimator_.first_scores(rows), before.estimator_.first_scores(rows))
    check_round_trip(loaded, data, tmp_path / "again")


def test_label_frequency(collection, tmp_path):
    check_round_trip(Annotator(LabelFrequency()).fit(collection), collection, tmp_path / "model")


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method(method, make_collection, tmp_path):
    annotator = Annotator(method.load()()).fit(make_collection())
    loaded = check_round_trip(annotator, make_collection(9, seed=1), tmp_path / "model")
    assert loaded.estimator_.get_params() == annotator.estimator_.get_params()


PUBLISHED = {
    "TagProp SD": lambda kernel: TagPropagation(
        kernel=kernel, variant="SD", neighborhood="turns", n_neighbors=9
    ),
    "TagProp sigma-ML": lambda kernel: TagPropagation(kernel=kernel, targets="labels", n_neighbors=9),
    "JEC": lambda kernel: LabelTransfer(kernel=kernel, distance_unit="largest", weighting="lasso"),
    "CCA": lambda kernel: CanonicalCorrelation(kernel=kernel, classifier="svm"),
    "FastTag": lambda kernel: LabelCompletion(kernel=kernel, n_layers=2, rare_recall=0.5),
    "spherical": lambda kernel: MultipleKernelRanker(
        kernel=kernel, normalization="spherical", random_state=0
    ),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_forms(name, make_collection, tmp_path):
    annotator = Annotator(PUBLISHED[name](Gaussian().on("colour") + Linear().on("edges")))
    annotator.fit(make_collection(kind="views"))
    check_round_trip(annotator, make_collection(9, kind="views", seed=1), tmp_path / "model")


def test_parts_of_rows(tmp_path):
    rng = np.random.default_rng(0)
    rows = Collection({"x": rng.random((20, 6))}, (rng.random((20, 3)) < 0.5).astype(float))
    annotator = Annotator(RelevanceModel(n_regions=3)).fit(rows)
    loaded = check_round_trip(annotator, rows, tmp_path / "model")
    estimator = loaded.estimator_
    with pytest.raises(ValueError, match="n_regions must divide the number of columns, got 4 for 6"):
        estimator.set_params(n_regions=4).restore(annotator.estimator_.stored_state())


def test_curves_that_do_not_fit_the_variant_are_refused(make_collection):
    estimator = TagPropagation(n_neighbors=9).fit(make_collection().X, make_collection().Y)
    state = estimator.stored_state()
    with pytest.raises(ValueError, match="curves of labels do not fit the variant 'ML'"):
        TagPropagation(variant="ML").restore(state)


def test_weights_of_distances_that_are_all_zero_are_refused(make_collection):
    kernel = Gaussian().on("colour") + Linear().on("edges")
    rows = make_collection(kind="views")
    estimator = LabelTransfer(kernel=kernel).fit(rows.views, rows.Y)
    state = estimator.stored_state()
    with pytest.raises(ValueError, match="one of the weights of the distances must be above zero"):
        LabelTransfer(kernel=kernel).restore(state | {"weights_": np.zeros(2)})


def test_an_estimator_of_ones_own_cannot_be_stored(collection, tmp_path):
    class Own(LabelFrequency):
        pass

    with pytest.raises(TypeError, match="Own cannot be stored in a model folder; CalibratedRanker"):
        Annotator(Own()).fit(collection).save(tmp_path / "model")


@pytest.mark.parametrize("scaling", ["standard", "minmax", "none"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_scaling(scaling, kind, make_collection, tmp_path):
    annotator = Annotator(LabelRanker(kernel="rbf"), scaling=scaling).fit(make_collection(kind=kind))
    loaded = check_round_trip(annotator, make_collection(9, kind=kind, seed=1), tmp_path / "model")
    assert loaded.scaling == scaling


def test_precomputed_similarities(make_collection, tmp_path):
    rows = make_collection().X
    annotator = Annotator(LabelRanker(kernel="precomputed")).fit(make_collection(kind="precomputed"))
    assert get_tags(annotator.estimator_).input_tags.pairwise
    new = make_collection(5, seed=1).X
    loaded = check_round_trip(annotator, new @ rows.T, tmp_path / "model")
    with pytest.raises(
        ValueError, match=r"without their similarities to the 36 training rows, got shape \(5, 7\)"
    ):
        loaded.annotate(new)


def test_only_support_vectors_are_stored(make_collection, tmp_path):
    collection = make_collection(60)
    annotator = Annotator(OneVsAllSVM(kernel="rbf", C=0.05, class_weight={0: 0.0})).fit(collection)
    n_support = len(annotator.estimator_.support_)
    assert 0 < n_support < 60
    loaded = check_round_trip(annotator, collection, tmp_path / "model")
    assert loaded.estimator_.X_fit_.shape == (n_support, 7)
    assert loaded.training_ is None


def test_a_linear_model_stores_its_weights_only(collection, tmp_path):
    Annotator(OneVsAllSVM(kernel="linear")).fit(collection).save(tmp_path / "model")
    arrays = json.loads((tmp_path / "model" / "model.json").read_text())["arrays"]
    assert "estimator.coef" in arrays
    assert not {"estimator.rows", "estimator.dual_coef"} & set(arrays)


@pytest.mark.parametrize("kind", ["dense", "sparse", "views"])
def test_kept_rows_train_again(kind, make_collection, tmp_path):
    collection = make_collection(kind=kind)
    annotator = Annotator(LabelRanker(random_state=0)).fit(collection)
    loaded = check_round_trip(annotator, collection, tmp_path / "model", keep_rows=True)
    again = Annotator(LabelRanker(random_state=0)).fit(loaded.training_)
    np.testing.assert_allclose(again.scores(collection), annotator.scores(collection), atol=1e-12)
    loaded.save(tmp_path / "copy", keep_rows=True)


def test_rows_that_were_not_kept_cannot_be_kept_later(collection, tmp_path):
    Annotator(LabelFrequency()).fit(collection).save(tmp_path / "model")
    with pytest.raises(ValueError, match="loaded without its training rows"):
        Annotator.load(tmp_path / "model").save(tmp_path / "copy", keep_rows=True)
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize("inside", [True, False])
def test_zip_of_the_folder(inside, fitted, collection, model_folder, tmp_path):
    root, base = (tmp_path, "model") if inside else (model_folder, ".")
    archive = shutil.make_archive(str(tmp_path / "packed"), "zip", root, base)
    assert Annotator.load(archive).annotate(collection) == fitted.annotate(collection)


def test_metrics_and_names_survive(collection, tmp_path):
    annotator = Annotator(LabelFrequency()).fit(collection)
    annotator.metadata["metrics"] = {"image_auc": np.float64(0.5), "undefined": np.nan, "n": np.int64(3)}
    annotator.save(tmp_path / "été")
    metrics = Annotator.load(tmp_path / "été").metadata["metrics"]
    assert metrics == {"image_auc": 0.5, "undefined": None, "n": 3}


def test_no_support_vectors_at_all(make_collection, tmp_path):
    collection = make_collection().with_labels(np.full((36, 4), np.nan))
    with pytest.warns(UserWarning, match="4 of 4 tags are never present"):
        annotator = Annotator(OneVsAllSVM(kernel="rbf")).fit(collection)
    check_round_trip(annotator, collection, tmp_path / "model")


def test_features_of_ones_own_cannot_be_stored(tmp_path):
    @dataclass(frozen=True)
    class Brightness(Feature):
        def describe(self, picture):
            return np.array([picture.grey.mean()], np.float32)

    drawn = draw_pictures(40, size=32)
    features = {"brightness": Brightness()}
    rows = {"brightness": np.array([Brightness()(image) for image in drawn.view("pictures")])}
    collection = Collection({"pictures": drawn.view("pictures"), **rows}, drawn.labels, drawn.tags)
    annotator = Annotator(LabelRanker(), features=features).fit(collection)
    with pytest.raises(TypeError, match="of the class Brightness, which is not one of tagrank's"):
        annotator.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()

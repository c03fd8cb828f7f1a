"""Models that weigh several sets of features: stored, opened, explained."""

import numpy as np
import pytest

from tagrank.annotation import Annotator, explain
from tagrank.data import Collection
from tagrank.estimators import MultipleKernelRanker, MultipleKernelSVM, SharedKernelSVM
from tagrank.kernels import Gaussian

EVERY = [MultipleKernelRanker, SharedKernelSVM, MultipleKernelSVM]


@pytest.fixture(scope="module")
def collection():
    rng = np.random.default_rng(0)
    views = {name: rng.normal(size=(60, 2)) for name in ("place", "colour", "noise")}
    Y = np.column_stack([views["place"][:, 0] > 0, views["place"][:, 0] <= 0.2, views["colour"][:, 1] > 0.3])
    return Collection(views, Y.astype(float), ["left", "right", "red"])


def annotator(Estimator, **parameters):
    kernels = [Gaussian().on(name) for name in ("place", "colour", "noise")]
    return Annotator(Estimator(kernel=kernels, random_state=0, **parameters))


@pytest.mark.parametrize("Estimator", EVERY)
def test_a_stored_model_answers_alike(Estimator, collection, tmp_path):
    model = annotator(Estimator, kernel_costs=[1, 2, 3]).fit(collection)
    model.save(tmp_path / "model")
    opened = Annotator.load(tmp_path / "model")
    np.testing.assert_allclose(opened.scores(collection), model.scores(collection))
    before, after = model.estimator_, opened.estimator_
    assert after.kernel_names_ == ["place", "colour", "noise"]
    np.testing.assert_array_equal(after.kernel_weights_, before.kernel_weights_)
    np.testing.assert_array_equal(after.trace_[-1].weights, before.trace_[-1].weights)
    assert after.kernel_costs == [1, 2, 3]


def test_weights_that_were_given_are_stored(collection, tmp_path):
    model = annotator(MultipleKernelRanker, weights=[0.7, 0.3, 0.0]).fit(collection)
    model.save(tmp_path / "model")
    opened = Annotator.load(tmp_path / "model")
    assert opened.estimator_.weights == [0.7, 0.3, 0.0]
    assert set(opened.estimator_.X_fit_) == {"place", "colour"}


@pytest.mark.parametrize("Estimator", EVERY)
def test_a_score_is_split_by_kernel(Estimator, collection):
    model = annotator(Estimator, weights=[0.7, 0.3, 0.0]).fit(collection)
    one = collection.subset([0])
    for found in explain(model, one, tags=collection.tags, n_examples=2):
        assert set(found.shares) == {"place", "colour"}
        np.testing.assert_allclose(sum(found.shares.values()) + found.intercept, found.score, atol=1e-5)
        told = sum(part.contribution for part in (*found.for_, *found.against)) + found.others
        np.testing.assert_allclose(told + found.intercept, found.score, atol=1e-5)


def test_the_score_of_a_label_is_split_by_its_own_weights(collection):
    model = annotator(MultipleKernelSVM, weights="best", C=10).fit(collection)
    one = collection.subset([0])
    left, _, red = explain(model, one, tags=collection.tags)
    assert abs(left.shares["colour"]) < 1e-12 < abs(left.shares["place"])
    assert abs(red.shares["place"]) < 1e-12 < abs(red.shares["colour"])

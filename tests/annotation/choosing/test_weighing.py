"""Sets of features are weighed before a model is chosen."""

import numpy as np
import pytest

from tagrank import Annotator, LabelRanker, MultipleKernelRanker, draw_pictures
from tagrank.annotation.choosing import Candidate, Candidates, Recipe, choose, steps
from tagrank.estimators.base import innermost_fitted
from tagrank.kernels import Gaussian, Sum, make_kernel
from tagrank.kernels.structure import views_of


def make_candidates(views):
    kernel = Sum(tuple(Gaussian().on(name) for name in views), (1 / len(views),) * len(views))
    candidate = Candidate("label-ranker", "ranker", LabelRanker(kernel=kernel, random_state=0), [1.0, 3.0])
    weigher = MultipleKernelRanker(3.0, kernel=kernel, weights="held-out", power=2, tol=2e-2, random_state=0)
    kernels = [{"kernel_words": "plain"}, {"kernel_words": "squared", "power": 2}]
    return Candidates(None, [[candidate._replace(**kernel)] for kernel in kernels], weigher=weigher)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    views = {name: rng.normal(size=(300, 3)) for name in ("place", "noise", "more noise")}
    centre = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1]])
    return views, (views["place"] @ centre.T > 0.6).astype(float)


def test_noise_has_no_weight_and_is_not_kept(rows):
    views, labels = rows
    chosen = choose(make_candidates(views), views, labels)
    found = chosen.choice.weighing
    assert found.names == ("place", "noise", "more noise")
    assert found.weights[0] > 0.7
    np.testing.assert_allclose(found.path[0], 1 / 3)
    model = chosen.estimator.fit(chosen.rows, labels)
    read = {name for name, weight in zip(found.names, found.weights, strict=True) if weight > 0}
    assert set(model.X_fit_) == read == views_of(make_kernel(model.kernel))
    direct = LabelRanker(model.C, kernel=model.kernel, random_state=0).fit(views, labels)
    assert set(direct.X_fit_) == read
    np.testing.assert_allclose(model.decision_function(views), direct.decision_function(views), atol=5e-2)


def test_few_rows_are_not_weighed(rows):
    views, labels = rows
    few = {name: values[:150] for name, values in views.items()}
    chosen = choose(make_candidates(views), few, labels[:150])
    assert chosen.choice.weighing is None
    assert make_kernel(chosen.estimator.kernel).terms


def test_pictures_are_weighed_by_themselves(monkeypatch):
    monkeypatch.setattr(steps, "FEWEST_TO_WEIGH", 20)
    drawn = draw_pictures(70, size=32, random_state=0)
    annotator = Annotator(
        Recipe("label-ranker"), features=["colour", "edges", "gist"], costs=[1.0], powers=[1]
    )
    annotator.fit(drawn)
    found = annotator.choice_.weighing
    read = [name for name, weight in zip(found.names, found.weights, strict=True) if weight > 0]
    assert found.names == ("colour", "edges", "gist")
    assert list(annotator.features_) == list(annotator.columns_) == read
    assert set(innermost_fitted(annotator.estimator_).X_fit_) == set(read)
    assert len(annotator.annotate(drawn.view("pictures")[:2])) == 2


@pytest.mark.parametrize(
    ("method", "parameters", "features"),
    [
        ("label-ranker", {"kernel": "rbf"}, ["colour", "edges"]),
        ("multiple-kernel-ranker", {}, ["colour", "edges"]),
        ("label-ranker", {}, ["colour"]),
    ],
)
def test_what_is_given_is_not_weighed(method, parameters, features, monkeypatch):
    monkeypatch.setattr(steps, "FEWEST_TO_WEIGH", 20)
    recipe = Recipe(method, parameters, calibration=None)
    annotator = Annotator(recipe, features=features, costs=[1.0], powers=[1])
    annotator.fit(draw_pictures(40, size=32, random_state=0))
    assert annotator.choice_.weighing is None

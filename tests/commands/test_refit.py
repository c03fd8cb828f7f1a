"""After measuring on rows that were held out, what was chosen is trained on everything."""

import numpy as np
import pytest
from scipy import sparse

from tagrank import Collection, draw_pictures, train
from tagrank.annotation import Annotator
from tagrank.annotation.choosing import Recipe


@pytest.fixture
def collection():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    Y = (X @ rng.normal(size=(5, 4)) + 0.3 * rng.normal(size=(120, 4)) > 0.5).astype(float)
    return Collection({"x": X}, Y, ["a", "b", "c", "d"])


def test_the_model_learns_from_everything_after_it_was_measured(collection, tmp_path):
    training = train(collection, tmp_path / "model", test_size=0.25, method="label-ranker")
    assert training.n_refit == 120
    assert training.facts["rows"] == training.held_out.n_samples * 3 == 90
    assert training.annotator.metadata["n_training"] == 120
    assert training.annotator.choice_ is not None
    assert training.quality is not None
    assert Annotator.load(tmp_path / "model").metadata["n_training"] == 120


def test_the_metrics_are_those_of_the_model_that_did_not_see_the_rows(collection):
    again = train(collection, test_size=0.25, method="label-ranker")
    kept = train(collection, test_size=0.25, refit=False, method="label-ranker")
    assert kept.n_refit is None
    assert kept.annotator.metadata["n_training"] == 90
    assert again.held_out.to_dict() == kept.held_out.to_dict()
    assert np.any(again.annotator.scores(collection) != kept.annotator.scores(collection))


@pytest.mark.filterwarnings("ignore:the relative duality gap")
def test_a_stop_keeps_the_measured_model(collection):
    wanted = {"method": "one-vs-all", "C": 1.0, "max_seconds": 60.0}
    training = train(collection, test_size=0.25, stop=lambda: True, **wanted)
    assert training.n_refit is None


def test_matrices_of_tags_belong_to_the_tags_that_were_measured(collection):
    training = train(collection, test_size=0.25, method="prior-margin", C=1.0, prior=np.eye(4))
    assert training.n_refit is None


def test_without_rows_held_out_nothing_is_trained_again(collection):
    assert train(collection, method="label-ranker", C=1.0).n_refit is None


def test_kernels_without_weight_are_not_needed_again(tmp_path):
    drawn = draw_pictures(40, size=32, random_state=0)
    wanted = {"method": "multiple-kernel-ranker", "C": 1.0, "weights": [1.0, 0.0]}
    training = train(
        drawn, tmp_path / "model", features=["colour", "edges"], cache=False, test_size=0.25, **wanted
    )
    assert training.n_refit == 40
    assert list(training.annotator.features_) == ["colour"]
    loaded = Annotator.load(tmp_path / "model")
    assert list(loaded.features_) == ["colour"]
    assert loaded.metadata["kernels"]["names"] == ["colour", "edges"]
    assert loaded.annotate(drawn.view("pictures")[:2])


def test_measured_costs_are_those_of_the_kernels():
    drawn = draw_pictures(70, size=32, random_state=0)
    wanted = {"method": "multiple-kernel-ranker", "C": 1.0, "cost_strength": 2.0}
    training = train(drawn, features=["colour", "gist"], cache=False, calibration=None, **wanted)
    costs = training.annotator.estimator_.kernel_costs
    assert set(costs) == {"colour", "gist"}
    assert costs["gist"] > costs["colour"] > 0
    notes = training.annotator.metadata["kernels"]
    assert notes["milliseconds"] == pytest.approx([1000 * costs[name] for name in notes["names"]])


def test_costs_that_nobody_measured_are_asked_for():
    recipe = Recipe("multiple-kernel-ranker", {"cost_strength": 1.0})
    with pytest.raises(ValueError, match="needs the seconds of every set of features, but gist came from"):
        recipe.with_costs({"colour": 0.1, "gist": float("nan")})
    assert recipe.with_costs({}) is recipe
    assert Recipe("multiple-kernel-ranker").with_costs({"gist": 1.0}).parameters == {}


def test_counts_keep_their_scale():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(30, 0.15), 4)
    labels = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]] * 40, dtype=float)
    lengths = rng.lognormal(2.5, 1.3, len(labels)).astype(int) + 2
    counts = [rng.multinomial(n, row @ topics / 2) for n, row in zip(lengths, labels, strict=True)]
    documents = Collection({"words": sparse.csr_array(np.array(counts, dtype=float))}, labels, list("abcd"))
    again = train(documents, method="one-vs-all-logistic", test_size=0.25).annotator
    assert again.scaling_ in ("unit", "tf-idf")
    assert again.scalers_["words"].unit

"""`tune`: what it writes, `train` takes, for every method."""

import numpy as np
import pytest
import yaml
from scipy import sparse

from tagrank import Collection, train, tune
from tagrank.commands.tune import option_words, train_options
from tagrank.errors import ArgumentError
from tagrank.estimators.methods import METHODS, find_method, read_parameters


@pytest.fixture(scope="module")
def collection():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = (X @ rng.normal(size=(4, 3)) > 0.2).astype(float)
    return Collection({"features": X}, Y, ["sea", "sky", "boat"], name="toy")


def test_the_best_is_written_as_train_reads_it(collection, tmp_path):
    found = tune(collection, tmp_path / "made" / "best.yml", method="label-ranker")
    config = yaml.safe_load((tmp_path / "made" / "best.yml").read_text())
    assert config == {
        "method": "label-ranker",
        "C": found.parameters["C"],
        "kernel": found.parameters["kernel"],
    }
    assert found.search.best == found.parameters
    assert found.command == f"--method label-ranker --C {config['C']:g} --kernel {config['kernel']}"
    trained = train(collection, method="label-ranker", **found.parameters)
    assert trained.cost == config["C"]
    assert trained.choice is None


def test_what_is_given_stays(collection):
    found = tune(collection, method="joint-svm", C=2.0, kernel="linear", decoding="transfer")
    assert found.parameters == {"C": 2.0, "kernel": "linear", "decoding": "transfer"}
    assert found.config["set"] == {"decoding": "transfer"}
    assert len(found.search.trials) == 1


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_value_of_every_space_can_be_written(method):
    """Options of `train` for what all have, and --set for the method's own."""
    for name, values in method.space.items():
        for value in values:
            options = train_options({name: value})
            if "set" in options:
                assert read_parameters(method.name, options["set"]) == {name: pytest.approx(value)}
            else:
                assert options == {name.replace("_", "-"): value}
            assert len(option_words({name: value})) == 1


def test_pictures_get_a_power(tmp_path):
    from tagrank import draw_pictures

    found = tune(draw_pictures(40), method="label-ranker", features="fast")
    assert found.parameters["kernel_power"] in (1, 2, 4)
    assert "--kernel-power" in found.command


def test_arguments_that_cannot_be_meant(collection, tmp_path):
    with pytest.raises(ArgumentError, match="'auto' has no parameters"):
        tune(collection, method="auto")
    with pytest.raises(ArgumentError, match="did you mean 'label-ranker'"):
        tune(collection, method="label-rankr")
    with pytest.raises(ArgumentError, match=r"written to a \.yml"):
        tune(collection, tmp_path / "best.json", method="label-ranker")
    with pytest.raises(ValueError, match="search"):
        tune(collection, method="label-ranker", search="random")


def test_nothing_to_choose_by(collection):
    with pytest.raises(ValueError, match="9 rows are too few to hold some out"):
        tune(collection.subset(slice(9)), method="label-ranker")
    with pytest.raises(ValueError, match="stopped before it tried anything"):
        tune(collection, method="label-ranker", max_seconds=1e-9)
    only = collection.with_labels(np.ones((60, 1)), ["sea"])
    with pytest.raises(ValueError, match="Image-AUC is not defined on these 60 rows"):
        tune(only, method="label-ranker", metric="Image-AUC")


def test_one_tag(collection):
    one = collection.with_labels(collection.Y[:, :1], ["sea"])
    assert tune(one, method="one-vs-all", kernel="linear").search.criterion == "Category-AUC"


def test_numbers_keep_their_digits():
    assert option_words({"C": 10.0, "beta": 1e-05, "balance": 1 / 3, "average": True}) == [
        "--C 10",
        "--set beta=1e-05",
        "--set balance=0.3333333333333333",
        "--set average=true",
    ]


def test_a_method_without_space():
    assert not find_method("label-frequency").space


def draw_counts(n=120, n_words=30, n_tags=4):
    """Documents of very different lengths, each about two of four topics."""
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(n_words, 0.15), n_tags)
    labels, counts = np.zeros((n, n_tags)), np.zeros((n, n_words))
    for row in range(n):
        tags = rng.choice(n_tags, 2, replace=False)
        labels[row, tags] = 1
        counts[row] = rng.multinomial(int(rng.lognormal(2.5, 1.3)) + 2, topics[tags].mean(axis=0))
    return Collection({"words": sparse.csr_array(counts)}, labels, list("abcd"))


@pytest.mark.parametrize("search", ["halving", "grid"])
def test_the_scale_of_counts_is_searched_and_trained_with(search, tmp_path):
    documents, path = draw_counts(), tmp_path / "best.yml"
    found = tune(documents, path, method="one-vs-all-logistic", search=search)
    scalings = [trial.parameters["scaling"] for trial in found.search.trials]
    assert set(scalings) == {"none", "unit", "tf-idf"}
    best = found.parameters["scaling"]
    assert best != "none"
    assert f"--scaling {best}" in found.command
    n_gaussian = sum(trial.parameters["kernel"] == "rbf" for trial in found.search.trials)
    # by halving the scale is chosen on a straight line: a Gaussian is tried on the best one only
    assert n_gaussian * 2 <= len(scalings) if search == "halving" else n_gaussian * 2 == len(scalings)
    config = yaml.safe_load(path.read_text())
    method = config.pop("method")
    trained = train(documents, method=method, **config).annotator
    assert trained.scaling_ == best
    assert trained.scalers_["words"].unit


def test_a_scale_that_is_given_is_not_searched():
    found = tune(draw_counts(), method="one-vs-all-logistic", scaling="unit", kernel="linear")
    assert not any("scaling" in trial.parameters for trial in found.search.trials)
    assert found.parameters["scaling"] == "unit"
    plain = tune(draw_counts(), method="one-vs-all-logistic", scaling="none", kernel="linear")
    assert plain.parameters["scaling"] == "none"
    assert found.search.value != plain.search.value


def test_rows_that_are_no_counts_have_no_scale_to_search(collection):
    found = tune(collection, method="one-vs-all-logistic")
    assert not any("scaling" in trial.parameters for trial in found.search.trials)

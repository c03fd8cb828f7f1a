"""What can be set: the catalog says the same as the estimators."""

import inspect

import numpy as np
import pytest

from tagrank import estimators
from tagrank.commands.train import train
from tagrank.data import Collection
from tagrank.estimators.base import innermost_fitted
from tagrank.estimators.methods import methods, read_parameters

# options of their own, or decided elsewhere
SHARED = {"C", "kernel", "gamma", "class_weight", "fit_intercept", "tol", "max_iter", "max_seconds"}
SHARED |= {"n_jobs", "random_state", "verbose", "kernel_costs", "groups"}
# words that go with another one
TOGETHER = {
    ("shared-kernel-svm", word): {"objective": "worst"} for word in ("cutting-plane", "stochastic", "paper")
}
PAIRS = [(method, parameter) for method in methods() for parameter in method.parameters]


@pytest.mark.parametrize("method", methods(), ids=lambda method: method.name)
def test_catalog_lists_every_parameter(method):
    signature = inspect.signature(getattr(estimators, method.estimator)).parameters
    assert {parameter.name for parameter in method.parameters} == set(signature) - SHARED


@pytest.mark.parametrize(("method", "parameter"), PAIRS)
def test_defaults_are_those_of_the_estimator(method, parameter):
    default = inspect.signature(getattr(estimators, method.estimator)).parameters[parameter.name].default
    if default is None:
        with pytest.raises(ValueError, match=f"{parameter.name} must be"):
            parameter.read(parameter.default)
    else:
        assert parameter.read(parameter.default) == default


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    return Collection({"x": X}, (X > 0).astype(float), ["sky", "sea", "boat"])


CHOICES = [
    (method.name, parameter.name, word) for method, parameter in PAIRS for word in parameter.values.choices
]


@pytest.mark.parametrize(("method", "name", "word"), CHOICES)
def test_every_word_trains(rows, method, name, word):
    parameters = read_parameters(method, {name: word} | TOGETHER.get((method, word), {}))
    found = innermost_fitted(train(rows, method=method, **parameters).annotator.estimator_)
    assert found.get_params()[name] == parameters[name]


def test_names_may_be_written_with_hyphens():
    assert read_parameters("joint-svm", {"output-kernel": " poly2 ", "center": "No"}) == {
        "output_kernel": "poly2",
        "center": False,
    }


def test_matrices_follow_the_tags(rows, tmp_path):
    """A matrix that is named in another order gives the same model."""
    S = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 1.0]])
    order = [2, 0, 1]
    lines = [f",{','.join(rows.tags[j] for j in order)}"]
    lines += [f"{rows.tags[i]},{','.join(str(S[i, j]) for j in order)}" for i in order]
    (tmp_path / "s.csv").write_text("\n".join(lines))
    by_name = train(rows, method="joint-svm", output_kernel=str(tmp_path / "s.csv"))
    by_place = train(rows, method="joint-svm", output_kernel=S)
    np.testing.assert_array_equal(by_name.annotator.scores(rows), by_place.annotator.scores(rows))
    plain = train(rows, method="joint-svm").annotator.scores(rows)
    assert not np.allclose(by_name.annotator.scores(rows), plain)


def test_threads_are_ignored_by_methods_without(rows):
    assert train(rows, method="label-frequency", n_jobs=1).method == "label-frequency"


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"output_kernal": "linear"}, "did you mean 'output_kernel'"),
        ({"depth": 3}, "it has: C, center, class_weight"),
        ({"output_kernel": "nowhere.npy"}, "nowhere.npy"),
    ],
)
def test_bad_parameters(rows, parameters, words):
    with pytest.raises((ValueError, FileNotFoundError), match=words):
        train(rows, method="joint-svm", **parameters)

"""A method is one file with its class and one entry in the registry: everything else finds it there."""

import contextlib
import json
import sys
from unittest import SkipTest

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator
from typer.testing import CliRunner

import tagrank
from tagrank.app.cli.main import app
from tagrank.estimators.methods import METHODS, Method
from tagrank.estimators.methods.method import POSITIVE, Parameter

FILE = '''
"""The nearest mean: a sample is scored by how near it is to the mean of the samples with each label."""

import numpy as np

from tagrank.estimators.base import LabelEstimator
from tagrank.estimators.base import Numbers, stores
from tagrank.validation import check_positive


class NearestMean(LabelEstimator):
    stored = stores(means_=Numbers("f", ("n_labels", "n_features")))

    def __init__(self, shrinkage=1.0):
        self.shrinkage = shrinkage

    def _check_parameters(self):
        check_positive("shrinkage", self.shrinkage)

    def fit(self, X, y):
        X, targets = self._take(X, y)
        X = X.toarray() if hasattr(X, "toarray") else X
        present = (targets.states > 0).T.astype(float)
        counts = present.sum(axis=1, keepdims=True) + self.shrinkage
        self.means_ = (present @ X + self.shrinkage * X.mean(axis=0)) / counts
        self._name_labels(targets)
        return self

    def _scores(self, X):
        products = np.asarray(X @ self.means_.T)
        return 2 * products - (self.means_**2).sum(axis=1)
'''
ENTRY = Method(
    "nearest-mean",
    "nearest_mean:NearestMean",
    "baselines",
    "",
    "none",
    "Scores a picture by how near it is to the mean of those with each tag.",
    "A quick look.",
    "n m",
    parameters=(Parameter("shrinkage", POSITIVE, "1", "Weight of the mean of all pictures."),),
)


@pytest.fixture
def method(tmp_path, monkeypatch):
    (tmp_path / "nearest_mean.py").write_text(FILE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("tagrank.estimators.methods.METHODS", METHODS)
    METHODS.append(ENTRY)
    yield ENTRY
    METHODS.remove(ENTRY)
    sys.modules.pop("nearest_mean", None)


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["a,b,c,tags"]
    for row in rng.normal(size=(40, 3)):
        tags = "|".join(tag for tag, value in zip(("sky", "sea", "boat"), row, strict=True) if value > 0)
        lines.append(f"{row[0]:.3f},{row[1]:.3f},{row[2]:.3f},{tags}")
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines))
    return path


def test_it_is_listed(method):
    listed = json.loads(CliRunner().invoke(app, ["methods", "--json"]).stdout)
    assert "nearest-mean" in [entry["name"] for entry in listed]
    assert "shrinkage" in CliRunner().invoke(app, ["methods", "nearest-mean"]).stdout
    assert tagrank.NearestMean is tagrank.estimators.NearestMean is method.load()
    assert "NearestMean" in dir(tagrank)


def test_it_trains_from_the_command_line_and_is_saved_and_loaded(method, table, tmp_path):
    model = tmp_path / "model"
    options = ["--method", "nearest-mean", "--set", "shrinkage=2", "--test-size", "0.25"]
    trained = CliRunner().invoke(app, ["train", str(table), "-o", str(model), *options])
    assert trained.exit_code == 0, trained.output
    loaded = tagrank.Annotator.load(model)
    inside = loaded.estimator_.estimator_
    assert type(inside).__name__ == "NearestMean"
    assert inside.shrinkage == 2
    measured = CliRunner().invoke(app, ["evaluate", str(model), str(table), "--part", "all", "--json"])
    assert measured.exit_code == 0, measured.output
    found = CliRunner().invoke(app, ["missing", str(table), "--method", "nearest-mean", "--json"])
    assert found.exit_code == 0, found.output


def test_a_model_file_that_lies_about_it_is_refused(method, table, tmp_path):
    tagrank.train(table, tmp_path / "model", method="nearest-mean", calibration=None, threshold=None)
    path = tmp_path / "model" / "model.json"
    content = json.loads(path.read_text())
    content["estimator"]["params"]["shrinkage"] = -1
    path.write_text(json.dumps(content))
    with pytest.raises(tagrank.ModelFileError, match="shrinkage must be a positive number"):
        tagrank.Annotator.load(tmp_path / "model")


def test_it_passes_the_checks_of_scikit_learn(method):
    for estimator, check in estimator_checks_generator(method.load()()):
        with contextlib.suppress(SkipTest):
            check(estimator)

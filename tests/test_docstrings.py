"""Every public class and function documents its parameters, and every estimator what it is once fitted."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import tagrank
from tagrank import estimators
from tagrank.estimators.methods import METHODS

SCRIPT = Path(__file__).parents[1] / "docs" / "docstrings.py"
PUBLIC = [name for name in tagrank.__all__ if name != "__version__"]


def documented_names(docstring):
    """The names that the sections Parameters and Attributes of a docstring describe."""
    parts = re.split(r"^(\w[\w ]*)\n-+\n", inspect.cleandoc(docstring or ""), flags=re.M)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    text = sections.get("Parameters", "") + "\n" + sections.get("Attributes", "")
    entries = re.findall(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*) :", text, flags=re.M)
    return {name.strip("*") for entry in entries for name in entry.split(", ")}


def parameters_of(public):
    is_class = inspect.isclass(public)
    taken = inspect.signature(public.__init__ if is_class else public).parameters
    # what only hands everything on has no parameters of its own
    return set(taken) - {"self", "args", "kwargs"}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_parameter_is_documented(name):
    public = getattr(tagrank, name)
    missing = parameters_of(public) - documented_names(public.__doc__)
    assert not missing, f"{name} does not describe: {', '.join(sorted(missing))}"


ROUND_ONE = {
    "CalibratedRanker": estimators.CalibratedRanker(estimators.OneVsAllSVM()),
    "ProbabilityRanker": estimators.ProbabilityRanker(estimators.OneVsAllSVM()),
    "ScoreSum": estimators.ScoreSum(
        estimators.LabelRanker(kernel="linear"), estimators.OneVsAllSVM(kernel="linear")
    ),
}


@pytest.mark.parametrize("name", [*(method.estimator for method in METHODS), *ROUND_ONE])
def test_the_attributes_documented_are_those_of_a_fitted_estimator(name):
    kind = getattr(estimators, name)
    X = np.random.default_rng(0).uniform(size=(30, 4))
    Y = (X[:, :3] > 0.5).astype(float)
    model = ROUND_ONE.get(name) or kind()
    has_kernel = "kernel" in model.get_params()
    options = [{"kernel": "rbf"}, {"kernel": "linear"}] if has_kernel else [{}]
    models = [clone(model).set_params(**chosen) for chosen in options]
    fitted = {attribute for one in models for attribute in {*vars(one.fit(X, Y)), *dir(kind)}}
    fitted = {attribute for attribute in fitted if re.fullmatch(r"[^_].*_", attribute)}
    described = {attribute for attribute in documented_names(kind.__doc__) if attribute.endswith("_")}
    assert described == fitted


@pytest.mark.parametrize("name", [method.estimator for method in METHODS])
def test_defaults_in_docstrings_are_those_of_the_signature(name):
    kind = getattr(estimators, name)
    docstring = inspect.cleandoc(kind.__doc__)
    for parameter in inspect.signature(kind).parameters.values():
        for written in re.findall(rf"^{parameter.name} : .*, default (\S+)$", docstring, flags=re.M):
            assert ast.literal_eval(written) == parameter.default, parameter.name


def test_shared_texts_stand_in_the_docstrings():
    checked = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr

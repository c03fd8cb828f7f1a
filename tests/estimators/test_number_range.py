"""Columns and costs beyond the range of floating point: every estimator answers in a sentence, or well."""

import inspect
import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from tagrank import estimators
from tagrank.estimators.methods import METHODS

KINDS = [getattr(estimators, method.estimator) for method in METHODS]
KINDS = [kind for kind in KINDS if "max_iter" in inspect.signature(kind).parameters]
WITH_COST = [kind for kind in KINDS if "C" in inspect.signature(kind).parameters]
REFUSAL = re.compile(r"must lie between .* got .*scale the|training met nan or infinity: .* scale the")
every_form = pytest.mark.parametrize("form", ["linear", "sparse", "rbf"])
no_time_to_converge = pytest.mark.filterwarnings("ignore", category=ConvergenceWarning)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    return X, (X @ rng.normal(size=(4, 3)) + 0.5 * rng.normal(size=(40, 3)) > 0).astype(float)


def check_fit(kind, form, X, Y, **options):
    """A model with finite numbers, or a refusal that says what to do; returns whether there is a model."""
    if "kernel" in inspect.signature(kind).parameters:
        options["kernel"] = "rbf" if form == "rbf" else "linear"
    rows = sparse.csr_array(X) if form == "sparse" else X
    try:
        model = kind(max_iter=5, **options).fit(rows, Y)
    except ValueError as error:
        if not REFUSAL.search(str(error)):
            raise
        return False
    assert np.all(np.isfinite(model.decision_function(rows)))
    assert np.isfinite(getattr(model, "duality_gap_", 0.0))
    return True


@no_time_to_converge
@every_form
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1e-300, 1e-30, 1e-9, 1e9, 1e20, 1e160])
@pytest.mark.parametrize("columns", [slice(1), slice(None)], ids=["one column", "all columns"])
def test_columns_of_any_size(kind, form, size, columns, problem):
    X, Y = problem[0].copy(), problem[1]
    X[:, columns] *= size
    is_fitted = check_fit(kind, form, X, Y)
    assert is_fitted or not 1e-9 <= size <= 1e9


@no_time_to_converge
@every_form
@pytest.mark.parametrize("kind", WITH_COST)
@pytest.mark.parametrize("C", [1e-300, 1e-20, 1e9, 1e40, 1e300])
def test_costs_of_any_size(kind, form, C, problem):
    is_fitted = check_fit(kind, form, *problem, C=C)
    assert is_fitted == (1e-20 <= C <= 1e9)

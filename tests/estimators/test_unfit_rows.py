"""Rows that compiled code would die of, or that are no numbers: every estimator says so, in fit and after."""

import datetime
import inspect

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from tagrank import estimators
from tagrank.estimators.methods import METHODS

LOOKS_AT_NO_ROWS = {"LabelFrequency"}
KINDS = [*(getattr(estimators, method.estimator) for method in METHODS), estimators.CalibratedRanker]


def variants(kind):
    """An estimator of each kind, with a kernel that reads rows and with one of their Gram matrix."""
    names = inspect.signature(kind).parameters
    if "estimator" in names:
        return [kind(estimators.LabelRanker(kernel="linear"), cv=2)]
    return [kind(kernel=kernel) for kernel in ("linear", "rbf")] if "kernel" in names else [kind()]


ESTIMATORS = [model for kind in KINDS if kind.__name__ not in LOOKS_AT_NO_ROWS for model in variants(kind)]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)


@pytest.fixture(scope="module")
def labels():
    return np.array([[1, 0], [0, 1]] * 6)


def outside_columns():
    X = sparse.csr_array(np.eye(12, 3))
    X.indices[1] = 10**8
    return X


def outside_data():
    X = sparse.csr_matrix(np.eye(12, 3))
    X.indptr[5:] = 10**8
    return X


def outside_rows():
    X = sparse.coo_array(np.eye(12, 3))
    X.coords[0][0] = 10**8
    return X


@every_estimator
@pytest.mark.parametrize("damaged", [outside_columns, outside_data, outside_rows])
def test_damaged_sparse_rows(estimator, damaged, labels):
    with pytest.raises(ValueError, match=r"X is a damaged sparse matrix.* 12 rows and 3 columns"):
        clone(estimator).fit(damaged(), labels)
    model = clone(estimator).fit(sparse.csr_array(np.eye(12, 3)), labels)
    with pytest.raises(ValueError, match="X is a damaged sparse matrix"):
        model.decision_function(damaged())


@every_estimator
def test_damaged_sparse_labels(estimator, labels):
    Y = sparse.csr_array(labels)
    Y.indices[0] = 10**8
    with pytest.raises(ValueError, match="Y is a damaged sparse matrix"):
        clone(estimator).fit(np.eye(12, 3), Y)


DATES = {
    "datetime64": np.full((12, 3), "2020-01-01", "datetime64[D]"),
    "timedelta64": np.full((12, 3), 5, "timedelta64[s]"),
    "objects": np.full((12, 3), np.datetime64("2020-01-01"), object),
    "list": [[datetime.date(2020, 1, 1)] * 3] * 12,
    "frame": pd.DataFrame({"day": pd.to_datetime(["2020-01-01"] * 12), "size": np.ones(12)}),
}


@every_estimator
@pytest.mark.parametrize("form", DATES)
def test_dates_are_no_numbers(estimator, form, labels):
    with pytest.raises(ValueError, match="X must hold numbers, got dates or times"):
        clone(estimator).fit(DATES[form], labels)


@every_estimator
def test_no_rows_at_all(estimator, labels):
    with pytest.raises(ValueError, match="X must hold rows of numbers, got None"):
        clone(estimator).fit(None, labels)

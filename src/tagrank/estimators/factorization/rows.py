"""Rows as factorizations read them."""

from collections.abc import Mapping

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize as unit_rows

from tagrank.validation import check_magnitude, check_same_length

# A column of ones would have the largest curvature of all, and shorten the steps of the others.
CONSTANT = 0.3


def side_by_side(X):
    """The views of a mapping as one matrix, in the order of their names; a matrix as it is."""
    # sparse first: scipy's dictionary of keys is a Mapping too
    if sparse.issparse(X) or not isinstance(X, Mapping):
        return X
    check_same_length(**{f"view {name}": view for name, view in X.items()})
    views = [X[name] for name in sorted(X)]
    if any(sparse.issparse(view) for view in views):
        return sparse.hstack([sparse.csr_array(view) for view in views], format="csr")
    return np.hstack([np.asarray(view) for view in views])


def prepare_rows(X, *, normalize, fit_intercept):
    """Rows, dense or csr, in float64, of unit length if `normalize`, and a constant if `fit_intercept`."""
    check_magnitude("X", X, np.float64)
    X = X.astype(np.float64)
    if normalize:
        X = unit_rows(X, copy=False)
    if not fit_intercept:
        return X
    constant = np.full((X.shape[0], 1), CONSTANT)
    return sparse.hstack([X, constant], format="csr") if sparse.issparse(X) else np.hstack([X, constant])

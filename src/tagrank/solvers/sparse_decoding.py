"""Sparse vectors from a few linear measurements of them, many at once.

    z = A y + noise,    y with few entries that are not zero,    A with columns of length one

Orthogonal matching pursuit adds the entry that the residual points to most, and fits all entries so far by
least squares; CoSaMP (Needell, Tropp 2009) adds twice as many as there may be, fits, keeps the largest, and
repeats. Both leave a residual r, of which an entry that was not taken would alone explain A_j'r.
"""

import numpy as np

MAX_ROUNDS = 20  # of CoSaMP; it settles in a few
ROUNDING = 1e-10


def matching_pursuit(A, Z, n_present):
    """Values (n_samples, n_entries) given Z (n_samples, n_measurements), of which `n_present` are fitted."""
    gram, products = A.T @ A, Z @ A
    residual_products, support = products, np.empty((len(Z), 0), dtype=np.int64)
    for _ in range(min(n_present, *A.shape)):
        sizes = np.abs(residual_products)
        np.put_along_axis(sizes, support, -1, axis=1)
        support = np.hstack([support, sizes.argmax(axis=1)[:, None]])
        values = _fit(gram, products, support)
        residual_products = products - _spread(values, support, A.shape[1]) @ gram
    return _with_fitted(residual_products, values, support)


def compressive_pursuit(A, Z, n_present):
    """As `matching_pursuit`, by CoSaMP."""
    gram, products = A.T @ A, Z @ A
    n_present = min(n_present, *A.shape)
    n_tried = min(3 * n_present, *A.shape)
    support, residual_products, values = np.zeros((len(Z), 0), dtype=np.int64), products, None
    for _ in range(MAX_ROUNDS):
        sizes = np.abs(residual_products)
        np.put_along_axis(sizes, support, np.inf, axis=1)
        tried = np.argsort(-sizes, axis=1, kind="stable")[:, :n_tried]
        largest = np.argsort(-np.abs(_fit(gram, products, tried)), axis=1, kind="stable")[:, :n_present]
        last, support = support, np.sort(np.take_along_axis(tried, largest, axis=1), axis=1)
        values = _fit(gram, products, support)
        residual_products = products - _spread(values, support, A.shape[1]) @ gram
        if last.shape == support.shape and np.array_equal(last, support):
            break
    return _with_fitted(residual_products, values, support)


def _fit(gram, products, support):
    """Least squares with the entries in `support` (n_samples, n_taken); equal ones share their value."""
    parts = gram[support[:, :, None], support[:, None, :]] + ROUNDING * np.eye(support.shape[1])
    return np.linalg.solve(parts, np.take_along_axis(products, support, axis=1)[:, :, None])[:, :, 0]


def _spread(values, support, n_entries):
    whole = np.zeros((len(values), n_entries))
    np.put_along_axis(whole, support, values, axis=1)
    return whole


def _with_fitted(rest, values, support):
    """What was fitted in its place, and elsewhere what the residual would give."""
    np.put_along_axis(rest, support, values, axis=1)
    return rest

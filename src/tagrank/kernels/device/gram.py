"""Gram matrices on a device: the kernels as operations of the library (torch or CuPy) that owns the rows.

Row blocks of the matrix are computed whole, in the precision of the rows. What the kernels of
`tagrank.kernels` compute for numpy tile by tile is the same here, up to rounding.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tagrank.arrays import astype, beside, empty_beside, has_triton, namespace_of, row_blocks
from tagrank.kernels.gram import n_rows, take_rows
from tagrank.kernels.histograms import ChiSquared, Hellinger, Intersection
from tagrank.kernels.kernel import OnView, Power, Product, Sum, UnitDiagonal, UnitTrace, scale
from tagrank.kernels.vectors import Exponential, Gaussian, Linear, Polynomial

BLOCK_ENTRIES = 2**27  # of similarities that are computed at a time
CHUNK_ENTRIES = 2**26  # of comparisons column by column, without compiled code for the device
PLAIN = (Linear, Polynomial, Gaussian, ChiSquared, Intersection, Hellinger)
AROUND = (Power, OnView, UnitDiagonal, UnitTrace)


def is_known(kernel):
    """Whether the kernel, and all it is made of, can be computed on a device."""
    if isinstance(kernel, (Sum, Product)):
        return all(map(is_known, kernel.kernels))
    return is_known(kernel.kernel) if isinstance(kernel, AROUND) else type(kernel) in PLAIN


def fit_on_device(kernel, X):
    """The kernel with its widths fixed by rows on a device, as `Kernel.fit` does it."""
    if isinstance(kernel, (Sum, Product)):
        return replace(kernel, kernels=tuple(fit_on_device(part, X) for part in kernel.kernels))
    if isinstance(kernel, UnitTrace):
        inner = fit_on_device(kernel.kernel, X)
        trace = float(_diagonal(inner, X).sum())
        return scale(inner, 1 / trace if trace > 0 else 1.0)
    if isinstance(kernel, AROUND):
        return replace(kernel, kernel=fit_on_device(kernel.kernel, _selected(kernel, X)))
    if isinstance(kernel, Exponential) and not kernel.fixed:
        return replace(kernel, gamma=_gamma(kernel, X))
    return kernel.fit(X)


def device_gram(kernel, X, Z=None):
    """Similarities of rows on a device with each other, or with the rows of `Z`, an array there.

    Parameters
    ----------
    kernel : Kernel, fitted
    X, Z : arrays of torch or CuPy, shape (n, n_columns), or mappings of views to such
    """
    others, n_columns = (X if Z is None else Z), n_rows(X if Z is None else Z)
    some = _any_of(X)
    K = empty_beside((n_rows(X), n_columns), some)
    for rows in _blocks(n_rows(X), n_columns):
        K[rows] = _similarities(kernel, take_rows(X, rows), others)
    if Z is None:
        own = beside(np.arange(n_columns), some)
        K[own, own] = _diagonal(kernel, X)
    return K


def _similarities(kernel, X, Z):
    """Of all rows of `X` with all rows of `Z`."""
    xp = namespace_of(_any_of(X))
    match kernel:
        case Sum():
            return sum(weight * _similarities(part, X, Z) for weight, part in kernel.terms)
        case Product():
            answers = [_similarities(part, X, Z) for part in kernel.kernels]
            for answer in answers[1:]:
                answers[0] *= answer
            return answers[0]
        case Power():
            return _similarities(kernel.kernel, X, Z) ** int(kernel.exponent)
        case OnView():
            return _similarities(kernel.kernel, _selected(kernel, X), _selected(kernel, Z))
        case UnitDiagonal():
            K = _similarities(kernel.kernel, X, Z)
            K *= _inverse_root(_diagonal(kernel.kernel, X))[:, None]
            K *= _inverse_root(_diagonal(kernel.kernel, Z))
            return K
        case Exponential():
            D = _distances(kernel, X, Z)
            D *= -kernel.gamma
            return xp.exp(D)
        case Linear():
            return X @ Z.T
        case Polynomial():
            return (kernel.gamma * (X @ Z.T) + kernel.coef0) ** int(kernel.degree)
        case Intersection():
            return _sum_columns(_not_negative(X), _not_negative(Z), is_distance=False)
        case Hellinger():
            return xp.sqrt(_not_negative(X)) @ xp.sqrt(_not_negative(Z)).T


def _diagonal(kernel, X):
    """k(x, x) of each row."""
    xp = namespace_of(_any_of(X))
    match kernel:
        case Sum():
            return sum(weight * _diagonal(part, X) for weight, part in kernel.terms)
        case Product():
            values = 1
            for part in kernel.kernels:
                values = values * _diagonal(part, X)
            return values
        case Power():
            return _diagonal(kernel.kernel, X) ** int(kernel.exponent)
        case OnView():
            return _diagonal(kernel.kernel, _selected(kernel, X))
        case UnitDiagonal():
            values = _diagonal(kernel.kernel, X)
            return astype(values > 0, values.dtype)
        case Exponential():
            return xp.ones_like(X[:, 0])
        case Linear():
            return xp.sum(X * X, 1)
        case Polynomial():
            return (kernel.gamma * xp.sum(X * X, 1) + kernel.coef0) ** int(kernel.degree)
        case _:
            return xp.sum(X, 1)


def _distances(kernel, X, Z):
    """Of an exponential kernel, never negative."""
    xp = namespace_of(X)
    if isinstance(kernel, ChiSquared) and not kernel.whole_vector:
        return _sum_columns(_not_negative(X), _not_negative(Z), is_distance=True)
    if isinstance(kernel, ChiSquared):
        products = _not_negative(X) @ _not_negative(Z).T
        squares = xp.sum(X * X, 1)[:, None] + xp.sum(Z * Z, 1)
        total = squares + 2 * products
        # two zero rows coincide
        return xp.clip((squares - 2 * products) / xp.where(total == 0, total + 1, total), 0, None)
    # distances do not change when both move; around the origin they lose fewer digits
    centre = Z.mean(0)
    X, Z = X - centre, Z - centre
    D = X @ Z.T
    D *= -2
    D += xp.sum(X * X, 1)[:, None]
    D += xp.sum(Z * Z, 1)
    return xp.clip(D, 0, None)


def _gamma(kernel, X):
    """1 / mean distance of different rows; 1 if all of them coincide."""
    xp, n_samples = namespace_of(X), n_rows(X)
    if isinstance(kernel, Gaussian):
        centred = astype(X, xp.float64)
        centred = centred - centred.mean(0)
        width = 2 * float((centred * centred).sum()) / max(1, n_samples - 1)
    else:
        blocks = _blocks(n_samples, n_samples)
        total = sum(float(xp.sum(_distances(kernel, X[rows], X), dtype=xp.float64)) for rows in blocks)
        width = total / max(1, n_samples * (n_samples - 1))
    return 1 / width if width > 0 else 1.0


def _sum_columns(X, Z, *, is_distance):
    """sum_t (x_t - z_t)^2 / (x_t + z_t), or sum_t min(x_t, z_t), for all rows of `X` and `Z`."""
    xp = namespace_of(X)
    if has_triton(X):
        from tagrank.kernels.device.triton_columns import sum_columns

        return sum_columns(X, Z, is_distance)
    total = empty_beside((len(X), len(Z)), X)
    for rows in row_blocks(len(X), max(1, CHUNK_ENTRIES // max(1, len(Z) * X.shape[1]))):
        left = X[rows][:, None, :]
        if is_distance:
            sums = left + Z
            terms = (left - Z) ** 2 / xp.where(sums == 0, sums + 1, sums)
        else:
            terms = xp.minimum(left, Z)
        total[rows] = xp.sum(terms, 2)
    return total


def _not_negative(X):
    least = float(X.min()) if len(X) else 0.0
    if least < 0:
        raise ValueError(
            f"histogram kernels need rows without negative numbers, got {least:.6g}; use Gaussian or Linear, "
            "or shift the features"
        )
    return X


def _inverse_root(values):
    xp = namespace_of(values)
    present = values > 0
    return xp.where(present, 1 / xp.sqrt(xp.where(present, values, values + 1)), xp.zeros_like(values))


def _selected(kernel, X):
    """The rows that a kernel on a view reads."""
    if not isinstance(kernel, OnView):
        return X
    if isinstance(X, Mapping):
        if kernel.view not in X:
            raise KeyError(f"{kernel!r} needs the view {kernel.view!r}; the data has {sorted(X)}")
        return X[kernel.view]
    columns = kernel.view
    return X[:, columns if isinstance(columns, slice) else np.atleast_1d(columns).tolist()]


def _any_of(X):
    return next(iter(X.values())) if isinstance(X, Mapping) else X


def _blocks(n_samples, n_columns):
    return row_blocks(n_samples, max(1, BLOCK_ENTRIES // max(1, n_columns)))

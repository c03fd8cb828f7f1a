"""Kernel: two sets of rows in, their similarities out; and kernels made of kernels.

A kernel is a small value: it holds parameters, never data. What depends on the training rows (the width
of an exponential kernel, the trace) is fixed by `fit`, which returns a *new* kernel, so that every tile of
the Gram matrix and every later prediction use the same one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tagrank.arrays import row_blocks
from tagrank.kernels.gram import DIAGONAL_BLOCK, diagonal_of, float_type, gram, n_rows, sliceable, take_rows
from tagrank.kernels.parameters import KernelParameters
from tagrank.validation import check_positive, check_same_length


class Kernel(KernelParameters):
    """Base of all kernels; a subclass stores its constructor arguments untouched and writes `compute`.

    Kernels add (`k1 + k2`), multiply (`k1 * k2`, `k1**2`), scale (`0.5 * k1`) and look at one view of the
    data (`k1.on("gist")`).
    """

    # numpy scalars leave `np.float64(0.5) * kernel` to the kernel
    __array_ufunc__ = None
    # whether it can be a part of a sum, a product or another kernel
    combines = True
    # whether it compares vectors, whose columns may be scaled, and not histograms
    compares_vectors = False
    # whether the nearest rows under it are those of the Euclidean distance
    is_euclidean = False

    def compute(self, X, Z) -> Any:
        """Similarities of all rows of `X` with all rows of `Z`, a new (n_x, n_z) array.

        Called on tiles of the data. `Z is X` on a tile of the diagonal.
        """
        raise NotImplementedError(f"{type(self).__name__} must define compute(X, Z)")

    def diagonal(self, X) -> Any:
        """k(x, x) of each row of `X`, shape (n_samples,)."""
        parts = [take_rows(X, rows) for rows in row_blocks(n_rows(X), DIAGONAL_BLOCK)]
        return np.concatenate([self.compute(part, part).diagonal() for part in parts])

    def squared_distances(self, X, Z):
        """Of all rows of `X` and `Z` where the kernel is their inner product: k(x, x) + k(z, z) - 2 k(x, z).

        A new (n_x, n_z) array that is never negative.
        """
        D = self.compute(X, Z)
        D *= -2
        D += self.diagonal(X)[:, None]
        D += self.diagonal(Z)
        return np.maximum(D, 0, out=D)

    def fit(self, X) -> "Kernel":
        """The same kernel with everything that depends on the training rows `X` fixed."""
        return self

    def fit_gram(self, X, *, out=None, dtype=None, n_jobs=None) -> Any:
        """The fitted kernel and its Gram matrix on `X`, without computing distances twice where possible."""
        kernel = self.fit(X)
        return kernel, gram(kernel, X, out=out, dtype=dtype, n_jobs=n_jobs)

    @property
    def fixed(self) -> "Kernel":
        """Whether nothing is left for `fit` to decide."""
        return all(kernel.fixed for kernel in self._parts())

    def __call__(self, X, Z=None) -> Any:
        """The Gram matrix of `X`, or the similarities of `X` (n_x rows) with `Z` (n_z rows).

        A kernel that still needs its width takes it from `X` when `X` comes alone, as `fit_gram` does.
        """
        X = sliceable(X)
        return self.fit_gram(X)[1] if Z is None else gram(self, X, Z)

    @property
    def terms(self) -> Any:
        """The (weight, kernel) pairs whose sum this kernel is."""
        return ((1.0, self),)

    def on(self, view) -> "Kernel":
        """This kernel on one view: a key of a mapping, or columns (index, list, slice) of an array."""
        return OnView(self, tuple(view) if isinstance(view, list) else view)

    def unit_diagonal(self) -> "Kernel":
        """k(x, z) / sqrt(k(x, x) k(z, z)): every row is as similar to itself as 1 (0 where k(x, x) = 0)."""
        return UnitDiagonal(self)

    def unit_trace(self) -> "Kernel":
        """This kernel divided by the trace of its Gram matrix on the training rows."""
        return UnitTrace(self)

    def __add__(self, other) -> "Kernel":
        return add(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other) -> "Kernel":
        if isinstance(other, Kernel):
            return multiply(self, other)
        return scale(self, other) if np.isscalar(other) else NotImplemented

    __rmul__ = __mul__

    def __pow__(self, exponent) -> "Kernel":
        return Power(self, exponent)

    def _parts(self):
        """The kernels that this one is made of."""
        return ()


@dataclass(repr=False, eq=False)
class Sum(Kernel):
    """sum_t weights[t] * kernels[t](x, z), with weights that are not negative."""

    kernels: tuple
    weights: tuple

    def __post_init__(self):
        _check_kernels(self.kernels)
        check_same_length(kernels=self.kernels, weights=self.weights)
        for weight in self.weights:
            check_positive("the weight of a kernel", weight, allow_zero=True)

    @property
    def terms(self):
        return tuple(zip(self.weights, self.kernels, strict=True))

    def compute(self, X, Z):
        return _weighted_sum((weight, kernel.compute(X, Z)) for weight, kernel in self.terms)

    def diagonal(self, X):
        return _weighted_sum((weight, kernel.diagonal(X)) for weight, kernel in self.terms)

    def fit(self, X):
        return Sum(tuple(kernel.fit(X) for kernel in self.kernels), self.weights)

    def fit_gram(self, X, *, out=None, dtype=None, n_jobs=None):
        """Each term fixes its width and is added to the matrix in one go; beside it one more is held."""
        fitted, K, term = [], out, None
        for weight, kernel in self.terms:
            kernel, term = kernel.fit_gram(X, out=term if fitted else K, dtype=dtype, n_jobs=n_jobs)
            fitted.append(kernel)
            term *= weight
            if len(fitted) == 1:
                K, term = term, None
            else:
                K += term
        return Sum(tuple(fitted), self.weights), K

    def _parts(self):
        return self.kernels

    def __repr__(self):
        parts = [repr(k) if w == 1 else f"{w!r} * {_in_product(k)}" for w, k in self.terms]
        return " + ".join(parts)


@dataclass(repr=False, eq=False)
class Product(Kernel):
    """prod_t kernels[t](x, z)."""

    kernels: tuple

    def __post_init__(self):
        _check_kernels(self.kernels)

    def compute(self, X, Z):
        return _product(kernel.compute(X, Z) for kernel in self.kernels)

    def diagonal(self, X):
        return _product(kernel.diagonal(X) for kernel in self.kernels)

    def fit(self, X):
        return Product(tuple(kernel.fit(X) for kernel in self.kernels))

    def _parts(self):
        return self.kernels

    def __repr__(self):
        return " * ".join(map(_in_product, self.kernels))


@dataclass(repr=False, eq=False)
class _Around(Kernel):
    """Base of what goes around one kernel."""

    kernel: Kernel

    def __post_init__(self):
        _check_kernels((self.kernel,))

    def fit(self, X):
        return replace(self, kernel=self.kernel.fit(X))

    def _parts(self):
        return (self.kernel,)


@dataclass(repr=False, eq=False)
class Power(_Around):
    """kernel(x, z) ** exponent, with a whole exponent: what is similar counts more, what is not hardly."""

    exponent: int

    def __post_init__(self):
        super().__post_init__()
        if not isinstance(self.exponent, int | np.integer) or self.exponent < 1:
            raise ValueError(f"the exponent must be a whole number of at least 1, got {self.exponent!r}")

    def compute(self, X, Z):
        return _raised(self.kernel.compute(X, Z), self.exponent)

    def diagonal(self, X):
        return _raised(self.kernel.diagonal(X), self.exponent)

    def fit_gram(self, X, *, out=None, dtype=None, n_jobs=None):
        kernel, K = self.kernel.fit_gram(X, out=out, dtype=dtype, n_jobs=n_jobs)
        return Power(kernel, self.exponent), _raised(K, self.exponent)

    def __repr__(self):
        return f"{_in_product(self.kernel)} ** {self.exponent!r}"


@dataclass(repr=False, eq=False)
class OnView(_Around):
    """A kernel on one view: `X[view]` of a mapping, or columns (index, list or slice) of an array."""

    view: object

    def __post_init__(self):
        super().__post_init__()
        if not isinstance(self.view, str | int | np.integer | slice | list | tuple):
            raise TypeError(f"view must be a name, an index, a list or a slice, got {self.view!r}")

    def compute(self, X, Z):
        rows = self._select(X)
        return self.kernel.compute(rows, rows if Z is X else self._select(Z))

    def diagonal(self, X):
        return self.kernel.diagonal(self._select(X))

    def squared_distances(self, X, Z):
        rows = self._select(X)
        return self.kernel.squared_distances(rows, rows if Z is X else self._select(Z))

    def fit(self, X):
        return OnView(self.kernel.fit(self._select(X)), self.view)

    def fit_gram(self, X, *, out=None, dtype=None, n_jobs=None):
        dtype = float_type(X, dtype)
        kernel, K = self.kernel.fit_gram(self._select(X), out=out, dtype=dtype, n_jobs=n_jobs)
        return OnView(kernel, self.view), K

    def _select(self, X):
        if isinstance(X, Mapping):
            if self.view not in X:
                raise KeyError(f"{self!r} needs the view {self.view!r}; the data has {sorted(X)}")
            return X[self.view]
        if isinstance(self.view, str):
            raise TypeError(f"{self!r} needs a mapping of views, got an array of shape {X.shape}")
        columns = self.view
        if not isinstance(columns, slice):
            columns = np.atleast_1d(columns)
        chosen = X[:, columns]
        return chosen if hasattr(chosen, "tocsr") else np.ascontiguousarray(chosen)

    def __repr__(self):
        return f"{_in_product(self.kernel)}.on({self.view!r})"


@dataclass(repr=False, eq=False)
class UnitDiagonal(_Around):
    """k(x, z) / sqrt(k(x, x) k(z, z)), and 0 where k(x, x) = 0."""

    def compute(self, X, Z):
        K = self.kernel.compute(X, Z)
        left = self._scale(X)
        K *= left[:, None]
        K *= left if Z is X else self._scale(Z)
        return K

    def diagonal(self, X):
        values = self.kernel.diagonal(X)
        return (values > 0).astype(values.dtype)

    def _scale(self, X):
        values = self.kernel.diagonal(X)
        present = values > 0
        return np.where(present, 1 / np.sqrt(np.where(present, values, 1)), 0).astype(values.dtype)

    def __repr__(self):
        return f"{_in_product(self.kernel)}.unit_diagonal()"


@dataclass(repr=False, eq=False)
class UnitTrace(_Around):
    """A kernel whose scale waits for the training rows: fitted, it is `kernel / trace`."""

    @property
    def fixed(self):
        return False

    def fit(self, X):
        kernel = self.kernel.fit(X)
        trace = float(np.sum(diagonal_of(kernel, X), dtype=np.float64))
        # a kernel that is zero on all training rows has no scale: leave it
        return scale(kernel, 1 / trace if trace > 0 else 1.0)

    def __repr__(self):
        return f"{_in_product(self.kernel)}.unit_trace()"


def add(left, right):
    """The sum of two kernels as one flat Sum."""
    terms = left.terms + right.terms
    return Sum(tuple(kernel for _, kernel in terms), tuple(weight for weight, _ in terms))


def scale(kernel, weight):
    """`weight * kernel` as a Sum."""
    return Sum(tuple(term for _, term in kernel.terms), tuple(float(weight) * old for old, _ in kernel.terms))


def multiply(left, right):
    """The product of two kernels as one flat Product."""
    factors = [k.kernels if isinstance(k, Product) else (k,) for k in (left, right)]
    return Product(factors[0] + factors[1])


def _raised(K, exponent):
    K **= int(exponent)
    return K


def _weighted_sum(weighted):
    total = None
    for weight, values in weighted:
        values *= weight
        total = values if total is None else np.add(total, values, out=total)
    return total


def _product(factors):
    result = None
    for values in factors:
        result = values if result is None else np.multiply(result, values, out=result)
    return result


def _check_kernels(kernels):
    if not kernels or not all(isinstance(kernel, Kernel) for kernel in kernels):
        raise TypeError(f"kernels must be one or more Kernel objects, got {kernels!r}")
    if not all(kernel.combines for kernel in kernels):
        raise TypeError(
            "precomputed similarities cannot be combined with other kernels; add the matrices themselves"
        )


def _in_product(kernel):
    return f"({kernel!r})" if isinstance(kernel, Sum | Product) else repr(kernel)

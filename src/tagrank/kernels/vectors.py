"""Kernels of vectors: through inner products, dense by BLAS, sparse by sparse products.

Gaussian and chi-square kernels share exp(-d / width), the width being the mean distance (`Exponential`).
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tagrank.arrays import row_blocks
from tagrank.kernels.gram import (
    TILE,
    as_rows,
    evaluate,
    float_type,
    n_rows,
    run_tiles,
    sliceable,
    take_rows,
    upper_tiles,
)
from tagrank.kernels.kernel import Kernel
from tagrank.validation import check_magnitude, check_positive, check_whole


@dataclass(repr=False, eq=False)
class Exponential(Kernel):
    """exp(-gamma * d(x, z)) with gamma = 1 / width.

    Without `gamma`, `fit` takes as width the exact mean of d over the n (n - 1) ordered pairs of different
    training rows. If all of them coincide the width is set to 1: every similarity is then 1 anyway.
    """

    gamma: float | None = None

    def __post_init__(self):
        if self.gamma is not None:
            check_positive("gamma", self.gamma)

    def distances(self, X, Z):
        """d of all rows of `X` and `Z`, a new (n_x, n_z) array that is never negative."""
        raise NotImplementedError

    def squared_distances(self, X, Z):
        """d itself: it puts rows into the same order as what the kernel makes of it."""
        return self.distances(X, Z)

    @property
    def fixed(self) -> Kernel:
        return self.gamma is not None

    def compute(self, X, Z):
        return _exponentiate(self.distances(X, Z), self.gamma)

    def diagonal(self, X):
        return np.ones(n_rows(X), float_type(X))

    def fit(self, X) -> Kernel:
        return self if self.fixed else self._with_width(self.mean_distance(X))

    def mean_distance(self, X):
        """The exact mean of d over pairs of different rows, without keeping the distances."""
        X, dtype = sliceable(X), float_type(X)

        def total(tile):
            left, right = (as_rows(take_rows(X, rows), dtype) for rows in tile)
            if tile[0] == tile[1]:
                return np.sum(np.triu(self.distances(left, left), 1), dtype=np.float64)
            return np.sum(self.distances(left, right), dtype=np.float64)

        return 2 * sum(run_tiles(total, upper_tiles(n_rows(X), TILE))) / _n_pairs(n_rows(X))

    def fit_gram(self, X, *, out=None, dtype=None, n_jobs=None):
        if self.fixed:
            return super().fit_gram(X, out=out, dtype=dtype, n_jobs=n_jobs)
        K = evaluate(self.distances, X, out=out, dtype=dtype, n_jobs=n_jobs)
        np.fill_diagonal(K, 0)
        blocks = list(row_blocks(K.shape[0], 64))
        total = sum(run_tiles(lambda rows: np.sum(K[rows], dtype=np.float64), blocks, n_jobs))
        kernel = self._with_width(total / _n_pairs(K.shape[0]))
        run_tiles(lambda rows: _exponentiate(K[rows], kernel.gamma), blocks, n_jobs)
        return kernel, K

    def _with_width(self, width):
        params = self.get_params(deep=False)
        return type(self)(**{**params, "gamma": float(1 / width) if width > 0 else 1.0})


def _exponentiate(distances, gamma):
    distances *= -gamma
    return np.exp(distances, out=distances)


def _n_pairs(n_samples):
    return max(1, n_samples * (n_samples - 1))


def inner_products(X, Z):
    """All inner products of rows of `X` and `Z`, a dense (n_x, n_z) array."""
    products = X @ Z.T
    return products.toarray() if sparse.issparse(products) else products


def squared_norms(X):
    """Squared Euclidean norm of each row."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def check_squares(X, Z):
    """Raise if rows compared with themselves, as all are in training, have squares out of range."""
    if Z is X:
        check_magnitude("X", X, X.dtype)


@dataclass(repr=False, eq=False)
class Linear(Kernel):
    """<x, z>."""

    compares_vectors = True
    is_euclidean = True

    def compute(self, X, Z):
        check_squares(X, Z)
        return inner_products(X, Z)

    def diagonal(self, X):
        return squared_norms(X)


@dataclass(repr=False, eq=False)
class Polynomial(Kernel):
    """(gamma <x, z> + coef0) ** degree, with gamma = 1 / n_features unless given.

    Parameters
    ----------
    degree : int, default 3
        The power. 2 reads pairs of columns, 3 triples.
    gamma : float, optional
        Factor of the inner product; 1 / n_features by default.
    coef0 : float, default 1.0
        What is added to the product. 0 leaves out all lower powers.
    """

    compares_vectors = True

    degree: int = 3
    gamma: float | None = None
    coef0: float = 1.0

    def __post_init__(self):
        check_whole("degree", self.degree, 1)
        if self.gamma is not None:
            check_positive("gamma", self.gamma)
        check_positive("coef0", self.coef0, allow_zero=True)

    @property
    def fixed(self) -> Kernel:
        return self.gamma is not None

    def compute(self, X, Z):
        check_squares(X, Z)
        return self._apply(inner_products(X, Z))

    def diagonal(self, X):
        return self._apply(squared_norms(X))

    def fit(self, X) -> Kernel:
        return self if self.fixed else Polynomial(self.degree, 1 / max(1, X.shape[1]), self.coef0)

    def _apply(self, products):
        products *= self.gamma
        products += self.coef0
        return np.power(products, int(self.degree), out=products)


@dataclass(repr=False, eq=False)
class Gaussian(Exponential):
    """exp(-|x - z|^2 / width); see Exponential for the width.

    Parameters
    ----------
    gamma : float, optional
        1 / width. By default the width is the mean squared distance of training pairs, fixed by `fit`.
    """

    compares_vectors = True
    is_euclidean = True

    # the width has a closed form, so there are no distances to keep for the Gram matrix
    fit_gram = Kernel.fit_gram

    def distances(self, X, Z):
        check_squares(X, Z)
        if not sparse.issparse(X):
            # distances do not change when both move; around the origin they lose fewer digits
            centre = Z.mean(axis=0)
            X, Z = (X - centre,) * 2 if Z is X else (X - centre, Z - centre)
        D = inner_products(X, Z)
        D *= -2
        D += squared_norms(X)[:, None]
        D += squared_norms(Z)
        return np.maximum(D, 0, out=D)

    def mean_distance(self, X):
        """In closed form: twice the sum of the variances, for pairs of different rows."""
        n_samples = X.shape[0]
        check_magnitude("X", X, np.float64)
        if sparse.issparse(X):
            X = X.astype(np.float64)
            means = np.asarray(X.mean(axis=0)).ravel()
            total = float(squared_norms(X).sum()) - n_samples * float(means @ means)
        else:
            total = float(np.sum(np.var(X, axis=0, dtype=np.float64))) * n_samples
        return max(0.0, 2 * total / max(1, n_samples - 1))

"""What Gaussian and chi-square kernels share: exp(-d / width), the width being the mean distance."""

from dataclasses import dataclass

import numpy as np

from tagrank.arrays import row_blocks
from tagrank.kernels.base import Kernel
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
from tagrank.validation import check_positive


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
    def fixed(self):
        return self.gamma is not None

    def compute(self, X, Z):
        return _exponentiate(self.distances(X, Z), self.gamma)

    def diagonal(self, X):
        return np.ones(n_rows(X), float_type(X))

    def fit(self, X):
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

"""Kernels of histograms: rows of non-negative numbers."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tagrank.kernels.base import Kernel
from tagrank.kernels.exponential import Exponential
from tagrank.kernels.vectors import check_squares, inner_products, squared_norms
from tagrank.validation import check_choice


@dataclass(repr=False, eq=False)
class ChiSquared(Exponential):
    """exp(-d / width) with d = sum_t (x_t - z_t)^2 / (x_t + z_t), where 0 / 0 = 0.

    With `whole_vector=True`, d = |x - z|^2 / |x + z|^2. See Exponential for the width.
    """

    whole_vector: bool = False

    def __post_init__(self):
        super().__post_init__()
        check_choice("whole_vector", self.whole_vector, (False, True))

    def distances(self, X, Z):
        _check_not_negative(X, Z)
        from tagrank.kernels.histogram_tiles import chi_square_distances

        return _whole_vector_distances(X, Z) if self.whole_vector else chi_square_distances(X, Z)


@dataclass(repr=False, eq=False)
class Intersection(Kernel):
    """sum_t min(x_t, z_t)."""

    def compute(self, X, Z):
        _check_not_negative(X, Z)
        from tagrank.kernels.histogram_tiles import intersections

        return intersections(X, Z)

    def diagonal(self, X):
        _check_not_negative(X)
        return np.asarray(X.sum(axis=1)).ravel()


@dataclass(repr=False, eq=False)
class Hellinger(Kernel):
    """sum_t sqrt(x_t z_t)."""

    def compute(self, X, Z):
        _check_not_negative(X, Z)
        roots = np.sqrt(X)
        return inner_products(roots, roots if Z is X else np.sqrt(Z))

    def diagonal(self, X):
        _check_not_negative(X)
        return np.asarray(X.sum(axis=1)).ravel()


def _whole_vector_distances(X, Z):
    check_squares(X, Z)
    products = inner_products(X, Z)
    products *= 2
    squares = squared_norms(X)[:, None] + squared_norms(Z)
    total = squares + products
    # two zero rows coincide
    total[total == 0] = 1
    np.subtract(squares, products, out=products)
    products /= total
    return np.maximum(products, 0, out=products)


def _check_not_negative(*arrays):
    for X in arrays:
        values = X.data if sparse.issparse(X) else X
        if values.size and values.min() < 0:
            raise ValueError(
                f"histogram kernels need rows without negative numbers, got {values.min():.6g}; "
                "use Gaussian or Linear, or shift the features"
            )

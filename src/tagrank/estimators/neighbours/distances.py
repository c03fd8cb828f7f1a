"""How far samples are from each other, for each term of a kernel.

The distance of a term is the square root of `Kernel.squared_distances`: Euclidean for Gaussian and linear
kernels, the root of the chi-square distance for ChiSquared, that of the kernel's own space for others. Each
is divided by its mean over training pairs, so that views of any size can be added.
"""

import numpy as np

from tagrank.estimators.compared_rows import ComparedRows
from tagrank.kernels.gram import evaluate, n_rows, take_rows

SAMPLE = 1000  # training rows whose pairs give the mean distance


def fit_distances(kernel, X):
    """The kernel with its widths fixed, and the mean distances (n_terms,) of its terms, by some rows."""
    some = take_rows(X, spread(n_rows(X)))
    kernel = kernel.fit(some)
    unscaled = distances_of(kernel, some, None, np.ones(len(kernel.terms)))
    return kernel, mean_distances(unscaled)


def spread(n_samples):
    """Indices of some samples, evenly spread over all."""
    return np.arange(n_samples) if n_samples <= SAMPLE else np.linspace(0, n_samples - 1, SAMPLE).astype(int)


def mean_distances(D):
    """Means (n_terms,) over pairs of different rows of `D` (n, n, n_terms); 1 where all coincide."""
    n_samples = len(D)
    diagonal = np.einsum("iit->t", D)
    means = (D.sum(axis=(0, 1), dtype=np.float64) - diagonal) / max(1, n_samples * (n_samples - 1))
    return np.where(means > 0, means, 1.0)


def distances_of(kernel, X, Z, scales, *, dtype=np.float64, n_jobs=None):
    """Distances (n_x, n_z, n_terms) of rows, each divided by the scale of its term; without Z of X itself."""
    D = np.empty((n_rows(X), n_rows(X if Z is None else Z), len(scales)), dtype)
    for t, (_, part) in enumerate(kernel.terms):

        def measure(rows, others, part=part, scale=scales[t]):
            squares = part.squared_distances(rows, others)
            squares /= scale**2
            return np.sqrt(squares, out=squares)

        evaluate(measure, X, Z, out=D[:, :, t], n_jobs=n_jobs)
    return D


def similarity_distances(K, diagonal, own=None):
    """Distances (n_x, n_z, 1) from similarities; `diagonal` (n_z,), `own` (n_x,) are those with themselves.

    Where `own` is not known, it is the mean of `diagonal`, or the least with which no square is negative.
    """
    squares = -2.0 * K
    squares += diagonal
    if own is None:
        own = np.maximum(diagonal.mean(), -squares.min(axis=1))
    squares += own[:, None]
    return np.sqrt(np.maximum(squares, 0, out=squares), out=squares)[:, :, None]


def term_weights(kernel):
    """Weights (n_terms,) of the terms in the distance by which neighbours are found; their sum is one."""
    weights = np.array([weight for weight, _ in kernel.terms], np.float64)
    return weights / weights.sum() if weights.any() else np.full(len(weights), 1 / len(weights))


def is_euclidean(kernel):
    """Whether neighbours of dense rows under this kernel are those of `nearest_rows`."""
    return kernel.is_euclidean


class ComparedDistances(ComparedRows):
    """Rows whose distances (n, n, n_terms) stand in the place of similarities."""

    def training(self, rows):
        return ComparedDistances(None, self.kernel, self.K[np.ix_(rows, rows)], self.known)

    def raised(self, power):
        """A kernel to a power has the same neighbours."""
        return self

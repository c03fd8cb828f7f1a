"""A mixture of Gaussians over local descriptors: soft visual words with a shape, for Fisher vectors.

p(x) = sum_k weights_k N(x; means_k, diag(variances_k))
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tagrank.arrays import row_blocks
from tagrank.features.words.assignment import nearest_words
from tagrank.features.words.vocabulary import (
    Vocabulary,
    check_counts,
    check_learned,
    learn_centres,
    warn_if_fewer,
)

_BLOCK = 4096
# of the variance of all descriptors: what a component keeps that has shrunk to a point
_FLOOR = 1e-3
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class GaussianMixtureWords(Vocabulary):
    """Gaussians with diagonal covariances by expectation maximisation, after an optional PCA.

    Parameters
    ----------
    n_components : int
    n_projected : int or None; the columns left by PCA, None leaves the descriptors as they are
    n_samples : int
    max_iter : int, rounds of expectation maximisation, from the clusters of k-means
    weights : float32 array, shape (n_components,), learned
    means, variances : float32 arrays, shape (n_components, n_projected or n_columns), learned
    offset : float32 array, shape (n_columns,), learned: the mean of the descriptors
    axes : float32 array, shape (n_columns, n_projected), learned: the principal axes
    """

    n_components: int = 64
    n_projected: int | None = 64
    n_samples: int = 100_000
    max_iter: int = 30
    weights: np.ndarray | None = None
    means: np.ndarray | None = None
    variances: np.ndarray | None = None
    offset: np.ndarray | None = None
    axes: np.ndarray | None = None

    def __post_init__(self):
        check_counts(self, "n_components", "n_samples", "max_iter")
        if self.n_projected is not None:
            check_counts(self, "n_projected")
        if self.weights is not None:
            self._check_arrays()

    def _check_arrays(self):
        check_learned("weights", self.weights, (self.n_components,))
        check_learned("means", self.means, (self.n_components, None))
        check_learned("variances", self.variances, self.means.shape)
        if self.n_projected is not None:
            check_learned("offset", self.offset, (None,))
            check_learned("axes", self.axes, (len(self.offset), self.means.shape[1]))
        if min(self.weights.min(), self.variances.min()) <= 0:
            raise ValueError("the weights and variances of a mixture must be positive")

    @property
    def is_fitted(self):
        return self.weights is not None

    @property
    def n_columns(self):
        return self.means.shape[1] if self.n_projected is None else len(self.offset)

    def project(self, descriptors):
        """Descriptors on the principal axes, float32, shape (n_points, n_projected)."""
        if self.n_projected is None:
            return descriptors
        return (descriptors - self.offset) @ self.axes

    def posteriors(self, rows):
        """How likely each component made each projected row, float32, shape (n_rows, n_components)."""
        linear, squares, constant = self._log_densities
        logs = rows @ linear
        logs -= (rows * rows) @ squares
        logs += constant
        logs -= logs.max(axis=1, keepdims=True)
        np.exp(logs, out=logs)
        logs /= logs.sum(axis=1, keepdims=True)
        return logs

    @cached_property
    def _log_densities(self):
        """log(weight_k density_k(x)) = x linear_k - x^2 squares_k + constant_k + what all share."""
        precisions = 1 / self.variances.astype(np.float64)
        squared_means = (self.means**2 * precisions).sum(axis=1)
        constant = np.log(self.weights) + 0.5 * (np.log(precisions).sum(axis=1) - squared_means)
        terms = ((self.means * precisions).T, precisions.T / 2, constant)
        return tuple(np.ascontiguousarray(term, dtype=np.float32) for term in terms)

    def learn(self, sample, rng):
        offset, axes = (None, None) if self.n_projected is None else _principal_axes(sample, self.n_projected)
        rows = sample if axes is None else (sample - offset) @ axes
        centres = learn_centres(rows, self.n_components, max_iter=10, rng=rng)
        warn_if_fewer(len(centres), self.n_components, "components")
        clusters = np.eye(len(centres), dtype=np.float32)
        moments = _estimate(rows, lambda block: clusters[nearest_words(block, centres)[:, 0]])
        mixture = self.replace(n_components=len(centres), offset=offset, axes=axes, **moments)
        for _ in range(self.max_iter):
            mixture = mixture.replace(**_estimate(rows, mixture.posteriors))
        return mixture


def _estimate(rows, memberships):
    """Weights, means and variances of components that own the share `memberships(rows)` of every row."""
    counts, sums, squares = 0.0, 0.0, 0.0
    for block in row_blocks(len(rows), _BLOCK):
        shares = memberships(rows[block]).astype(np.float64)
        counts += shares.sum(axis=0)[:, None]
        sums += shares.T @ rows[block]
        squares += shares.T @ (rows[block].astype(np.float64) ** 2)
    # a component that has lost its rows stays harmless, but the Fisher vector divides by its weight
    counts = np.maximum(counts, 1e-6 * len(rows))
    means = sums / counts
    variances = np.maximum(squares / counts - means**2, _FLOOR * rows.var(axis=0).max() + _TINY)
    estimates = {"weights": counts[:, 0] / counts.sum(), "means": means, "variances": variances}
    return {name: array.astype(np.float32) for name, array in estimates.items()}


def _principal_axes(sample, n_axes):
    """The mean of the rows and their `n_axes` directions of largest variance, or all if there are fewer."""
    offset = sample.mean(axis=0, dtype=np.float64)
    centred = sample - offset.astype(np.float32)
    _, vectors = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    return offset.astype(np.float32), np.ascontiguousarray(vectors[:, ::-1][:, :n_axes], dtype=np.float32)

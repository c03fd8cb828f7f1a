"""The improved Fisher vector (Perronnin et al. 2010; Sanchez et al. 2013).

How the mean log-likelihood of a cell's descriptors under a Gaussian mixture grows with its means and
standard deviations, each in units of its own Fisher information:

    g_mean_k  = 1 / (T sqrt(w_k))    sum_t p_tk (x_t - m_k) / s_k
    g_width_k = 1 / (T sqrt(2 w_k))  sum_t p_tk ((x_t - m_k)^2 / s_k^2 - 1)

with p_tk the posterior of component k for point t, and w, m, s the weights, means and standard deviations of
the mixture p(x) = sum_k w_k N(x; m_k, diag(s_k^2)), whose components are soft visual words with a shape.
Then every number becomes its signed root, and the row of every cell is scaled to length one.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from tagrank.arrays import row_blocks
from tagrank.features.words.encoding import EuclideanEncoding
from tagrank.features.words.vocabulary import (
    Vocabulary,
    check_counts,
    check_learned,
    learn_centres,
    nearest_words,
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


class FisherCodes(NamedTuple):
    """What the gradient is summed from: projected descriptors, and their posteriors under the mixture.

    Both are float32, of shape (n_points, n_projected) and (n_points, n_components).
    """

    rows: np.ndarray
    posteriors: np.ndarray
    mixture: GaussianMixtureWords

    def mean(self, cells, n_cells):
        """The gradient of every cell, float32, shape (n_cells, 2 * n_components * n_projected)."""
        gradients = np.zeros((n_cells, 2 * self.mixture.means.size), dtype=np.float32)
        for cell in np.unique(cells):
            inside = cells == cell
            gradients[cell] = _gradient(self.rows[inside], self.posteriors[inside], self.mixture)
        return gradients


@dataclass(frozen=True)
class FisherEncoding(EuclideanEncoding):
    """How a Gaussian mixture would have to change to fit the picture better. Averages only, linear kernel."""

    vocabulary_type: ClassVar[type[Vocabulary]] = GaussianMixtureWords
    has_maximum: ClassVar[bool] = False

    def encode(self, descriptors, vocabulary):
        rows = vocabulary.project(descriptors)
        return FisherCodes(rows, vocabulary.posteriors(rows), vocabulary)

    def n_columns(self, vocabulary):
        return 2 * vocabulary.means.size

    def finish_cells(self, rows, share):
        return super().finish_cells(np.sign(rows) * np.sqrt(np.abs(rows)), share)


def _gradient(rows, posteriors, mixture):
    counts = posteriors.sum(axis=0, dtype=np.float64)[:, None]
    sums = (posteriors.T @ rows).astype(np.float64)
    squares = (posteriors.T @ (rows * rows)).astype(np.float64)
    weights, means, variances = mixture.weights[:, None], mixture.means, mixture.variances
    by_mean = (sums - counts * means) / np.sqrt(variances * weights)
    by_width = (squares - 2 * means * sums + counts * (means**2 - variances)) / (
        variances * np.sqrt(2 * weights)
    )
    return np.concatenate([by_mean.ravel(), by_width.ravel()]) / len(rows)

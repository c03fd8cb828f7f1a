"""The improved Fisher vector (Perronnin et al. 2010; Sanchez et al. 2013).

How the mean log-likelihood of a cell's descriptors under a Gaussian mixture grows with its means and
standard deviations, each in units of its own Fisher information:

    g_mean_k  = 1 / (T sqrt(w_k))    sum_t p_tk (x_t - m_k) / s_k
    g_width_k = 1 / (T sqrt(2 w_k))  sum_t p_tk ((x_t - m_k)^2 / s_k^2 - 1)

with p_tk the posterior of component k for point t, and w, m, s the weights, means and standard deviations.
Then every number becomes its signed root, and the row of every cell is scaled to length one.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tagrank.features.words.encoding import EuclideanEncoding
from tagrank.features.words.mixture import GaussianMixtureWords
from tagrank.features.words.vocabulary import Vocabulary


class FisherCodes(NamedTuple):
    """What the gradient is summed from.

    Parameters
    ----------
    rows : float32 array, shape (n_points, n_projected), projected descriptors
    posteriors : float32 array, shape (n_points, n_components)
    mixture : GaussianMixtureWords
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

"""Region covariance: how place, colour and derivatives vary together (Tuzel, Porikli and Meer, 2006).

Covariance matrices are compared by their logarithms: the Euclidean distance between two rows is the
log-Euclidean distance between the matrices.
"""

from dataclasses import dataclass

import numpy as np

from tagrank.features.feature import Feature, check_count
from tagrank.features.whole_picture.pyramid import cell_indices, pyramid_sums

# added to every variance: keeps the logarithm finite, and noise in flat regions from mattering
FLOOR = 1e-4


@dataclass(frozen=True)
class RegionCovariance(Feature):
    """Logarithm of the covariance of (x, y, red, green, blue, |Ix|, |Iy|, |Ixx|, |Iyy|) in a spatial pyramid.

    Parameters
    ----------
    levels : int, levels of the pyramid: 1 x 1, 2 x 2, 4 x 4, ... regions

    The row has 45 columns for each region, 945 by default. Places, colours and brightness run from 0 to 1.
    """

    kernel = "rbf"
    levels: int = 3

    def __post_init__(self):
        check_count("levels", self.levels, most=4)

    def describe(self, picture):
        covariances = _covariances(_channels(picture), 2 ** (self.levels - 1))
        variances, axes = np.linalg.eigh(covariances + FLOOR * np.eye(covariances.shape[-1]))
        logarithms = (axes * np.log(np.maximum(variances, FLOOR))[:, None]) @ axes.transpose(0, 2, 1)
        row, column = np.triu_indices(covariances.shape[-1])
        # an entry off the diagonal stands for two
        weights = np.where(row == column, 1, np.sqrt(2))
        return (logarithms[:, row, column] * weights).astype(np.float32).ravel()


def _channels(picture):
    """What varies, less its mean over the picture: float32 array, shape (9, height, width)."""
    height, width = picture.pixels.shape[:2]
    channels = np.empty((9, height, width), dtype=np.float32)
    channels[0] = (np.arange(width) + 0.5) / width
    channels[1] = ((np.arange(height) + 0.5) / height)[:, None]
    channels[2:5] = np.moveaxis(picture.pixels, -1, 0) / np.float32(255)
    padded = np.pad(picture.grey, 1, mode="edge")
    left, right, above, below = padded[1:-1, :-2], padded[1:-1, 2:], padded[:-2, 1:-1], padded[2:, 1:-1]
    channels[5] = right - left
    channels[6] = below - above
    channels[7] = left + right - 2 * picture.grey
    channels[8] = above + below - 2 * picture.grey
    np.abs(channels[5:], out=channels[5:])
    channels -= channels.mean(axis=(1, 2), keepdims=True)
    return channels


def _covariances(channels, n_cells):
    """Covariances of the channels in the regions of every level, float64 array, shape (n_regions, 9, 9)."""
    n_channels, height, width = channels.shape
    rows, columns = (
        np.searchsorted(cell_indices(n, n_cells), np.arange(n_cells + 1)) for n in (height, width)
    )
    # a constant channel of 1 brings the sums and the number of pixels along with the products
    moments = np.empty((n_cells, n_cells, n_channels + 1, n_channels + 1))
    for i, j in np.ndindex(n_cells, n_cells):
        cell = channels[:, rows[i] : rows[i + 1], columns[j] : columns[j + 1]].reshape(n_channels, -1)
        cell = np.vstack([cell, np.ones_like(cell[:1])])
        moments[i, j] = cell @ cell.T
    moments = pyramid_sums(moments)
    moments /= moments[:, -1:, -1:]
    means = moments[:, :-1, -1]
    return moments[:, :-1, :-1] - means[:, :, None] * means[:, None, :]

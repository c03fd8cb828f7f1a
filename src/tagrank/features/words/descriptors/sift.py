"""SIFT (Lowe 2004), upright, from maps of gradient orientations that all points of a picture share.

For a point p and a scale b, cell (i, j) of 4 x 4 and orientation o of 8,

    d[i, j, o] = sum_q  m_o(q) t(q_y, i) t(q_x, j)
    t(q, i) = max(0, 1 - |q - p - c_i| / b) exp(-(q - p)^2 / (2 (2 b)^2)),     c_i = (i - 1.5) b

where m_o is the strength of the gradient at a pixel, shared between the two nearest of the eight directions.
This is Lowe's trilinear interpolation and Gaussian window without approximation; only the work is shared.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from tagrank.features.words.descriptors.descriptor import LocalDescriptor

CELLS, ORIENTATIONS = 4, 8


@dataclass(frozen=True)
class Sift(LocalDescriptor):
    """Histograms of gradient directions in 4 x 4 cells, row by row: scaled to length one, cut, scaled again.

    Parameters
    ----------
    smoothing : float, how much the picture is smoothed before: the width of the Gaussian in pixels
    clip : float, the largest share of the length that one number may have
    root : bool, divide by the sum and take square roots instead (RootSIFT; Arandjelovic & Zisserman 2012)
    min_contrast : float, patches whose length is below (brightness from 0 to 1, for a pixel) become zero:
        what is left of a plain surface is rounding, or the noise of the camera
    """

    smoothing: float = 0.5
    clip: float = 0.2
    root: bool = False
    min_contrast: float = 1e-5

    n_columns: ClassVar[int] = CELLS * CELLS * ORIENTATIONS

    def __post_init__(self):
        if not (0 <= self.smoothing <= 64 and self.clip > 0 and self.min_contrast >= 0):
            raise ValueError(
                "Sift needs smoothing from 0 to 64, min_contrast of at least 0 and clip above 0, "
                f"got {self.smoothing}, {self.min_contrast}, {self.clip}"
            )

    def describe_scale(self, picture, scale, x, y, rows):
        from tagrank.features.words.descriptors.directions import normalise_rows
        from tagrank.features.words.descriptors.windows import sum_windows

        maps = orientation_maps(picture, self.smoothing)
        sum_windows(maps, x, y, _window(scale), rows.reshape(-1, CELLS, CELLS, ORIENTATIONS))
        # a window has a weight of about scale^2 in each cell
        normalise_rows(rows, self.clip, max(self.min_contrast * scale**2, np.finfo(np.float32).tiny))
        if self.root:
            rows /= np.maximum(rows.sum(axis=1, keepdims=True), np.finfo(np.float32).tiny)
            np.sqrt(rows, out=rows)


def orientation_maps(picture, smoothing):
    """Gradient strength in eight directions, 0 to the right and 2 down, float32, shape (height, width, 8)."""
    return picture.once(
        ("orientation_maps", smoothing), lambda: _orientation_maps(_smooth(picture.grey, smoothing))
    )


def _orientation_maps(grey):
    from tagrank.features.words.descriptors.directions import gradients, share_between_bins

    maps = np.empty((*grey.shape, ORIENTATIONS), np.float32)
    share_between_bins(*gradients(grey), ORIENTATIONS, 0, maps)
    return maps


def _smooth(grey, sigma):
    """Gaussian smoothing; less than a tenth of a pixel changes nothing."""
    import cv2

    if sigma < 0.1:
        return grey
    return cv2.GaussianBlur(grey, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)


@lru_cache(maxsize=256)
def _window(scale):
    """Weights of the cells around a point, float32, shape (4, 2 radius + 1)."""
    radius = int(np.ceil(2.5 * scale)) - 1
    offset = np.arange(-radius, radius + 1) / scale
    centre = np.arange(CELLS)[:, None] - (CELLS - 1) / 2
    weights = np.maximum(1 - np.abs(offset - centre), 0) * np.exp(-(offset**2) / (2 * 2**2))
    return weights.astype(np.float32)

"""Directions of contours in a spatial pyramid, PHOG (Bosch, Zisserman and Munoz, 2007)."""

from dataclasses import dataclass

import numpy as np

from tagrank.features.base import Feature, check_count
from tagrank.features.opencv import one_opencv_thread
from tagrank.features.whole_picture.pyramid import MAX_LEVELS, pyramid_cells, pyramid_histogram

SMOOTHING = 1.4
# as many pixels as this have less contrast than a sure edge; a possible one has at least 0.4 of its contrast
CALM_SHARE = 0.7
LOW_TO_HIGH = 0.4


@dataclass(frozen=True)
class PyramidEdges(Feature):
    """Histograms of gradient directions at Canny's edges, weighted by gradient strength.

    Parameters
    ----------
    oriented : bool, whether a step from dark to light differs from one from light to dark: directions over a
        whole turn, or over half a turn
    bins : int, directions told apart
    levels : int, levels of the pyramid: 1 x 1, 2 x 2, 4 x 4, ... cells

    The row has bins * (1 + 4 + ... + 4 ** (levels - 1)) columns, 3,400 by default. It sums to 1, every level
    to the same share; all zero for a picture without any edge.
    """

    oriented: bool = False
    bins: int = 40
    levels: int = 4

    def __post_init__(self):
        check_count("bins", self.bins, most=360)
        check_count("levels", self.levels, most=MAX_LEVELS)

    @property
    def about(self):
        turn = "a whole turn" if self.oriented else "half a turn"
        return f"Directions of Canny's edges over {turn}, weighted by strength, in a spatial pyramid."

    def describe(self, picture):
        y, x, angle, strength = picture.once("edge_points", lambda: _edge_points(picture.grey_levels))
        turns = angle / (2 * np.pi if self.oriented else np.pi)
        cells = pyramid_cells(*picture.pixels.shape[:2], levels=self.levels)[y, x]
        # bins are centred on level and upright edges: the most common ones must not lie between two
        bins = np.rint(turns * self.bins).astype(np.intp) % self.bins
        return pyramid_histogram(bins, cells, n_bins=self.bins, levels=self.levels, weights=strength)


def _edge_points(grey):
    """Rows, columns, directions (radians) and strengths of the pixels on contours, four arrays."""
    import cv2

    y, x = np.nonzero(_edges(cv2.GaussianBlur(grey, (0, 0), SMOOTHING)))
    dx, dy = (gradient[y, x].astype(np.float32) for gradient in cv2.spatialGradient(grey))
    return y, x, np.arctan2(dy, dx), np.hypot(dx, dy)


def _edges(smooth):
    """Canny's edges, thresholds following the contrast of the picture: uint8 array, shape (height, width)."""
    import cv2

    dx, dy = cv2.spatialGradient(smooth)
    # a quarter of the pixels is enough to find a threshold
    some = [gradient[::2, ::2].astype(np.float32) for gradient in (dx, dy)]
    strength = cv2.magnitude(*some).ravel()
    rank = int(CALM_SHARE * (strength.size - 1))
    high = float(np.partition(strength, rank)[rank])
    with one_opencv_thread():
        return cv2.Canny(dx, dy, LOW_TO_HIGH * high, high, L2gradient=True)

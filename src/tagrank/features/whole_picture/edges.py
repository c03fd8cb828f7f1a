"""Histograms of the directions of edges: in a grid of cells, in overlapping blocks, in a spatial pyramid.

`QuickEdges` has no model, `Hog` is that of Dalal and Triggs (2005), `PyramidEdges` PHOG (Bosch, Zisserman and
Munoz, 2007).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tagrank.features.feature import Feature, check_count, one_opencv_thread
from tagrank.features.pixels import need_opencv, resize
from tagrank.features.whole_picture.pyramid import MAX_LEVELS, pyramid_cells, pyramid_histogram

ORIENTATIONS = 8
GRIDS = (1, 4)
CELL_SIDE = 8
SMOOTHING = 1.4
# as many pixels as this have less contrast than a sure edge; a possible one has at least 0.4 of its contrast
CALM_SHARE = 0.7
LOW_TO_HIGH = 0.4


@dataclass(frozen=True)
class QuickEdges(Feature):
    """Histogram of edge orientations weighted by edge strength: the picture, then 4 x 4 cells row by row.

    Each edge is shared between the two nearest of eight orientations (a line has no direction: they cover
    half a turn). The row is normalised as a whole, so that busy cells outweigh calm ones.

    The row has 136 columns. It sums to 1; all zero for a picture without any edge.
    """

    def describe(self, picture):
        strength, orientation = _gradients(picture.grey)
        position = orientation * (ORIENTATIONS / np.pi)
        lower = np.floor(position)
        share = strength * (position - lower)
        first = lower.astype(np.intp) % ORIENTATIONS
        row = np.concatenate([_cell_histograms(first, strength - share, share, grid) for grid in GRIDS])
        total = row.sum()
        return (row / total if total > 0 else row).astype(np.float32)


def _gradients(grey):
    """Sobel strength and orientation in [0, pi) of the inner pixels, shapes (height - 2, width - 2)."""
    across = grey[:, 2:] - grey[:, :-2]
    down = grey[2:] - grey[:-2]
    dx = across[:-2] + 2 * across[1:-1] + across[2:]
    dy = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
    return np.hypot(dx, dy), np.arctan2(dy, dx) % np.pi


def _cell_histograms(first, first_weight, second_weight, grid):
    """Orientation histograms of grid x grid cells in one row, shape (grid * grid * ORIENTATIONS,)."""
    height, width = first.shape
    cells = (np.arange(height) * grid // height)[:, None] * grid + np.arange(width) * grid // width
    bins = cells * ORIENTATIONS
    length = grid * grid * ORIENTATIONS
    second = (first + 1) % ORIENTATIONS
    histogram = np.bincount((bins + first).ravel(), first_weight.ravel(), length)
    return histogram + np.bincount((bins + second).ravel(), second_weight.ravel(), length)


@dataclass(frozen=True)
class Hog(Feature):
    """Gradient orientations in overlapping blocks of 2 x 2 cells, each block normalised (L2, clipped at 0.2).

    Parameters
    ----------
    cells : int, the picture is stretched to cells x cells squares of 8 x 8 pixels
    orientations : int, bins over half a turn

    The row has (cells - 1) ** 2 * 4 * orientations columns, 1,764 by default. Values lie in [0, 1].
    """

    uses_opencv = True
    cells: int = 8
    orientations: int = 9

    def __post_init__(self):
        check_count("cells", self.cells, least=2, most=32)
        check_count("orientations", self.orientations, most=36)

    def describe(self, picture):
        side = self.cells * CELL_SIDE
        square = picture.once(("resized", side), lambda: resize(picture.pixels, height=side, width=side))
        return _descriptor(self.cells, self.orientations).compute(square).ravel()


@lru_cache(maxsize=8)
def _descriptor(cells, orientations):
    cv2 = need_opencv()
    cell, block, window = [(CELL_SIDE * n, CELL_SIDE * n) for n in (1, 2, cells)]
    return cv2.HOGDescriptor(window, block, cell, cell, orientations)


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

    uses_opencv = True
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
    cv2 = need_opencv()
    y, x = np.nonzero(_edges(cv2.GaussianBlur(grey, (0, 0), SMOOTHING)))
    dx, dy = (gradient[y, x].astype(np.float32) for gradient in cv2.spatialGradient(grey))
    return y, x, np.arctan2(dy, dx), np.hypot(dx, dy)


def _edges(smooth):
    """Canny's edges, thresholds following the contrast of the picture: uint8 array, shape (height, width)."""
    cv2 = need_opencv()
    dx, dy = cv2.spatialGradient(smooth)
    # a quarter of the pixels is enough to find a threshold
    some = [gradient[::2, ::2].astype(np.float32) for gradient in (dx, dy)]
    strength = cv2.magnitude(*some).ravel()
    rank = int(CALM_SHARE * (strength.size - 1))
    high = float(np.partition(strength, rank)[rank])
    with one_opencv_thread():
        return cv2.Canny(dx, dy, LOW_TO_HIGH * high, high, L2gradient=True)

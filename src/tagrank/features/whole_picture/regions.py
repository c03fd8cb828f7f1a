"""Moments of colour and texture in the regions of a grid, one after the other: parts of a picture.

Feng, Manmatha and Lavrenko (2004) cut pictures into a grid of rectangles and describe each by colour and
texture; `RelevanceModel(n_regions=...)` compares such parts with each other.
"""

from dataclasses import dataclass

import numpy as np

from tagrank.features.feature import Feature, check_count
from tagrank.features.pixels import smooth, to_lab

SMOOTHINGS = (1.0, 2.0, 4.0)
DIRECTIONS = 4
MOST = 8  # a picture of eight pixels a side has so many regions that are not empty


@dataclass(frozen=True)
class RegionMoments(Feature):
    """Colour moments and edge energies of each region of a grid, region after region, row by row.

    Parameters
    ----------
    rows, columns : int, regions from top to bottom, and from left to right

    Each region has 30 columns: mean, standard deviation and cube root of the third moment of red, green, blue
    and of the three channels of Lab, then the mean edge strength in 4 directions at 3 scales. All are about 0
    to 1.
    """

    kernel = "rbf"
    rows: int = 4
    columns: int = 6

    def __post_init__(self):
        check_count("rows", self.rows, most=MOST)
        check_count("columns", self.columns, most=MOST)

    @property
    def n_regions(self):
        return self.rows * self.columns

    def describe(self, picture):
        colours = np.concatenate([picture.pixels, to_lab(picture.pixels)], axis=2, dtype=np.float32) / 255
        means = self._means(colours)
        rest = colours - self._spread(means, colours.shape)
        squares = np.sqrt(self._means(rest**2))
        cubes = np.cbrt(self._means(rest**3))
        textures = self._means(_energies(picture.grey))
        return np.concatenate([means, squares, cubes, textures], axis=2).astype(np.float32).ravel()

    def _means(self, maps):
        """Means (rows, columns, n_maps) over the regions of maps (height, width, n_maps)."""
        starts = [-(-np.arange(n) * size // n) for n, size in zip(self._grid, maps.shape, strict=False)]
        sums = np.add.reduceat(np.add.reduceat(maps, starts[0], axis=0, dtype=np.float64), starts[1], axis=1)
        down, across = (np.diff(start, append=size) for start, size in zip(starts, maps.shape, strict=False))
        return sums / (down[:, None] * across)[:, :, None]

    def _spread(self, values, shape):
        """The value of its region for each pixel, shape (height, width, n_maps)."""
        down, across = (np.arange(size) * n // size for n, size in zip(self._grid, shape, strict=False))
        return values[down[:, None], across]

    @property
    def _grid(self):
        return self.rows, self.columns


def _energies(grey):
    """Edge strength by direction and scale: float32 array, shape (height, width, 12)."""
    found = []
    for sigma in SMOOTHINGS:
        down, across = np.gradient(smooth(grey, sigma))
        # a line has no direction: four cover half a turn
        angles = np.pi * np.arange(DIRECTIONS) / DIRECTIONS
        # wide edges are flat: as strong as narrow ones by this
        found += [sigma * np.abs(np.cos(a) * across + np.sin(a) * down) for a in angles]
    return np.stack(found, axis=2).astype(np.float32)

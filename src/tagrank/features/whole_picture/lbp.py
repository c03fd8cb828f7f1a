"""Local binary patterns: which neighbours are at least as bright as a pixel (Ojala et al., 2002)."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tagrank.features.feature import Feature, check_count
from tagrank.features.whole_picture.pyramid import MAX_LEVELS, pyramid_cells, pyramid_histogram

# (down, right), round the pixel in steps of 45 degrees: neighbours in the circle are neighbours in the code
NEIGHBOURS = ((0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1))


@dataclass(frozen=True)
class LocalBinaryPatterns(Feature):
    """Histograms of uniform 3 x 3 patterns in a spatial pyramid.

    A pattern is uniform when its bright neighbours are one arc of the circle; all others share one bin.

    Parameters
    ----------
    rotation_invariant : bool, whether only the length of the arc counts (10 bins), or where it lies, too (59)
    levels : int, levels of the pyramid: 1 x 1, 2 x 2, 4 x 4, ... cells

    The row has bins * (1 + 4 + ... + 4 ** (levels - 1)) columns, 1,239 by default. It sums to 1, every level
    to the same share.
    """

    rotation_invariant: bool = False
    levels: int = 3

    def __post_init__(self):
        check_count("levels", self.levels, most=MAX_LEVELS)

    def describe(self, picture):
        codes = picture.once("lbp_codes", lambda: _codes(picture.grey_levels))
        table = _uniform_bins(self.rotation_invariant)
        cells = pyramid_cells(*codes.shape, levels=self.levels)
        return pyramid_histogram(table[codes], cells, n_bins=int(table.max()) + 1, levels=self.levels)


def _codes(grey):
    """The pattern of every inner pixel, uint8 array, shape (height - 2, width - 2); bit k for neighbour k."""
    height, width = grey.shape
    centre = grey[1:-1, 1:-1]
    codes = np.zeros(centre.shape, dtype=np.uint8)
    for bit, (down, right) in enumerate(NEIGHBOURS):
        neighbour = grey[1 + down : height - 1 + down, 1 + right : width - 1 + right]
        codes |= (neighbour >= centre).view(np.uint8) << bit
    return codes


@lru_cache(maxsize=2)
def _uniform_bins(rotation_invariant):
    """The bin of each of the 256 patterns, integer array."""
    patterns = np.arange(256)[:, None] >> np.arange(8) & 1
    uniform = (patterns != np.roll(patterns, 1, axis=1)).sum(axis=1) <= 2
    bins = patterns.sum(axis=1) if rotation_invariant else np.cumsum(uniform) - 1
    return np.where(uniform, bins, bins[uniform].max() + 1)

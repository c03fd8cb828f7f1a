"""Robust hue histogram of a patch (van de Weijer & Schmid 2006, Coloring local feature extraction).

Hue is uncertain where there is little colour, and its error grows as one over the saturation; so every pixel
counts by its saturation. Both are taken in opponent colours, which ignore brightness.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from tagrank.features.words.descriptors.descriptor import LocalDescriptor


@dataclass(frozen=True)
class Hue(LocalDescriptor):
    """Histogram of 36 hues, weighted by saturation and by a Gaussian of one scale's width; sums to one.

    Parameters
    ----------
    min_saturation : float, mean saturation of a patch (0 to 1) below which its row fades to zero: the hue of
        grey is noise
    """

    min_saturation: float = 0.2

    n_columns: ClassVar[int] = 36

    def __post_init__(self):
        if not self.min_saturation > 0:
            raise ValueError(f"min_saturation must be above 0, got {self.min_saturation}")

    def describe_scale(self, picture, scale, x, y, rows):
        from tagrank.features.words.descriptors.directions import hues, share_between_bins
        from tagrank.features.words.descriptors.windows import CHANNELS, sum_windows

        saturation, hue = picture.once("hues", lambda: hues(picture.pixels))
        # eight hues at a time: all 36 at once would be 36 copies of the picture
        maps = picture.once("hue_maps", lambda: np.empty((*hue.shape, CHANNELS), np.float32))
        sums = np.empty((len(x), 1, 1, CHANNELS), np.float32)
        for first in range(0, self.n_columns, CHANNELS):
            share_between_bins(saturation, hue, self.n_columns, first, maps)
            sum_windows(maps, x, y, _window(scale), sums)
            part = rows[:, first : first + CHANNELS]
            part[:] = sums[:, 0, 0, : part.shape[1]]
        rows /= np.maximum(rows.sum(axis=1, keepdims=True), self.min_saturation)


@lru_cache(maxsize=256)
def _window(scale):
    """Weights of the pixels of a patch of four scales, float32, shape (1, 2 radius + 1), that sum to one."""
    radius = int(2 * scale)
    weights = np.exp(-((np.arange(-radius, radius + 1) / scale) ** 2) / 2)
    return (weights / weights.sum()).astype(np.float32)[None]

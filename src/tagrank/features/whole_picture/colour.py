"""Quick colour histogram: how much of each hue, saturation and brightness, in the picture and in three bands.

The bands (top, middle, bottom) keep the one piece of layout that most pictures share: sky above, ground
below.
"""

from dataclasses import dataclass

import numpy as np

from tagrank.features.base import Feature

HUES, SATURATIONS, VALUES = 8, 3, 3
BANDS = 3


@dataclass(frozen=True)
class QuickColour(Feature):
    """Histogram of hue, saturation and value: 72 bins for the picture, then 72 for each band.

    The row has 288 columns. It sums to 1; the picture has the weight of one band.
    """

    def describe(self, picture):
        bins = _colour_bins(picture.pixels)
        parts = [bins, *np.array_split(bins, BANDS)]
        histograms = [
            np.bincount(part.ravel(), minlength=HUES * SATURATIONS * VALUES) / part.size for part in parts
        ]
        return (np.concatenate(histograms) / len(parts)).astype(np.float32)


def _colour_bins(image):
    """The bin of every pixel, shape (height, width)."""
    red, green, blue = np.moveaxis(image.astype(np.float32) / 255, -1, 0)
    value = np.maximum(np.maximum(red, green), blue)
    chroma = value - np.minimum(np.minimum(red, green), blue)
    # grey has no hue and black no saturation: both fall into bin 0
    divisor = np.where(chroma > 0, chroma, 1)
    sector = np.where(
        value == red,
        (green - blue) / divisor % 6,
        np.where(value == green, (blue - red) / divisor + 2, (red - green) / divisor + 4),
    )
    saturation = chroma / np.where(value > 0, value, 1)
    hue_bin = (sector * (HUES / 6)).astype(np.intp) % HUES
    return (hue_bin * SATURATIONS + _level(saturation, SATURATIONS)) * VALUES + _level(value, VALUES)


def _level(share, n_levels):
    return np.minimum((share * n_levels).astype(np.intp), n_levels - 1)

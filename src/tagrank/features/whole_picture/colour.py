"""Colour histograms, of the whole picture and of horizontal bands.

`QuickColour` counts how much there is of each hue, saturation and brightness, `ColourHistogram` colours in
RGB, HSV and Lab. Bands (top, middle, bottom) keep the one piece of layout that most pictures share: sky
above, ground below.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tagrank.features.feature import Feature, check_count
from tagrank.features.pixels import to_hsv, to_lab
from tagrank.validation import check_choice

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


class ColourSpace(NamedTuple):
    """The conversion to a space of three 8-bit channels, and the levels that each channel reaches."""

    convert: Callable[[np.ndarray], np.ndarray]
    ranges: tuple[tuple[int, int], ...]


_BYTE = (0, 255)
# Lab as L * 255 / 100, a + 128, b + 128: no sRGB colour has an a or b outside these ranges, and
# bins outside them would stay empty
SPACES = {
    "rgb": ColourSpace(lambda pixels: pixels, (_BYTE, _BYTE, _BYTE)),
    "hsv": ColourSpace(to_hsv, (_BYTE, _BYTE, _BYTE)),
    "lab": ColourSpace(to_lab, (_BYTE, (42, 226), (20, 223))),
}


@dataclass(frozen=True)
class ColourHistogram(Feature):
    """How much of each colour, in a joint histogram of three channels.

    Parameters
    ----------
    space : "rgb", "hsv" or "lab" (D65), each in 256 levels a channel
    bins : int, bins of equal width per channel
    bands : int, horizontal bands from top to bottom, each with a histogram of its own. Three bands ("V3H1")
        keep the one piece of layout that most pictures share: sky above, ground below.

    The row has bands * bins ** 3 columns. It sums to 1, every band to the same share.
    """

    space: str = "rgb"
    bins: int = 16
    bands: int = 1

    def __post_init__(self):
        check_choice("space", self.space, SPACES)
        check_count("bins", self.bins, most=32)
        check_count("bands", self.bands, most=8)

    @property
    def about(self):
        where = "the picture" if self.bands == 1 else f"{self.bands} horizontal bands"
        return f"{self.space.upper()} histogram of {where}, {self.bins} x {self.bins} x {self.bins} bins."

    def describe(self, picture):
        levels = picture.once(
            ("colour_space", self.space), lambda: SPACES[self.space].convert(picture.pixels)
        )
        first, second, third = _bin_tables(self.space, self.bins)
        bins = first[levels[..., 0]] + second[levels[..., 1]] + third[levels[..., 2]]
        histograms = [
            np.bincount(band.ravel(), minlength=self.bins**3) / (band.size * self.bands)
            for band in np.array_split(bins, self.bands)
        ]
        return np.concatenate(histograms).astype(np.float32)


@lru_cache(maxsize=16)
def _bin_tables(space, n_bins):
    """What each level of each channel adds to the index of the joint bin: intp array, shape (3, 256)."""
    levels = np.arange(256)
    tables = [
        np.clip((levels - low) * n_bins // (high - low + 1), 0, n_bins - 1) * n_bins**place
        for place, (low, high) in zip((2, 1, 0), SPACES[space].ranges, strict=True)
    ]
    return np.array(tables, dtype=np.intp)

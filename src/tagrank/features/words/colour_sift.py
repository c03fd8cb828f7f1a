"""SIFT of each channel of a colour space, and SIFT of windows that together cover the picture."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from tagrank.features.feature import Feature, Picture, check_count
from tagrank.features.pixels import to_hsv
from tagrank.features.words.local_descriptors import LocalDescriptor, Sift
from tagrank.features.words.sampling import MIN_SCALE, Points
from tagrank.validation import check_kind

CHANNELS = 3
WINDOW_SCALES = 4  # a patch is four scales wide and high


@dataclass(frozen=True)
class HsvSift(LocalDescriptor):
    """SIFT of hue, saturation and value, one after the other (Bosch, Zisserman and Munoz, 2008): 384 columns.

    Parameters
    ----------
    sift : Sift, what describes each channel

    Hue is read as a number from 0 to 1, as they read it: where it passes from one end to the other, there is
    an edge.
    """

    sift: Sift = field(default_factory=Sift)

    n_columns: ClassVar[int] = CHANNELS * Sift.n_columns

    def __post_init__(self):
        check_kind("sift", self.sift, Sift, "a Sift")

    def describe_scale(self, picture, scale, x, y, rows):
        parts = np.split(rows, CHANNELS, axis=1)
        for channel, part in zip(_channels(picture), parts, strict=True):
            described = np.empty(part.shape, np.float32)
            self.sift.describe_scale(channel, scale, x, y, described)
            part[:] = described


def _channels(picture):
    """Pictures whose grey is one channel each; what is worked out of them is kept with the picture."""
    return picture.once(
        "hsv_channels", lambda: tuple(map(_Channel, np.moveaxis(to_hsv(picture.pixels), -1, 0)))
    )


class _Channel(Picture):
    """One channel, levels from 0 to 255, in the place of brightness."""

    def __init__(self, levels):
        super().__init__(np.repeat(levels[:, :, None], 3, axis=2))
        self._known["grey"] = levels.astype(np.float32) / 255


@dataclass(frozen=True)
class WindowSift(Feature):
    """One SIFT descriptor for each window of a grid that covers the picture, window after window, row by row.

    Parameters
    ----------
    sift : Sift or HsvSift, what describes each window
    rows, columns : int, windows from top to bottom, and from left to right

    The row has 128 columns for each window, with HsvSift 384. A window reaches as far as the longer of its
    sides, so that windows of a wide picture overlap.
    """

    sift: LocalDescriptor = field(default_factory=Sift)
    rows: int = 10
    columns: int = 10

    def __post_init__(self):
        check_kind("sift", self.sift, (Sift, HsvSift), "a Sift or an HsvSift")
        check_count("rows", self.rows, most=32)
        check_count("columns", self.columns, most=32)

    def describe(self, picture):
        height, width = picture.pixels.shape[:2]
        y, x = np.meshgrid(_centres(height, self.rows), _centres(width, self.columns), indexing="ij")
        side = max(height / self.rows, width / self.columns)
        scale = np.full(x.size, max(side / WINDOW_SCALES, MIN_SCALE), np.float32)
        points = Points(x.ravel().astype(np.float32), y.ravel().astype(np.float32), scale)
        return self.sift.compute(picture, points).ravel()


def _centres(size, n):
    """Centres of n windows along an axis, in pixels."""
    return (np.arange(n) + 0.5) * size / n - 0.5

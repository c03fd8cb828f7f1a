"""Local descriptors: rows of numbers for points of a picture.

**SIFT** (Lowe 2004), upright, from maps of gradient orientations that all points of a picture share. For a
point p and a scale b, cell (i, j) of 4 x 4 and orientation o of 8,

    d[i, j, o] = sum_q  m_o(q) t(q_y, i) t(q_x, j)
    t(q, i) = max(0, 1 - |q - p - c_i| / b) exp(-(q - p)^2 / (2 (2 b)^2)),     c_i = (i - 1.5) b

where m_o is the strength of the gradient at a pixel, shared between the two nearest of the eight directions.
This is Lowe's trilinear interpolation and Gaussian window without approximation; only the work is shared.

**Hue**, a robust histogram of a patch (van de Weijer & Schmid 2006, Coloring local feature extraction). Hue
is uncertain where there is little colour, and its error grows as one over the saturation; so every pixel
counts by its saturation. Both are taken in opponent colours, which ignore brightness.

**Self-similarity**: where around a point the picture looks as it does there (Shechtman and Irani, 2007). A
small patch is compared with the patches around it. The likeness of the most alike patch in each cell of a
log-polar grid is the descriptor: it shows shape, whatever colours, edges or texture make the shape visible.
Every offset is worked out for all points at once: the squared difference between the picture and the shifted
picture, averaged over the patch.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar

import numpy as np

from tagrank.features.feature import Part, Picture, check_count
from tagrank.features.pixels import need_opencv, smooth
from tagrank.features.words.sampling import MIN_SCALE, Points
from tagrank.validation import check_positive

CELLS, ORIENTATIONS = 4, 8
# the grid begins at this share of its radius: nearer patches overlap the one in the middle too much
INNER_SHARE = 0.1
# each cell of the grid is probed at so many radii, and at each of them in so many directions
PROBES = 3
# likeness that varies less than this is noise, and is not stretched
FLAT = 0.01
NEXT_TO_IT = [(right, down) for right in (-1, 0, 1) for down in (-1, 0, 1) if (right, down) != (0, 0)]


@dataclass(frozen=True)
class LocalDescriptor(Part):
    """Describes the patch around every point. Subclasses write `describe_scale`, and say `n_columns`."""

    n_columns: ClassVar[int]

    def compute(self, picture: Picture, points: Points) -> np.ndarray:
        """One row for every point, float32, shape (n_points, n_columns)."""
        _check_points(points)
        height, width = picture.pixels.shape[:2]
        x = np.clip(np.rint(points.x), 0, width - 1).astype(np.int64)
        y = np.clip(np.rint(points.y), 0, height - 1).astype(np.int64)
        rows = np.empty((len(x), self.n_columns), np.float32)
        changes = np.flatnonzero(np.diff(points.scale)) + 1
        for start, stop in pairwise([0, *changes.tolist(), len(x)]):
            if start < stop:
                run = slice(start, stop)
                self.describe_scale(picture, float(points.scale[start]), x[run], y[run], rows[run])
        return rows

    def describe_scale(self, picture, scale, x, y, rows):
        """Write the float32 rows (n_points, n_columns) of points of one scale; x, y are whole pixels."""
        raise NotImplementedError


def _check_points(points):
    """Compiled code does not look where it reads: nothing odd may reach it."""
    if not (np.isfinite(points.x).all() and np.isfinite(points.y).all()):
        raise ValueError("the x and y of points must be finite numbers of pixels, got nan or infinity")
    if not ((points.scale >= MIN_SCALE) & np.isfinite(points.scale)).all():
        raise ValueError(f"the scale of points must be at least {MIN_SCALE} pixels, got {points.scale.min()}")


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
        from tagrank.features.words.patch_sums import normalise_rows, sum_windows

        maps = orientation_maps(picture, self.smoothing)
        sum_windows(maps, x, y, _sift_window(scale), rows.reshape(-1, CELLS, CELLS, ORIENTATIONS))
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
    from tagrank.features.words.patch_sums import gradients, share_between_bins

    maps = np.empty((*grey.shape, ORIENTATIONS), np.float32)
    share_between_bins(*gradients(grey), ORIENTATIONS, 0, maps)
    return maps


def _smooth(grey, sigma):
    """Gaussian smoothing; less than a tenth of a pixel changes nothing."""
    return grey if sigma < 0.1 else smooth(grey, sigma)


@lru_cache(maxsize=256)
def _sift_window(scale):
    """Weights of the cells around a point, float32, shape (4, 2 radius + 1)."""
    radius = int(np.ceil(2.5 * scale)) - 1
    offset = np.arange(-radius, radius + 1) / scale
    centre = np.arange(CELLS)[:, None] - (CELLS - 1) / 2
    weights = np.maximum(1 - np.abs(offset - centre), 0) * np.exp(-(offset**2) / (2 * 2**2))
    return weights.astype(np.float32)


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
        from tagrank.features.words.patch_sums import CHANNELS, hues, share_between_bins, sum_windows

        saturation, hue = picture.once("hues", lambda: hues(picture.pixels))
        # eight hues at a time: all 36 at once would be 36 copies of the picture
        maps = picture.once("hue_maps", lambda: np.empty((*hue.shape, CHANNELS), np.float32))
        sums = np.empty((len(x), 1, 1, CHANNELS), np.float32)
        for first in range(0, self.n_columns, CHANNELS):
            share_between_bins(saturation, hue, self.n_columns, first, maps)
            sum_windows(maps, x, y, _hue_window(scale), sums)
            part = rows[:, first : first + CHANNELS]
            part[:] = sums[:, 0, 0, : part.shape[1]]
        rows /= np.maximum(rows.sum(axis=1, keepdims=True), self.min_saturation)


@lru_cache(maxsize=256)
def _hue_window(scale):
    """Weights of the pixels of a patch of four scales, float32, shape (1, 2 radius + 1), that sum to one."""
    radius = int(2 * scale)
    weights = np.exp(-((np.arange(-radius, radius + 1) / scale) ** 2) / 2)
    return (weights / weights.sum()).astype(np.float32)[None]


@dataclass(frozen=True)
class SelfSimilarity(LocalDescriptor):
    """Likeness to the surroundings in a log-polar grid of rings x angles cells, stretched to [0, 1].

    The grid has a radius of two scales of the point, the compared patches are about half a scale wide. Rows
    of flat places, which have no shape, are near zero.

    Parameters
    ----------
    rings, angles : int, cells of the grid
    noise : float, mean squared difference in brightness (from 0 to 1) that still counts as alike
    """

    uses_opencv = True
    rings: int = 3
    angles: int = 10
    noise: float = 0.06

    def __post_init__(self):
        check_count("rings", self.rings, most=8)
        check_count("angles", self.angles, most=36)
        check_positive("noise", self.noise)

    @property
    def n_columns(self):
        return self.rings * self.angles

    def describe_scale(self, picture, scale, x, y, rows):
        # beyond the picture there are only its mirror images
        scale = min(scale, max(picture.grey.shape) / 4)
        difference = _patch_difference(
            picture.grey, x, y, reach=int(2 * scale) + 1, patch=2 * int(scale / 4) + 1
        )
        least = np.full((self.n_columns, len(x)), np.inf, dtype=np.float32)
        for cell, offset in _probes(self.rings, self.angles, 2 * scale):
            np.minimum(least[cell], difference(*offset), out=least[cell])
        # where neighbouring pixels already differ much, more difference counts as alike
        variation = np.max([difference(*offset) for offset in NEXT_TO_IT], axis=0)
        likeness = np.exp(-least / np.maximum(variation, np.float32(self.noise)))
        likeness -= likeness.min(axis=0)
        rows[:] = (likeness / np.maximum(likeness.max(axis=0), np.float32(FLAT))).T


def _patch_difference(grey, x, y, *, reach, patch):
    """A function of an offset (right, down) up to `reach`: the mean squared difference between patches.

    It compares the patch at each point with the patch at the offset from there, shape (n_points,).
    """
    cv2 = need_opencv()
    half = patch // 2
    padded = cv2.copyMakeBorder(grey, *[reach + half] * 4, cv2.BORDER_REFLECT_101)
    height, width = (length + 2 * half for length in grey.shape)
    places = (y + half) * width + x + half

    def shifted(right, down):
        return padded[reach + down : reach + down + height, reach + right : reach + right + width]

    def difference(right, down):
        error = cv2.subtract(shifted(0, 0), shifted(right, down))
        return cv2.blur(cv2.multiply(error, error), (patch, patch)).take(places)

    return difference


@lru_cache(maxsize=64)
def _probes(rings, angles, radius):
    """Pairs of a cell of the grid, ring by ring, and a whole offset (right, down) inside it, each once."""
    shares = (np.arange(rings * PROBES) + 0.5) / (rings * PROBES)
    radii = radius * INNER_SHARE ** (1 - shares)
    turns = (np.arange(angles * PROBES) + 0.5) / (angles * PROBES)
    probes = {}
    for i, j in np.ndindex(len(radii), len(turns)):
        angle = 2 * np.pi * turns[j]
        offset = (round(radii[i] * np.cos(angle)), round(radii[i] * np.sin(angle)))
        if offset != (0, 0):
            probes[i // PROBES * angles + j // PROBES, offset] = None
    return tuple(probes)

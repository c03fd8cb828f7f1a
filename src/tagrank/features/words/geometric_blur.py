"""Geometric blur: edges around a point, the farther from it the more blurred (Berg and Malik, 2001).

A shape that is bent, turned or stretched a little moves its far parts more than its near ones. So the signal
S at the distance |d| from a point p is not read as it is, but blurred by as much as it may have moved:

    B(p, d) = (S * G_sigma)(p + d),     sigma = spread |d| + least_blur

S is the strength of edges in one of four directions. It is read at 51 places on five circles around the point
and at the point, as Berg, Berg and Malik (2005) do. Each circle has one blur, so it is worked out once for
all points of a scale. What lies outside of the picture counts as zero.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tagrank.features.pixels import smooth
from tagrank.features.words.local_descriptors import ORIENTATIONS, LocalDescriptor, orientation_maps
from tagrank.validation import check_positive

# radius, as a share of the largest one, and places on it
CIRCLES = ((0.0, 1), (0.08, 8), (0.16, 8), (0.32, 10), (0.64, 12), (1.0, 12))
PLACES = sum(places for _, places in CIRCLES)
DIRECTIONS = ORIENTATIONS // 2  # an edge from dark to light is one from light to dark, seen from elsewhere
SMOOTHING = 0.5
MOST = 64.0


@dataclass(frozen=True)
class GeometricBlur(LocalDescriptor):
    """Edges in four directions at 51 places around a point, more blurred farther out; scaled to length one.

    The outermost circle has a radius of two scales of the point. The numbers of a place stand side by side,
    those of the point come first, then those of each circle, from the right through below.

    Parameters
    ----------
    spread : float, how much the blur grows with each pixel of distance
    least_blur : float, the blur at the point itself: the width of the Gaussian in pixels
    min_contrast : float, rows whose length is below (brightness from 0 to 1, for a pixel) become zero:
        what is left of a plain surface is rounding, or the noise of the camera
    """

    spread: float = 0.5
    least_blur: float = 1.0
    min_contrast: float = 1e-5

    n_columns: ClassVar[int] = PLACES * DIRECTIONS

    def __post_init__(self):
        check_positive("least_blur", self.least_blur)
        if not (0 <= self.spread <= 1 and self.least_blur <= MOST and self.min_contrast >= 0):
            raise ValueError(
                f"GeometricBlur needs spread from 0 to 1, least_blur up to {MOST:.0f} and min_contrast of at "
                f"least 0, got {self.spread}, {self.least_blur}, {self.min_contrast}"
            )

    def describe_scale(self, picture, scale, x, y, rows):
        from tagrank.features.words.patch_sums import normalise_rows

        # beyond the picture there is nothing to see
        radius = min(2 * scale, max(picture.grey.shape) / 2)
        margin = int(np.ceil(radius))
        edges = np.pad(edge_maps(picture), ((margin, margin), (margin, margin), (0, 0)))
        first = 0
        for share, n_places in CIRCLES:
            blurred = smooth(edges, self.spread * share * radius + self.least_blur)
            for right, down in _circle(share * radius, n_places):
                rows[:, first : first + DIRECTIONS] = blurred[y + margin + down, x + margin + right]
                first += DIRECTIONS
        normalise_rows(rows, 1, max(self.min_contrast, np.finfo(np.float32).tiny))


def edge_maps(picture):
    """Strength of gradients right, right and down, down, left and down, each or the opposite way.

    A float32 array of shape (height, width, 4).
    """
    maps = orientation_maps(picture, SMOOTHING)
    return picture.once("edge_maps", lambda: maps[:, :, :DIRECTIONS] + maps[:, :, DIRECTIONS:])


def _circle(radius, n_places):
    """Whole offsets (right, down) of the places on a circle."""
    angles = 2 * np.pi / n_places * np.arange(n_places)
    return np.rint(radius * np.column_stack([np.cos(angles), np.sin(angles)])).astype(int).tolist()

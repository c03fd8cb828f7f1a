"""What a local descriptor is: rows of numbers for points of a picture."""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from tagrank.features.base import Part, Picture
from tagrank.features.words.sampling import MIN_SCALE, Points


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

"""What a local descriptor is: rows of numbers for points of a picture."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tagrank.features.base import Part, Picture
from tagrank.features.sampling import Points


@dataclass(frozen=True)
class LocalDescriptor(Part):
    """Describes the patch around every point. Subclasses write `describe_scale`, and say `n_columns`."""

    n_columns: ClassVar[int]

    def compute(self, picture: Picture, points: Points) -> np.ndarray:
        """One row for every point, float32, shape (n_points, n_columns)."""
        height, width = picture.pixels.shape[:2]
        x = np.clip(np.rint(points.x), 0, width - 1).astype(np.int64)
        y = np.clip(np.rint(points.y), 0, height - 1).astype(np.int64)
        rows = np.empty((len(x), self.n_columns), np.float32)
        for scale in np.unique(points.scale):
            of_scale = np.flatnonzero(points.scale == scale)
            rows[of_scale] = self.describe_scale(picture, float(scale), x[of_scale], y[of_scale])
        return rows

    def describe_scale(self, picture, scale, x, y):
        """Rows for points of one scale in whole pixels, float32, shape (n_points, n_columns)."""
        raise NotImplementedError

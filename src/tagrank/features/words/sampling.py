"""Where local descriptors look: on a grid, at random, on edges; corners are in `harris.py`."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tagrank.features.base import Part, Picture, check_count

# pixels; cells that are smaller than this may fall between the pixels
MIN_SCALE = 0.5
# model files from elsewhere set these, too: a patch far larger than any picture, or more points than it has
# pixels, would only fill the memory
MAX_SCALE = 1024.0
_MAX_SCALES = 64
_MAX_POINTS = 10**6


class Points(NamedTuple):
    """Places in a picture, each with the size of what is to be described there.

    Parameters
    ----------
    x, y : float32 arrays, shape (n_points,), pixels from the left and from the top
    scale : float32 array, shape (n_points,), pixels; a patch is four scales wide and high, so that this is
        the width of one of the 4 x 4 cells of SIFT. Descriptors do the work that points of one scale and of
        one row share only once, if these follow each other.
    """

    x: np.ndarray
    y: np.ndarray
    scale: np.ndarray


@dataclass(frozen=True)
class Sampling(Part):
    """Chooses points of a picture. Subclasses write `points`."""

    def points(self, picture: Picture) -> Points:
        """The points of a picture; there may be none."""
        raise NotImplementedError


@dataclass(frozen=True)
class DenseGrid(Sampling):
    """Points on a regular grid, at several sizes; the cells of every patch are centred within the picture.

    Parameters
    ----------
    step : int, pixels from one point to the next, across and down
    scales : tuple of float, the `Points.scale` of each layer of the grid
    max_points : int; pictures that would have more get a wider step
    """

    step: int = 6
    scales: tuple[float, ...] = (2.0, 3.0, 4.5, 6.5)
    max_points: int = 6000

    def __post_init__(self):
        _keep_scales(self)
        if self.step < 1 or self.max_points < 1:
            raise ValueError(f"step and max_points must be at least 1, got {self.step}, {self.max_points}")

    def points(self, picture):
        height, width = picture.pixels.shape[:2]
        key = (type(self).__name__, self.step, self.scales, self.max_points)
        return picture.once(key, lambda: self._points(height, width))

    def _points(self, height, width):
        crowded = height * width * len(self.scales) / self.max_points
        step = max(self.step, int(np.ceil(np.sqrt(crowded))))
        layers = []
        for scale in self.scales:
            x, y = _ticks(width, scale, step), _ticks(height, scale, step)
            layers.append((np.tile(x, len(y)), np.repeat(y, len(x)), np.full(len(x) * len(y), scale)))
        return _as_points(*(np.concatenate(column) for column in zip(*layers, strict=True)))


def _ticks(length, scale, step):
    """Whole positions `step` apart, as many as fit 1.5 scales from both ends, or else the middle."""
    room = max(length - 1 - 3 * scale, 0)
    n_steps = int(room // step)
    first = (length - 1 - n_steps * step) // 2
    return first + step * np.arange(n_steps + 1)


@dataclass(frozen=True)
class RandomPoints(Sampling):
    """Points anywhere in the picture, the same ones in every picture of the same size.

    Parameters
    ----------
    n_points : int, in all
    scales : tuple of float, the `Points.scale` to choose from
    seed : int
    """

    n_points: int = 2000
    scales: tuple[float, ...] = (2.0, 3.0, 4.5, 6.5)
    seed: int = 0

    def __post_init__(self):
        _keep_scales(self)
        check_count("n_points", self.n_points, least=0, most=_MAX_POINTS)

    def points(self, picture):
        rng = np.random.default_rng(self.seed)
        height, width = picture.pixels.shape[:2]
        x, y = rng.integers(0, width, self.n_points), rng.integers(0, height, self.n_points)
        return sorted_points(x, y, rng.choice(self.scales, self.n_points))


@dataclass(frozen=True)
class CannyPoints(Sampling):
    """Points on edges that Canny's detector finds, thinned to a limit.

    Parameters
    ----------
    scales : tuple of float, the `Points.scale` at which each point of an edge is taken
    low, high : float, thresholds on the gradient (Sobel, brightness from 0 to 255): edges start at `high` and
        are followed down to `low`
    max_points : int, in all; evenly thinned along the rows of the picture where there are more
    """

    scales: tuple[float, ...] = (3.0, 6.0)
    low: float = 100.0
    high: float = 200.0
    max_points: int = 2000

    def __post_init__(self):
        _keep_scales(self)
        if not 0 <= self.low <= self.high or self.max_points < len(self.scales):
            raise ValueError(
                "CannyPoints needs 0 <= low <= high and max_points for every scale, "
                f"got {self.low}, {self.high}, {self.max_points}"
            )

    def points(self, picture):
        import cv2

        grey = np.rint(picture.grey * 255).astype(np.uint8)
        y, x = np.nonzero(cv2.Canny(grey, self.low, self.high))
        limit = self.max_points // len(self.scales)
        if len(x) > limit:
            chosen = np.arange(limit) * len(x) // limit
            x, y = x[chosen], y[chosen]
        n_scales = len(self.scales)
        return _as_points(np.tile(x, n_scales), np.tile(y, n_scales), np.repeat(self.scales, len(x)))


def sorted_points(x, y, scale):
    """`Points` in the order in which descriptors share the most work: by scale, row and column."""
    order = np.lexsort((x, y, scale))
    return _as_points(x[order], y[order], scale[order])


def _as_points(x, y, scale):
    return Points(*(np.ascontiguousarray(column, dtype=np.float32) for column in (x, y, scale)))


def _keep_scales(sampling):
    """Check `scales` and hold them as a tuple, also where they come from JSON."""
    scales = tuple(float(scale) for scale in sampling.scales)
    if not 0 < len(scales) <= _MAX_SCALES or not all(MIN_SCALE <= scale <= MAX_SCALE for scale in scales):
        raise ValueError(
            f"scales must be numbers of pixels from {MIN_SCALE} to {MAX_SCALE}, {_MAX_SCALES} at most, "
            f"got {sampling.scales!r:.100}"
        )
    object.__setattr__(sampling, "scales", scales)

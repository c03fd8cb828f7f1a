"""Where local descriptors look: on a grid, at random, on edges, at corners.

Corners are Harris points: at scale s, with the picture smoothed to 0.7 s, the second moments of its gradient
averaged under a Gaussian of width s make a matrix M; a corner is a local maximum of det M - k (trace M)^2.
Harris-Laplace points (Mikolajczyk & Schmid 2004) are corners at the scale where they stand out most: each is
taken at the nearest scale at which s^2 |Laplacian| at its place is larger than at the scales before and
after, and dropped if there is none near. Hessian-Laplace points are blobs in the place of corners: local
maxima of the determinant of the second derivatives of the picture.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tagrank.features.feature import Part, Picture, check_count
from tagrank.features.pixels import need_opencv

# pixels; cells that are smaller than this may fall between the pixels
MIN_SCALE = 0.5
# model files from elsewhere set these, too: a patch far larger than any picture, or more points than it has
# pixels, would only fill the memory
MAX_SCALE = 1024.0
_MAX_SCALES = 64
_MAX_POINTS = 10**6
# gradients are taken at this share of the scale
_DERIVATIVE_SHARE = 0.7
# k of Harris & Stephens: large values accept only corners, small ones also ends of lines
_EDGE_PENALTY = 0.04
# levels on either side in which a corner may find its scale: with the default ratio a factor 0.7 to 1.4
_REACH = 2
_MAX_RATIO = 16
# `Points.scale` in scales of a corner
_MAGNIFICATION = 1.5


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

    uses_opencv = True
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
        cv2 = need_opencv()
        grey = np.rint(picture.grey * 255).astype(np.uint8)
        y, x = np.nonzero(cv2.Canny(grey, self.low, self.high))
        limit = self.max_points // len(self.scales)
        if len(x) > limit:
            chosen = np.arange(limit) * len(x) // limit
            x, y = x[chosen], y[chosen]
        n_scales = len(self.scales)
        return _as_points(np.tile(x, n_scales), np.tile(y, n_scales), np.repeat(self.scales, len(x)))


@dataclass(frozen=True)
class HarrisPoints(Sampling):
    """Corners at given scales, the strongest ones of each; a picture may have none.

    Parameters
    ----------
    scales : tuple of float, the `Points.scale` of the corners; each is searched at two thirds of it
    threshold : float, the least cornerness, for brightness from 0 to 1
    max_points : int, in all; each scale may have as many as another
    """

    uses_opencv = True
    scales: tuple[float, ...] = (3.0, 6.0)
    threshold: float = 1e-9
    max_points: int = 1000

    def __post_init__(self):
        _keep_scales(self)
        if not self.threshold >= 0 or self.max_points < len(self.scales):
            raise ValueError(
                "HarrisPoints needs threshold >= 0 and max_points for every scale, "
                f"got {self.threshold}, {self.max_points}"
            )

    def points(self, picture):
        limit = self.max_points // len(self.scales)
        columns = []
        for scale in self.scales:
            strength, x, y = _peaks(_cornerness(picture.grey, scale / _MAGNIFICATION), self.threshold)
            chosen = np.argsort(-strength, kind="stable")[:limit]
            columns.append((x[chosen], y[chosen], np.full(len(chosen), scale)))
        return sorted_points(*(np.concatenate(column) for column in zip(*columns, strict=True)))


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


@dataclass(frozen=True)
class LaplacePoints(Sampling):
    """Points at their own scales, the strongest ones; a picture may have none. Subclasses write `strength`.

    Parameters
    ----------
    smallest, ratio, n_levels : float, float, int: scales smallest * ratio^k are searched, in pixels
    magnification : float, `Points.scale` in scales of the point
    threshold : float, the least strength, for brightness from 0 to 1
    max_points : int, the strongest points are kept
    """

    uses_opencv = True
    smallest: float = 1.5
    ratio: float = 1.2
    n_levels: int = 10
    magnification: float = _MAGNIFICATION
    threshold: float = 1e-9
    max_points: int = 1000

    def __post_init__(self):
        check_count("n_levels", self.n_levels, most=64)
        if self.smallest <= 0 or not 1 < self.ratio <= _MAX_RATIO or self.max_points < 1:
            raise ValueError(
                f"{type(self).__name__} needs smallest > 0, ratio > 1 and at most {_MAX_RATIO}, and "
                f"max_points >= 1, got {self.smallest}, {self.ratio}, {self.max_points}"
            )
        largest = self.smallest * self.ratio ** (self.n_levels - 1) * max(self.magnification, 1)
        if largest > MAX_SCALE:
            raise ValueError(
                f"{type(self).__name__} needs scales up to {MAX_SCALE} pixels, got {largest:.0f}"
            )
        if self.smallest * self.magnification < MIN_SCALE or self.threshold < 0:
            raise ValueError(
                f"{type(self).__name__} needs smallest * magnification >= {MIN_SCALE} and threshold >= 0, "
                f"got {self.smallest} * {self.magnification} and {self.threshold}"
            )

    def points(self, picture):
        key = (type(self).__name__, *self._fields().values())
        return picture.once(key, lambda: self._points(picture.grey))

    def strength(self, grey, scale):
        """How much of a point each pixel is at a scale, shape (height, width)."""
        raise NotImplementedError

    def _points(self, grey):
        scales = self.smallest * self.ratio ** np.arange(self.n_levels)
        stands_out = self._stands_out(grey)
        corners = []
        for level, scale in enumerate(scales):
            strength, x, y = _peaks(self.strength(grey, scale), self.threshold)
            best = _nearest_level(stands_out[:, y, x], level)
            kept = best >= 0
            corners.append(np.array([strength, x, y, best])[:, kept])
        strength, x, y, level = np.concatenate(corners, axis=1)
        strongest = np.argsort(-strength, kind="stable")[: self.max_points]
        # a corner that is seen at several scales may settle at the same one
        level, y, x = np.unique([level[strongest], y[strongest], x[strongest]], axis=1)
        return sorted_points(x, y, scales[level.astype(int)] * self.magnification)

    def _stands_out(self, grey):
        """Where the Laplacian is largest among three neighbouring scales, shape (n_levels, height, width)."""
        scales = self.smallest * self.ratio ** np.arange(-1, self.n_levels + 1)
        sizes = np.array([_laplacian(grey, scale) for scale in scales])
        return (sizes[1:-1] > sizes[:-2]) & (sizes[1:-1] > sizes[2:])


@dataclass(frozen=True)
class HarrisLaplace(LaplacePoints):
    """Corners at their own scales, by the measure of Harris and Stephens."""

    def strength(self, grey, scale):
        return _cornerness(grey, scale)


@dataclass(frozen=True)
class HessianLaplace(LaplacePoints):
    """Blobs at their own scales, by the determinant of the second derivatives."""

    threshold: float = 1e-5

    def strength(self, grey, scale):
        return _blobness(grey, scale)


def _nearest_level(stands_out, level):
    """The levels nearest to `level`, at most `_REACH` away, at which points stand out; -1 if there is none.

    `stands_out` is a bool array of shape (n_levels, n_points).
    """
    nearest = np.full(stands_out.shape[1], -1)
    for candidate in sorted(range(len(stands_out)), key=lambda other: -abs(other - level)):
        if abs(candidate - level) <= _REACH:
            nearest[stands_out[candidate]] = candidate
    return nearest


def _cornerness(grey, scale):
    """Harris and Stephens' measure, the same for a corner at any scale, shape (height, width)."""
    cv2 = need_opencv()
    derivative_scale = _DERIVATIVE_SHARE * scale
    smoothed = _smooth(grey, derivative_scale)
    dx = cv2.Sobel(smoothed, cv2.CV_32F, 1, 0, ksize=1, scale=derivative_scale / 2, borderType=_border())
    dy = cv2.Sobel(smoothed, cv2.CV_32F, 0, 1, ksize=1, scale=derivative_scale / 2, borderType=_border())
    xx, yy, xy = (_smooth(product, scale) for product in (dx * dx, dy * dy, dx * dy))
    return xx * yy - xy * xy - _EDGE_PENALTY * (xx + yy) ** 2


def _blobness(grey, scale):
    """Determinant of the second derivatives, the same for a blob at any scale, shape (height, width)."""
    cv2 = need_opencv()
    smoothed = _smooth(grey, scale)
    xx, yy, xy = (
        cv2.Sobel(smoothed, cv2.CV_32F, *orders, ksize=size, scale=scale**2 / divisor, borderType=_border())
        for orders, size, divisor in (((2, 0), 1, 1), ((0, 2), 1, 1), ((1, 1), 3, 4))
    )
    return xx * yy - xy * xy


def _laplacian(grey, scale):
    """Size of the Laplacian, the same for a blob at any scale, shape (height, width)."""
    cv2 = need_opencv()
    smoothed = _smooth(grey, scale)
    return np.abs(cv2.Laplacian(smoothed, cv2.CV_32F, ksize=1, scale=scale**2, borderType=_border()))


def _smooth(image, scale):
    """Gaussian smoothing, cut at three widths."""
    cv2 = need_opencv()
    size = 2 * int(np.ceil(3 * scale)) + 1
    return cv2.GaussianBlur(image, (size, size), scale, borderType=_border())


def _peaks(values, threshold):
    """Pixels above a threshold of which no neighbour is larger: their values, x and y."""
    cv2 = need_opencv()
    y, x = np.nonzero((values > threshold) & (values >= cv2.dilate(values, np.ones((3, 3), np.uint8))))
    return values[y, x], x, y


def _border():
    cv2 = need_opencv()
    return cv2.BORDER_REPLICATE

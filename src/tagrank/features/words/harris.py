"""Harris-Laplace points (Mikolajczyk & Schmid 2004): corners, each at the scale where it stands out most.

At scale s, with the picture smoothed to 0.7 s, the second moments of its gradient averaged under a Gaussian
of width s make a matrix M; a corner is a local maximum of det M - k (trace M)^2. It is taken at the nearest
scale at which s^2 |Laplacian| at its place is larger than at the scales before and after, and dropped if
there is none near.
"""

from dataclasses import dataclass

import numpy as np

from tagrank.features.base import check_count
from tagrank.features.words.sampling import MAX_SCALE, MIN_SCALE, Sampling, sorted_points

# gradients are taken at this share of the scale
_DERIVATIVE_SHARE = 0.7
# k of Harris & Stephens: large values accept only corners, small ones also ends of lines
_EDGE_PENALTY = 0.04
# levels on either side in which a corner may find its scale: with the default ratio a factor 0.7 to 1.4
_REACH = 2
_MAX_RATIO = 16


@dataclass(frozen=True)
class HarrisLaplace(Sampling):
    """Corners at their own scales, the strongest ones; a picture may have none.

    Parameters
    ----------
    smallest, ratio, n_levels : float, float, int: scales smallest * ratio^k are searched, in pixels
    magnification : float, `Points.scale` in scales of the corner
    threshold : float, the least cornerness, for brightness from 0 to 1
    max_points : int, the strongest corners are kept
    """

    smallest: float = 1.5
    ratio: float = 1.2
    n_levels: int = 10
    magnification: float = 1.5
    threshold: float = 1e-9
    max_points: int = 1000

    def __post_init__(self):
        check_count("n_levels", self.n_levels, most=64)
        if self.smallest <= 0 or not 1 < self.ratio <= _MAX_RATIO or self.max_points < 1:
            raise ValueError(
                f"HarrisLaplace needs smallest > 0, ratio > 1 and at most {_MAX_RATIO}, and max_points >= 1, "
                f"got {self.smallest}, {self.ratio}, {self.max_points}"
            )
        largest = self.smallest * self.ratio ** (self.n_levels - 1) * max(self.magnification, 1)
        if largest > MAX_SCALE:
            raise ValueError(f"HarrisLaplace needs scales up to {MAX_SCALE} pixels, got {largest:.0f}")
        if self.smallest * self.magnification < MIN_SCALE or self.threshold < 0:
            raise ValueError(
                f"HarrisLaplace needs smallest * magnification >= {MIN_SCALE} and threshold >= 0, "
                f"got {self.smallest} * {self.magnification} and {self.threshold}"
            )

    def points(self, picture):
        return picture.once(("HarrisLaplace", *self._fields().values()), lambda: self._points(picture.grey))

    def _points(self, grey):
        scales = self.smallest * self.ratio ** np.arange(self.n_levels)
        stands_out = self._stands_out(grey)
        found = []
        for level, scale in enumerate(scales):
            cornerness = _cornerness(grey, scale)
            y, x = np.nonzero((cornerness > self.threshold) & _is_peak(cornerness))
            best = _nearest_level(stands_out[:, y, x], level)
            kept = best >= 0
            found.append(np.array([cornerness[y, x], x, y, best])[:, kept])
        strength, x, y, level = np.concatenate(found, axis=1)
        strongest = np.argsort(-strength, kind="stable")[: self.max_points]
        # a corner that is seen at several scales may settle at the same one
        level, y, x = np.unique([level[strongest], y[strongest], x[strongest]], axis=1)
        return sorted_points(x, y, scales[level.astype(int)] * self.magnification)

    def _stands_out(self, grey):
        """Where the Laplacian is largest among three neighbouring scales, shape (n_levels, height, width)."""
        scales = self.smallest * self.ratio ** np.arange(-1, self.n_levels + 1)
        sizes = np.array([_laplacian(grey, scale) for scale in scales])
        return (sizes[1:-1] > sizes[:-2]) & (sizes[1:-1] > sizes[2:])


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
    import cv2

    derivative_scale = _DERIVATIVE_SHARE * scale
    smoothed = _smooth(grey, derivative_scale)
    dx = cv2.Sobel(smoothed, cv2.CV_32F, 1, 0, ksize=1, scale=derivative_scale / 2, borderType=_border())
    dy = cv2.Sobel(smoothed, cv2.CV_32F, 0, 1, ksize=1, scale=derivative_scale / 2, borderType=_border())
    xx, yy, xy = (_smooth(product, scale) for product in (dx * dx, dy * dy, dx * dy))
    return xx * yy - xy * xy - _EDGE_PENALTY * (xx + yy) ** 2


def _laplacian(grey, scale):
    """Size of the Laplacian, the same for a blob at any scale, shape (height, width)."""
    import cv2

    smoothed = _smooth(grey, scale)
    return np.abs(cv2.Laplacian(smoothed, cv2.CV_32F, ksize=1, scale=scale**2, borderType=_border()))


def _smooth(image, scale):
    """Gaussian smoothing, cut at three widths."""
    import cv2

    size = 2 * int(np.ceil(3 * scale)) + 1
    return cv2.GaussianBlur(image, (size, size), scale, borderType=_border())


def _is_peak(values):
    """Where no neighbour is larger, shape of `values`."""
    import cv2

    return values >= cv2.dilate(values, np.ones((3, 3), np.uint8))


def _border():
    import cv2

    return cv2.BORDER_REPLICATE

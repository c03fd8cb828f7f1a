"""How much detail two pictures have in common once one is laid upon the other.

Pictures are miniatures, see `tagrank.features.whole_picture.miniature`. One of them is stretched and shifted
along both axes, brightened and dimmed until it fits the other best (Lucas and Kanade, 1981: least squares,
linearised again in every step), upright and as its mirror image. Then the details, which are the miniatures
less their surroundings and less the mean of each line and column, are correlated where the two overlap: 1 for
the same photograph in another size, near 0 for two photographs of similar places, which share large areas and
a horizon, but no details.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter

from tagrank.arrays import row_blocks
from tagrank.kernels.gram import run_tiles
from tagrank.resources import compiled

BLOCK = 256  # pairs that are compared together
# smoothing in pixels of a miniature of 32, and that of the surroundings, which are taken away
COARSE, FINE, DETAIL = (2.0, 5.0), (0.7, 4.0), (0.5, 2.5)
COARSE_STEPS, FINE_STEPS = 3, 5
MOST_MOVED = 0.3  # of half a side
# pictures whose large areas do not resemble each other, moved or not, need no closer look
LEAST_RESEMBLANCE = 0.3
# of the side: what surrounds a detail at the border of one picture lies outside of it in the other
MARGIN = 3 / 32
NOISE = 0.25  # variance of a detail, in grey levels, that counts as none


def compare_pairs(
    miniatures: np.ndarray,
    pairs: np.ndarray,
    *,
    upside_down: bool = False,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> np.ndarray:
    """Correlation of the details of pairs of pictures.

    Parameters
    ----------
    miniatures : array, shape (n, side * side); may be mapped from a file
    pairs : int array, shape (n_pairs, 2), rows of `miniatures`
    upside_down : bool, whether the second one of each pair is turned over: it keeps its statistics then, but
        can have nothing in common with the first one but by chance
    n_jobs : int, optional, number of threads
    progress : callable, optional, called with the pairs done and their number

    Returns
    -------
    correlations : array, shape (n_pairs,), from -1 to 1
    """
    correlations = np.empty(len(pairs))
    n_done = [0]

    def compare(block: slice) -> None:
        rows, places = np.unique(pairs[block], return_inverse=True)
        bands = bands_of(np.asarray(miniatures[rows], np.float32))
        places = places.reshape(-1, 2)
        other = np.ascontiguousarray(bands[:, :, ::-1]) if upside_down else bands
        mirrored = np.ascontiguousarray(bands[:, :, :, ::-1])
        correlations[block] = _compare(bands, mirrored, other, places)
        n_done[0] += len(places)
        if progress is not None:
            progress(min(n_done[0], len(pairs)), len(pairs))

    run_tiles(compare, list(row_blocks(len(pairs), BLOCK)), n_jobs)
    return correlations


def bands_of(miniatures: np.ndarray) -> np.ndarray:
    """Large areas, smaller ones and details, float32 (n, 3, side, side)."""
    side = round(miniatures.shape[1] ** 0.5)
    images = miniatures.reshape(-1, side, side)
    bands = np.empty((len(images), 3, side, side), np.float32)
    for number, scales in enumerate((COARSE, FINE, DETAIL)):
        near, far = (scale * side / 32 for scale in scales)
        bands[:, number] = _smooth(images, near) - _smooth(images, far)
    # a horizon, the same in many pictures, is no detail
    for axis in (2, 1):
        bands[:, 2] -= bands[:, 2].mean(axis=axis, keepdims=True)
    return bands


def _smooth(images: np.ndarray, sigma: float) -> np.ndarray:
    return gaussian_filter(images, (0, sigma, sigma), mode="nearest")


@compiled()
def _compare(bands: Any, mirrored: Any, other: Any, pairs: Any) -> Any:
    answers = np.empty(len(pairs))
    for number in range(len(pairs)):
        second = other[pairs[number, 1]]
        upright = _likeness(bands[pairs[number, 0]], second)
        answers[number] = max(upright, _likeness(mirrored[pairs[number, 0]], second))
    return answers


@compiled()
def _likeness(first: Any, second: Any) -> Any:
    """The correlation of the details of two pictures, as they are or aligned."""
    best = _correlation(first[2], second[2], np.zeros(4))
    if _correlation(first[0], second[0], np.zeros(4)) < LEAST_RESEMBLANCE:
        return best
    # steps may go astray one way and not the other
    return max(best, _aligned(first, second), _aligned(second, first))


@compiled()
def _aligned(first: Any, second: Any) -> Any:
    """The correlation of the details once the first picture is laid upon the second one."""
    place = np.zeros(4)
    for _ in range(COARSE_STEPS):
        _step(first[0], second[0], place)
    for _ in range(FINE_STEPS):
        _step(first[1], second[1], place)
    return _correlation(first[2], second[2], place)


@compiled()
def _sample(image: Any, x: Any, y: Any) -> Any:
    """The value of an image between pixels, and its slopes; outside of it the last entry is false."""
    side = len(image)
    if not (0 <= x <= side - 1 and 0 <= y <= side - 1):
        return 0.0, 0.0, 0.0, False
    column, line = min(int(x), side - 2), min(int(y), side - 2)
    right, down = x - column, y - line
    a, b = np.float64(image[line, column]), np.float64(image[line, column + 1])
    c, d = np.float64(image[line + 1, column]), np.float64(image[line + 1, column + 1])
    upper, lower = a + (b - a) * right, c + (d - c) * right
    slope = (b - a) * (1 - down) + (d - c) * down
    return upper + (lower - upper) * down, slope, lower - upper, True


@compiled()
def _correlation(first: Any, second: Any, place: Any) -> Any:
    """Correlation of `second` and of `first`, moved, where they overlap; noise counts as no detail."""
    side = len(first)
    half = side / 2
    middle = (side - 1) / 2
    margin = int(side * MARGIN)
    n, sum_a, sum_b, sum_aa, sum_bb, sum_ab = 0, 0.0, 0.0, 0.0, 0.0, 0.0
    for line in range(margin, side - margin):
        y = (line - middle) * (1 + place[2]) + place[3] * half + middle
        for column in range(margin, side - margin):
            x = (column - middle) * (1 + place[0]) + place[1] * half + middle
            a, _, _, is_inside = _sample(first, x, y)
            if is_inside and min(x, y) >= margin and max(x, y) <= side - 1 - margin:
                b = np.float64(second[line, column])
                n += 1
                sum_a, sum_b = sum_a + a, sum_b + b
                sum_aa, sum_bb, sum_ab = sum_aa + a * a, sum_bb + b * b, sum_ab + a * b
    if 2 * n < side * side:
        return 0.0
    variance_a, variance_b = sum_aa / n - (sum_a / n) ** 2, sum_bb / n - (sum_b / n) ** 2
    return (sum_ab / n - sum_a * sum_b / n**2) / np.sqrt((variance_a + NOISE) * (variance_b + NOISE))


@compiled()
def _step(first: Any, second: Any, place: Any) -> None:
    """Move `first` so that it fits `second` better; `place` is stretch and shift along x, then along y."""
    side = len(first)
    half = side / 2
    middle = (side - 1) / 2
    products, right_side, slopes = np.zeros((6, 6)), np.zeros(6), np.empty(6)
    for line in range(side):
        v = (line - middle) / half
        y = (v * (1 + place[2]) + place[3]) * half + middle
        for column in range(side):
            u = (column - middle) / half
            x = (u * (1 + place[0]) + place[1]) * half + middle
            value, along, across, is_inside = _sample(first, x, y)
            if is_inside:
                slopes[0], slopes[1] = along * half * u, along * half
                slopes[2], slopes[3] = across * half * v, across * half
                slopes[4], slopes[5] = value, 1.0
                for i in range(6):
                    right_side[i] += slopes[i] * second[line, column]
                    for j in range(6):
                        products[i, j] += slopes[i] * slopes[j]
    size = np.trace(products) / 6
    for i in range(6):
        products[i, i] += 1e-9 + (1e-3 * size if i < 4 else 0.0)
    solution = np.linalg.solve(products, right_side)
    brightness = max(solution[4], 0.2)
    for i in range(4):
        change = min(max(solution[i] / brightness, -0.1), 0.1)
        place[i] = min(max(place[i] + change, -MOST_MOVED), MOST_MOVED)

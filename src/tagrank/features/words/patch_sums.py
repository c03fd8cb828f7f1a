"""Compiled loops of SIFT and hue: vectors as length and direction, shared between bins, summed under windows.

A map holds eight numbers for every pixel (how strong the gradient is in each of eight directions, say). A
descriptor sums each of these channels under the cells of a window around its point. Windows are products of a
function of x and one of y, so that the sums down the columns are worked out once for all points of a row:
this is the work that dense descriptors spend their time on.
"""

import math

import numpy as np
from numba import njit

from tagrank.resources import compiled
from tagrank.simd import aligned_zeros, multiply_row, padded

# sums may be reordered and multiply-adds fused; nan and infinity keep their meaning
_FAST = {"reassoc", "contract", "nsz"}

# arctan(s) 4 / pi = s (a_0 + a_1 s^2 + ...) on [0, 1], the smallest largest error: 5e-8 before rounding
_ARCTAN = (
    1.273238699, -0.4243689657, 0.2539675389, -0.1770900608,
    0.1227679939, -0.07118941973, 0.0278365358, -0.005162368858,
)  # fmt: skip
# known to the compiler: loops over channels become single instructions
CHANNELS = 8


@compiled(fastmath=_FAST, error_model="numpy")
def gradients(grey):
    """Length and direction of the gradient at every pixel: half the difference of its two neighbours.

    `grey`, float32, repeats its edge pixels beyond the edge. Directions are in eighths of a turn, from 0 (to
    the right) through 2 (down) to 8.
    """
    height, width = grey.shape
    strength, direction = np.empty_like(grey), np.empty_like(grey)
    half = np.float32(0.5)
    dx = np.empty(width, np.float32)
    for y in range(height):
        above, here, below = grey[max(y - 1, 0)], grey[y], grey[min(y + 1, height - 1)]
        dx[0], dx[width - 1] = here[1] - here[0], here[width - 1] - here[width - 2]
        # slices, since indices that the compiler cannot prove to be positive are not vectorised
        inner, before, after = dx[1:-1], here[:-2], here[2:]
        for x in range(len(inner)):
            inner[x] = after[x] - before[x]
        for x in range(width):
            strength[y, x], direction[y, x] = _polar(dx[x] * half, (below[x] - above[x]) * half)
    return strength, direction


@compiled(fastmath=_FAST, error_model="numpy")
def hues(pixels):
    """Saturation and hue of uint8 pixels (height, width, 3) in opponent colours, float32 (height, width).

    O1 = (R - G) / sqrt 2 and O2 = (R + G - 2 B) / sqrt 6; hue is the direction of (O2, O1) in eighths of a
    turn from 0 to 8.
    """
    height, width = pixels.shape[:2]
    saturation, hue = np.empty((height, width), np.float32), np.empty((height, width), np.float32)
    first, second = np.float32(1 / (255 * math.sqrt(2))), np.float32(1 / (255 * math.sqrt(6)))
    for y in range(height):
        for x in range(width):
            red, green = np.float32(pixels[y, x, 0]), np.float32(pixels[y, x, 1])
            blue = np.float32(pixels[y, x, 2])
            o1, o2 = (red - green) * first, (red + green - blue - blue) * second
            saturation[y, x], hue[y, x] = _polar(o2, o1)
    return saturation, hue


@njit(inline="always")
def _polar(across, down):
    """Length, and direction in eighths of a turn from 0 to 8, of a vector."""
    a, d = abs(across), abs(down)
    angle = _eighths(min(a, d) / max(max(a, d), np.float32(1e-30)))
    angle = np.float32(2) - angle if d > a else angle
    angle = np.float32(4) - angle if across < 0 else angle
    angle = np.float32(8) - angle if down < 0 else angle
    return np.float32(math.sqrt(across * across + down * down)), angle


@njit(inline="always")
def _eighths(slope):
    """arctan(slope) 4 / pi for slopes from 0 to 1, in a form that the compiler can vectorise."""
    square = slope * slope
    total = np.float32(_ARCTAN[7])
    for k in range(6, -1, -1):
        total = total * square + np.float32(_ARCTAN[k])
    return total * slope


@compiled()
def share_between_bins(strength, direction, n_bins, first, maps):
    """Share the strength at every pixel between the two bins whose directions, from 0 to 8, are nearest.

    The whole turn has `n_bins`; the centre of the first one is direction 0. `first` is the bin that is
    channel 0 of `maps`, float32 (height, width, 8), to write to.
    """
    height, width = strength.shape
    bins_per_eighth = np.float32(n_bins / 8)
    for y in range(height):
        for x in range(width):
            position = direction[y, x] * bins_per_eighth
            lower = int(position)
            share = strength[y, x] * (position - np.float32(lower))
            lower = lower if lower < n_bins else lower - n_bins
            upper = lower + 1 if lower + 1 < n_bins else 0
            for channel in range(CHANNELS):
                maps[y, x, channel] = 0
            if 0 <= lower - first < CHANNELS:
                maps[y, x, lower - first] = strength[y, x] - share
            if 0 <= upper - first < CHANNELS:
                maps[y, x, upper - first] += share


@compiled(fastmath=_FAST, error_model="numpy")
def normalise_rows(rows, clip, least):
    """Scale rows to length one, cut numbers above `clip`, scale again; rows shorter than `least` become 0."""
    for i in range(len(rows)):
        row = rows[i]
        length = _length(row)
        if length < least:
            row[:] = 0
            continue
        scale, largest = np.float32(1 / length), np.float32(clip)
        for k in range(len(row)):
            row[k] = min(row[k] * scale, largest)
        scale = np.float32(1 / _length(row))
        for k in range(len(row)):
            row[k] *= scale


@njit(inline="always")
def _length(row):
    total = np.float32(0)
    for k in range(len(row)):
        total += row[k] * row[k]
    return math.sqrt(total)


def sum_windows(maps, x, y, weights, sums):
    """Sum every channel under n_cells x n_cells windows around every point.

    Parameters
    ----------
    maps : float32 array, shape (height, width, 8)
    x, y : int64 arrays, shape (n_points,), within the picture; fastest if the points of a row are neighbours
    weights : float32 array, shape (n_cells, 2 radius + 1): the weight in each cell of the pixels from
        `radius` before the point to `radius` after it. What lies outside of the picture counts as zero.
    sums : float32 array, shape (n_points, n_cells, n_cells, 8), to write to; cells count down, then across
    """
    n_cells, n_taps = weights.shape
    # zeros beyond the edges, so that no window has to be cut across
    columns = aligned_zeros((maps.shape[1] + n_taps - 1, padded(n_cells * CHANNELS)), np.float32)
    _sum_windows(maps, x, y, weights, columns, sums)


@compiled()
def _sum_windows(maps, x, y, weights, columns, sums):
    n_points, width = len(x), maps.shape[1]
    radius = weights.shape[1] // 2
    spans = _spans(weights)
    line, cell = np.empty(width * CHANNELS, np.float32), np.empty(columns.shape[1], np.float32)
    inner = columns.reshape(len(columns), -1, CHANNELS)[radius : radius + width]
    offsets = np.arange(weights.shape[1])
    stop = 0
    while stop < n_points:
        start = stop
        left, right = x[start], x[start]
        while stop < n_points and y[stop] == y[start]:
            left, right = min(left, x[stop]), max(right, x[stop])
            stop += 1
        left, right = max(left - radius, 0), min(right + radius + 1, width)
        _sum_columns(maps, y[start], left, weights, spans, line, inner[left:right])
        for across in range(len(weights)):
            first, last = spans[across]
            row_weights = weights[across]
            for point in range(start, stop):
                multiply_row(columns[x[point] :], offsets, row_weights, first, last, cell)
                for down in range(len(weights)):
                    for channel in range(CHANNELS):
                        sums[point, down, across, channel] = cell[down * CHANNELS + channel]


@compiled()
def _spans(weights):
    """First index that is not zero and last one plus one of every row, shape (n_rows, 2)."""
    spans = np.empty((len(weights), 2), np.int64)
    for i in range(len(weights)):
        nonzero = np.flatnonzero(weights[i])
        spans[i] = nonzero[0], nonzero[-1] + 1
    return spans


@compiled(fastmath={"contract"})
def _sum_columns(maps, y, left, weights, spans, line, columns):
    """Sums down the columns from `left` on, around row y: columns[x - left, cell, channel]."""
    shift = y - weights.shape[1] // 2
    # a slice, since indices that the compiler cannot prove to be positive are not vectorised
    line = line[: len(columns) * CHANNELS]
    for down in range(len(weights)):
        first, last = max(spans[down, 0], -shift), min(spans[down, 1], len(maps) - shift)
        line[:] = 0
        for k in range(first, last):
            weight, row = weights[down, k], maps[k + shift, left : left + len(columns)].reshape(-1)
            for i in range(len(line)):
                line[i] += weight * row[i]
        for x in range(len(columns)):
            for channel in range(CHANNELS):
                columns[x, down, channel] = line[x * CHANNELS + channel]

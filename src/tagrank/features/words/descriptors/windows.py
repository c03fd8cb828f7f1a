"""Sums of maps under windows around points: the work that dense descriptors spend their time on.

A map holds eight numbers for every pixel (how strong the gradient is in each of eight directions, say). A
descriptor sums each of these channels under the cells of a window around its point. Windows are products of a
function of x and one of y, so that the sums down the columns are worked out once for all points of a row.
"""

import numpy as np
from numba import njit

from tagrank.simd import aligned_zeros, multiply_row, padded

# known to the compiler: loops over channels become single instructions
CHANNELS = 8


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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _spans(weights):
    """First index that is not zero and last one plus one of every row, shape (n_rows, 2)."""
    spans = np.empty((len(weights), 2), np.int64)
    for i in range(len(weights)):
        nonzero = np.flatnonzero(weights[i])
        spans[i] = nonzero[0], nonzero[-1] + 1
    return spans


@njit(cache=True, nogil=True, fastmath={"contract"})
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

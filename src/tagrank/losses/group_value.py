"""The value of the group ranking loss: for each absent label the norm of its violations, costs as weights."""

import numpy as np
from numba import njit, prange

from tagrank.simd import LANES, load, splat, square_root, sum_of, where_greater

FAST = {"contract", "nsz", "nnan", "arcp", "reassoc"}
FAR = 1e30  # beyond any score; stands for a side without labels
TILE = 64


@njit(cache=True, fastmath=FAST)
def lowest_and_highest(scores, bounds):
    """Score of the lowest present and of the highest absent label."""
    lowest, highest = scores.dtype.type(FAR), scores.dtype.type(-FAR)
    for k in range(scores.shape[0]):
        lowest = min(lowest, scores[k] if bounds[k] > 0 else lowest)
        highest = max(highest, scores[k] if bounds[k] < 0 else highest)
    return np.float64(lowest), np.float64(highest)


@njit(cache=True)
def group_loss(scores, bounds, room):
    """The loss of one sample; `room` has shape (4, n_labels + LANES)."""
    present, costs, reaches, radii = room[0], room[1], room[2], room[3]
    lowest, n_present, n_violated = FAR, 0, 0
    for k in range(scores.shape[0]):
        if bounds[k] > 0:
            present[n_present], costs[n_present] = scores[k], bounds[k]
            lowest = min(lowest, present[n_present])
            n_present += 1
    for label in range(scores.shape[0]):
        reach = np.float64(scores[label]) + 1
        reaches[n_violated], radii[n_violated] = reach, -bounds[label]
        n_violated += (bounds[label] < 0) & (reach > lowest)
    radii[n_violated : n_violated + LANES] = 0
    loss, nothing = splat(0.0), splat(0.0)
    for first in range(0, n_violated, LANES):
        square = nothing
        for k in range(n_present):
            violation = load(reaches, first) - splat(present[k])
            violation = where_greater(violation, nothing, violation, nothing)
            square = square + splat(costs[k]) * violation * violation
        loss = loss + square_root(load(radii, first) * square)
    return sum_of(loss)


@njit(cache=True, fastmath=FAST)
def half_size_and_inner(coefficients, scores):
    """Half the size of the coefficients, and their inner product with the scores."""
    size = inner = 0.0
    for k in range(scores.shape[0]):
        coefficient = np.float64(coefficients[k])
        size += abs(coefficient) / 2
        inner += coefficient * np.float64(scores[k])
    return size, inner


@njit(cache=True, parallel=True)
def measure_samples(bounds, coefficients, scores):
    n_labels, n_samples = scores.shape
    sums, thresholds = np.zeros((3, n_samples)), np.zeros((2, n_samples))
    for tile in prange((n_samples + TILE - 1) // TILE):
        start = tile * TILE
        n_rows = min(n_samples - start, TILE)
        mine, room = np.empty((TILE, n_labels), scores.dtype), np.zeros((4, n_labels + LANES))
        for label in range(n_labels):
            for b in range(n_rows):
                mine[b, label] = scores[label, start + b]
        for b in range(n_rows):
            i = start + b
            sums[0, i] = group_loss(mine[b], bounds[i], room)
            sums[1, i], sums[2, i] = half_size_and_inner(coefficients[i], mine[b])
            lowest, highest = lowest_and_highest(mine[b], bounds[i])
            thresholds[0, i], thresholds[1, i] = (lowest + highest) / 2, mine[b].max()
    return sums, thresholds

"""Spatial pyramids: the whole picture, its quarters, the quarters of those, each with a histogram of its own.

Every cell consists of four cells of the next level, so the finest level is counted and the others are summed.
"""

import numpy as np

MAX_LEVELS = 6


def cell_indices(length, n_cells):
    """The cell of every pixel along one axis, integer array of shape (length,).

    Halving the number of cells halves every index: cells of a coarser level are unions of finer ones.
    """
    return np.arange(length) * n_cells // length


def pyramid_cells(height, width, *, levels):
    """The cell of the finest level, row by row, of every pixel: integer array, shape (height, width)."""
    n_cells = 2 ** (levels - 1)
    return cell_indices(height, n_cells)[:, None] * n_cells + cell_indices(width, n_cells)


def pyramid_sums(finest):
    """Sums over the cells of every level, the whole picture first, cells row by row: (1 + 4 + ..., ...).

    `finest` has the shape (n_cells, n_cells, ...), n_cells a power of two: sums over the finest cells.
    """
    levels = [finest]
    while len(levels[0]) > 1:
        n_cells, *rest = levels[0].shape[1:]
        quarters = levels[0].reshape(n_cells // 2, 2, n_cells // 2, 2, *rest)
        levels.insert(0, quarters.sum(axis=(1, 3)))
    return np.concatenate([level.reshape(-1, *level.shape[2:]) for level in levels])


def pyramid_histogram(bins, cells, *, n_bins, levels, weights=None):
    """Histograms of every cell of every level in one float32 row, of n_bins * (1 + 4 + ...) columns.

    `bins`, `cells` (as `pyramid_cells` gives them) and `weights` are those of points, in any shape. The row
    sums to 1, every level to the same share; all zero where there are no points or no weights.
    """
    n_cells = 2 ** (levels - 1)
    weights = None if weights is None else np.ravel(weights)
    finest = np.bincount(np.ravel(cells * n_bins + bins), weights, minlength=n_cells**2 * n_bins)
    row = pyramid_sums(finest.reshape(n_cells, n_cells, n_bins)).ravel()
    total = row.sum()
    return (row / total if total > 0 else row).astype(np.float32)

"""Edge histogram: which way the edges run, and where, in a grid of cells."""

import numpy as np

from tagrank.features.image import check_image

ORIENTATIONS = 8
GRIDS = (1, 4)
# rec. 601: how bright red, green and blue look
_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)


def edge_histogram(image):
    """Histogram of edge orientations weighted by edge strength.

    Each edge is shared between the two nearest of eight orientations (a line has no direction: they cover
    half a turn). The row is normalised as a whole, so that busy cells outweigh calm ones.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)

    Returns
    -------
    row : float64 array, shape (136,): the whole picture, then 4 x 4 cells row by row. Non-negative, sums to
        1; all zero for a picture without any edge.
    """
    strength, orientation = _gradients(check_image(image).astype(np.float32) @ _LUMA)
    position = orientation * (ORIENTATIONS / np.pi)
    lower = np.floor(position)
    share = strength * (position - lower)
    first = lower.astype(np.intp) % ORIENTATIONS
    row = np.concatenate([_cell_histograms(first, strength - share, share, grid) for grid in GRIDS])
    total = row.sum()
    return row / total if total > 0 else row


def _gradients(grey):
    """Sobel strength and orientation in [0, pi) of the inner pixels, shapes (height - 2, width - 2)."""
    across = grey[:, 2:] - grey[:, :-2]
    down = grey[2:] - grey[:-2]
    dx = across[:-2] + 2 * across[1:-1] + across[2:]
    dy = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
    return np.hypot(dx, dy), np.arctan2(dy, dx) % np.pi


def _cell_histograms(first, first_weight, second_weight, grid):
    """Orientation histograms of grid x grid cells in one row, shape (grid * grid * ORIENTATIONS,)."""
    height, width = first.shape
    cells = (np.arange(height) * grid // height)[:, None] * grid + np.arange(width) * grid // width
    bins = cells * ORIENTATIONS
    length = grid * grid * ORIENTATIONS
    second = (first + 1) % ORIENTATIONS
    histogram = np.bincount((bins + first).ravel(), first_weight.ravel(), length)
    return histogram + np.bincount((bins + second).ravel(), second_weight.ravel(), length)

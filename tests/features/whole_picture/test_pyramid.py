"""Spatial pyramids against plain loops."""

import numpy as np
import pytest

from tagrank.features.whole_picture.pyramid import pyramid_cells, pyramid_histogram, pyramid_sums


@pytest.mark.parametrize("shape", [(8, 8), (13, 29), (5, 40)])
def test_histogram_against_loops(shape):
    rng = np.random.default_rng(0)
    bins, weights = rng.integers(0, 5, shape), rng.random(shape)
    expected = []
    for n_cells in (1, 2, 4):
        for i, j in np.ndindex(n_cells, n_cells):
            histogram = np.zeros(5)
            for y, x in np.ndindex(shape):
                if (y * n_cells // shape[0], x * n_cells // shape[1]) == (i, j):
                    histogram[bins[y, x]] += weights[y, x]
            expected.append(histogram / (3 * weights.sum()))
    cells = pyramid_cells(*shape, levels=3)
    row = pyramid_histogram(bins, cells, n_bins=5, levels=3, weights=weights)
    assert np.allclose(row, np.concatenate(expected), atol=1e-7)


def test_no_points():
    nothing = np.zeros(0, dtype=np.intp)
    assert not pyramid_histogram(nothing, nothing, n_bins=3, levels=2).any()


def test_sums_keep_further_axes():
    finest = np.random.default_rng(1).random((4, 4, 2, 3))
    sums = pyramid_sums(finest)
    assert sums.shape == (21, 2, 3)
    assert np.allclose(sums[0], finest.sum(axis=(0, 1)))
    assert np.allclose(sums[2], finest[:2, 2:].sum(axis=(0, 1)))
    assert np.array_equal(sums[5:], finest.reshape(16, 2, 3))

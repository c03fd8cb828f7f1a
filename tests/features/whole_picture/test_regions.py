"""Moments of regions against loops over regions and pixels."""

import numpy as np
import pytest

from tagrank.features.pixels import to_lab
from tagrank.features.whole_picture.regions import RegionMoments


@pytest.mark.parametrize(("shape", "grid"), [((48, 60), (4, 6)), ((37, 23), (3, 5)), ((8, 8), (8, 8))])
def test_moments_of_each_region(shape, grid):
    image = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    feature = RegionMoments(*grid)
    row = feature(image).reshape(feature.n_regions, 30)
    colours = np.dstack([image, to_lab(image)]) / 255
    for r in range(grid[0]):
        for c in range(grid[1]):
            inside = [
                colours[y, x]
                for y in range(shape[0])
                for x in range(shape[1])
                if y * grid[0] // shape[0] == r and x * grid[1] // shape[1] == c
            ]
            mean = np.mean(inside, axis=0)
            second, third = (np.mean((inside - mean) ** power, axis=0) for power in (2, 3))
            expected = np.concatenate([mean, np.sqrt(second), np.cbrt(third)])
            np.testing.assert_allclose(row[r * grid[1] + c, :18], expected, atol=2e-3)


def test_edges_stand_in_their_direction_and_region():
    image = np.zeros((40, 40, 3), np.uint8)
    image[:, 10:] = 255  # one upright edge, in the left half
    row = RegionMoments(1, 2)(image).reshape(2, 30)
    edges = row[:, 18:].reshape(2, 3, 4)
    assert np.all(edges[0].argmax(axis=1) == 0)
    assert np.all(edges[0, :2, 0] > 10 * edges[1, :2, 0])
    np.testing.assert_allclose(edges[:, :, 2], 0, atol=1e-6)


def test_refused_grids():
    with pytest.raises(ValueError, match="rows must be a whole number from 1 to 8, got 9"):
        RegionMoments(rows=9)

"""The hue descriptor against plain numpy over one patch, and on colours whose hue is known."""

import numpy as np
import pytest

from tagrank.features.feature import Picture
from tagrank.features.words.local_descriptors import Hue
from tagrank.features.words.sampling import DenseGrid, Points


def points_at(x, y, scale):
    return Points(*(np.atleast_1d(np.float32(column)) for column in (x, y, scale)))


def reference_hue(pixels, x, y, scale, *, min_saturation=0.2):
    """The definition, in float64: opponent colours, and a vote of every pixel for two hues."""
    red, green, blue = np.moveaxis(pixels / 255, -1, 0)
    o1, o2 = (red - green) / np.sqrt(2), (red + green - 2 * blue) / np.sqrt(6)
    position = np.arctan2(o1, o2) % (2 * np.pi) * 36 / (2 * np.pi)
    radius = int(2 * scale)
    offsets = np.arange(-radius, radius + 1)
    total = np.exp(-(offsets**2) / (2 * scale**2)).sum()
    histogram = np.zeros(36)
    for v in range(max(y - radius, 0), min(y + radius + 1, len(pixels))):
        for u in range(max(x - radius, 0), min(x + radius + 1, pixels.shape[1])):
            weight = np.exp(-((u - x) ** 2 + (v - y) ** 2) / (2 * scale**2)) / total**2
            weight *= np.hypot(o1, o2)[v, u]
            lower = int(position[v, u])
            histogram[lower % 36] += weight * (1 - position[v, u] + lower)
            histogram[(lower + 1) % 36] += weight * (position[v, u] - lower)
    return histogram / max(histogram.sum(), min_saturation)


@pytest.mark.parametrize(("x", "y", "scale"), [(20, 15, 4.0), (0, 29, 3.0), (39, 3, 7.5)])
def test_agrees_with_plain_loops(x, y, scale):
    pixels = np.random.default_rng(0).integers(0, 256, (30, 40, 3), dtype=np.uint8)
    row = Hue().compute(Picture(pixels), points_at(x, y, scale))[0]
    np.testing.assert_allclose(row, reference_hue(pixels, x, y, scale), atol=1e-5)


def plain(*colour):
    return Picture(np.full((32, 32, 3), colour, np.uint8))


@pytest.mark.parametrize("name", ["yellow", "red", "blue"])
def test_known_hues(name):
    colour, angle = {"yellow": ((200, 200, 0), 0), "red": ((200, 0, 0), 60), "blue": ((0, 0, 200), 180)}[name]
    row = Hue().compute(plain(*colour), points_at(16, 16, 4.0))[0]
    expected = np.zeros(36)
    expected[angle // 10] = 1
    np.testing.assert_allclose(row, expected, atol=1e-4)


def test_brightness_does_not_matter():
    here, there = (Hue().compute(plain(*c), points_at(16, 16, 4.0)) for c in [(120, 80, 20), (220, 180, 120)])
    np.testing.assert_allclose(here, there, atol=1e-4)


def test_grey_is_zero_and_nearly_grey_is_faint():
    grid = DenseGrid().points(plain(0, 0, 0))
    assert not Hue().compute(plain(90, 90, 90), grid).any()
    faint = Hue().compute(plain(90, 91, 90), points_at(16, 16, 4.0)).sum()
    assert 0 < faint < 0.5
    assert Hue().compute(plain(90, 200, 90), points_at(16, 16, 4.0)).sum() == pytest.approx(1)


def test_no_points_and_tiny_pictures():
    assert Hue().compute(plain(1, 2, 3), points_at([], [], [])).shape == (0, 36)
    picture = Picture(np.random.default_rng(0).integers(0, 256, (8, 9, 3), dtype=np.uint8))
    rows = Hue(min_saturation=0.01).compute(picture, DenseGrid().points(picture))
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-5)


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="min_saturation must be above 0"):
        Hue(min_saturation=0)

"""SIFT of colour channels and of windows, against SIFT of pictures made of them."""

import colorsys

import numpy as np
import pytest

from tagrank.features.feature import Picture
from tagrank.features.words.colour_sift import HsvSift, WindowSift
from tagrank.features.words.local_descriptors import Hue, Sift
from tagrank.features.words.sampling import DenseGrid, Points


@pytest.fixture(scope="module")
def picture():
    rng = np.random.default_rng(0)
    small = rng.integers(0, 256, (7, 9, 3))
    return Picture(np.kron(small, np.ones((8, 8, 1))).astype(np.uint8))


def test_each_channel_is_described_like_a_grey_picture(picture):
    points = DenseGrid(step=10, scales=(3.0,)).points(picture)
    rows = HsvSift().compute(picture, points)
    hsv = np.array([[colorsys.rgb_to_hsv(*pixel) for pixel in line] for line in picture.pixels / 255])
    for channel, part in enumerate(np.split(rows, 3, axis=1)):
        grey = np.rint(255 * hsv[:, :, channel]).astype(np.uint8)
        expected = Sift().compute(Picture(np.repeat(grey[:, :, None], 3, axis=2)), points)
        # hue has 256 levels for a turn here, and rounding of flat colours may differ by one level
        same = np.abs(part - expected).max(axis=1) < 0.1
        assert same.mean() > 0.95
    np.testing.assert_array_equal(HsvSift().compute(picture, points), rows)
    # what channels share is not mixed with what the picture has of its own
    np.testing.assert_array_equal(
        Sift().compute(picture, points), Sift().compute(Picture(picture.pixels), points)
    )


def test_a_picture_without_colour_has_its_brightness_alone():
    grey = np.random.default_rng(1).integers(0, 256, (40, 40), dtype=np.uint8)
    picture = Picture(np.repeat(grey[:, :, None], 3, axis=2))
    points = Points(*(np.array([value], np.float32) for value in (20, 20, 3)))
    row = HsvSift().compute(picture, points)[0]
    assert not row[:256].any()
    np.testing.assert_allclose(row[256:], Sift().compute(picture, points)[0], atol=1e-2)


@pytest.mark.parametrize("descriptor", [Sift(), HsvSift()])
def test_windows_are_described_at_their_centres(picture, descriptor):
    row = WindowSift(descriptor, rows=4, columns=5)(picture).reshape(20, -1)
    assert row.shape[1] == descriptor.n_columns
    # 56 x 72 pixels: windows of 14 x 14.4
    for place, (r, c) in enumerate(np.ndindex(4, 5)):
        centre = np.float32([14.4 * (c + 0.5) - 0.5, 14 * (r + 0.5) - 0.5, 14.4 / 4])
        expected = descriptor.compute(picture, Points(*(value[None] for value in centre)))[0]
        np.testing.assert_array_equal(row[place], expected)


def test_refused_parts():
    with pytest.raises(ValueError, match="rows must be a whole number from 1 to 32, got 0"):
        WindowSift(rows=0)
    with pytest.raises(TypeError, match="sift must be a Sift"):
        WindowSift(Hue())
    with pytest.raises(TypeError, match="sift must be a Sift"):
        HsvSift(Hue())

"""Colour histograms against scikit-image's colour conversions and plain loops."""

import numpy as np
import pytest
from skimage.color import rgb2hsv, rgb2lab

from tagrank.features.whole_picture.colour import SPACES, ColourHistogram

RNG = np.random.default_rng(0)
EXTREMES = np.array(np.meshgrid(*[[0, 255]] * 3)).reshape(3, -1).T
COLOURS = np.vstack([EXTREMES, RNG.integers(0, 256, (150, 3))]).astype(np.uint8)


def levels_by_skimage(colours, space):
    """Levels from 0 to 255 as real numbers, shape (n, 3)."""
    if space == "rgb":
        return colours.astype(float)
    if space == "hsv":
        return rgb2hsv(colours) * [256, 255, 255]
    return rgb2lab(colours) * [255 / 100, 1, 1] + [0, 128, 128]


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("bins", [12, 16])
def test_a_picture_of_one_colour_fills_the_bin_of_that_colour(space, bins):
    feature = ColourHistogram(space=space, bins=bins)
    for colour, levels in zip(COLOURS, levels_by_skimage(COLOURS, space), strict=True):
        row = feature(np.tile(colour, (8, 8, 1)))
        filled = np.unravel_index(np.argmax(row), (bins, bins, bins))
        assert row.max() == 1
        for channel, (low, high) in enumerate(SPACES[space].ranges):
            position = (levels[channel] - low) * bins / (high - low + 1)
            distance = abs(position - (filled[channel] + 0.5))
            if space == "hsv" and channel == 0:
                distance = min(distance, bins - distance)
            # eight-bit conversion rounds: a level next to the edge of a bin may fall to either side
            assert distance <= 0.5 + 1.5 * bins / (high - low + 1), (colour, channel)


def test_lab_ranges_are_what_srgb_reaches():
    steps = np.array(np.meshgrid(*[np.arange(0, 256, 15)] * 3), dtype=np.uint8).reshape(3, -1).T
    levels = levels_by_skimage(steps, "lab")
    for channel, (low, high) in enumerate(SPACES["lab"].ranges):
        assert abs(levels[:, channel].min() - low) < 1
        assert abs(levels[:, channel].max() - high) < 1


@pytest.mark.parametrize("bands", [1, 3])
def test_rgb_against_loops(bands):
    pixels = RNG.integers(0, 256, (16, 9, 3), dtype=np.uint8)
    expected = []
    for band in np.array_split(pixels, bands):
        histogram = np.zeros((12, 12, 12))
        for red, green, blue in band.reshape(-1, 3).astype(int):
            histogram[red * 12 // 256, green * 12 // 256, blue * 12 // 256] += 1
        expected.append(histogram.ravel() / histogram.sum() / bands)
    row = ColourHistogram(bins=12, bands=bands)(pixels)
    assert np.allclose(row, np.concatenate(expected), atol=1e-7)


@pytest.mark.parametrize("space", SPACES)
def test_the_whole_picture_ignores_layout_and_bands_do_not(space):
    pixels = RNG.integers(0, 256, (12, 10, 3), dtype=np.uint8)
    turned = pixels[::-1]
    assert np.array_equal(ColourHistogram(space)(pixels), ColourHistogram(space)(turned))
    bands = ColourHistogram(space, bands=3)
    assert np.array_equal(bands(pixels).reshape(3, -1)[::-1], bands(turned).reshape(3, -1))

"""The colour histogram against Python's own colour conversion, pixel by pixel."""

import colorsys

import numpy as np
import pytest

from tagrank.features.whole_picture.colour import HUES, SATURATIONS, VALUES, QuickColour


def bin_of(pixel):
    hue, saturation, value = colorsys.rgb_to_hsv(*(channel / 255 for channel in pixel))
    levels = [
        min(int(share * n), n - 1) for share, n in ((hue, HUES), (saturation, SATURATIONS), (value, VALUES))
    ]
    return (levels[0] * SATURATIONS + levels[1]) * VALUES + levels[2]


def test_matches_the_standard_library():
    image = np.random.default_rng(0).integers(0, 256, (12, 10, 3), dtype=np.uint8)
    expected = np.zeros(HUES * SATURATIONS * VALUES)
    for pixel in image.reshape(-1, 3):
        expected[bin_of(pixel)] += 1 / 120
    # a hue exactly between two bins may fall to either side in single precision
    assert np.abs(4 * QuickColour()(image)[:72] - expected).sum() <= 2 * 2 / 120


@pytest.mark.parametrize(
    "pixel", [(255, 0, 0), (0, 255, 0), (0, 0, 255), (0, 0, 0), (255, 255, 255), (90, 90, 90), (255, 0, 4)]
)
def test_pure_colours_fill_one_bin(pixel):
    image = np.full((9, 8, 3), pixel, dtype=np.uint8)
    row = QuickColour()(image)
    assert np.allclose(row.reshape(4, 72)[:, bin_of(pixel)], 0.25)
    assert row.sum() == pytest.approx(1)


def test_bands_see_where_the_colour_is():
    image = np.zeros((30, 20, 3), dtype=np.uint8)
    image[:10] = (0, 0, 255)
    blue = QuickColour()(image).reshape(4, 72)[:, bin_of((0, 0, 255))] * 4
    assert np.allclose(blue, [1 / 3, 1, 0, 0])

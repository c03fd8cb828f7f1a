"""Stretching pictures."""

import numpy as np
import pytest

from tagrank.features.pixels import resize


def test_both_axes_shrink_by_averaging():
    image = np.random.default_rng(0).random((12, 20)).astype(np.float32)
    expected = image.reshape(4, 3, 5, 4).mean(axis=(1, 3))
    assert np.allclose(resize(image, height=4, width=5), expected, atol=1e-6)


def test_an_axis_that_shrinks_is_averaged_while_the_other_grows():
    stripes = np.tile(np.array([0, 1], dtype=np.float32), (8, 100))
    assert np.allclose(resize(stripes, height=16, width=20), 0.5)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_colours_and_types_are_kept(dtype):
    image = np.full((9, 30, 3), (1, 2, 3), dtype=dtype)
    resized = resize(image, height=20, width=10)
    assert resized.dtype == dtype
    assert np.array_equal(resized, np.full((20, 10, 3), (1, 2, 3)))

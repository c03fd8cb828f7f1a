"""Local binary patterns against plain loops and scikit-image."""

import numpy as np
import pytest
from skimage.feature import local_binary_pattern

from tagrank.features.whole_picture.lbp import LocalBinaryPatterns, _codes, _uniform_bins

RNG = np.random.default_rng(0)
GREY = RNG.integers(0, 256, (23, 31), dtype=np.uint8)


def as_pixels(grey):
    return np.repeat(grey[..., None], 3, axis=2)


def pattern(grey, y, x):
    """Neighbours counter-clockwise from the right."""
    circle = [(0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1)]
    return [int(grey[y + dy, x + dx] >= grey[y, x]) for dy, dx in circle]


def test_codes_against_loops():
    expected = [
        [sum(bit << k for k, bit in enumerate(pattern(GREY, y, x))) for x in range(1, 30)]
        for y in range(1, 22)
    ]
    assert np.array_equal(_codes(GREY), expected)


def test_straight_neighbours_against_skimage():
    # the four straight neighbours need no interpolation there either
    four = local_binary_pattern(GREY, 4, 1).astype(int)[1:-1, 1:-1]
    codes = _codes(GREY)
    for k in range(4):
        assert np.array_equal(codes >> (2 * k) & 1, four >> k & 1)


@pytest.mark.parametrize(
    ("rotation_invariant", "method", "n_bins"), [(False, "nri_uniform", 59), (True, "uniform", 10)]
)
def test_uniform_bins_group_patterns_as_skimage_does(rotation_invariant, method, n_bins):
    # pictures whose eight interpolated neighbours follow the pattern: 3 x 3 pixels, one for every code
    table = _uniform_bins(rotation_invariant)
    assert np.array_equal(np.unique(table), np.arange(n_bins))
    circle = [(1, 2), (0, 2), (0, 1), (0, 0), (1, 0), (2, 0), (2, 1), (2, 2)]
    pairs = set()
    for code in range(256):
        grey = np.full((3, 3), 5000)
        for k, place in enumerate(circle):
            # diagonal neighbours are interpolated from the centre and both sides: make them decide
            size = 1 if k % 2 == 0 else 1000
            grey[place] += size if code >> k & 1 else -size
        pairs.add((table[code], int(local_binary_pattern(grey, 8, 1, method)[1, 1])))
    assert len(pairs) == n_bins


def test_row_against_loops():
    expected = np.zeros((2, 2, 10))
    for y in range(1, 22):
        for x in range(1, 30):
            bits = pattern(GREY, y, x)
            changes = sum(a != b for a, b in zip(bits, bits[1:] + bits[:1], strict=True))
            label = sum(bits) if changes <= 2 else 9
            expected[(y - 1) * 2 // 21, (x - 1) * 2 // 29, label] += 1
    expected /= 2 * 21 * 29
    row = LocalBinaryPatterns(rotation_invariant=True, levels=2)(as_pixels(GREY))
    assert np.allclose(row[:10], expected.sum(axis=(0, 1)), atol=1e-6)
    assert np.allclose(row[10:], expected.ravel(), atol=1e-6)


def test_brighter_pictures_have_the_same_row():
    dark = GREY // 2
    for feature in (LocalBinaryPatterns(), LocalBinaryPatterns(rotation_invariant=True)):
        assert np.array_equal(feature(as_pixels(dark)), feature(as_pixels(dark + 90)))


def test_quarter_turns():
    whole = LocalBinaryPatterns(rotation_invariant=True, levels=1)
    upright = LocalBinaryPatterns(levels=1)
    stripes = np.tile(np.array([0, 90, 180], dtype=np.uint8), (30, 10))
    assert np.allclose(whole(as_pixels(stripes)), whole(as_pixels(stripes.T)))
    assert np.abs(upright(as_pixels(stripes)) - upright(as_pixels(stripes.T))).sum() > 0.5

"""Directions of contours on shapes whose contours are known, against plain loops and scikit-image's Canny."""

import numpy as np
import pytest
from scipy import ndimage
from skimage import data
from skimage.feature import canny

from tagrank.features.whole_picture.edges import PyramidEdges, _edges


def as_pixels(grey):
    return np.repeat(np.asarray(grey, dtype=np.uint8)[..., None], 3, axis=2)


def disc(inside, outside, size=128):
    y, x = np.mgrid[:size, :size] - (size - 1) / 2
    share = np.clip((size / 3 - np.hypot(x, y)) / 4, 0, 1)
    return as_pixels(outside + (inside - outside) * share)


def step(left, right):
    grey = np.full((40, 60), left)
    grey[:, 30:] = right
    return as_pixels(grey)


@pytest.mark.parametrize("oriented", [False, True])
def test_against_loops_over_edge_points(oriented):
    grey = data.camera()[100:260:2, 100:300:2]
    smooth = ndimage.gaussian_filter(grey.astype(float), 1.4, mode="mirror")
    edges = _edges(np.rint(smooth).astype(np.uint8))
    dx, dy = (ndimage.sobel(grey.astype(float), axis=axis, mode="mirror") for axis in (1, 0))
    turn = 2 * np.pi if oriented else np.pi
    finest = np.zeros((4, 4, 20))
    for y, x in zip(*np.nonzero(edges), strict=True):
        direction = round(np.arctan2(dy[y, x], dx[y, x]) / turn * 20) % 20
        finest[y * 4 // grey.shape[0], x * 4 // grey.shape[1], direction] += np.hypot(dx[y, x], dy[y, x])
    row = PyramidEdges(oriented=oriented, bins=20, levels=3)(as_pixels(grey))
    expected = finest / (3 * finest.sum())
    # smoothing rounds in another way here: a few edge points differ
    assert np.abs(row[100:] - expected.ravel()).sum() < 0.03
    assert np.abs(row[:20] - expected.sum(axis=(0, 1))).sum() < 0.02


def test_edges_are_where_skimage_finds_them():
    grey = data.camera()[::2, ::2]
    found = _edges(np.rint(ndimage.gaussian_filter(grey.astype(float), 1.4)).astype(np.uint8)) > 0
    theirs = canny(
        grey.astype(float), sigma=1.4, low_threshold=0.4 * 0.7, high_threshold=0.7, use_quantiles=True
    )
    near_theirs = ndimage.binary_dilation(theirs, np.ones((3, 3)))
    near_found = ndimage.binary_dilation(found, np.ones((3, 3)))
    assert near_theirs[found].mean() > 0.9
    assert near_found[theirs].mean() > 0.6


def test_a_step_has_a_direction_only_if_oriented():
    rise, fall = step(20, 220), step(220, 20)
    oriented, unoriented = PyramidEdges(oriented=True, levels=1), PyramidEdges(levels=1)
    assert np.argmax(oriented(rise)) == 0
    assert np.argmax(oriented(fall)) == 20
    assert np.argmax(unoriented(rise)) == np.argmax(unoriented(fall)) == 0
    assert unoriented(rise).max() == pytest.approx(1)


@pytest.mark.parametrize("oriented", [False, True])
def test_a_disc_has_all_directions(oriented):
    row = PyramidEdges(oriented=oriented, bins=8, levels=1)(disc(200, 50))
    assert row.min() > 0.08
    assert row.max() < 0.18


def test_contrast_matters_little():
    # a faint contour has fewer levels, and its directions are rounded more
    strong, faint = (PyramidEdges(bins=8, levels=2)(disc(inside, 50)) for inside in (250, 110))
    assert np.abs(strong - faint).sum() < 0.1


def test_cells_see_where_the_edges_are():
    pixels = as_pixels(np.full((64, 64), 50))
    pixels[4:12, 36:60] = 200
    quarters = PyramidEdges(bins=4, levels=2)(pixels)[4:].reshape(2, 2, 4).sum(axis=2)
    assert np.allclose(quarters, [[0, 0.5], [0, 0]])


def test_flat_pictures_have_no_edges():
    assert not PyramidEdges()(as_pixels(np.full((30, 20), 90))).any()

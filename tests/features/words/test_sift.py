"""SIFT against plain loops over one point, against OpenCV, and on pictures that are turned, grey or tiny."""

import cv2
import numpy as np
import pytest

from tagrank.features.feature import Picture
from tagrank.features.words.local_descriptors import Sift
from tagrank.features.words.sampling import DenseGrid, Points, RandomPoints


def draw_picture(height=60, width=75, seed=0):
    """Blurred noise: edges in all directions."""
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    pixels = cv2.GaussianBlur(pixels, (0, 0), 2).astype(float)
    pixels -= pixels.min()
    return Picture((pixels * 255 / pixels.max()).astype(np.uint8))


def points_at(x, y, scale):
    columns = np.broadcast_arrays(*(np.atleast_1d(np.float32(column)) for column in (x, y, scale)))
    return Points(*columns)


def reference_sift(grey, x, y, scale, *, clip=0.2):
    """The definition: every pixel near one point votes for cells and orientations, in float64."""
    grey = grey.astype(np.float64)
    height, width = grey.shape
    histogram = np.zeros((4, 4, 8))
    for v in range(height):
        for u in range(width):
            dx = (grey[v, min(u + 1, width - 1)] - grey[v, max(u - 1, 0)]) / 2
            dy = (grey[min(v + 1, height - 1), u] - grey[max(v - 1, 0), u]) / 2
            window = np.exp(-((u - x) ** 2 + (v - y) ** 2) / (2 * (2 * scale) ** 2))
            direction = np.arctan2(dy, dx) % (2 * np.pi) * 4 / np.pi
            column, row = (u - x) / scale + 1.5, (v - y) / scale + 1.5
            if not (-1 < column < 4 and -1 < row < 4):
                continue
            for i in range(4):
                for j in range(4):
                    for o in range(8):
                        turn = min(abs(direction - o), 8 - abs(direction - o))
                        parts = [max(0, 1 - abs(part)) for part in (row - i, column - j, turn)]
                        histogram[i, j, o] += np.hypot(dx, dy) * window * np.prod(parts)
    if not histogram.any():
        return histogram.ravel()
    row = np.minimum(histogram.ravel() / np.linalg.norm(histogram), clip)
    return row / np.linalg.norm(row)


@pytest.mark.parametrize(
    ("x", "y", "scale"), [(20, 17, 3.0), (12, 9, 4.0), (0, 0, 4.0), (33, 27, 2.5), (33, 2, 9.0)]
)
def test_agrees_with_plain_loops(x, y, scale):
    picture = draw_picture(28, 34)
    row = Sift(smoothing=0).compute(picture, points_at(x, y, scale))[0]
    np.testing.assert_allclose(row, reference_sift(picture.grey, x, y, scale), atol=1e-5)


def test_smoothing_beyond_any_picture_is_refused():
    with pytest.raises(ValueError, match="smoothing from 0 to 64"):
        Sift(smoothing=1e5)


def test_smoothing_is_gaussian():
    picture = draw_picture(28, 34)
    smoothed = cv2.GaussianBlur(picture.grey, (0, 0), 2.0, borderType=cv2.BORDER_REPLICATE)
    row = Sift(smoothing=2.0).compute(picture, points_at(16, 12, 4.0))[0]
    np.testing.assert_allclose(row, reference_sift(smoothed, 16, 12, 4.0), atol=1e-5)


@pytest.mark.parametrize("sampling", [DenseGrid(step=5), RandomPoints(n_points=60)])
def test_points_do_not_depend_on_each_other(sampling):
    """Work shared along rows and scales changes nothing, whatever the order of the points."""
    picture = draw_picture()
    points = sampling.points(picture)
    rows = Sift().compute(picture, points)
    order = np.random.default_rng(1).permutation(len(points.x))[:50]
    alone = [Sift().compute(picture, points_at(points.x[i], points.y[i], points.scale[i]))[0] for i in order]
    np.testing.assert_allclose(rows[order], alone, atol=1e-6)
    shuffled = Points(*(column[order] for column in points))
    np.testing.assert_allclose(Sift().compute(picture, shuffled), alone, atol=1e-6)


@pytest.mark.parametrize("scale", [3.0, 4.0, 6.0, 10.0])
def test_close_to_opencv_at_equal_cells(scale):
    """OpenCV counts directions against the clock, rounds to bytes and smooths from 0.5 to 1.6 pixels."""
    picture = draw_picture()
    points = DenseGrid(step=6, scales=(scale,)).points(picture)
    keypoints = [cv2.KeyPoint(float(x), float(y), scale / 1.5, 0.0) for x, y, _ in zip(*points, strict=True)]
    grey = np.rint(picture.grey * 255).astype(np.uint8)
    _, theirs = cv2.SIFT_create().compute(grey, keypoints)
    theirs = theirs.reshape(-1, 16, 8)[:, :, -np.arange(8)].reshape(-1, 128)
    theirs /= np.linalg.norm(theirs, axis=1, keepdims=True)
    ours = Sift(smoothing=np.sqrt(1.6**2 - 0.5**2)).compute(picture, points)
    cosines = (ours * theirs).sum(axis=1)
    assert np.median(cosines) > 0.999
    assert cosines.min() > 0.98


def test_turning_the_picture_turns_the_descriptor():
    picture = draw_picture(61, 61)
    turned = Picture(np.ascontiguousarray(np.rot90(picture.pixels, -1)))
    point = points_at(30, 30, 5.0)
    cells = Sift().compute(picture, point).reshape(4, 4, 8)
    expected = np.roll(np.rot90(cells, -1), 2, axis=2)
    np.testing.assert_allclose(Sift().compute(turned, point).reshape(4, 4, 8), expected, atol=1e-4)


def test_moving_the_picture_moves_the_descriptors():
    picture = draw_picture(80, 80)
    moved = Picture(np.ascontiguousarray(picture.pixels[7:, 5:]))
    here = Sift().compute(picture, points_at([35, 45], [40, 45], 4.0))
    there = Sift().compute(moved, points_at([30, 40], [33, 38], 4.0))
    np.testing.assert_allclose(here, there, atol=1e-5)


def test_rows_have_length_one_and_ignore_contrast():
    picture = draw_picture()
    faint = Picture(picture.pixels // 4 * 2 + 60)
    strong = Picture(picture.pixels // 4 * 4)
    points = DenseGrid().points(picture)
    rows = Sift().compute(strong, points)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(rows, Sift().compute(faint, points), atol=1e-4)


def test_a_ramp_has_one_direction():
    ramp = np.zeros((40, 40, 3), np.uint8)
    ramp += 5 * np.arange(40, dtype=np.uint8)[None, :, None]
    cells = Sift().compute(Picture(ramp), points_at(20, 20, 4.0)).reshape(16, 8)
    assert (cells[:, 0] > 0.1).all()
    assert np.abs(cells[:, 1:]).max() < 1e-5


def test_root_sift():
    picture = draw_picture()
    points = DenseGrid().points(picture)
    rows = Sift().compute(picture, points)
    expected = np.sqrt(rows / rows.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(Sift(root=True).compute(picture, points), expected, atol=1e-6)


def test_faint_patches_can_be_dropped():
    pixels = np.full((40, 80, 3), 100, np.uint8)
    pixels[::2, :20] += 1
    pixels[:, 60:] = 200
    picture = Picture(pixels)
    points = points_at([10, 60], [20, 20], 4.0)
    assert np.linalg.norm(Sift(smoothing=0).compute(picture, points), axis=1) == pytest.approx([1, 1])
    rows = Sift(smoothing=0, min_contrast=0.02).compute(picture, points)
    assert np.linalg.norm(rows, axis=1) == pytest.approx([0, 1])


@pytest.mark.parametrize("level", [0, 77, 255])
@pytest.mark.parametrize("shape", [(30, 40), (33, 45), (17, 90)])
def test_constant_picture_is_zero(level, shape):
    picture = Picture(np.full((*shape, 3), level, np.uint8))
    for descriptor in (Sift(), Sift(root=True), Sift(smoothing=0)):
        assert not descriptor.compute(picture, DenseGrid().points(picture)).any()


def test_one_grey_level_is_seen():
    pixels = np.full((40, 40, 3), 77, np.uint8)
    pixels[20:, 20:] += 1
    row = Sift().compute(Picture(pixels), points_at(20, 20, 4.0))
    assert np.linalg.norm(row) == pytest.approx(1)


def test_tiny_picture_and_no_points():
    picture = draw_picture(8, 8)
    points = DenseGrid().points(picture)
    rows = Sift().compute(picture, points)
    assert rows.shape == (len(points.x), 128)
    assert np.isfinite(rows).all()
    assert Sift().compute(picture, points_at([], [], [])).shape == (0, 128)


@pytest.mark.parametrize(
    ("point", "sentence"),
    [((np.nan, 3, 4.0), "must be finite"), ((3, 3, 0.1), "at least 0.5 pixels, got 0.1")],
)
def test_points_that_make_no_sense_are_refused(point, sentence):
    with pytest.raises(ValueError, match=sentence):
        Sift().compute(draw_picture(20, 20), points_at(*point))


def test_points_outside_are_moved_to_the_edge():
    picture = draw_picture(20, 20)
    inside = Sift().compute(picture, points_at(19, 0, 4.0))
    np.testing.assert_array_equal(Sift().compute(picture, points_at(50, -9, 4.0)), inside)


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="clip above 0"):
        Sift(clip=0)

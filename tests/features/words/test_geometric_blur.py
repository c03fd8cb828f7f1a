"""Geometric blur against sums over all pixels, and against what it is for: shapes that are bent a little."""

import json

import cv2
import numpy as np
import pytest

from tagrank.features.feature import Picture
from tagrank.features.words.geometric_blur import GeometricBlur
from tagrank.features.words.local_descriptors import orientation_maps
from tagrank.features.words.sampling import DenseGrid, Points

RNG = np.random.default_rng(0)


def points(x, y, scale):
    x = np.asarray(x, dtype=np.float32)
    return Points(x, np.asarray(y, dtype=np.float32), np.full(len(x), scale, dtype=np.float32))


def as_picture(grey):
    return Picture(np.repeat(np.asarray(grey, dtype=np.uint8)[..., None], 3, axis=2))


def descriptor_by_loops(picture, x, y, radius):
    """At 0, 8, 16, 32, 64 and 100 hundredths of the radius; Gaussians that are not cut."""
    maps = orientation_maps(picture, 0.5).astype(float)
    height, width = maps.shape[:2]
    values = []
    for share, n_places in ((0, 1), (0.08, 8), (0.16, 8), (0.32, 10), (0.64, 12), (1, 12)):
        sigma = 0.5 * share * radius + 1
        for place in range(n_places):
            angle = 2 * np.pi * place / n_places
            right, down = round(share * radius * np.cos(angle)), round(share * radius * np.sin(angle))
            weights = np.exp(
                -((np.arange(height)[:, None] - y - down) ** 2 + (np.arange(width) - x - right) ** 2)
                / (2 * sigma**2)
            ) / (2 * np.pi * sigma**2)
            for direction in range(4):
                values.append((weights * (maps[:, :, direction] + maps[:, :, direction + 4])).sum())
    return np.array(values) / np.linalg.norm(values)


@pytest.mark.parametrize("scale", [3.0, 10.0])
def test_against_loops(scale):
    picture = as_picture(RNG.integers(0, 256, (50, 45)) // 2 + 40 * (np.arange(45) > 20))
    x, y = [0, 22, 44, 13], [49, 25, 0, 31]
    rows = GeometricBlur().compute(picture, points(x, y, scale))
    expected = [descriptor_by_loops(picture, *place, 2 * scale) for place in zip(x, y, strict=True)]
    assert rows.dtype == np.float32
    assert rows.shape == (4, 204)
    assert np.allclose(rows, expected, atol=1e-3)


def test_contrast_and_its_sign_do_not_matter():
    grey = cv2.GaussianBlur(RNG.integers(0, 256, (80, 80), dtype=np.uint8), (0, 0), 2).astype(int)
    middle = points([40], [40], 10)
    row = GeometricBlur().compute(as_picture(grey), middle)
    assert np.linalg.norm(row) == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose(GeometricBlur().compute(as_picture(grey + 30), middle), row, atol=1e-4)
    np.testing.assert_allclose(GeometricBlur().compute(as_picture(255 - grey), middle), row, atol=1e-4)
    np.testing.assert_allclose(GeometricBlur().compute(as_picture(grey // 2), middle), row, atol=0.03)


def test_a_shape_that_is_turned_a_little_changes_less_than_without_growing_blur():
    y, x = np.mgrid[:96, :96] - 47.5
    grey = np.where((np.abs(x) < 28) & (np.abs(y) < 17), 200, 40).astype(np.uint8)
    turn = cv2.getRotationMatrix2D((47.5, 47.5), 12, 1)
    turned = cv2.warpAffine(grey, turn, (96, 96), borderMode=cv2.BORDER_REPLICATE)
    middle = points([47], [47], 16)

    def change(descriptor):
        rows = [descriptor.compute(as_picture(picture), middle) for picture in (grey, turned)]
        return np.linalg.norm(rows[0] - rows[1])

    assert change(GeometricBlur()) < 0.5 * change(GeometricBlur(spread=0))


def test_other_shapes_differ():
    y, x = np.mgrid[:64, :64] - 32
    rows = [
        GeometricBlur().compute(as_picture(np.where(inside, 220, 30)), points([32], [32], 10))[0]
        for inside in (np.abs(x - y) < 6, np.abs(x + y) < 6, np.hypot(x, y) < 14)
    ]
    for first, second in ((0, 1), (0, 2), (1, 2)):
        assert rows[first] @ rows[second] < 0.9


def test_flat_places_have_no_shape():
    assert not GeometricBlur().compute(as_picture(np.full((30, 30), 80)), points([5, 15], [5, 15], 8)).any()


@pytest.mark.parametrize("shape", [(8, 8), (8, 500), (500, 8)])
@pytest.mark.parametrize("scale", [0.5, 10, 1e9])
def test_odd_pictures(shape, scale):
    picture = as_picture(RNG.integers(0, 256, shape))
    rows = GeometricBlur().compute(picture, points([0, shape[1] - 1], [0, shape[0] - 1], scale))
    assert rows.shape == (2, 204)
    assert np.isfinite(rows).all()
    assert rows.min() >= 0


def test_many_points_and_none():
    picture = as_picture(RNG.integers(0, 256, (60, 80)))
    grid = DenseGrid(step=6, scales=(5.0, 10.0)).points(picture)
    rows = GeometricBlur().compute(picture, grid)
    alone = GeometricBlur().compute(picture, Points(*(column[7:8] for column in grid)))
    np.testing.assert_allclose(rows[7:8], alone, atol=1e-6)
    assert GeometricBlur().compute(picture, points([], [], 8)).shape == (0, 204)


def test_settings():
    descriptor = GeometricBlur(spread=0.3, least_blur=2.0)
    settings = json.loads(json.dumps(descriptor.settings()))
    del settings["type"], settings["version"]
    assert GeometricBlur(**settings) == descriptor
    for wrong in ({"spread": 2}, {"spread": np.nan}, {"least_blur": 0.0}, {"least_blur": 1e6}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            GeometricBlur(**wrong)

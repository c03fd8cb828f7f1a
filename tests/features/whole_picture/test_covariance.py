"""Region covariance against numpy's covariance and scipy's matrix logarithm."""

import numpy as np
import pytest
from scipy.linalg import logm
from skimage import data

from tagrank.features.feature import Picture
from tagrank.features.whole_picture.covariance import FLOOR, RegionCovariance


def channels(pixels):
    grey = np.pad(Picture(pixels).grey.astype(float), 1, mode="edge")
    height, width = pixels.shape[:2]
    values = np.empty((height, width, 9))
    for y, x in np.ndindex(height, width):
        column, row = grey[y : y + 3, x + 1], grey[y + 1, x : x + 3]
        values[y, x] = [
            (x + 0.5) / width,
            (y + 0.5) / height,
            *(pixels[y, x] / 255),
            abs(row[2] - row[0]),
            abs(column[2] - column[0]),
            abs(row[0] - 2 * row[1] + row[2]),
            abs(column[0] - 2 * column[1] + column[2]),
        ]
    return values


def logarithm_of_covariance(values):
    return logm(np.cov(values.reshape(-1, 9).T, bias=True) + FLOOR * np.eye(9))


@pytest.fixture(scope="module")
def pixels():
    return np.ascontiguousarray(data.astronaut()[100:260:5, 150:350:5])


def test_against_logm(pixels):
    values = channels(pixels)
    height, width = pixels.shape[:2]
    rows = RegionCovariance()(pixels).reshape(21, 45)
    upper = np.triu_indices(9)
    scale = np.where(upper[0] == upper[1], 1, np.sqrt(2))
    regions = [values]
    for n in (2, 4):
        regions += [
            values[i * height // n : (i + 1) * height // n, j * width // n : (j + 1) * width // n]
            for i, j in np.ndindex(n, n)
        ]
    for row, region in zip(rows, regions, strict=True):
        assert np.allclose(row, logarithm_of_covariance(region)[upper] * scale, atol=5e-3)


def test_distance_of_rows_is_distance_of_logarithms(pixels):
    other = pixels[::-1, :, ::-1].copy()
    logs = [logarithm_of_covariance(channels(picture)) for picture in (pixels, other)]
    whole = RegionCovariance(levels=1)
    assert np.linalg.norm(whole(pixels) - whole(other)) == pytest.approx(
        np.linalg.norm(logs[0] - logs[1]), rel=1e-3
    )


def test_brightness_does_not_matter(pixels):
    dark = pixels // 2
    assert np.allclose(RegionCovariance()(dark), RegionCovariance()(dark + 60), atol=1e-2)

"""Self-similarity against patches compared one by one."""

import json

import numpy as np
import pytest

from tagrank.features.feature import Picture
from tagrank.features.words.local_descriptors import FLAT, SelfSimilarity
from tagrank.features.words.sampling import DenseGrid, Points

RNG = np.random.default_rng(0)


def points(x, y, scale):
    x = np.asarray(x, dtype=np.float32)
    return Points(x, np.asarray(y, dtype=np.float32), np.full(len(x), scale, dtype=np.float32))


def as_picture(grey):
    return Picture(np.repeat(np.asarray(grey, dtype=np.uint8)[..., None], 3, axis=2))


def descriptor_by_loops(grey, x, y, scale):
    """Three rings, ten angles, nine probes in each cell."""
    half, radius = int(scale / 4), 2 * scale
    margin = int(radius) + 2 + half
    padded = np.pad(grey.astype(float), margin, mode="reflect")
    x, y = x + margin, y + margin

    def difference(dx, dy):
        total = 0.0
        for i in range(-half, half + 1):
            for j in range(-half, half + 1):
                total += (padded[y + i, x + j] - padded[y + dy + i, x + dx + j]) ** 2
        return total / (2 * half + 1) ** 2

    around = [difference(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
    variance = max(0.06, *around)
    values = np.zeros((3, 10))
    for ring, angle in np.ndindex(3, 10):
        for a in (1, 3, 5):
            for b in (1, 3, 5):
                distance = radius * 10 ** ((ring + a / 6) / 3 - 1)
                direction = 2 * np.pi * (angle + b / 6) / 10
                offset = round(distance * np.cos(direction)), round(distance * np.sin(direction))
                if offset != (0, 0):
                    values[ring, angle] = max(values[ring, angle], np.exp(-difference(*offset) / variance))
    spread = values - values.min()
    return (spread / max(spread.max(), FLAT)).ravel()


@pytest.mark.parametrize("scale", [3.0, 10.0])
def test_against_loops(scale):
    picture = as_picture(RNG.integers(0, 256, (50, 45)) // 2 + 40 * (np.arange(45) > 20))
    x, y = [0, 22, 44, 13], [49, 25, 0, 31]
    rows = SelfSimilarity().compute(picture, points(x, y, scale))
    expected = [descriptor_by_loops(picture.grey, *place, scale) for place in zip(x, y, strict=True)]
    assert rows.dtype == np.float32
    assert np.allclose(rows, expected, atol=1e-4)


def test_a_shape_looks_the_same_in_other_colours():
    y, x = np.mgrid[:64, :64]
    bar = np.abs(x - y) < 6
    noise = RNG.integers(-3, 4, (64, 64))
    middle = points([32], [32], 10)
    first = SelfSimilarity().compute(as_picture(np.where(bar, 220, 30) + noise), middle)
    second = SelfSimilarity().compute(as_picture(np.where(bar, 30, 220) + noise), middle)
    turned = SelfSimilarity().compute(as_picture(np.where(bar[:, ::-1], 220, 30) + noise), middle)
    assert np.corrcoef(first, second)[0, 1] > 0.95
    assert np.corrcoef(first, turned)[0, 1] < 0.5


def test_flat_places_have_no_shape():
    assert not SelfSimilarity().compute(as_picture(np.full((30, 30), 80)), points([5, 15], [5, 15], 8)).any()


@pytest.mark.parametrize("shape", [(8, 8), (8, 500), (500, 8)])
@pytest.mark.parametrize("scale", [0.5, 10, 1e9])
def test_odd_pictures(shape, scale):
    picture = as_picture(RNG.integers(0, 256, shape))
    rows = SelfSimilarity().compute(picture, points([0, shape[1] - 1], [0, shape[0] - 1], scale))
    assert rows.shape == (2, 30)
    assert np.isfinite(rows).all()
    assert rows.min() >= 0
    assert rows.max() <= 1


def test_many_points_and_none():
    picture = as_picture(RNG.integers(0, 256, (60, 80)))
    grid = DenseGrid(step=6, scales=(10.0,)).points(picture)
    rows = SelfSimilarity().compute(picture, grid)
    alone = SelfSimilarity().compute(picture, Points(*(column[7:8] for column in grid)))
    assert np.array_equal(rows[7:8], alone)
    assert SelfSimilarity().compute(picture, points([], [], 8)).shape == (0, 30)


def test_settings():
    descriptor = SelfSimilarity(rings=4, angles=20, noise=0.1)
    assert descriptor.n_columns == 80
    settings = json.loads(json.dumps(descriptor.settings()))
    del settings["type"], settings["version"]
    assert SelfSimilarity(**settings) == descriptor
    for wrong in ({"rings": 0}, {"angles": 1000}, {"noise": 0.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            SelfSimilarity(**wrong)

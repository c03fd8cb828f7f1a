"""Points of a picture: where they lie, how many there are, and that they are the same every time."""

import cv2
import numpy as np
import pytest

from tagrank.features.feature import Picture
from tagrank.features.words.sampling import (
    CannyPoints,
    DenseGrid,
    HarrisLaplace,
    HarrisPoints,
    HessianLaplace,
    RandomPoints,
)

SAMPLINGS = [
    DenseGrid(),
    RandomPoints(n_points=100),
    CannyPoints(),
    HarrisPoints(),
    HarrisLaplace(),
    HessianLaplace(),
]


def noise(height, width, seed=0):
    return Picture(np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8))


def squares(*, side, size=120):
    """A white square in the middle of a black picture."""
    pixels = np.zeros((size, size, 3), np.uint8)
    first = (size - side) // 2
    pixels[first : first + side, first : first + side] = 255
    return Picture(pixels)


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=lambda sampling: type(sampling).__name__)
@pytest.mark.parametrize("shape", [(8, 8), (8, 50), (64, 97)])
def test_points_lie_within_and_repeat(sampling, shape):
    points = sampling.points(noise(*shape))
    again = sampling.points(noise(*shape))
    assert {column.dtype for column in points} == {np.dtype(np.float32)}
    assert len(points.x) == len(points.y) == len(points.scale)
    assert ((points.x >= 0) & (points.x < shape[1])).all()
    assert ((points.y >= 0) & (points.y < shape[0])).all()
    for one, other in zip(points, again, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=lambda sampling: type(sampling).__name__)
def test_settings_are_plain_and_make_an_equal_copy(sampling):
    settings = {name: value for name, value in sampling.settings().items() if name not in ("type", "version")}
    as_json = {name: list(value) if isinstance(value, tuple) else value for name, value in settings.items()}
    copy = type(sampling)(**as_json)
    assert copy == sampling
    assert copy.fingerprint() == sampling.fingerprint()


def test_grid_is_regular_centred_and_inside():
    points = DenseGrid(step=7, scales=(4.0, 9.0)).points(noise(90, 131))
    for scale in (4.0, 9.0):
        for column, length in ((points.x, 131), (points.y, 90)):
            ticks = np.unique(column[points.scale == scale])
            assert set(np.diff(ticks)) == {7}
            before, after = ticks[0], length - 1 - ticks[-1]
            assert abs(before - after) <= 1
            assert 1.5 * scale - 1 < min(before, after) < 1.5 * scale + 7


def test_grid_widens_in_large_pictures():
    grid = DenseGrid(step=4, max_points=1000)
    assert len(grid.points(noise(300, 400)).x) <= 1000
    assert np.diff(np.unique(DenseGrid(step=4).points(noise(64, 64)).x)).min() <= 4


@pytest.mark.parametrize("detector", [HarrisPoints(), HarrisLaplace()])
def test_corners_of_a_square_are_found(detector):
    points = detector.points(squares(side=50))
    corners = np.array([(x, y) for x in (35, 84) for y in (35, 84)])
    distance = np.hypot(points.x - corners[:, :1], points.y - corners[:, 1:])
    assert (distance.min(axis=1) <= 3).all()
    near = distance.min(axis=0)
    assert np.median(near) <= 8


def test_corners_are_described_at_every_scale():
    points = HarrisPoints(scales=(3.0, 9.0), max_points=8).points(squares(side=50))
    assert points.scale.tolist() == [3.0] * 4 + [9.0] * 4


@pytest.mark.parametrize("width", [2.0, 3.5, 5.0])
def test_blobs_are_found_at_their_own_scales(width):
    """The second derivatives of a Gaussian are largest at the middle, at a scale of its own width."""
    y, x = np.mgrid[:90, :90]
    blob = np.exp(-((x - 40) ** 2 + (y - 52) ** 2) / (2 * width**2))
    dark = Picture(np.repeat(np.rint(220 - 200 * blob)[:, :, None], 3, axis=2).astype(np.uint8))
    points = HessianLaplace(max_points=1).points(dark)
    assert np.abs([points.x[0] - 40, points.y[0] - 52]).max() <= 1
    assert 0.75 < points.scale[0] / (1.5 * width) < 1.35


def test_larger_structures_have_larger_scales():
    """A picture twice as large has its points twice as far apart, at twice the scale."""
    pixels = cv2.GaussianBlur(noise(80, 80).pixels, (0, 0), 3)
    pixels = cv2.normalize(pixels, None, 0, 255, cv2.NORM_MINMAX)
    small = Picture(pixels)
    large = Picture(cv2.resize(pixels, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC))
    detector = HarrisLaplace(n_levels=14)
    mean = [np.average(detector.points(picture).scale) for picture in (small, large)]
    assert 1.3 < mean[1] / mean[0] < 2.7


def test_strongest_corners_are_kept():
    picture = noise(90, 90)
    everything, few = (HarrisLaplace(max_points=n).points(picture) for n in (10_000, 40))
    assert len(few.x) <= 40 < len(everything.x)
    assert set(zip(*few, strict=True)) <= set(zip(*everything, strict=True))


@pytest.mark.parametrize("sampling", [CannyPoints(), HarrisPoints(), HarrisLaplace(), HessianLaplace()])
def test_empty_pictures_have_no_points(sampling):
    points = sampling.points(Picture(np.full((40, 40, 3), 9, np.uint8)))
    assert [column.shape for column in points] == [(0,)] * 3


def test_edges_are_found_and_thinned():
    points = CannyPoints(scales=(4.0,)).points(squares(side=60))
    edge = np.minimum.reduce([abs(points.x - 30), abs(points.x - 89), abs(points.y - 30), abs(points.y - 89)])
    assert len(points.x) > 200
    assert edge.max() <= 1
    assert len(CannyPoints(max_points=50).points(squares(side=60)).x) == 50


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: DenseGrid(step=0), "at least 1, got 0"),
        (lambda: DenseGrid(scales=()), "scales must be numbers of pixels"),
        (lambda: DenseGrid(scales=(2.0,) * 1000), "64 at most"),
        (lambda: DenseGrid(scales=(1e9,)), "from 0.5 to 1024"),
        (lambda: RandomPoints(n_points=-1), "from 0 to 1000000, got -1"),
        (lambda: RandomPoints(n_points=10**10), "from 0 to 1000000"),
        (lambda: CannyPoints(low=3, high=2), "0 <= low <= high"),
        (lambda: HarrisPoints(max_points=1), "max_points for every scale"),
        (lambda: HarrisPoints(threshold=float("nan")), "threshold >= 0"),
        (lambda: HarrisLaplace(ratio=1), "ratio > 1"),
        (lambda: HessianLaplace(ratio=1), "HessianLaplace needs .* ratio > 1"),
        (lambda: HarrisLaplace(ratio=1e9), "ratio > 1 and at most 16"),
        (lambda: HarrisLaplace(n_levels=5000), "n_levels must be a whole number from 1 to 64"),
        (lambda: HarrisLaplace(n_levels=60), "scales up to 1024"),
        (lambda: HarrisLaplace(magnification=1e8), "scales up to 1024"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()

"""GIST against a transcription of the original with whole spectra in double precision."""

import numpy as np
import pytest
from skimage import data

from tagrank.features.feature import Picture
from tagrank.features.pixels import resize
from tagrank.features.whole_picture.gist import Gist


def even_contrast(padded):
    n = len(padded)
    x = np.fft.fftfreq(n) * n
    radius_squared = x**2 + x[:, None] ** 2
    sigma = 4 * n / 128 / np.sqrt(np.log(2))
    low_pass = np.exp(-radius_squared / sigma**2)
    image = np.log(1 + 255 * padded)
    image = image - np.fft.ifft2(np.fft.fft2(image) * low_pass).real
    deviation = np.sqrt(np.abs(np.fft.ifft2(np.fft.fft2(image**2) * low_pass)))
    return image / (0.2 + deviation)


def gabor(n, scale, orientation):
    axis = np.arange(n) - n // 2
    radius = np.fft.ifftshift(np.hypot(axis, axis[:, None]))
    angle = np.fft.ifftshift(np.angle(axis + 1j * axis[:, None])) + np.pi / 8 * orientation
    angle = angle + 2 * np.pi * (angle < -np.pi) - 2 * np.pi * (angle > np.pi)
    along = -10 * 0.35 * (radius / n / (0.3 / 1.85**scale) - 1) ** 2
    return np.exp(along - 2 * (16 * 8**2 / 32**2) * np.pi * angle**2)


def gist_by_the_original(pixels):
    square = resize(Picture(pixels).grey, height=128, width=128).astype(float)
    spectrum = np.fft.fft2(even_contrast(np.pad(square, 32, mode="symmetric")))
    row = []
    for scale in range(4):
        for orientation in range(8):
            answer = np.abs(np.fft.ifft2(spectrum * gabor(192, scale, orientation)))[32:160, 32:160]
            row += [
                answer[y : y + 32, x : x + 32].mean() for y in range(0, 128, 32) for x in range(0, 128, 32)
            ]
    return np.array(row)


@pytest.mark.parametrize("name", ["astronaut", "coffee", "chelsea"])
def test_photographs_against_the_original(name):
    pixels = getattr(data, name)()
    expected = gist_by_the_original(pixels)
    row = Gist()(pixels)
    # the finest scale is computed in full, the coarser ones on fewer points
    assert np.allclose(row[:128], expected[:128], rtol=1e-4, atol=1e-6)
    assert np.allclose(row, expected, rtol=0.02, atol=0.002 * expected.max())
    assert np.linalg.norm(row - expected) < 0.005 * np.linalg.norm(expected)


def test_contrast_matters_little():
    pixels = data.astronaut()
    row = Gist()(pixels)
    faint = Gist()((100 + 0.3 * pixels).astype(np.uint8))
    assert np.corrcoef(row, faint)[0, 1] > 0.9


def test_flat_pictures_have_no_energy():
    for level in (0, 90, 255):
        assert np.abs(Gist()(np.full((40, 50, 3), level, dtype=np.uint8))).max() < 1e-3


@pytest.mark.parametrize("orientation", range(8))
def test_waves_answer_in_their_own_scale_and_orientation(orientation):
    y, x = np.mgrid[:128, :128]
    angle = np.pi / 8 * orientation
    for scale, frequency in enumerate([0.3, 0.162, 0.0877, 0.0474]):
        # y runs down: filters are numbered against it
        wave = np.sin(2 * np.pi * frequency * (x * np.cos(angle) - y * np.sin(angle)))
        pixels = np.repeat(np.rint(128 + 60 * wave).astype(np.uint8)[..., None], 3, axis=2)
        energy = Gist()(pixels).reshape(4, 8, 16).sum(axis=2)
        assert np.unravel_index(energy.argmax(), energy.shape) == (scale, orientation)


def test_mirrored_pictures_have_mirrored_blocks():
    pixels = data.chelsea()[:, :300]
    blocks = Gist()(pixels).reshape(4, 8, 4, 4)
    mirrored = Gist()(pixels[:, ::-1]).reshape(4, 8, 4, 4)
    opposite = -np.arange(8) % 8
    assert np.allclose(mirrored, blocks[:, opposite, :, ::-1], rtol=0.02, atol=0.01)

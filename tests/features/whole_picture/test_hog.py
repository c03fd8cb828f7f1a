"""Histograms of oriented gradients against plain loops and scikit-image."""

import numpy as np
import pytest
from skimage import data
from skimage.feature import hog as hog_by_skimage

from tagrank.features.whole_picture.edges import Hog

RNG = np.random.default_rng(0)


def strongest_gradients(pixels):
    """Of the channel with the steepest one; square roots of the levels, mirrored at the border."""
    root = np.sqrt(np.pad(pixels.astype(float), ((1, 1), (1, 1), (0, 0)), mode="reflect"))
    dx = root[1:-1, 2:] - root[1:-1, :-2]
    dy = root[2:, 1:-1] - root[:-2, 1:-1]
    steepest = np.argmax(dx**2 + dy**2, axis=2)[..., None]
    return np.take_along_axis(dx, steepest, 2)[..., 0], np.take_along_axis(dy, steepest, 2)[..., 0]


def block_histogram(dx, dy, bins):
    """2 x 2 cells of one block of 16 x 16 pixels; votes shared between cells and orientations."""
    cells = np.zeros((2, 2, bins))
    for y, x in np.ndindex(16, 16):
        vote = np.hypot(dx[y, x], dy[y, x]) * np.exp(-((y - 8) ** 2 + (x - 8) ** 2) / 32)
        position = np.arctan2(dy[y, x], dx[y, x]) % (2 * np.pi) * bins / np.pi - 0.5
        first, share = int(np.floor(position)), position % 1
        for i, j in np.ndindex(2, 2):
            near = max(0, 1 - abs((y + 0.5) / 8 - 0.5 - i)) * max(0, 1 - abs((x + 0.5) / 8 - 0.5 - j))
            cells[j, i, first % bins] += vote * near * (1 - share)
            cells[j, i, (first + 1) % bins] += vote * near * share
    flat = cells.ravel()
    clipped = np.minimum(flat / (np.linalg.norm(flat) + 0.1 * flat.size), 0.2)
    return clipped / (np.linalg.norm(clipped) + 1e-3)


def test_against_loops():
    pixels = RNG.integers(0, 256, (24, 24, 3), dtype=np.uint8)
    dx, dy = strongest_gradients(pixels)
    blocks = [
        block_histogram(dx[y : y + 16, x : x + 16], dy[y : y + 16, x : x + 16], 9)
        for x in (0, 8)
        for y in (0, 8)
    ]
    assert np.allclose(Hog(cells=3)(pixels), np.concatenate(blocks), atol=1e-3)


def test_agrees_with_skimage_on_what_is_where():
    pixels = np.ascontiguousarray(data.astronaut()[::8, ::8])
    theirs = hog_by_skimage(
        pixels, channel_axis=-1, transform_sqrt=True, cells_per_block=(2, 2), block_norm="L2-Hys"
    )
    mine = Hog()(pixels)
    # theirs has rows of blocks first, and orientations run against mine; votes are not shared
    cells = theirs.reshape(7, 7, 2, 2, 9)
    ordered = cells.transpose(1, 0, 3, 2, 4)
    assert max(np.corrcoef(mine, o.ravel())[0, 1] for o in (ordered, ordered[..., ::-1])) > 0.7


def test_brightness_and_contrast_matter_little():
    # square roots of levels: exactly invariant to a factor, nearly to a shift
    pixels = data.astronaut()[:256, :256] // 2
    row = Hog()(pixels)
    assert np.corrcoef(row, Hog()(pixels * 2))[0, 1] > 0.98
    assert np.corrcoef(row, Hog()(pixels + 40))[0, 1] > 0.9


def test_flat_pictures_have_no_gradients():
    assert not Hog()(np.full((30, 30, 3), 77, dtype=np.uint8)).any()


@pytest.mark.parametrize("cells", [2, 5])
def test_blocks_have_at_most_unit_length(cells):
    pixels = RNG.integers(0, 256, (40, 30, 3), dtype=np.uint8)
    lengths = np.linalg.norm(Hog(cells=cells)(pixels).reshape(-1, 36), axis=1)
    assert lengths.shape == ((cells - 1) ** 2,)
    assert np.all(lengths <= 1)
    assert np.all(lengths > 0.9)

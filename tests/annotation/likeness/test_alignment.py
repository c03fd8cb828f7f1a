"""The same photograph is recognised however it was saved; different ones are not, however alike they look."""

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import gaussian_filter

from tagrank.annotation.likeness.alignment import bands_of, compare_pairs
from tagrank.features.whole_picture.miniature import Miniature


def photograph(seed, side=256):
    """Clouds of every size in colours: as much detail at each scale as photographs have."""
    rng = np.random.default_rng(seed)
    layers = (
        sigma * gaussian_filter(rng.normal(size=(side, side)), sigma, mode="reflect")
        for sigma in (2, 4, 8, 16, 32)
    )
    grey = sum(layers)
    grey = (grey - grey.min()) / np.ptp(grey)
    return Image.fromarray(np.uint8(np.stack([200 * grey + 20, 180 * grey, 255 - 220 * grey], axis=2)))


def resized(picture):
    return picture.resize((90, 70))


def cropped(picture):
    width, height = picture.size
    return picture.crop((int(0.05 * width), int(0.02 * height), int(0.97 * width), int(0.93 * height)))


def mirrored(picture):
    return picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)


def brightened(picture):
    return picture.point(lambda level: min(255, int(level * 1.3)))


CHANGES = {
    "resized": resized,
    "cropped": cropped,
    "mirrored": mirrored,
    "brightened": brightened,
    "all": lambda picture: brightened(mirrored(cropped(resized(picture)))),
}


def rows_of(*pictures):
    return np.stack([Miniature()(np.asarray(picture)) for picture in pictures])


def likeness(*pictures, **named):
    return compare_pairs(rows_of(*pictures), np.array([[0, 1]]), **named)[0]


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_same_photograph_is_like_itself(change):
    values = [likeness(photograph(seed), change(photograph(seed))) for seed in range(8)]
    assert np.median(values) > 0.95
    assert min(values) > 0.8


def test_different_photographs_are_not():
    rows = rows_of(*map(photograph, range(30)))
    pairs = np.stack(np.triu_indices(30, 1), axis=1)
    assert compare_pairs(rows, pairs).max() < 0.7


def test_equal_layout_is_not_enough():
    """Two beaches: the same sky above the same sand, with other clouds and waves."""
    values = []
    shade = np.linspace(230, 60, 256)[:, None, None]
    for seed in range(8):
        one, other = (
            np.uint8(np.clip(shade + 0.12 * (np.asarray(photograph(seed + own)) - 128.0), 0, 255))
            for own in (100, 200)
        )
        rows = rows_of(one, other)
        assert np.corrcoef(rows)[0, 1] > 0.95
        values.append(compare_pairs(rows, np.array([[0, 1]]))[0])
    assert max(values) < 0.7


def test_upside_down_a_picture_is_not_like_itself():
    assert likeness(photograph(1), photograph(1)) == pytest.approx(1, abs=0.01)
    assert likeness(photograph(1), photograph(1), upside_down=True) < 0.7


def test_pictures_without_detail_have_none_in_common():
    black, white = np.zeros((40, 40, 3), np.uint8), np.full((40, 40, 3), 255, np.uint8)
    assert likeness(black, white) == 0
    assert likeness(black, photograph(0)) == 0


def test_the_correlation_without_moving_is_that_of_numpy():
    """Where alignment cannot help, since the pictures have nothing in common, details are compared as is."""
    for seed in range(6):
        rows = rows_of(photograph(seed), photograph(seed + 50))
        inside = bands_of(rows)[:, 2, 3:-3, 3:-3].reshape(2, -1).astype(float)
        both = [np.corrcoef(inside)[0, 1]]
        turned = bands_of(rows)[0, 2, 3:-3, 3:-3][:, ::-1].ravel()
        both.append(np.corrcoef(turned, inside[1])[0, 1])
        # alignment can only raise it
        assert compare_pairs(rows, np.array([[0, 1]]))[0] >= max(both) - 0.01


def test_pairs_are_compared_alike_in_any_number_of_blocks_and_threads():
    rows = rows_of(*map(photograph, range(40)))
    pairs = np.stack(np.triu_indices(40, 1), axis=1)
    told = []
    whole = compare_pairs(rows, pairs, n_jobs=2, progress=lambda done, total: told.append((done, total)))
    alone = [compare_pairs(rows, pairs[[number]], n_jobs=1)[0] for number in range(0, len(pairs), 97)]
    np.testing.assert_allclose(whole[::97], alone, atol=1e-6)
    assert max(told) == (len(pairs), len(pairs))

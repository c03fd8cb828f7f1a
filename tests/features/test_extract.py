"""Every descriptor through the same door."""

import numpy as np
import pytest

from tagrank.features import FEATURES, extract_features

RNG = np.random.default_rng(3)
PICTURES = [RNG.integers(0, 256, shape, dtype=np.uint8) for shape in ((20, 30, 3), (9, 8, 3), (64, 64, 3))]


def test_all_descriptors_by_default():
    views = extract_features(PICTURES)
    assert list(views) == list(FEATURES)
    for name, rows in views.items():
        assert rows.shape[0] == len(PICTURES)
        assert np.array_equal(rows[1], FEATURES[name](PICTURES[1]))


def test_only_the_named():
    assert list(extract_features(PICTURES, ["edges"])) == ["edges"]


@pytest.mark.parametrize("names", [["gist"], []])
def test_unknown_names_are_told(names):
    with pytest.raises(ValueError, match="'colour', 'edges'"):
        extract_features(PICTURES, names)


def test_no_pictures():
    with pytest.raises(ValueError, match="no pictures"):
        extract_features([])


@pytest.mark.parametrize("name", FEATURES)
@pytest.mark.parametrize(
    "image",
    [
        np.zeros((9, 9), np.uint8),
        np.zeros((9, 9, 3)),
        np.zeros((9, 9, 4), np.uint8),
        np.zeros((7, 90, 3), np.uint8),
    ],
)
def test_what_is_no_picture_is_refused(name, image):
    with pytest.raises(ValueError, match="a picture must be"):
        FEATURES[name](image)

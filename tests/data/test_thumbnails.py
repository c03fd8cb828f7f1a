"""Thumbnails decode to what went in, only smaller."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from tagrank.data.picture_files import thumbnail_url


def decode(url):
    head, body = url.split(",", 1)
    assert head == "data:image/jpeg;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(body))))


def test_large_pictures_shrink_and_keep_their_shape():
    image = np.full((400, 200, 3), (200, 40, 90), dtype=np.uint8)
    small = decode(thumbnail_url(image, longest=100))
    assert small.shape == (100, 50, 3)
    assert np.abs(small.astype(int) - (200, 40, 90)).max() < 8


@pytest.mark.parametrize("shape", [(20, 30, 3), (20, 30)])
def test_small_pictures_keep_their_size(shape):
    image = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    assert decode(thumbnail_url(image)).shape == shape


@pytest.mark.parametrize("image", [np.zeros((4, 4)), np.zeros((4, 4, 4), np.uint8), np.zeros(4, np.uint8)])
def test_what_is_no_picture_is_refused(image):
    with pytest.raises(ValueError, match="uint8 array of shape"):
        thumbnail_url(image)

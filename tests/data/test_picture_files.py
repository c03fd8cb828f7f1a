"""Pictures from files: orientation, transparency, damage and bombs."""

import numpy as np
import pytest
from PIL import Image

from tagrank.data.picture_files import read_picture
from tagrank.files import FileError

COLOURS = np.array(
    [[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [9, 9, 9]], [[70, 80, 90], [0, 0, 0]]], np.uint8
)


@pytest.mark.parametrize("suffix", ["png", "bmp", "tiff", "ppm", "webp"])
def test_what_was_drawn_is_read(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    Image.fromarray(COLOURS).save(path, **({"lossless": True} if suffix == "webp" else {}))
    image = read_picture(path, min_side=1)
    assert image.dtype == np.uint8
    np.testing.assert_array_equal(image, COLOURS)


def test_cameras_that_were_turned(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(COLOURS).save(tmp_path / "a.png", exif=exif)
    np.testing.assert_array_equal(read_picture(tmp_path / "a.png", min_side=1), np.rot90(COLOURS, -1))


def test_grey_palette_and_transparent_pictures(tmp_path):
    Image.fromarray(COLOURS[..., 0]).save(tmp_path / "grey.png")
    np.testing.assert_array_equal(
        read_picture(tmp_path / "grey.png", min_side=1), COLOURS[..., :1].repeat(3, axis=2)
    )
    Image.fromarray(COLOURS).quantize(6).save(tmp_path / "palette.png")
    np.testing.assert_array_equal(read_picture(tmp_path / "palette.png", min_side=1), COLOURS)
    alpha = np.dstack([COLOURS, [[255, 0], [255, 255], [255, 255]]]).astype(np.uint8)
    Image.fromarray(alpha).save(tmp_path / "clear.png")
    expected = COLOURS.copy()
    expected[0, 1] = 255
    np.testing.assert_array_equal(read_picture(tmp_path / "clear.png", min_side=1), expected)


def test_damage_and_bombs(tmp_path):
    path = tmp_path / "a.png"
    Image.new("RGB", (300, 200)).save(path)
    with pytest.raises(FileError, match=r"a\.png: a picture of 300 x 200 pixels; at most 10,000 are decoded"):
        read_picture(path, max_pixels=10_000)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(FileError, match=r"a\.png: cannot be read as a picture"):
        read_picture(path)
    path.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n")
    with pytest.raises(FileError, match="not a picture in a format"):
        read_picture(path)
    with pytest.raises(FileError, match="no such picture"):
        read_picture(tmp_path / "none.png")

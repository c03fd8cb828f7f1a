"""Every colour mode that files hold, as eight bits of red, green and blue."""

import io

import numpy as np
import pytest
from PIL import Image

from tagrank.data import read_picture

RNG = np.random.default_rng(0)
GREY = RNG.integers(0, 256, (9, 12), dtype=np.uint8)
COLOURS = RNG.integers(0, 256, (9, 12, 3), dtype=np.uint8)


def saved(folder, image, name, **options):
    image.save(folder / name, **options)
    return folder / name


def three(grey):
    return np.asarray(grey, dtype=np.uint8)[..., None].repeat(3, axis=2)


@pytest.mark.parametrize("name", ["a.png", "a.tiff", "a.pgm"])
def test_sixteen_bit_grey_is_scaled_not_clipped(tmp_path, name):
    wide = GREY.astype(np.uint16) * 257
    np.testing.assert_array_equal(read_picture(saved(tmp_path, Image.fromarray(wide), name)), three(GREY))


def test_a_dark_sixteen_bit_picture_stays_dark(tmp_path):
    dark = Image.fromarray(np.full((9, 9), 200, dtype=np.uint16))
    for name in ("a.png", "a.tiff", "a.pgm"):
        assert read_picture(saved(tmp_path, dark, name)).max() == 1


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (GREY.astype(np.float32) / 255, GREY),
        (GREY.astype(np.float32), GREY),
        (GREY.astype(np.float32) * 257, GREY),
        (GREY.astype(np.int32) * 257, GREY),
        (
            np.linspace(-3, 7, 81, dtype=np.float32).reshape(9, 9),
            np.rint(np.linspace(0, 255, 81)).reshape(9, 9),
        ),
        (np.full((9, 9), -5, dtype=np.float32), np.zeros((9, 9))),
    ],
    ids=["0 to 1", "0 to 255", "0 to 65535", "integers", "stretched", "constant"],
)
def test_wide_numbers_find_their_scale(tmp_path, values, expected):
    path = saved(tmp_path, Image.fromarray(values), "a.tiff")
    np.testing.assert_array_equal(read_picture(path), three(expected))


def test_values_that_are_no_numbers_are_black(tmp_path):
    values = np.ones((9, 9), dtype=np.float32)
    values[0] = np.nan
    picture = read_picture(saved(tmp_path, Image.fromarray(values), "a.tiff"))
    assert picture[0].max() == 0
    assert picture[1:].min() == 255


@pytest.mark.parametrize("mode", ["LA", "RGBA", "PA", "P"])
def test_transparent_places_are_white(tmp_path, mode):
    alpha = np.where(np.arange(12) < 6, 0, 255).astype(np.uint8)[None].repeat(9, axis=0)
    image = Image.fromarray(np.dstack([GREY, GREY, GREY, alpha]), "RGBA")
    if mode == "P":
        image = Image.fromarray(np.where(alpha == 0, 0, GREY // 2 + 1).astype(np.uint8)).convert("P")
        path = saved(tmp_path, image, "a.png", transparency=0)
        expected = np.where(alpha == 0, 255, GREY // 2 + 1)
    else:
        image = image.convert("LA") if mode == "LA" else image
        path = saved(
            tmp_path,
            image,
            "a.webp" if mode == "PA" else "a.png",
            **({"lossless": True} if mode == "PA" else {}),
        )
        expected = np.where(alpha == 0, 255, GREY)
    np.testing.assert_array_equal(read_picture(path), three(expected))


def test_half_transparent_places_are_mixed_with_white(tmp_path):
    layers = np.full((9, 9, 4), (100, 0, 200, 128), dtype=np.uint8)
    picture = read_picture(saved(tmp_path, Image.fromarray(layers), "a.png"))
    expected = np.rint(np.array([100, 0, 200]) * 128 / 255 + 255 * 127 / 255)
    assert np.abs(picture - expected).max() <= 1


def test_one_colour_as_transparent(tmp_path):
    pixels = np.full((9, 9, 3), (10, 20, 30), dtype=np.uint8)
    pixels[0] = (1, 2, 3)
    path = saved(tmp_path, Image.fromarray(pixels), "a.png", transparency=(1, 2, 3))
    pixels[0] = 255
    np.testing.assert_array_equal(read_picture(path), pixels)


def test_one_bit(tmp_path):
    bits = GREY > 127
    for name in ("a.png", "a.tiff", "a.pbm", "a.bmp"):
        path = saved(tmp_path, Image.fromarray(bits), name)
        np.testing.assert_array_equal(read_picture(path), three(np.where(bits, 255, 0)))


def jpeg_without_adobe_marker(content):
    start = content.index(b"\xff\xee\x00\x0eAdobe")
    return content[:start] + content[start + 16 :]


def test_inks(tmp_path):
    inks = np.full((16, 16, 4), (255, 0, 0, 51), dtype=np.uint8)
    image = Image.fromarray(inks, "CMYK")
    cyan = [0, 204, 204]
    assert np.abs(read_picture(saved(tmp_path, image, "a.tiff")) - cyan).max() <= 1
    assert np.abs(read_picture(saved(tmp_path, image, "a.jpg", quality=100)) - cyan).max() <= 3
    # without Adobe's mark the same stored numbers mean the inks themselves
    plain = io.BytesIO()
    Image.fromarray(255 - inks, "CMYK").save(plain, "JPEG", quality=100)
    (tmp_path / "plain.jpg").write_bytes(jpeg_without_adobe_marker(plain.getvalue()))
    assert np.abs(read_picture(tmp_path / "plain.jpg") - cyan).max() <= 3


def test_luminance_and_chrominance(tmp_path):
    flat = Image.new("RGB", (16, 16), (200, 40, 90))
    path = saved(tmp_path, flat.convert("YCbCr"), "a.tiff")
    assert np.abs(read_picture(path).astype(int) - (200, 40, 90)).max() <= 2


@pytest.mark.parametrize("name", ["a.gif", "a.png", "a.webp", "a.tiff", "a.mpo"])
def test_of_a_film_the_first_picture(tmp_path, name):
    frames = [Image.new("RGB", (16, 16), colour) for colour in ("red", "blue", "lime")]
    path = saved(tmp_path, frames[0], name, save_all=True, append_images=frames[1:])
    assert np.abs(read_picture(path).astype(int) - (255, 0, 0)).max() <= 3


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("max_side", [None, 8])
@pytest.mark.parametrize("suffix", ["png", "tiff", "webp", "jpg"])
def test_cameras_that_were_turned(tmp_path, orientation, max_side, suffix):
    undo = {
        1: lambda a: a,
        2: lambda a: a[:, ::-1],
        3: lambda a: a[::-1, ::-1],
        4: lambda a: a[::-1],
        5: lambda a: a.transpose(1, 0, 2),
        6: lambda a: np.rot90(a, -1),
        7: lambda a: a[::-1, ::-1].transpose(1, 0, 2),
        8: lambda a: np.rot90(a),
    }
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {"lossless": True} if suffix == "webp" else {}
    path = saved(tmp_path, Image.fromarray(COLOURS), f"a.{suffix}", exif=exif, **options)
    plain = saved(tmp_path, Image.fromarray(COLOURS), f"plain.{suffix}", **options)
    expected = undo[orientation](read_picture(plain, max_side=max_side)).astype(int)
    found = read_picture(path, max_side=max_side)
    assert found.shape == expected.shape
    # a TIFF is turned before it is shrunk, which may round otherwise
    assert np.abs(found - expected).max() <= (1 if max_side else 0)


def test_damaged_notes_of_the_camera_do_not_spoil_the_picture(tmp_path):
    path = saved(
        tmp_path, Image.fromarray(COLOURS), "a.png", exif=b"Exif\0\0MM\0*\0\0\0\x08\xff\xff" + b"\xfe" * 40
    )
    np.testing.assert_array_equal(read_picture(path), COLOURS)

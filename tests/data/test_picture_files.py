"""Pictures from files: formats, sizes, damage and bombs."""

import io
import os
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from tagrank.data import read_picture
from tagrank.files import FileError

RNG = np.random.default_rng(0)
COLOURS = RNG.integers(0, 256, (9, 12, 3), dtype=np.uint8)


@pytest.mark.parametrize("suffix", ["png", "bmp", "tiff", "ppm", "webp"])
def test_what_was_drawn_is_read(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    Image.fromarray(COLOURS).save(path, **({"lossless": True} if suffix == "webp" else {}))
    image = read_picture(path)
    assert image.dtype == np.uint8
    np.testing.assert_array_equal(image, COLOURS)


def test_grey_and_palette(tmp_path):
    Image.fromarray(COLOURS[..., 0]).save(tmp_path / "grey.png")
    np.testing.assert_array_equal(read_picture(tmp_path / "grey.png"), COLOURS[..., :1].repeat(3, axis=2))
    Image.fromarray(COLOURS).quantize(256).save(tmp_path / "palette.png")
    np.testing.assert_array_equal(read_picture(tmp_path / "palette.png"), COLOURS)


def smooth(height, width):
    rows, columns = np.mgrid[:height, :width]
    return np.dstack([rows * 255 // height, columns * 255 // width, 0 * rows + 90]).astype(np.uint8)


@pytest.mark.parametrize("name", ["a.jpg", "a.png"])
@pytest.mark.parametrize(
    ("size", "expected"), [((600, 400), (96, 64)), ((400, 600), (64, 96)), ((90, 64), (90, 64))]
)
def test_pictures_are_shrunk_and_never_enlarged(tmp_path, name, size, expected):
    Image.fromarray(smooth(*size)).save(tmp_path / name, quality=95)
    small = read_picture(tmp_path / name, max_side=96)
    assert small.shape == (*expected, 3)
    reference = np.asarray(
        Image.fromarray(smooth(*size)).resize(expected[::-1], Image.Resampling.BOX), dtype=int
    )
    assert np.abs(small[2:-2, 2:-2] - reference[2:-2, 2:-2]).max() <= 4


def test_long_strips_keep_the_pixels_that_features_need(tmp_path):
    Image.new("RGB", (9000, 20)).save(tmp_path / "a.png")
    assert read_picture(tmp_path / "a.png", max_side=100).shape == (8, 100, 3)


def flat_jpeg(side):
    """A grey JPEG of `side` x `side` pixels; after its header every block of 8 x 8 is the same six bits."""
    assert side % 16 == 0
    stream = io.BytesIO()
    Image.new("L", (8, 8), 128).save(stream, "JPEG", optimize=False)
    content = stream.getvalue()
    frame, scan = content.index(b"\xff\xc0"), content.index(b"\xff\xda")
    header = bytearray(content[: scan + 2 + int.from_bytes(content[scan + 2 : scan + 4], "big")])
    header[frame + 5 : frame + 9] = struct.pack(">HH", side, side)
    return bytes(header) + b"\x28\xa2\x8a" * ((side // 8) ** 2 // 4) + b"\xff\xd9"


def test_a_giant_jpeg_is_decoded_at_an_eighth(tmp_path):
    path = tmp_path / "giant.jpg"
    path.write_bytes(flat_jpeg(30_000 // 16 * 16))
    picture = read_picture(path, max_side=64)
    assert picture.shape == (64, 64, 3)
    assert set(np.unique(picture)) == {128}
    with pytest.raises(FileError, match=r"giant\.jpg: too many pixels to decode"):
        read_picture(path)
    with pytest.raises(FileError, match="a picture of 30000 x 30000 pixels; at most 1,000,000 are decoded"):
        read_picture(path, max_side=64, max_pixels=1_000_000)


def test_a_giant_progressive_jpeg_would_be_held_whole(tmp_path):
    Image.new("RGB", (64, 64)).save(tmp_path / "a.jpg", progressive=True)
    content = bytearray((tmp_path / "a.jpg").read_bytes())
    frame = content.index(b"\xff\xc2")
    content[frame + 5 : frame + 9] = struct.pack(">HH", 30_000, 30_000)
    (tmp_path / "a.jpg").write_bytes(content)
    with pytest.raises(FileError, match="too many pixels to decode"):
        read_picture(tmp_path / "a.jpg", max_side=64)


def png(width, height, *chunks):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        chunk(*each) for each in [(b"IHDR", header), *chunks, (b"IEND", b"")]
    )


def test_a_giant_png_is_refused_before_it_is_decoded(tmp_path):
    (tmp_path / "a.png").write_bytes(png(30_000, 30_000, (b"IDAT", b"never looked at")))
    with pytest.raises(FileError, match=r"too many pixels to decode .*900000000"):
        read_picture(tmp_path / "a.png", max_side=64)
    (tmp_path / "a.png").write_bytes(png(9_000, 9_000, (b"IDAT", b"never looked at")))
    with pytest.raises(FileError, match="9000 x 9000 pixels; at most 67,108,864 are decoded"):
        read_picture(tmp_path / "a.png", max_side=64)


def test_compressed_texts_that_unfold_are_refused(tmp_path):
    bomb = b"comment\0\0" + zlib.compress(b"a" * 2**24)
    (tmp_path / "a.png").write_bytes(png(16, 16, (b"zTXt", bomb), (b"IDAT", b"")))
    with pytest.raises(FileError, match=r"a\.png: cannot be read as a picture \(Decompressed data too large"):
        read_picture(tmp_path / "a.png")


@pytest.mark.parametrize("size", [(1, 1), (7, 300), (300, 7)])
def test_too_small_for_features(tmp_path, size):
    Image.new("RGB", size).save(tmp_path / "a.png")
    with pytest.raises(FileError, match=rf"too small: {size[0]} x {size[1]} pixels, at least 8 x 8"):
        read_picture(tmp_path / "a.png")
    assert read_picture(tmp_path / "a.png", min_side=1).shape == (size[1], size[0], 3)


def test_what_is_not_a_picture(tmp_path):
    path = tmp_path / "a.png"
    Image.new("RGB", (300, 200)).save(path)
    with pytest.raises(FileError, match=r"a\.png: a picture of 300 x 200 pixels; at most 10,000"):
        read_picture(path, max_pixels=10_000)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(FileError, match=r"a\.png: cannot be read as a picture"):
        read_picture(path)
    for content in (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", b"hello", b"\0" * 100, b"<svg/>"):
        path.write_bytes(content)
        with pytest.raises(FileError, match="not a picture in a known format"):
            read_picture(path)
    path.write_bytes(b"")
    with pytest.raises(FileError, match="is empty"):
        read_picture(path)
    with pytest.raises(FileError, match="is a folder, pipe or device"):
        read_picture(tmp_path)
    with pytest.raises(FileError, match="does not exist"):
        read_picture(tmp_path / "none.png")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_does_not_stop_the_reader(tmp_path):
    os.mkfifo(tmp_path / "a.jpg")
    with pytest.raises(FileError, match="is a folder, pipe or device"):
        read_picture(tmp_path / "a.jpg")


def test_permission_denied(tmp_path, monkeypatch):
    Image.new("RGB", (9, 9)).save(tmp_path / "a.png")

    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tagrank.data.picture_files.open", refuse, raising=False)
    with pytest.raises(FileError, match=r"a\.png: may not be read: permission denied"):
        read_picture(tmp_path / "a.png")


@pytest.mark.parametrize("suffix", ["jpg", "png", "gif", "bmp", "tiff", "webp", "ppm"])
def test_any_damage_ends_in_a_picture_or_a_sentence(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(smooth(40, 30)).save(path, exif=exif)
    whole, rng = path.read_bytes(), np.random.default_rng(1)
    refusals = []
    for _ in range(60):
        damaged = bytearray(whole[: rng.integers(1, len(whole) + 1)])
        for place in rng.integers(0, len(damaged), rng.integers(0, 6)):
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            picture = read_picture(path, max_side=20)
            assert picture.ndim == 3
            assert max(picture.shape) <= 20
        except FileError as error:
            refusals.append(str(error))
    assert len(refusals) > 5
    assert all(refusal.startswith(f"{path}: ") for refusal in refusals)

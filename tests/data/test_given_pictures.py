"""Pictures in every form that people have; what cannot be read says why, and nothing fills memory."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tagrank.data import given_pictures
from tagrank.data.given_pictures import are_pictures, gather_pictures, is_one_picture, list_pictures
from tagrank.data.picture_files import read_picture
from tagrank.files import FileError, ProblemLog


@pytest.fixture
def photo(tmp_path):
    """A photograph-like picture whose camera was turned, as a file."""
    rng = np.random.default_rng(0)
    small = Image.fromarray(rng.integers(0, 255, (6, 9, 3), dtype=np.uint8))
    exif = Image.Exif()
    exif[0x0112] = 6
    path = tmp_path / "photo.jpg"
    small.resize((900, 600), Image.Resampling.BICUBIC).save(path, quality=95, exif=exif)
    return path


def only(given):
    gathered = gather_pictures(list_pictures(given, ProblemLog()))
    assert not gathered.reasons
    (picture,) = gathered.pictures
    return picture


def test_contents_and_pillow_pictures_are_read_as_files_are(photo):
    expected = read_picture(photo, max_side=512)
    assert expected.shape == (512, 341, 3)
    content = photo.read_bytes()
    np.testing.assert_array_equal(only(content), expected)
    np.testing.assert_array_equal(only(bytearray(content)), expected)
    np.testing.assert_array_equal(only(io.BytesIO(content)), expected)
    with photo.open("rb") as file:
        np.testing.assert_array_equal(only(file), expected)
    with Image.open(photo) as image:
        taken = only(image)
        # a JPEG file is decoded at a fraction of its size, a picture of the caller is not changed
        assert image.size == (900, 600)
    assert taken.shape == expected.shape
    assert np.abs(taken.astype(int) - expected).mean() < 2
    assert only(str(photo)) == only(photo) == str(photo)


@pytest.mark.parametrize(
    ("kind", "of_levels"),
    [
        ("uint8", lambda levels: levels),
        ("uint16", lambda levels: levels.astype(np.uint16) * 257),
        ("share", lambda levels: levels / 255),
        ("float32", lambda levels: levels.astype(np.float32)),
        ("int64", lambda levels: levels.astype(np.int64)),
    ],
)
@pytest.mark.parametrize("colours", [3, 4, 2, 1, 0])
def test_arrays_of_every_depth_and_kind(kind, of_levels, colours):
    rng = np.random.default_rng(1)
    levels = rng.integers(0, 255, (12, 10, max(1, colours)), dtype=np.uint8)
    levels[0, 0] = 255
    if colours in (2, 4):
        levels[:, :, -1] = 255  # opaque
    given = of_levels(levels) if colours else of_levels(levels)[:, :, 0]
    shown = levels[:, :, :3] if colours >= 3 else np.repeat(levels[:, :, :1], 3, axis=2)
    picture = only([given])
    assert picture.dtype == np.uint8
    np.testing.assert_array_equal(picture, shown)


def test_transparent_places_are_white_and_truth_values_black_and_white():
    clear = np.zeros((9, 9, 4), dtype=np.uint8)
    assert (only(clear) == 255).all()
    line = np.eye(9, dtype=bool)
    np.testing.assert_array_equal(only([line])[:, :, 0], line * 255)


def test_large_arrays_are_shrunk_and_small_ones_are_not_copied():
    small = np.zeros((40, 30, 3), dtype=np.uint8)
    assert only(small) is small
    assert only(np.zeros((1000, 2000, 3), dtype=np.uint8)).shape == (256, 512, 3)


def test_folders_stand_for_their_pictures(tmp_path):
    for name in ("b.png", "sub/a.png", ".hidden.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        Image.new("RGB", (9, 9)).save(tmp_path / name)
    (tmp_path / "notes.txt").write_text("no picture")
    (tmp_path / "film.jxl").write_bytes(b"foreign")
    log = ProblemLog()
    listed = list_pictures([tmp_path, np.zeros((9, 9))], log)
    assert listed[:2] == [str(tmp_path / "b.png"), str(tmp_path / "sub" / "a.png")]
    assert len(listed) == 3
    assert [Path(problem.path).name for problem in log.listed()] == ["film.jxl"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="empty: has no pictures"):
        list_pictures(tmp_path / "empty", log)


def bomb():
    stream = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(stream, "PNG")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (b"hello", "not a picture in a known format"),
        (b"", "is empty"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "not a picture in a known format"),
        (np.zeros((3, 20, 30)), r"put the colours last: np.moveaxis\(picture, 0, -1\)"),
        (np.zeros((7, 20, 30)), "pass several as a list"),
        (np.zeros((9, 9, 3), dtype=complex), "an array of complex128, expected numbers"),
        (np.zeros((7, 20)), "too small: 20 x 7 pixels"),
        (np.broadcast_to(np.uint8(0), (20_000, 20_000)), "a picture of 20000 x 20000 pixels; at most"),
        (Image.new("1", (9000, 9000)), "a picture of 9000 x 9000 pixels; at most"),
        (Image.new("L", (9, 3)), "too small: 9 x 3 pixels"),
    ],
)
def test_what_cannot_be_taken_says_why(given, reason):
    gathered = gather_pictures([np.zeros((9, 9, 3), dtype=np.uint8), given])
    assert gathered.rows.tolist() == [0]
    assert gathered.names == ["picture 0", "picture 1"]
    assert list(gathered.reasons) == [1]
    with pytest.raises(FileError, match=f"picture 1: .*{reason}"):
        gather_pictures([np.zeros((9, 9, 3), dtype=np.uint8), given], strict=True)


def test_a_bomb_is_not_decoded():
    (reason,) = gather_pictures([bomb()]).reasons.values()
    assert "pixels" in reason


def test_a_picture_of_postscript_is_not_handed_to_another_program(tmp_path):
    path = tmp_path / "a.eps"
    Image.new("RGB", (20, 20)).save(path, "EPS")
    with Image.open(path) as image:
        assert "EPS pictures are not decoded" in gather_pictures([image]).reasons[0]


def test_many_decoded_pictures_do_not_fill_the_memory(monkeypatch):
    stream = io.BytesIO()
    Image.new("RGB", (600, 600)).save(stream, "PNG")
    monkeypatch.setattr(given_pictures, "available_memory", lambda: 8 * 512 * 512 * 3)
    assert len(gather_pictures([stream.getvalue()] * 2).pictures) == 2
    with pytest.raises(MemoryError, match="pass fewer at once, or save them as files"):
        gather_pictures([stream.getvalue()] * 3)


def test_what_no_picture_can_be_is_a_type_error(tmp_path):
    for wrong, kind in ((None, "None"), (3, "type int"), ({}, "type dict")):
        with pytest.raises(TypeError, match=f"picture 1 must be a path, .* got .*{kind}"):
            gather_pictures(["a.jpg", wrong])
    (tmp_path / "a.txt").write_text("text")
    with (tmp_path / "a.txt").open() as file, pytest.raises(FileError, match="open it with mode 'rb'"):
        gather_pictures([file], strict=True)


def test_rows_are_no_pictures():
    X = np.zeros((4, 3))
    for rows in (X, X.tolist(), [np.zeros(3)], {"a": X}, [], memoryview(X), None, 3):
        assert not are_pictures(rows)
    for pictures in (
        "a.jpg",
        Path("a.jpg"),
        b"",
        X[:, :, None],
        [X],
        ["a"],
        np.array(["a"]),
        np.zeros((2, 9, 9, 3)),
    ):
        assert are_pictures(pictures)
    assert not is_one_picture(X)

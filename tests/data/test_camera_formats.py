"""HEIC, AVIF and raw files of cameras: upright, with what they say, and within bounds."""

import io
import struct

import numpy as np
import pytest
from PIL import Image

from tagrank.data import picture_files, picture_folder, read_keywords, read_picture, read_pictures
from tagrank.data.picture_files import PICTURE_SUFFIXES, read_facts
from tagrank.data.raw_previews import RAW_SUFFIXES
from tagrank.files import FileError

ORIENTATION, XMP, EXIF, TAKEN, SUB = 0x112, 0x2BC, 0x8769, 0x9003, 0x14A
KEYWORDS = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:subject><rdf:Bag><rdf:li>sea</rdf:li>'
    "</rdf:Bag></dc:subject></rdf:Description></rdf:RDF></x:xmpmeta>"
)


def half(width=64, height=48):
    """Red on the left, blue on the right."""
    pixels = np.zeros((height, width, 3), dtype=np.uint8)
    pixels[:, : width // 2, 0] = 250
    pixels[:, width // 2 :, 2] = 250
    return Image.fromarray(pixels)


def jpeg(picture, **named):
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=95, **named)
    return stream.getvalue()


def tiff(*directories, order="<", mark=42, after=b""):
    """A TIFF-like file: directories of (tag, kind, values) one after the other; `after` lies behind them.

    A value "after" is the place of these bytes, "next" that of the following directory.
    """
    sizes = [2 + 12 * len(one) + 4 for one in directories]
    starts = [8 + sum(sizes[:number]) for number in range(len(sizes) + 1)]
    extra, content = b"", b""
    for number, directory in enumerate(directories):
        content += struct.pack(f"{order}H", len(directory))
        for tag, kind, value in directory:
            if isinstance(value, bytes):
                place = starts[-1] + len(after) + len(extra)
                content += struct.pack(f"{order}HHII", tag, kind, len(value), place)
                extra += value
            else:
                value = {"after": starts[-1], "next": starts[number + 1]}.get(value, value)
                content += struct.pack(f"{order}HHII", tag, 4, 1, value)
        content += struct.pack(f"{order}I", 0)
    head = {"<": b"II", ">": b"MM"}[order] + struct.pack(f"{order}HI", mark, 8)
    return head + content + after + extra


def raw_file(path, picture=None, *, orientation=1, order="<", **named):
    """A raw file with a preview in a directory of its own, as DNG and NEF have it."""
    preview = jpeg(half(800, 600) if picture is None else picture)
    path.write_bytes(
        tiff(
            [(ORIENTATION, 4, orientation), (XMP, 1, KEYWORDS.encode()), (SUB, 4, "next")],
            [(0x201, 4, "after"), (0x202, 4, len(preview)), (EXIF, 4, "next")],
            [(TAKEN, 2, b"2024:05:01 10:15:30\0")],
            order=order,
            after=preview,
            **named,
        )
    )
    return path


def is_red(pixels):
    return pixels[..., 0].astype(int) > pixels[..., 2].astype(int) + 100


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_raw_file_shows_its_preview(tmp_path, order):
    path = raw_file(tmp_path / "a.dng", order=order)
    picture = read_picture(path)
    assert picture.shape == (600, 800, 3)
    assert is_red(picture[:, 0]).all()
    assert not is_red(picture[:, -1]).any()
    assert read_facts(path) == (800, 600, "2024-05-01")
    assert read_keywords(path) == ["sea"]
    assert read_picture(path, max_side=100).shape == (75, 100, 3)


@pytest.mark.parametrize(
    ("orientation", "shape", "edge"),
    [(3, (600, 800), np.s_[:, -1]), (6, (800, 600), np.s_[0]), (8, (800, 600), np.s_[-1])],
)
def test_a_raw_file_is_turned_as_its_camera_noted(tmp_path, orientation, shape, edge):
    path = raw_file(tmp_path / "a.nef", orientation=orientation)
    picture = read_picture(path)
    assert picture.shape[:2] == shape
    assert is_red(picture[edge]).all()
    assert read_facts(path)[:2] == shape[::-1]


def test_a_preview_that_turns_itself_is_believed(tmp_path):
    exif = Image.Exif()
    exif[ORIENTATION] = 3
    preview = jpeg(half(800, 600), exif=exif)
    data = tiff([(ORIENTATION, 4, 6), (0x201, 4, "after"), (0x202, 4, len(preview))], after=preview)
    (tmp_path / "a.cr2").write_bytes(data)
    assert read_picture(tmp_path / "a.cr2").shape == (600, 800, 3)


@pytest.mark.parametrize("ending", ["orf", "raf", "cr3", "x3f"])
def test_previews_that_no_directory_names_are_found(tmp_path, ending):
    small, large = jpeg(half(160, 120)), jpeg(half(640, 480))
    # the data of the sensor may look like a JPEG, too: lossless ones are not for showing
    lossless = large.replace(b"\xff\xc0", b"\xff\xc3")
    content = b"FUJIFILM" * 100 + lossless + small + b"\xff\xd8\xff" + large + bytes(500)
    (tmp_path / f"a.{ending}").write_bytes(content)
    assert read_picture(tmp_path / f"a.{ending}").shape == (480, 640, 3)


def test_the_largest_preview_is_taken(tmp_path):
    small, large = jpeg(half(320, 240)), jpeg(half(1280, 960))
    entries = [(0x201, 4, "after"), (0x202, 4, len(small)), (0x2E, 7, large)]
    (tmp_path / "a.rw2").write_bytes(tiff(entries, mark=0x55, after=small))
    assert read_picture(tmp_path / "a.rw2").shape == (960, 1280, 3)


def test_pixel_bombs_in_raw_files_are_refused(tmp_path):
    path = raw_file(tmp_path / "a.arw")
    with pytest.raises(FileError, match="a picture of 800 x 600 pixels; at most 100,000 are decoded"):
        read_picture(path, max_pixels=100_000)
    content = bytearray(path.read_bytes())
    place = content.index(b"\xff\xc0") + 5
    content[place : place + 4] = struct.pack(">HH", 65000, 65000)
    path.write_bytes(content)
    with pytest.raises(FileError, match="too many pixels"):
        read_picture(path)


DAMAGED = {
    "empty": b"",
    "two bytes": b"II",
    "no directory": b"II*\0" + bytes(4),
    "circles": tiff([(SUB, 4, 8), (EXIF, 4, 8), (0x201, 4, 8), (0x202, 4, 2**32 - 1)]),
    "places beyond the end": tiff([(0x201, 4, 2**32 - 1), (0x202, 4, 2**32 - 1), (XMP, 1, 2**32 - 1)]),
    "many entries": tiff([(tag, 4, 2**31) for tag in range(200)]),
    "a cut directory": b"II*\0\x08\0\0\0\xff\xff" + bytes(40),
    "beginnings only": b"\xff\xd8\xff" * 5000,
    "empty segments": b"\0\xff\xd8\xff\xe0\0\0" * 50,
    "a cut JPEG": b"\0" + jpeg(half())[:60],
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
@pytest.mark.parametrize("ending", ["dng", "crw"])
def test_damaged_raw_files_are_file_errors(tmp_path, content, ending):
    (tmp_path / f"a.{ending}").write_bytes(content)
    with pytest.raises(FileError, match=r"no JPEG preview|is empty|cannot be read|cut off"):
        read_picture(tmp_path / f"a.{ending}")
    with pytest.raises(FileError):
        read_keywords(tmp_path / f"a.{ending}")


def test_any_damage_is_a_file_error(tmp_path):
    whole = raw_file(tmp_path / "a.dng").read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(60):
        content = bytearray(whole[: rng.integers(10, len(whole))] if rng.random() < 0.3 else whole)
        for place in rng.integers(0, min(len(content), 400), 6):
            content[place] = rng.integers(256)
        (tmp_path / "b.dng").write_bytes(content)
        try:
            assert read_picture(tmp_path / "b.dng", max_side=64).ndim == 3
        except FileError:
            continue


def test_a_raw_file_beside_its_jpeg_is_the_same_picture(tmp_path):
    raw_file(tmp_path / "a.dng")
    raw_file(tmp_path / "b.nef")
    half().save(tmp_path / "a.jpg")
    found = read_pictures(tmp_path)
    assert found.names == ["a.jpg", "b.nef"]
    assert found.problems == ()


def test_sidecars_of_raw_files_are_read(tmp_path):
    raw_file(tmp_path / "a.dng")
    (tmp_path / "a.xmp").write_text(KEYWORDS.replace("sea", "boats"))
    assert read_keywords(tmp_path / "a.dng") == ["boats", "sea"]


def save_turned(path, orientation, **named):
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    exif[EXIF] = {TAKEN: "2024:05:01 10:15:30"}
    half().save(path, exif=exif.tobytes(), quality=90, xmp=KEYWORDS.encode(), **named)


@pytest.mark.skipif(".avif" not in PICTURE_SUFFIXES, reason="this Pillow reads no AVIF")
@pytest.mark.parametrize("orientation", [1, 6])
def test_avif(tmp_path, orientation):
    check_upright(tmp_path / "a.avif", orientation)


@pytest.mark.parametrize("orientation", [1, 6])
def test_heic(tmp_path, orientation):
    pytest.importorskip("pillow_heif")
    picture_files.register_heif()
    check_upright(tmp_path / "a.heic", orientation)


def check_upright(path, orientation):
    save_turned(path, orientation)
    picture = read_picture(path)
    is_turned = orientation == 6
    assert picture.shape == ((64, 48, 3) if is_turned else (48, 64, 3))
    assert is_red(picture[0] if is_turned else picture[:, 0]).all()
    assert read_facts(path) == (*picture.shape[1::-1], "2024-05-01")
    assert read_keywords(path) == ["sea"]
    assert max(read_picture(path, max_side=32).shape) == 32
    with pytest.raises(FileError, match="at most 1,000 are decoded"):
        read_picture(path, max_pixels=1000)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(FileError):
        read_picture(path)


def test_heic_without_its_library_says_what_to_install(tmp_path, monkeypatch):
    def missing():
        raise ImportError

    (tmp_path / "a.heic").write_bytes(b"\0\0\0\x18ftypheic" + bytes(40))
    monkeypatch.setattr(picture_files, "register_heif", missing)
    with pytest.raises(FileError, match=r"pip install 'tagrank\[formats\]'"):
        read_picture(tmp_path / "a.heic")
    monkeypatch.setattr(picture_folder, "FOREIGN_SUFFIXES", frozenset({".heic", ".jxl"}))
    monkeypatch.setattr(picture_folder, "PICTURE_SUFFIXES", frozenset({".jpg"}))
    (tmp_path / "b.jxl").write_bytes(b"\xff\x0a")
    half().save(tmp_path / "c.jpg")
    first, second = read_pictures(tmp_path).problems
    assert "pip install 'tagrank[formats]'" in first.reason
    assert second.reason == "JXL pictures cannot be read; convert it to JPEG"


def test_every_ending_is_known_in_one_way():
    assert not picture_folder.FOREIGN_SUFFIXES & PICTURE_SUFFIXES
    assert RAW_SUFFIXES < PICTURE_SUFFIXES
    assert {".heic", ".heif", ".avif", ".jxl"} < PICTURE_SUFFIXES | picture_folder.FOREIGN_SUFFIXES

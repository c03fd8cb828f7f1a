import io
import threading

import numpy as np
import pytest
from PIL import Image

from tagrank.desk.leases import Leases
from tagrank.desk.thumbnails import Thumbnails


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "wide.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (300, 900, 3), dtype=np.uint8)).save(path)
    return path


def size(data):
    return Image.open(io.BytesIO(data), formats=["JPEG"]).size


def test_a_thumbnail_is_drawn_once_and_kept_by_content(picture, tmp_path):
    thumbnails = Thumbnails(tmp_path / "cache")
    data, word = thumbnails.read(picture, b"k" * 16, 256)
    assert size(data) == (256, 85)
    picture.unlink()
    assert thumbnails.read(picture, b"k" * 16, 256) == (data, word)
    assert Thumbnails(None).read(picture, b"k" * 16, 256)[1] == f"{word}-damaged"


def test_small_pictures_are_not_enlarged(picture):
    data, _ = Thumbnails(None).read(picture, b"k" * 16, 1600)
    assert size(data) == (900, 300)


def test_a_damaged_picture_gives_a_sheet_that_is_not_kept(tmp_path):
    path = tmp_path / "damaged.jpg"
    path.write_bytes(b"\xff\xd8\xff not a picture")
    data, word = Thumbnails(tmp_path / "cache").read(path, b"k" * 16, 256)
    assert max(size(data)) <= 256
    assert word.endswith("damaged")
    assert not list((tmp_path / "cache").rglob("*.jpg"))


def test_half_a_file_is_drawn_again(picture, tmp_path):
    thumbnails = Thumbnails(tmp_path / "cache")
    data, _ = thumbnails.read(picture, b"k" * 16, 256)
    (kept,) = (tmp_path / "cache").rglob("*.jpg")
    kept.write_bytes(data[: len(data) // 2])
    assert thumbnails.read(picture, b"k" * 16, 256)[0] == data
    assert kept.read_bytes() == data


def test_the_cache_stays_within_its_bounds(picture, tmp_path):
    thumbnails = Thumbnails(tmp_path / "cache", max_bytes=100_000)
    for number in range(40):
        data, _ = thumbnails.read(picture, bytes([number]) * 16, 256)
    assert 40 * len(data) > 100_000
    total = sum(path.stat().st_size for path in (tmp_path / "cache").rglob("*") if path.is_file())
    assert 50_000 < total <= 100_000


@pytest.mark.parametrize("side", [0, 255, 10**9, "256"])
def test_other_sides_are_refused(picture, side):
    with pytest.raises(ValueError, match="side must be one of 256, 512, 1600"):
        Thumbnails(None).read(picture, b"k" * 16, side)


def test_many_threads_get_the_same_thumbnail(picture, tmp_path):
    thumbnails, found = Thumbnails(tmp_path / "cache"), []
    threads = [
        threading.Thread(
            target=lambda: found.append(thumbnails.read(picture, b"k" * 16, 512, n_pixels=2**25))
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert len(list((tmp_path / "cache").rglob("*.*"))) == 1


def test_a_lease_ends_after_a_while_and_when_it_is_decided():
    now = [0.0]
    leases = Leases(seconds=60, clock=lambda: now[0])
    leases.lend("anna", [(1, "boat"), (2, None)])
    assert leases.held_by_others("anna").touched == frozenset()
    held = leases.held_by_others("ben")
    assert held.holds(1, "boat")
    assert not held.holds(1, "sea")
    assert held.holds(1, None)
    assert held.holds(2, "sea")
    leases.settle([(1, "boat")])
    assert not leases.held_by_others("ben").holds(1, "boat")
    now[0] = 61
    assert leases.held_by_others("ben").touched == frozenset()
    assert leases.held_by("anna").touched == frozenset()

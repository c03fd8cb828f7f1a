"""exiftool and exiv2 read the keywords of our sidecars, and we those that they write."""

import json
import shutil
import subprocess

import pytest
from PIL import Image

from tagrank.data import read_keywords, read_sidecar, write_sidecar

TAGS = ["Föhn & <Wind>", "sky", "places|Europe|Zürich"]
FLAT = {"Föhn & <Wind>", "sky", "Zürich", "Europe", "places"}


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "photo.jpg"
    Image.new("RGB", (8, 8)).save(path)
    return path


def need(program):
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


def run(*command):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=True).stdout


def test_exiftool_reads_our_keywords(picture):
    need("exiftool")
    path = write_sidecar(picture, TAGS)
    told = json.loads(run("exiftool", "-json", "-struct", "-Subject", "-HierarchicalSubject", path))[0]
    assert {"Föhn & <Wind>", "sky"} <= set(told["Subject"]) <= FLAT
    assert "places|Europe|Zürich" in told["HierarchicalSubject"]
    assert run("exiftool", "-validate", "-warning", "-a", path).count("Error") == 0


def test_exiv2_reads_our_keywords(picture):
    need("exiv2")
    path = write_sidecar(picture, TAGS)
    told = run("exiv2", "-PXkt", path)
    subjects = next(line for line in told.splitlines() if line.startswith("Xmp.dc.subject"))
    assert all(tag in subjects for tag in ("Föhn & <Wind>", "sky"))
    assert "places|Europe|Zürich" in told


def test_we_read_the_keywords_of_exiftool_and_keep_the_rest(picture):
    need("exiftool")
    path = picture.with_name("photo.jpg.xmp")
    run("exiftool", "-XMP-dc:Subject=Föhn", "-XMP-dc:Subject=sea", "-XMP-dc:Title=Kept", "-o", path)
    assert set(read_sidecar(path).flat) == {"Föhn", "sea"}
    write_sidecar(picture, ["boat"])
    told = json.loads(run("exiftool", "-json", "-Subject", "-Title", path))[0]
    assert (set(told["Subject"]), told["Title"]) == ({"Föhn", "sea", "boat"}, "Kept")


@pytest.mark.parametrize("field", ["XMP-dc:Subject", "IPTC:Keywords"])
def test_we_read_the_keywords_that_exiftool_writes_into_pictures(picture, field):
    need("exiftool")
    tags = (f"-{field}={tag}" for tag in ("Föhn", "sea"))
    run("exiftool", "-overwrite_original", "-codedcharacterset=utf8", *tags, picture)
    assert set(read_keywords(picture)) == {"Föhn", "sea"}

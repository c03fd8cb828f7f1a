"""`look`: near-duplicates, copies and outliers of a folder, on the screen, in files and on a page."""

import csv
import json
import re
import shutil

import numpy as np
import pytest
from PIL import Image

from tagrank.annotation.bank import row_maker
from tagrank.commands.look.look import look, show_look
from tagrank.data import Collection
from tagrank.files import FileError
from tests.annotation.likeness.test_alignment import CHANGES, photograph


@pytest.fixture(scope="module")
def album(tmp_path_factory):
    """40 photographs, relatives of the first ones, a copy, a page of text, and a file that is broken."""
    folder = tmp_path_factory.mktemp("album") / "photos"
    folder.mkdir()
    for seed in range(40):
        photograph(seed, side=128).save(folder / f"{seed:02}.png")
    for number, (name, change) in enumerate(CHANGES.items()):
        change(photograph(number, side=128)).save(folder / f"{number:02}-{name}.jpg", quality=80)
    shutil.copy(folder / "20.png", folder / "20-copy.png")
    page = np.full((128, 128, 3), 255, np.uint8)
    page[8:-8:6, 8:-8:3] = 0
    Image.fromarray(page).save(folder / "page.png")
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff broken")
    return folder


@pytest.fixture(scope="module")
def found(album, tmp_path_factory):
    return look(album, features="gist", cache=tmp_path_factory.mktemp("cache"))


def names(group):
    return sorted(one.name.rsplit("/", 1)[-1] for one in group)


def test_relatives_and_copies_are_found(found):
    expected = [[f"{n:02}-{name}.jpg", f"{n:02}.png"] for n, name in enumerate(CHANGES)]
    assert sorted(map(names, found.groups)) == sorted([*expected, ["20-copy.png", "20.png"]])
    assert names(found.groups[0]) == ["20-copy.png", "20.png"]
    assert [[one.is_copy for one in group] for group in found.groups] == [[True] * 2, *[[False] * 2] * 5]
    assert all(one.certainty >= 0.99 for group in found.groups for one in group)
    assert found.n_spare == 6
    assert found.n_pictures == 47
    assert [problem.path.endswith("broken.jpg") for problem in found.problems] == [True]


def test_the_page_of_text_is_the_outlier(found):
    assert found.outliers[0].name.endswith("page.png")
    assert found.outliers[0].distance > 1.1


def test_nothing_is_described_twice(album, tmp_path, monkeypatch):
    first = look(album, features="gist", cache=tmp_path / "bank", n_jobs=1)

    described, describe = [], row_maker.Describer.__call__

    def noting(describer, job):
        described.append(job.source.picture)
        return describe(describer, job)

    monkeypatch.setattr(row_maker.Describer, "__call__", noting)
    again = look(album, features="gist", cache=tmp_path / "bank", n_jobs=1)
    assert again.groups == first.groups
    assert described == [str(album / "broken.jpg")]


def test_files_and_page(album, found, tmp_path):
    cache = tmp_path / "bank"
    look(album, tmp_path / "found.csv", features="gist", page=tmp_path / "look.html", cache=cache)
    look(album, tmp_path / "found.jsonl", features="gist", cache=cache)
    with open(tmp_path / "found.csv", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert [line["name"] for line in lines if line["group"]] == [
        one.name for group in found.groups for one in group
    ]
    assert {line["finding"] for line in lines} == {"copy", "near-duplicate", "outlier"}
    documents = [json.loads(line) for line in (tmp_path / "found.jsonl").read_text().splitlines()]
    assert [one["name"] for one in documents] == [line["name"] for line in lines]
    page = (tmp_path / "look.html").read_text()
    assert len(re.findall("<img ", page)) == len(lines)
    assert "script" not in page
    assert "broken.jpg" in page


def test_the_screen_says_what_was_found(found):
    shown = show_look(found)
    assert not shown.has_failed
    assert "12 pictures in 6 groups of near-duplicates" in found.answer
    assert list(shown.problems) == ["skipped"]
    assert "written to x.csv" in show_look(found, output="x.csv").sentences


def test_pictures_unlike_their_tags(album, tmp_path):
    """Two kinds of pictures; one of the first kind has the tag of the second."""
    pictures, labels = [], []
    rng = np.random.default_rng(0)
    for number in range(40):
        stripes = np.zeros((64, 64, 3), np.uint8)
        stripes[:: 8 if number % 2 else 1] = rng.integers(150, 250)
        if not number % 2:
            stripes[:, ::8] = 0
        pictures.append(np.uint8(np.clip(stripes + rng.normal(0, 8, stripes.shape), 0, 255)))
        labels.append([1 - number % 2, number % 2])
    labels[4] = [0, 1]
    rows = Collection({"pictures": pictures}, np.array(labels, float), ["down", "across"])
    found = look(rows, features="gist", cache=False, tags=True)
    assert (found.unlike_tags[0].name, found.unlike_tags[0].tag) == ("picture 4", "across")


def test_what_cannot_be_looked_at_is_told(album, tmp_path):
    with pytest.raises(ValueError, match="has rows of numbers; expected pictures"):
        look(Collection({"x": np.eye(3)}))
    with pytest.raises(ValueError, match="tags needs one folder"):
        look([album, album], tags=True)
    with pytest.raises(ValueError, match="top must be at least 1"):
        look(album, top=0)
    with pytest.raises(ValueError, match="are the same file"):
        look(album, tmp_path / "found.csv", page=tmp_path / "found.csv")
    (tmp_path / "found.csv").write_text("mine")
    with pytest.raises(ValueError, match="is not an HTML page"):
        look(album, page=tmp_path / "found.csv")
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "a.png").write_bytes(b"no picture")
    with pytest.raises(FileError):
        look(tmp_path / "one", features="gist", cache=False)


def test_one_picture(tmp_path):
    photograph(0).save(tmp_path / "a.png")
    found = look(tmp_path / "a.png", features="gist", cache=False)
    assert (found.groups, found.outliers, found.n_pictures) == ([], [], 1)
    assert found.answer == "Found no near-duplicates and no outliers among 1 picture."

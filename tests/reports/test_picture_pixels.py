"""Training pictures on a page: only those that the user named, or whose content the model knows."""

from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from tagrank.annotation.bank.row_store import content_key
from tagrank.data import Collection
from tagrank.reports.picture_pixels import picture_finder, remember_pictures


@pytest.fixture
def private(tmp_path):
    """A folder with a picture of the user."""
    (tmp_path / "private").mkdir()
    Image.new("RGB", (16, 16), "red").save(tmp_path / "private" / "a.png")
    return tmp_path / "private"


def model(**metadata):
    return SimpleNamespace(metadata={name.replace("_", " "): value for name, value in metadata.items()})


def key_of(path):
    return content_key(path).hex()


@pytest.mark.parametrize("keys", [None, {}, {"b.png": "00"}, {"a.png": "00" * 16}, {"a.png": 3}, ["a.png"]])
def test_a_model_cannot_bring_other_pictures_onto_a_page(private, keys):
    find = picture_finder(model(picture_folder=str(private), picture_keys=keys))
    assert find("a.png") is None


@pytest.mark.parametrize("name", ["../private/a.png", "/private/a.png", "x/../../private/a.png"])
def test_a_name_does_not_lead_out_of_its_folder(private, name):
    name = name.replace("/private/", f"{private}/") if name.startswith("/") else name
    keys = {name: key_of(private / "a.png")}
    assert picture_finder(model(picture_folder=str(private), picture_keys=keys), folder=private)(name) is None


def test_a_picture_whose_content_is_known_is_shown(private):
    knowing = model(picture_folder=str(private), picture_keys={"a.png": key_of(private / "a.png")})
    assert picture_finder(knowing)("a.png").shape == (16, 16, 3)
    Image.new("RGB", (16, 16), "blue").save(private / "a.png")
    assert picture_finder(knowing)("a.png") is None


def test_no_other_machine_is_asked(private, monkeypatch):
    monkeypatch.setattr("tagrank.reports.picture_pixels.content_key", lambda _: pytest.fail("was asked"))
    for folder in ("//elsewhere/share", r"\\elsewhere\share", 5, None):
        assert picture_finder(model(picture_folder=folder, picture_keys={"a.png": "00"}))("a.png") is None


def test_a_folder_that_the_user_names(private, tmp_path):
    assert picture_finder(model(), folder=private)("a.png") is not None
    moved = model(picture_folder=str(tmp_path / "gone"), picture_keys={"a.png": key_of(private / "a.png")})
    assert picture_finder(moved)("a.png") is None
    assert picture_finder(moved, folder=private)("a.png") is not None
    other = model(picture_keys={"a.png": "00" * 16})
    assert picture_finder(other, folder=private)("a.png") is None


def test_the_collection_that_is_evaluated(private):
    rows = Collection(views={"pictures": [str(private / "a.png")]}, names=["a.png"])
    assert picture_finder(model(picture_folder="/elsewhere"), rows)("a.png") is None
    assert picture_finder(model(picture_folder=f"{private}/"), rows)("a.png") is not None
    assert picture_finder(model(picture_keys={"a.png": key_of(private / "a.png")}), rows)("a.png") is not None


def test_what_a_model_remembers_is_found_again(private):
    rows = Collection(views={"pictures": [str(private / "a.png")]}, names=["a.png"])
    found = remember_pictures(rows, [content_key(private / "a.png")])
    assert found["picture folder"] == f"{private}/"
    assert picture_finder(SimpleNamespace(metadata=found))("a.png") is not None
    drawn = Collection(views={"pictures": [np.zeros((8, 8, 3), np.uint8)]}, names=["drawing"])
    found = remember_pictures(drawn, [content_key(drawn.view("pictures")[0])])
    assert picture_finder(SimpleNamespace(metadata=found), drawn)("drawing").shape == (8, 8, 3)

"""`tagrank tags`"""

import json

import pytest

from tagrank.data.drawn_pictures import draw_pictures


@pytest.fixture
def photos(tmp_path):
    from PIL import Image

    folder = tmp_path / "photos"
    folder.mkdir()
    names = ["a.png", "b.png", "c.png"]
    for name, pixels in zip(names, draw_pictures(3, size=32).view("pictures"), strict=True):
        Image.fromarray(pixels).save(folder / name)
    (folder / "tags.csv").write_text("image,tags\na.png,jet\nb.png,car\nc.png,car|jet\n")
    return folder


def test_tags_are_changed_listed_and_restored(tagrank, photos):
    done = tagrank("tags", photos, "--parent", "jet=plane", "--describe", "jet=fast, loud", "--name", "anna")
    assert done.exit_code == 0, done.output
    assert "2 pictures tagged 'jet' get 'plane', too" in done.stderr
    listed = tagrank("tags", photos)
    assert "fast, loud" in listed.stdout
    entries = {one["tag"]: one for one in json.loads(tagrank("tags", photos, "--json").stdout)["tags"]}
    assert entries["plane"]["present"] == 2
    assert entries["jet"]["parents"] == ["plane"]
    assert "plane is a parent of jet" in tagrank("tags", photos, "--history").stdout
    assert "undone: plane is a parent of jet" in tagrank("tags", photos, "--undo").stderr
    assert "plane" not in tagrank("tags", photos).stdout


def test_wrong_changes_are_usage_errors(tagrank, photos):
    tagrank("tags", photos, "--parent", "jet=plane")
    circle = tagrank("tags", photos, "--parent", "plane=jet")
    assert circle.exit_code == 2
    assert "circle" in circle.stderr
    assert tagrank("tags", photos, "--rename", "jet").exit_code == 2
    assert tagrank("tags", photos, "--undo", "--delete", "jet").exit_code == 2


def test_there_are_no_conflicts(tagrank, photos):
    tagrank("tags", photos, "--parent", "jet=plane")
    assert "no conflicts" in tagrank("tags", photos, "--conflicts").stderr

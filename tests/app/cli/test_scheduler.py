"""`--scheduler`: pictures are described on a cluster, with the same answers."""

import json

import pytest
from PIL import Image

from tagrank import draw_pictures
from tagrank.data import write_tags
from tagrank.solvers.cluster import client

distributed = pytest.importorskip("distributed", reason="distributed is absent: pip install 'tagrank[dask]'")
TRAINING = ("--method", "one-vs-all", "--C", 1, "--calibration", "none", "--test-size", 0.25)
FAST = ("--features", "hsv", "--no-cache")


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Forty tagged pictures."""
    folder, drawn = tmp_path_factory.mktemp("photos"), draw_pictures(40, size=48)
    tags_of = {}
    for i, (image, states) in enumerate(zip(drawn.view("pictures"), drawn.states(), strict=True)):
        path = folder / f"{i}.png"
        Image.fromarray(image).save(path)
        tags_of[path] = [tag for tag, state in zip(drawn.tags, states, strict=True) if state > 0]
    write_tags(tags_of, folder / "tags.csv")
    return folder


@pytest.fixture(scope="module")
def picture_model(tagrank, photos, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "photos"
    result = tagrank("train", photos, "-o", path, *TRAINING, *FAST)
    assert result.exit_code == 0, result.output
    return path


def test_the_answers_are_those_of_this_machine(tagrank, two_workers, photos, picture_model, monkeypatch):
    there = ("--scheduler", two_workers.scheduler.address)
    asked = []
    monkeypatch.setattr(client, "check_cluster", lambda one: asked.append(one.scheduler.address))
    for command in (
        ("annotate", picture_model, photos),
        ("evaluate", picture_model, photos, "--part", "all"),
    ):
        here, spread = (tagrank(*command, "--no-cache", "--json", *more) for more in ((), there))
        assert spread.exit_code == 0, spread.output
        here, spread = json.loads(here.stdout), json.loads(spread.stdout)
        for document in (here, spread):
            document.pop("feature_seconds", None)
        assert spread == here
    assert asked == [two_workers.scheduler.address] * 2


def test_the_model_is_that_of_this_machine(tagrank, two_workers, photos, picture_model, tmp_path):
    where = ("--scheduler", two_workers.scheduler.address)
    result = tagrank("train", photos, "-o", tmp_path / "model", *TRAINING, *FAST, *where)
    assert result.exit_code == 0, result.output
    here, there = (
        json.loads(tagrank("annotate", model, photos, "--no-cache", "--json").stdout)
        for model in (picture_model, tmp_path / "model")
    )
    assert there["pictures"] == here["pictures"]


@pytest.mark.parametrize("command", ["annotate", "evaluate", "missing", "train"])
def test_no_scheduler_answers(tagrank, photos, picture_model, tmp_path, monkeypatch, command):
    monkeypatch.setattr(client, "SECONDS_TO_ANSWER", 0.2)
    given = {
        "missing": (photos, *FAST),
        "train": (photos, "-o", tmp_path / "model", *TRAINING, *FAST),
    }.get(command, (picture_model, photos, "--no-cache"))
    result = tagrank(command, *given, "--scheduler", "tcp://127.0.0.1:9")
    assert result.exit_code == 1
    assert "error: no Dask scheduler answered at tcp://127.0.0.1:9 within 0.2 seconds" in result.stderr

"""What tags mean, at the desk: changed, told beforehand, taken back, and seen everywhere."""

import numpy as np
import pytest
from PIL import Image

from tagrank.archive import Archive
from tagrank.archive.records import PictureFilter
from tagrank.data.drawn_pictures import draw_pictures
from tagrank.desk.desk import Desk
from tagrank.desk.queues import make_queue
from tests.desk.conftest import as_answers
from tests.desk.fakes import FakeModels, FakeProposals, FakeTrainer

LISTED = {"a.png": "automobile", "b.png": "car", "c.png": "jet", "d.png": "sky"}


@pytest.fixture
def desk(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for name, pixels in zip(LISTED, draw_pictures(len(LISTED), size=32).view("pictures"), strict=True):
        Image.fromarray(pixels).save(folder / name)
    lines = "\n".join(f"{name},{tags}" for name, tags in LISTED.items())
    (folder / "tags.csv").write_text(f"image,tags\n{lines}\n")
    archive = Archive.open(folder, lock=True)
    archive.scan()
    tags = ["automobile", "car", "jet", "plane", "sky"]
    probabilities = np.full((4, 5), 0.3)
    probabilities[3] = [0.1, 0.2, 0.9, 0.4, 0.5]
    proposals = FakeProposals(1, archive.pictures().ids, tags, probabilities)
    with Desk(archive, FakeModels(proposals), FakeTrainer(), cache=False) as desk:
        yield desk


def change(desk, verb, tag, other="", *, dry_run=False):
    change.count = getattr(change, "count", 0) + 1
    request = f"change-{change.count}"
    return desk.change_tags(verb, tag, other, who="anna", request=request, dry_run=dry_run)


def present(desk):
    return {row["tag"]: row["present"] for row in desk.tags()["tags"]}


def test_a_merge_is_told_done_and_undone(desk):
    told = change(desk, "merge", "automobile", "car", dry_run=True)
    assert told == {"effects": ["1 picture tagged 'automobile' becomes 'car'"], "applied": False}
    assert present(desk)["car"] == 1
    assert change(desk, "merge", "automobile", "car")["applied"]
    assert present(desk) == {"car": 2, "jet": 1, "sky": 1}
    (step,) = desk.vocabulary()["history"]
    assert (step["by"], step["sentences"]) == ("anna", ["automobile is a synonym of car"])
    desk.undo(who="anna", request="undo-merge", batch=step["batch"])
    assert present(desk)["car"] == present(desk)["automobile"] == 1


def test_a_model_that_knows_the_old_name_still_proposes(desk):
    change(desk, "rename", "jet", "aircraft")
    last = desk.archive.pictures().ids[3]
    proposed = {pair["tag"]: pair["probability"] for pair in desk.picture(int(last))["proposed"]}
    assert proposed["aircraft"] == pytest.approx(0.9, abs=1e-3)


def test_a_yes_reaches_the_parents_in_memory(desk):
    change(desk, "parent", "jet", "plane")
    last = int(desk.archive.pictures().ids[3])
    desk.decide(as_answers([{"picture": last, "tag": "jet", "answer": "yes"}]), who="anna", request="yes")
    shown = {pair["tag"]: pair["state"] for pair in desk.picture(last)["tags"]}
    assert shown == {"jet": "present", "plane": "present", "sky": "present"}
    rows = {row["tag"]: row for row in desk.tags()["tags"]}
    assert (rows["plane"]["present"], rows["plane"]["yes"]) == (2, 0)
    desk.undo(who="anna", request="no after all")
    assert "plane" not in {pair["tag"] for pair in desk.picture(last)["tags"]}


def test_a_synonym_that_is_typed_is_its_tag(desk):
    change(desk, "synonym", "auto", "car")
    assert desk.complete("auto")["meant"] == "car"
    assert desk.complete("auto")["tags"] == ["automobile", "car"]
    last = int(desk.archive.pictures().ids[3])
    desk.decide(as_answers([{"picture": last, "tag": "auto", "answer": "yes"}]), who="anna", request="typed")
    assert "car" in {pair["tag"] for pair in desk.picture(last)["tags"]}
    assert (
        desk.pictures(PictureFilter(tag="auto"))["total"]
        == desk.pictures(PictureFilter(tag="car"))["total"]
        == 2
    )
    assert (
        desk.wall(make_queue("tag", tag="auto"))["items"] == desk.wall(make_queue("tag", tag="car"))["items"]
    )


def test_no_tag_is_more_probable_than_one_that_it_implies(desk):
    last = int(desk.archive.pictures().ids[3])
    change(desk, "parent", "jet", "plane")
    proposed = {pair["tag"]: pair["probability"] for pair in desk.picture(last)["proposed"]}
    # 0.9 and 0.4 meet in the middle
    assert proposed["jet"] == pytest.approx(0.65, abs=1e-3)
    assert proposed["plane"] == pytest.approx(0.65, abs=1e-3)
    walls = [desk.wall(make_queue("tag", tag=tag), who=tag)["items"] for tag in ("jet", "plane")]
    shown = [{item["picture"]["id"]: item["probability"] for item in wall} for wall in walls]
    assert shown[0][last] <= shown[1][last]

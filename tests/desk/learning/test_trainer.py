"""Trainings in a process of their own: progress, warm starts, cancelling, deaths, restarts."""

import os
import signal
import threading

import numpy as np
import pytest

from tagrank.archive import Answer, Archive
from tagrank.commands.demo import draw_archive
from tagrank.desk.learning import trainer
from tagrank.desk.learning.models import Models
from tagrank.desk.learning.remembered import load_remembered
from tagrank.desk.learning.trainer import Trainer
from tagrank.desk.learning.training import ArchiveReader
from tagrank.reports.quality import model_quality

STATUS = {"state", "what", "done", "of", "seconds", "gap", "error", "changes"}


class Followed:
    """A trainer whose trainings can be waited for."""

    def __init__(self, archive):
        self.archive, self.models = archive, Models(archive.own.folder)
        self.is_finished, self.numbers = threading.Event(), []
        self.trainer = Trainer(archive, features=["hsv"], n_jobs=1, on_finished=self._finish)

    def _finish(self, number):
        self.numbers.append(number)
        self.is_finished.set()

    def train(self, **more):
        """The status after a training, and after everything was saved."""
        self.is_finished.clear()
        self.trainer.start(**more)
        thread = self.trainer._thread
        if thread is not None:
            thread.join(120)
        return self.trainer.status()

    def decide(self, *answers):
        numbered = [Answer(int(picture), tag, answer) for picture, tag, answer in answers]
        self.archive.decide(numbered, who="anna", request=os.urandom(6).hex())


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("archive") / "pictures"
    draw_archive(folder, n_pictures=40, size=48)
    with Archive.open(folder) as archive:
        archive.scan()
        yield archive


@pytest.fixture(scope="module")
def followed(archive):
    followed = Followed(archive)
    assert followed.trainer.status()["state"] == "idle"
    assert followed.train()["error"] is None
    yield followed
    followed.trainer.close()


def test_a_first_model(followed):
    status, models = followed.trainer.status(), followed.models
    assert status.keys() == STATUS
    assert status["state"] == "done"
    assert status["changes"]["before"] is None
    assert all(gap >= 0 for _, gap in status["gap"])
    proposals = models.open(1)
    assert followed.numbers[0] == 1
    assert proposals.tags == followed.archive.tags()
    np.testing.assert_array_equal(proposals.ids, followed.archive.pictures().ids)
    assert proposals.is_judged.any()
    explained = proposals.annotator()
    assert explained.tags == proposals.tags
    assert {"made", "method", "metrics", "decisions", "seconds", "gap", "missing"} <= proposals.facts.keys()


def test_it_learns_from_decisions(followed):
    before = followed.models.open(followed.models.current)
    ids, tag = before.ids, before.tags[0]
    followed.decide((ids[0], tag, "no"), (ids[1], tag, "yes"), *((one, "balloon", "yes") for one in ids[:3]))
    status = followed.train()
    assert status["state"] == "done", status
    after = followed.models.open(followed.models.current)
    assert status["changes"]["model"] == after.number == before.number + 1
    assert status["changes"]["before"] == before.number
    assert status["changes"]["gained"] == ["balloon"]
    assert {one["name"] for one in status["changes"]["metrics"]} == set(after.facts["metrics"])
    assert all(one["before"] is not None for one in status["changes"]["metrics"])
    # one number wherever it is shown: in the facts, beside the model before, and in what its folder annotates
    quality = status["changes"]["quality"]
    assert quality["after"] == after.facts["quality"]
    assert quality["before"] == after.facts["others"][str(before.number)]["quality"]
    assert {one["name"]: one["after"] for one in status["changes"]["metrics"]} == after.facts["metrics"]
    told = model_quality(after.annotator())
    assert told.right == pytest.approx(quality["after"]["right"], abs=1e-6)
    assert told.found == pytest.approx(quality["after"]["found"], abs=1e-6)
    assert after.facts["decisions"] == before.facts["decisions"] + 5
    assert after.facts["last_decision"] == followed.archive.last_decision()
    assert after.facts["method"] == before.facts["method"]
    assert "choosing" not in after.facts["steps"]
    assert after.is_judged[:, after.tags.index("balloon")].any()


def test_a_cancelled_training_leaves_the_last_model(followed, monkeypatch):
    monkeypatch.setattr(trainer, "PATIENCE", 30.0)
    current = followed.models.current
    followed.trainer.start(fresh=True)
    thread = followed.trainer._thread
    followed.trainer.cancel()
    assert followed.trainer.status()["state"] == "cancelled"
    thread.join(60)
    assert followed.models.current == current
    assert followed.train()["state"] == "done"


def test_a_process_that_dies_is_said_and_replaced(followed):
    current = followed.models.current
    followed.trainer.start(fresh=True)
    thread = followed.trainer._thread
    while followed.trainer.status()["what"] == "starting":
        thread.join(0.005)
    os.kill(followed.trainer._worker._process.pid, signal.SIGKILL)
    thread.join(60)
    status = followed.trainer.status()
    assert status["state"] == "failed"
    assert "train again" in status["error"]
    assert followed.models.current == current
    # the new process begins with what the old one saved
    followed.trainer.warm_up()
    followed.trainer._thread.join(60)
    assert followed.trainer.status()["state"] == "idle"
    assert followed.train()["state"] == "done"
    facts = followed.models.open(followed.models.current).facts
    assert facts["method"] == followed.models.open(current).facts["method"]
    assert not {"choosing", "comparing"} & facts["steps"].keys()


def test_what_is_remembered_survives_a_restart(followed):
    remembered = load_remembered(followed.models, followed.models.current)
    proposals = followed.models.open(followed.models.current)
    np.testing.assert_array_equal(remembered.solutions.ids, proposals.ids)
    assert remembered.solutions.tags == proposals.tags
    assert remembered.solutions.of_all[0].shape == proposals.probabilities.shape
    path = followed.models.path(followed.models.current, "solutions") / "all.0.indices.npy"
    content = path.read_bytes()
    path.write_bytes(content[:-4] + b"\xff\xff\xff\x7f")
    assert load_remembered(followed.models, followed.models.current) is None
    path.write_bytes(content)


def test_an_archive_without_tags_says_so(tmp_path):
    folder = tmp_path / "pictures"
    draw_archive(folder, n_pictures=4, size=32, hidden=0.0)
    (folder / "tags.csv").unlink()
    with Archive.open(folder) as archive:
        archive.scan()
        followed = Followed(archive)
        try:
            status = followed.train()
        finally:
            followed.trainer.close()
    assert status["state"] == "failed"
    assert status["error"].startswith("no picture has a tag yet")
    assert followed.models.current is None


def test_what_follows_a_training_may_fail(followed):
    def fail(number):
        raise OSError("the page is gone")

    before, followed.trainer.on_finished = followed.trainer.on_finished, fail
    status = followed.train()
    followed.trainer.on_finished = before
    assert status["state"] == "done"
    assert "the page is gone" in status["error"]
    assert followed.train()["error"] is None


def test_what_was_accepted_unmarked_is_read_as_such(archive, followed):
    reader = ArchiveReader(str(archive.folder), str(archive.database), features=["hsv"], n_jobs=1)
    picture, tag = int(archive.pictures().ids[0]), "lantern"
    archive.decide([Answer(picture, tag, "yes")], who="anna", request=os.urandom(6).hex(), is_unmarked=True)
    examples, _, _ = reader.read()
    rows, columns = examples.unmarked
    assert (examples.ids[rows].tolist(), [examples.tags[j] for j in columns]) == ([picture], [tag])
    assert examples.states()[rows, columns].tolist() == [-1]
    archive.undo(who="anna", request=os.urandom(6).hex())
    assert len(reader.read()[0].unmarked[0]) == 0

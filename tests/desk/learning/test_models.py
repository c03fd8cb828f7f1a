"""Models in folders: whole or not there, gone back to, pruned; damaged ones are passed over."""

import json

import numpy as np
import pytest

from tagrank.desk.learning import models
from tagrank.desk.learning.models import Models

TAGS = ["sea", "sky"]
IDS = np.array([3, 5, 9])
FACTS = {"made": "2026-01-01", "method": "x", "metrics": {}, "decisions": 0, "last_decision": 0}


def write(home, **more):
    P = np.array([[0.5, 1e-12], [0, 1], [0.25, 0.75]])
    return home.write(IDS, TAGS, P, P, FACTS | more)


@pytest.fixture
def home(tmp_path):
    return Models(tmp_path)


def test_nothing_yet(home):
    assert home.list() == []
    assert home.current is None
    with pytest.raises(LookupError, match="no model 1"):
        home.open(1)


def test_what_was_written_is_read(home):
    assert write(home, decisions=7) == 1
    proposals = home.open(1)
    assert proposals.number == home.current == 1
    assert proposals.tags == TAGS
    assert proposals.facts["decisions"] == 7
    assert isinstance(proposals.probabilities.base, np.memmap)
    assert proposals.probabilities.dtype == np.float16
    np.testing.assert_array_equal(proposals.ids, IDS)
    # what is next to nothing is judged all the same
    np.testing.assert_array_equal(proposals.is_judged, [[1, 1], [0, 1], [1, 1]])
    np.testing.assert_allclose(proposals.held_out()[2], [0.25, 0.75])
    with pytest.raises(LookupError, match="train again"):
        proposals.annotator()


def test_going_back(home):
    write(home)
    assert write(home) == 2
    assert [facts["number"] for facts in home.list()] == [2, 1]
    home.use(1)
    assert Models(home.folder.parent).current == 1
    with pytest.raises(LookupError):
        home.use(3)
    assert home.current == 1
    # a number is never used again
    assert write(home) == 3
    assert home.current == 3


def test_old_models_are_pruned_but_not_the_current_one(home, monkeypatch):
    monkeypatch.setattr(models, "KEPT", 3)
    monkeypatch.setattr(models, "KEPT_WHOLE", 2)
    for _ in range(5):
        write(home)
    home.use(1)
    (home.folder / "2" / "model").mkdir()
    home.prune()
    assert [facts["number"] for facts in home.list()] == [5, 4, 1]
    assert [home.open(number).held_out() is None for number in (5, 4, 1)] == [False, True, False]


def damage(folder, name, content):
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)


def as_npy(array, tmp_path):
    np.save(tmp_path / "x.npy", array, allow_pickle=True)
    return (tmp_path / "x.npy").read_bytes()


DAMAGES = {
    "no facts": ("facts.json", lambda _: None),
    "facts that are no JSON": ("facts.json", lambda _: b"{"),
    "facts of another model": ("facts.json", lambda _: json.dumps(FACTS | {"number": 9}).encode()),
    "facts that lack something": ("facts.json", lambda _: b'{"number": 2}'),
    "no probabilities": ("probabilities.npy", lambda _: None),
    "cut probabilities": ("probabilities.npy", lambda path: as_npy(np.zeros((3, 2), np.float16), path)[:-3]),
    "other shape": ("probabilities.npy", lambda path: as_npy(np.zeros((2, 2), np.float16), path)),
    "nan": ("probabilities.npy", lambda path: as_npy(np.full((3, 2), np.nan, np.float16), path)),
    "objects": ("probabilities.npy", lambda path: as_npy(np.array([[print] * 2] * 3), path)),
    "ids that fall": ("ids.npy", lambda path: as_npy(np.array([3, 2, 1]), path)),
    "tags twice": ("tags.json", lambda _: b'{"tags": ["sea", "sea"]}'),
}


@pytest.mark.parametrize("case", DAMAGES)
def test_damage_is_said_and_does_no_harm(home, case, tmp_path):
    write(home)
    write(home)
    name, make = DAMAGES[case]
    damage(home.folder / "2", name, make(tmp_path))
    with pytest.raises(LookupError, match="model 2 is damaged"):
        home.open(2)
    assert home.open(1).number == Models(home.folder.parent).current == 1
    if name == "facts.json" or case == "no probabilities":
        assert [facts["number"] for facts in home.list()] == [1]
        assert "model 2 was skipped" in home.problems[0]


def test_nothing_half_written_stays(home, monkeypatch):
    write(home)

    def full(path, array):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(models, "_save", full)
    with pytest.raises(OSError, match="No space left"):
        write(home)
    assert [path.name for path in home.folder.iterdir() if path.is_dir()] == ["1"]
    assert home.current == 1

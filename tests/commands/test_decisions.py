"""What was decided at the desk reaches train, missing and evaluate on the same folder."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from PIL import Image

import tagrank
from tagrank.archive import Answer, Archive
from tagrank.commands.given_data import open_collection
from tagrank.data import Reading
from tagrank.data.drawn_pictures import draw_pictures
from tagrank.errors import ArgumentError
from tagrank.estimators.calibration.probability_ranker import ProbabilityRanker

N_PICTURES = 30
FEATURES = {"features": ["hsv"], "cache": False, "n_jobs": 1}


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Drawn pictures of which every second lacks a tag."""
    folder, drawn = tmp_path_factory.mktemp("photos"), draw_pictures(N_PICTURES, size=48)
    frequent = {tag for tag, n in zip(drawn.tags, drawn.tag_counts(), strict=True) if n >= N_PICTURES / 3}
    lines = ["image,tags"]
    for i, pixels in enumerate(drawn.view("pictures")):
        Image.fromarray(pixels).save(folder / f"{i:02d}.png")
        tags = {tag for tag, state in zip(drawn.tags, drawn.states()[i], strict=True) if state > 0}
        lines.append(f"{i:02d}.png,{'|'.join(sorted(tags & frequent)[i % 2 :])}")
    (folder / "tags.csv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def proposed(photos):
    return tagrank.missing(photos, top=None, method="one-vs-all", C=1.0, folds=3, **FEATURES)


@pytest.fixture(scope="module")
def decided(photos, proposed):
    """The folder with answers about the three best proposals."""
    best = proposed.suggestions[:3]
    with Archive.open(photos) as archive:
        archive.scan()
        table = archive.pictures()
        number = dict(zip(table.names, table.ids.tolist(), strict=True))
        answers = [
            Answer(number[one.name], one.tag, answer)
            for one, answer in zip(best, ("yes", "no", "skip"), strict=True)
        ]
        archive.decide(answers, who="anna", request="1")
    return photos


def test_labels_are_overridden(decided, proposed):
    rows = open_collection(decided)
    labels = rows.label_matrix.full().toarray()
    yes, no, skip = (
        labels[rows.names.index(one.name), rows.tags.index(one.tag)] for one in proposed.suggestions[:3]
    )
    assert (yes, no, np.isnan(skip)) == (1, 0, True)
    assert len(rows.decided) == 3
    assert open_collection(decided, reading=Reading(decisions=False)).decided == ()


def test_missing_does_not_ask_again(decided, proposed):
    found = tagrank.missing(decided, top=None, method="one-vs-all", C=1.0, folds=3, **FEATURES)
    pairs = {(one.name, one.tag) for one in found.suggestions}
    assert not pairs & {(one.name, one.tag) for one in proposed.suggestions[:3]}
    assert found.n_candidates == proposed.n_candidates - 3
    assert found.to_dict()["data"]["decisions"] == 3
    wrong = tagrank.missing(
        decided, top=None, wrong=True, max_probability=1.0, method="one-vs-all", C=1.0, folds=3, **FEATURES
    )
    accepted = proposed.suggestions[0]
    assert (accepted.name, accepted.tag) not in {(one.name, one.tag) for one in wrong.suggestions}


def test_train_and_evaluate_say_how_many_they_used(decided):
    options = {"method": "one-vs-all", "C": 1.0, "calibration": None, **FEATURES}
    training = tagrank.train(decided, **options)
    assert training.to_dict()["data"]["decisions"] == 3
    assert tagrank.train(decided, reading=Reading(decisions=False), **options).facts["decisions"] == 0
    with pytest.warns(UserWarning, match="used for training"):
        measured = tagrank.evaluate(training.annotator, decided, cache=False, n_jobs=1)
    assert measured.to_dict()["n_decisions"] == 3


def test_probabilities_are_learned_knowing_what_was_decided(decided, monkeypatch):
    seen, original = [], ProbabilityRanker._calibrate

    def spy(self, states, scores, decided=None, *audit):
        seen.append(decided)
        return original(self, states, scores, decided, *audit)

    monkeypatch.setattr(ProbabilityRanker, "_calibrate", spy)
    tagrank.train(decided, method="one-vs-all", C=1.0, **FEATURES)
    tagrank.train(decided, method="one-vs-all", C=1.0, reading=Reading(decisions=False), **FEATURES)
    assert seen[0].sum() == 3
    assert seen[1] is None


def test_decisions_are_about_a_folder(decided):
    with pytest.raises(ArgumentError, match="need a folder"):
        open_collection("drawn-pictures", reading=Reading(decisions="desk.sqlite"))
    with pytest.raises(FileNotFoundError, match="no decisions found"):
        open_collection(decided, reading=Reading(decisions=decided / "nowhere.sqlite"))


def test_a_database_that_is_not_ours_is_refused_and_can_be_left_out(decided, tmp_path):
    other = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute(
            "CREATE VIEW cells AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n"
        )
    with pytest.raises(ValueError, match=r"another program.*pass False for decisions"):
        open_collection(decided, reading=Reading(decisions=other))

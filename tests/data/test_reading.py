"""Tables of tags as options: one vocabulary for synonyms and parents."""

import numpy as np
import pytest

from tagrank.commands.evaluate import SPELLING, evaluate
from tagrank.commands.missing.missing import missing
from tagrank.commands.train import train
from tagrank.data import Collection, Reading
from tagrank.errors import ArgumentError
from tagrank.files import FileError


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "tags.csv"
    path.write_text("tag,parent,synonyms\njet,plane,\nplane,vehicle,aeroplane|airplane\n")
    return path


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((60, 3))
    labels = (X + generator.standard_normal(X.shape) > 0.5).astype(float)
    labels[:3] = np.eye(3)
    return Collection({"features": X}, labels, ["jet", "airplane", "sea"])


QUICK = {"method": "one-vs-all", "C": 1.0, "kernel": "linear"}


@pytest.mark.parametrize("word", ["keep", "leaf", "ancestors"])
def test_words_keep_their_meaning(word, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / word).write_text("tag,parent\na,b\n")
    assert Reading(lower_case=True, hierarchy=word, synonyms={"a": "b"}).spelling() == {
        "hierarchy": word,
        "fold_case": True,
        "synonyms": {"a": "b"},
    }


def test_a_table_says_synonyms_and_parents_by_either_option(table):
    said = {
        "hierarchy": "keep",
        "fold_case": False,
        "synonyms": {"aeroplane": "plane", "airplane": "plane"},
        "parents": {"jet": ["plane"], "plane": ["vehicle"]},
    }
    assert Reading(hierarchy=table).spelling() == said
    assert Reading(synonyms=str(table)).spelling() == said
    assert Reading(hierarchy="leaf", synonyms=[table]).spelling() == said | {"hierarchy": "leaf"}


def test_several_tables_and_pairs(table, tmp_path):
    (tmp_path / "more.csv").write_text("tag,synonyms\nvehicle,car\n")
    found = Reading(hierarchy=table, synonyms=[{"jet": "jet plane"}, tmp_path / "more.csv"]).spelling()
    assert found["synonyms"] == {
        "aeroplane": "plane", "airplane": "plane", "jet": "jet plane", "car": "vehicle",
    }  # fmt: skip
    assert found["parents"] == {"jet plane": ["plane"], "plane": ["vehicle"]}


def test_what_is_refused(table, tmp_path):
    with pytest.raises(ArgumentError, match=r"one of keep, leaf, ancestors, or a CSV file .* got 'leafs'"):
        Reading(hierarchy="leafs").spelling()
    (tmp_path / "wrong.csv").write_text("a,b\n1,2\n")
    with pytest.raises(FileError, match="column 'tag'"):
        Reading(hierarchy=tmp_path / "wrong.csv").spelling()
    (tmp_path / "back.csv").write_text("tag,parent\nvehicle,airplane\n")
    with pytest.raises(ArgumentError, match=r"circle.*'plane' implies 'vehicle' implies 'plane'"):
        Reading(hierarchy=table, synonyms=tmp_path / "back.csv").spelling()


def test_a_model_remembers_its_table(rows, table, tmp_path):
    made = train(rows, tmp_path / "model", reading=Reading(hierarchy=table), **QUICK)
    assert made.annotator.tags == ["jet", "plane", "vehicle", "sea"]
    assert made.annotator.metadata[SPELLING]["synonyms"]["airplane"] == "plane"
    # measured on data that list neither the parents nor the new names
    found = evaluate(tmp_path / "model", rows)
    truth = np.asarray(found.answers.Y)
    np.testing.assert_array_equal(truth[:, 1], np.asarray(rows.Y)[:, :2].max(axis=1))
    np.testing.assert_array_equal(truth[:, 2], truth[:, 1])
    probabilities = found.answers.probabilities
    assert np.all(probabilities[:, 0] <= probabilities[:, 1])
    assert np.all(probabilities[:, 1] <= probabilities[:, 2])


def test_a_model_is_measured_with_the_tags_of_its_training(rows, tmp_path):
    made = train(rows, **QUICK)
    for reading in (Reading(lower_case=True), Reading(synonyms={"a": "b"}), Reading(min_count=2)):
        with pytest.raises(
            ArgumentError, match="cleaned up in the same way as for training; leave out lower_case"
        ):
            evaluate(made.annotator, rows, reading=reading)


def test_missing_with_a_table(rows, table):
    found = missing(rows, reading=Reading(hierarchy=table), folds=3, min_probability=0.01, **QUICK)
    told = {(one.name, one.tag): one.probability for one in found.suggestions}
    both = [
        (told[name, "jet"], told[name, "plane"])
        for name, tag in told
        if tag == "jet" and (name, "plane") in told
    ]
    assert both
    assert all(jet <= plane for jet, plane in both)

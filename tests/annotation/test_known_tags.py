"""Tags that a picture is known to have raise and lower the others, and are named among the reasons."""

import json

import numpy as np
import pytest

from tagrank.annotation import Annotator, explain
from tagrank.annotation.known_tags import known_states
from tagrank.annotation.model_files.storage import read_model, write_model
from tagrank.commands.annotate import annotate, show_annotation
from tagrank.data import Collection
from tagrank.errors import ArgumentError
from tagrank.estimators import OneVsAllSVM, ProbabilityRanker

NAMES = ["jet", "plane", "sea", "sky"]


@pytest.fixture(scope="module")
def rows():
    """Rows that tell of jets, seas and skies; a jet is a plane in nine of ten cases, which no row tells."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    jet, sea, sky = (X + 0.5 * rng.normal(size=X.shape) > [0.4, 0.3, -0.2]).T
    hidden = rng.random(500) < 0.4  # what pictures do not show
    jet, plane = jet | hidden, (jet | hidden) & (rng.random(500) < 0.9)
    labels = np.column_stack([jet, plane, sea, sky]).astype(float)
    labels[labels.sum(axis=1) == 0, 3] = 1
    return Collection({"x": X}, labels, NAMES, names=[f"{i}.jpg" for i in range(500)])


@pytest.fixture(scope="module")
def annotator(rows):
    model = ProbabilityRanker(OneVsAllSVM(kernel="rbf", random_state=0), completeness=1, random_state=0)
    return Annotator(model).fit(rows.subset(slice(400)))


def probability(ranked, tag):
    return next(entry.probability for entry in ranked if entry.tag == tag)


def test_a_known_tag_raises_its_companion(annotator, rows):
    new = rows.subset(slice(400, 410)).X
    alone, given = annotator.annotate(new), annotator.annotate(new, known=[["jet"]] * 10)
    assert all(probability(g, "plane") > probability(a, "plane") for g, a in zip(given, alone, strict=True))
    refused = np.tile([-1, 0, 0, 0], (10, 1))
    lower = annotator.annotate(new, known=refused)
    assert all(probability(g, "plane") < probability(a, "plane") for g, a in zip(lower, alone, strict=True))
    nothing = annotator.annotate(new, known=[[]] * 10)
    assert [row.tags for row in nothing] == [row.tags for row in alone]


def test_known_tags_make_new_rows_more_certain(annotator, rows):
    new = rows.subset(slice(400, 500))
    truth = new.labels[:, 1]
    known = np.where(new.labels > 0, 1, 0)
    known[:, 1] = 0
    alone = np.array([probability(row, "plane") for row in annotator.annotate(new)])
    given = np.array([probability(row, "plane") for row in annotator.annotate(new, known=known)])

    def loss(p):
        return -np.mean(np.log(np.where(truth > 0, p, 1 - p)))

    assert loss(given) < 0.9 * loss(alone)


def test_the_reasons_name_the_tags_that_spoke(annotator, rows):
    (told,) = explain(annotator, rows.subset(slice(401, 402)), tags=["plane"], known=[["jet", "sea"]])
    assert told.known[0].tag == "jet"
    assert told.known[0].contribution > 0
    assert told.known[0].present
    assert told.to_dict()["known"][0]["tag"] == "jet"
    (alone,) = explain(annotator, rows.subset(slice(401, 402)), tags=["plane"])
    assert not alone.known
    assert (alone.score, alone.for_) == (told.score, told.for_)
    assert alone.probability < told.probability


def test_the_command_takes_the_tags_of_the_list(annotator, rows, tmp_path):
    new = rows.subset(slice(400, 420))
    found = annotate(annotator, new, known_tags=True, why=True, top=None)
    without = annotate(annotator, new, top=None)
    jets = np.flatnonzero(new.labels[:, 0] > 0)
    assert len(jets)
    for i in jets:
        assert probability(found.ranked[i], "plane") > probability(without.ranked[i], "plane")
    assert any(one.known for reasons in found.why for one in reasons)
    json.dumps(found.to_dict())
    lines = [str(line) for line in _texts(show_annotation(found, why=True).tables)]
    assert any("more likely with the tags jet" in line for line in lines)


def _texts(tables):
    for one in tables:
        yield getattr(one, "renderable", one)


def test_a_model_keeps_what_it_knows_of_tags(annotator, rows, tmp_path):
    annotator.save(tmp_path / "model")
    loaded, new = Annotator.load(tmp_path / "model"), rows.subset(slice(400, 410))
    known = [["jet"]] * 10
    assert loaded.annotate(new, known=known) == annotator.annotate(new, known=known)


def test_a_model_of_before_opens_and_known_tags_change_nothing(annotator, rows, tmp_path):
    annotator.save(tmp_path / "model")
    read, arrays = read_model(tmp_path / "model")
    content, new = read.rest(), {"ties", "votes", "company"}
    for name in new:
        del content["estimator"]["state"][name]
    kept = {name: array for name, array in arrays.items() if name.split(".")[-1] not in new}
    assert len(kept) == len(arrays) - 3
    write_model(tmp_path / "model", content, kept)
    loaded, new = Annotator.load(tmp_path / "model"), rows.subset(slice(400, 405))
    assert loaded.estimator_.companions_ is None
    assert loaded.annotate(new, known=[["jet"]] * 5) == loaded.annotate(new)
    with pytest.warns(UserWarning, match="change nothing"):
        annotate(loaded, new, known_tags=True)


@pytest.mark.parametrize("known", [["jet"], "jet", [["jet"]], np.zeros((2, 3))])
def test_what_is_known_must_fit(annotator, rows, known):
    with pytest.raises(ArgumentError, match="known must be"):
        annotator.annotate(rows.subset(slice(2)), known=known)


def test_without_log_odds_known_tags_are_refused(rows):
    plain = Annotator(OneVsAllSVM(kernel="rbf", random_state=0)).fit(rows)
    with pytest.raises(ArgumentError, match="calibration 'shared'"):
        plain.annotate(rows.subset(slice(1)), known=[["jet"]])


def test_known_tags_are_those_of_one_place(annotator, tmp_path):
    with pytest.raises(ArgumentError, match="one folder or one list"):
        annotate(annotator, [tmp_path / "a.jpg", tmp_path / "b.jpg"], known_tags=True)


def test_a_tag_that_is_implied_is_known_too():
    implied = np.array([[0, 1]])  # jet is a plane
    found = known_states([["jet", "unheard of"], []], NAMES, implied, 2)
    np.testing.assert_array_equal(found, [[1, 1, 0, 0], [0, 0, 0, 0]])
    refused = known_states(np.array([[0, -1, 0, 0]]), NAMES, implied, 1)
    np.testing.assert_array_equal(refused, [[-1, -1, 0, 0]])


def test_a_collection_tells_what_is_known_by_name(rows):
    found = known_states(rows.subset(slice(3)), ["sky", "moon"], np.zeros((0, 2), int), 3)
    np.testing.assert_array_equal(found[:, 0], rows.labels[:3, 3])
    assert not found[:, 1].any()

"""`missing`: hidden tags are found, planted ones too, and files and page say the same."""

import csv
import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from PIL import Image

from tagrank.commands.missing.missing import MissingTags, missing
from tagrank.data import Collection, Reading, hide_labels
from tagrank.data.drawn_pictures import draw_pictures
from tagrank.estimators.methods import methods


@pytest.fixture(scope="module")
def truth():
    """Rows whose four tags are half-planes, wholly known."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(160, 5))
    labels = (X @ rng.normal(size=(5, 4)) > 0.3).astype(float)
    return Collection({"x": X}, labels, ["sky", "sea", "boat", "sun"], name="coast")


@pytest.fixture(scope="module")
def incomplete(truth):
    """The same with a quarter of the tags hidden."""
    return truth.with_labels(hide_labels(truth.labels, 0.25, random_state=1))


def places(found, rows):
    names = [f"row {i}" for i in range(len(rows))]
    return [(names.index(one.name), rows.tags.index(one.tag)) for one in found.suggestions]


def test_hidden_tags_come_first(truth, incomplete):
    n_hidden = int((truth.labels - incomplete.labels).sum())
    found = missing(incomplete, top=n_hidden)
    right = np.mean([truth.labels[place] for place in places(found, truth)])
    guessed = missing(incomplete, top=n_hidden, method="label-frequency")
    by_chance = np.mean([truth.labels[place] for place in places(guessed, truth)])
    # among the candidates one in seven was hidden
    assert right > 0.6
    assert right > 2 * by_chance
    assert found.n_candidates == int((incomplete.labels == 0).sum())
    assert {one.state for one in found.suggestions} == {"absent"}


def test_planted_tags_come_first(truth):
    rng = np.random.default_rng(3)
    absent = np.argwhere(truth.labels == 0)
    planted = rng.choice(absent, 12, replace=False)
    labels = truth.labels.copy()
    labels[tuple(planted.T)] = 1
    found = missing(truth.with_labels(labels), wrong=True, top=12, C=10.0)
    assert len(set(places(found, truth)) & set(map(tuple, planted.tolist()))) >= 9
    probabilities = [one.probability for one in found.suggestions]
    assert probabilities == sorted(probabilities)
    assert {one.state for one in found.suggestions} == {"present"}


def test_order_and_limits(incomplete):
    everything = missing(incomplete, top=None, C=1.0).suggestions
    assert len(everything) == int((incomplete.labels == 0).sum())
    assert [one.rank for one in everything] == list(range(1, len(everything) + 1))
    keys = [(-one.probability, -one.score) for one in everything]
    assert keys == sorted(keys)
    few = missing(incomplete, top=9, per_tag=3, max_probability=0.6, min_probability=0.2, C=1.0).suggestions
    allowed = [one for one in everything if 0.2 <= one.probability <= 0.6]
    expected, seen = [], dict.fromkeys(incomplete.tags, 0)
    for one in allowed:
        seen[one.tag] += 1
        if seen[one.tag] <= 3:
            expected.append(one)
    assert [(one.name, one.tag) for one in few] == [(one.name, one.tag) for one in expected[:9]]
    assert [one.rank for one in few] == list(range(1, 10))


def test_unknown_labels_are_candidates_and_untagged_rows_if_asked(truth):
    labels = truth.labels.copy()
    labels[:3] = np.nan
    labels[5, 0] = np.nan
    rows = truth.with_labels(labels)
    found = missing(rows, top=None, C=10.0)
    assert [one.tag for one in found.suggestions if one.state == "unknown"] == ["sky"]
    # names count from the first row of the data, also where rows were left out
    assert "row 5" in {one.name for one in found.suggestions if one.state == "unknown"}
    more = missing(rows, top=None, C=10.0, untagged=True)
    assert sum(one.state == "unknown" for one in more.suggestions) == 3 * 4 + 1
    guesses = [one for one in more.suggestions if one.name in ("row 0", "row 1", "row 2")]
    probable = {(one.name, one.tag) for one in guesses if one.probability > 0.5}
    true = {(f"row {i}", truth.tags[j]) for i, j in np.argwhere(truth.labels[:3] == 1).tolist()}
    assert len(probable ^ true) <= 2


def test_same_seed_same_answer(incomplete):
    assert missing(incomplete, C=1.0, seed=4) == missing(incomplete, C=1.0, seed=4)


def test_a_tag_of_one_picture_is_never_called_wrong(truth):
    labels = np.column_stack([truth.labels, np.zeros(len(truth))])
    labels[8, 4] = 1
    rows = truth.with_labels(labels, [*truth.tags, "unique"])
    with pytest.warns(UserWarning, match="1 of 5 tags, such as .*, have too few pictures"):
        found = missing(rows, wrong=True, top=None, C=1.0)
    assert "unique" not in {one.tag for one in found.suggestions}
    assert found.unjudged == ["unique"]
    assert missing(rows, reading=Reading(min_count=2), C=1.0).unjudged == []


@pytest.mark.parametrize("method", [method.name for method in methods()])
def test_every_method(incomplete, method):
    found = missing(incomplete.subset(slice(60)), method=method, folds=2, top=5)
    assert len(found.suggestions) == 5
    assert found.method == method


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"top": 0}, "top must be at least 1"),
        ({"per_tag": 0}, "per_tag must be at least 1"),
        ({"min_probability": 0.8, "max_probability": 0.2}, "min_probability=0.8 and max_probability=0.2"),
        ({"min_probability": 60}, "expected 0 <= min_probability"),
        ({"calibration": "magic"}, "calibration must be"),
        ({"method": "label-rankr"}, "did you mean"),
        ({"folds": 1}, "at least 2"),
        ({"wrong": True, "untagged": True}, "pictures without tags have no wrong tags"),
        ({"depth": 3}, "no parameter depth"),
        ({"output": "found.txt"}, r"\.csv or \.jsonl"),
        ({"part": "test"}, "no part 'test'"),
    ],
)
def test_bad_options(incomplete, options, words):
    with pytest.raises(ValueError, match=words):
        missing(incomplete, **options)


def test_nothing_to_learn_from(truth):
    nothing = truth.with_labels(np.full(truth.labels.shape, np.nan))
    with pytest.raises(ValueError, match="none of the 160 rows of coast has tags to learn from"):
        missing(nothing)


def test_files_say_the_same(incomplete, tmp_path):
    found = missing(incomplete, tmp_path / "found.csv", top=7, C=1.0)
    missing(incomplete, tmp_path / "found.jsonl", top=7, C=1.0)
    with open(tmp_path / "found.csv", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert lines == [{key: str(value) for key, value in asdict(one).items()} for one in found.suggestions]
    texts = (tmp_path / "found.jsonl").read_text().splitlines()
    assert [json.loads(text) for text in texts] == [asdict(one) for one in found.suggestions]
    document = json.loads(json.dumps(found.to_dict()))
    assert document["suggestions"] == [asdict(one) for one in found.suggestions]
    assert document["about"] == "probably missing"
    assert isinstance(found, MissingTags)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_names_that_are_no_text_and_a_new_folder(incomplete, tmp_path, ending):
    """A file's name may hold bytes that no encoding explains; Python has them as lone surrogates."""
    odd = replace(incomplete, names=[f"caf\udce9 {i}.jpg" for i in range(len(incomplete))])
    output = tmp_path / "new" / f"found.{ending}"
    found = missing(odd, output, top=3, C=1.0)
    lines = output.read_text(encoding="utf-8").splitlines()
    for one, line in zip(found.suggestions, lines[-3:], strict=True):
        assert rf"caf\udce9 {one.name[5:]}" in line


def test_page_of_rows_is_safe(incomplete, tmp_path):
    hostile = replace(
        incomplete,
        names=[f"<script>{i}</script>" for i in range(len(incomplete))],
        tags=["<b>sky", "sea", "boat", "sun"],
    )
    found = missing(hostile, top=30, C=1.0, page=tmp_path / "new" / "page.html")
    text = (tmp_path / "new" / "page.html").read_text()
    assert "<script" not in text
    assert "<b>sky" not in text
    assert all(f"&lt;script&gt;{one.name[8:-9]}&lt;" in text for one in found.suggestions)
    assert text.count("probably missing: </span>") == 30


def test_page_when_nothing_is_found(incomplete, tmp_path):
    missing(incomplete, C=1.0, min_probability=1, page=tmp_path / "page.html")
    assert "No tags seem to be missing; " in (tmp_path / "page.html").read_text()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Forty drawn pictures in files with a list of their tags, one that is none, and one without tags."""
    place = tmp_path_factory.mktemp("pictures")
    drawn = draw_pictures(40, size=32, random_state=0)
    lines = []
    for i, (pixels, row) in enumerate(zip(drawn.view("pictures"), drawn.labels, strict=True)):
        Image.fromarray(pixels).save(place / f"{i:02d}.png")
        lines.append({"path": f"{i:02d}.png", "tags": [drawn.tags[j] for j in np.flatnonzero(row)]})
    (place / "39.png").write_bytes(b"no picture")
    lines[38]["tags"] = []
    return place, lines


def test_pictures_in_files(folder, tmp_path):
    place, lines = folder
    rows = Collection(
        {"pictures": [str(place / line["path"]) for line in lines]},
        [set(line["tags"]) for line in lines],
        names=[line["path"] for line in lines],
        name="drawings",
    )
    options = {
        "features": "fast",
        "cache": False,
        "n_jobs": 1,
        "C": 1.0,
        "reading": Reading(min_count=8),
        "folds": 3,
    }
    found = missing(rows, top=20, page=tmp_path / "page.html", **options)
    assert [problem.path for problem in found.problems] == [str(place / "39.png")]
    assert found.facts["rows"] == 38
    assert set(found.feature_seconds)
    text = (tmp_path / "page.html").read_text()
    assert text.count("data:image/jpeg;base64,") == len({one.name for one in found.suggestions})
    assert "39.png" in text
    assert "http" not in text.replace("http-equiv", "")
    with_untagged = missing(rows, top=None, untagged=True, page=tmp_path / "more.html", **options)
    assert "38.png" in {one.name for one in with_untagged.suggestions}
    assert "judged the 1 picture without tags" in (tmp_path / "more.html").read_text()


def test_how_many_suggestions_are_right(incomplete):
    """It is told by probabilities and completeness, but not of wrong tags, nor where tags are complete."""
    found = missing(incomplete, C=1.0, method="one-vs-all", completeness=0.5, top=10)
    p = np.array([one.probability for one in found.suggestions])
    assert found.n_right == pytest.approx(np.sum(0.5 * p / (1 - 0.5 * p)))
    right = found.right
    assert right.low < right.estimate < right.high <= 10
    between = f"({right.low:.0f} to {right.high:.0f})"
    assert found.quality == f"About {found.n_right:.0f} of these 10 suggestions are right {between}."
    assert found.to_dict()["quality"] == found.quality
    for other in ({"completeness": 1.0}, {"completeness": 0.5, "wrong": True, "max_probability": 1.0}):
        told = missing(incomplete, C=1.0, method="one-vs-all", top=10, **other)
        assert told.n_right is None
        assert told.quality[:3] == "10 "

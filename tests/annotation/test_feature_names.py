"""Columns of features go by name where both sides have names, else by position."""

import json

import numpy as np
import pytest

from tagrank.annotation import Annotator, ModelFileError, explain
from tagrank.commands.annotate import annotate
from tagrank.commands.evaluate import evaluate
from tagrank.data import Collection, from_frame, to_frame
from tagrank.data.readers.csv import read_csv, write_csv
from tagrank.estimators import LabelRanker

pd = pytest.importorskip("pandas")
NAMES = list("abcde")


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5)) * [1, 2, 3, 4, 5]
    tags = pd.DataFrame({f"tag:{name}": (X[:, j] > 0).astype(float) for j, name in enumerate(NAMES[:3])})
    return pd.concat([pd.DataFrame(X, columns=NAMES), tags], axis=1)


@pytest.fixture(scope="module")
def model(frame):
    return Annotator(LabelRanker(kernel="linear", random_state=0)).fit(from_frame(frame))


@pytest.fixture
def folder(model, tmp_path):
    model.save(tmp_path / "model", keep_rows=True)
    return tmp_path / "model"


def test_frames_and_collections_in_another_order(model, frame):
    expected = model.scores(frame[NAMES].to_numpy())
    np.testing.assert_array_equal(model.scores(frame[NAMES[::-1]]), expected)
    np.testing.assert_array_equal(model.scores({"features": frame[NAMES[::-1]]}), expected)
    np.testing.assert_array_equal(model.scores(from_frame(frame[frame.columns[::-1]])), expected)
    assert model.annotate(frame[NAMES[::-1]]) == model.annotate(frame[NAMES].to_numpy())


def test_without_names_columns_go_by_position(model, frame):
    X = frame[NAMES].to_numpy()
    np.testing.assert_array_equal(model.scores(pd.DataFrame(X)), model.scores(X))
    nameless = Annotator(LabelRanker(kernel="linear", random_state=0)).fit(Collection({"x": X}, X[:, :2] > 0))
    assert nameless.feature_names_ == {}
    np.testing.assert_array_equal(nameless.scores(frame[NAMES]), nameless.scores(X))


def test_names_that_repeat_are_no_names(frame):
    X, names = frame[NAMES].to_numpy(), {"features": ["a", "a", "b", "c", "d"]}
    model = Annotator(LabelRanker(kernel="linear")).fit(
        Collection({"features": X}, X[:, :2] > 0, feature_names=names)
    )
    assert model.feature_names_ == {}


def test_other_names_are_refused_and_named(model, frame):
    with pytest.raises(ValueError, match="in any order; 1 missing: 'b'; 1 unknown: 'z'"):
        model.scores(frame[NAMES].rename(columns={"b": "z"}))
    with pytest.raises(ValueError, match=r"columns of training, in any order; 2 missing: 'd', 'e'$"):
        model.scores(frame[NAMES[:3]])
    with pytest.raises(ValueError, match="order; 3 unknown: 'tag:a', 'tag:b', 'tag:c'"):
        model.scores(frame)
    many = pd.DataFrame(np.zeros((2, 9)), columns=[f"x{j}" for j in range(9)])
    with pytest.raises(ValueError, match=r"9 unknown: 'x0', 'x1', 'x2', 'x3', 'x4', \.\.\.$"):
        model.scores(many)
    X = frame[[*NAMES, "e"]].to_numpy()
    with pytest.raises(ValueError, match="each column once, but some of its 6 names occur twice"):
        model.scores(Collection({"features": X}, feature_names={"features": [*NAMES, "e"]}))


def test_names_are_stored(folder, model, frame):
    loaded = Annotator.load(folder)
    assert loaded.feature_names_ == {"features": NAMES}
    assert loaded.training_.feature_names == {"features": NAMES}
    np.testing.assert_array_equal(loaded.scores(frame[NAMES[::-1]]), model.scores(frame[NAMES]))
    with pytest.raises(ValueError, match="missing: 'a'"):
        loaded.scores(frame[NAMES[1:]])


def edit_view(folder, **changes):
    content = json.loads((folder / "model.json").read_text())
    content["views"][0] |= changes
    content["views"][0] = {key: value for key, value in content["views"][0].items() if value != "left out"}
    (folder / "model.json").write_text(json.dumps(content))


def test_models_without_names_still_load(folder, frame):
    edit_view(folder, feature_names="left out")
    loaded = Annotator.load(folder)
    assert loaded.feature_names_ == {}
    assert loaded.scores(frame[NAMES[::-1]]).shape == (40, 3)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a"], "has 5 columns, but 1 feature_names"),
        ([], "has 5 columns, but 0 feature_names"),
        (["a", "b", "c", "d", "d"], "list of different strings"),
        (["a", "b", "c", "d", 5], "list of different strings"),
        (["a", "b", "c", "d", ["e"]], "list of different strings"),
        ("abcde", "'feature_names' must be list, got str"),
        (None, "'feature_names' must be list, got NoneType"),
        ({"a": 1}, "'feature_names' must be list, got dict"),
    ],
)
def test_odd_names_in_model_files_are_refused(folder, names, message):
    edit_view(folder, feature_names=names)
    with pytest.raises(ModelFileError, match=message):
        Annotator.load(folder)


@pytest.fixture(scope="module")
def views(frame):
    X = frame[NAMES].to_numpy()
    names = {"colour": ["a", "b"], "shape": ["c", "d", "e"]}
    return Collection({"colour": X[:, :2], "shape": X[:, 2:]}, X[:, :3] > 0, feature_names=names)


def test_several_views_in_one_table(views, frame):
    model = Annotator(LabelRanker(kernel="linear", random_state=0)).fit(views)
    expected = model.scores(views)
    np.testing.assert_array_equal(model.scores(frame[NAMES[::-1]]), expected)
    table = to_frame(views).iloc[:, :5]
    assert list(table.columns) == ["colour.a", "colour.b", "shape.c", "shape.d", "shape.e"]
    np.testing.assert_array_equal(model.scores(table[table.columns[::-1]]), expected)
    with pytest.raises(ValueError, match="missing: 'c'; 1 unknown: 'z'"):
        model.scores(frame[NAMES].rename(columns={"c": "z"}))


def test_files_in_another_order(folder, frame, tmp_path):
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame[frame.columns[[1, 0, *range(2, 8)]]].to_csv(tmp_path / "swapped.csv", index=False)
    rows, swapped = tmp_path / "rows.csv", tmp_path / "swapped.csv"
    assert evaluate(folder, swapped).table.to_dict() == evaluate(folder, rows).table.to_dict()
    told = [annotate(folder, path, why=True).to_dict() for path in (rows, swapped)]
    assert told[0] == told[1]


def test_explanations_follow_the_names(model, frame):
    row = frame[NAMES].iloc[:1]
    assert explain(model, row[NAMES[::-1]], tags=["a"]) == explain(model, row, tags=["a"])


def test_names_of_written_rows_match(model, frame, tmp_path):
    write_csv(from_frame(frame[frame.columns[::-1]]), tmp_path / "again.csv")
    again = read_csv(tmp_path / "again.csv")
    np.testing.assert_allclose(model.scores(again), model.scores(frame[NAMES]))

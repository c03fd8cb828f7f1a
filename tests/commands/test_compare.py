"""`compare`: figures are those of `train` and `evaluate`; it goes on where it was; who loses is told."""

import json

import numpy as np
import pytest

import tagrank
from tagrank import Collection, compare, evaluate, train
from tagrank.annotation.choosing import CRITERION
from tagrank.commands.compare import running
from tagrank.commands.compare.compare import choose_methods, choose_metrics
from tagrank.commands.compare.summary import summarise
from tagrank.commands.compare.unit import run_unit
from tagrank.errors import ArgumentError
from tagrank.estimators.methods import METHODS
from tagrank.workers import TooSlow, WorkerDied

BASELINES = ["one-vs-all-logistic", "label-frequency"]
QUICK = {"methods": BASELINES, "metrics": ["Micro-F1", "Category-AUC"]}


def draw(n_rows=60, *, seed=0, name="toy", noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    Y = (X @ rng.normal(size=(4, 3)) + noise * rng.normal(size=(n_rows, 3)) > 0.2).astype(float)
    return Collection({"features": X}, Y, ["sea", "sky", "boat"], name=name)


class Here:
    """A pool that works in this process."""

    def __init__(self, work, **_):
        self.work = work

    def map(self, questions):
        for question in questions:
            yield question, self.work(question)


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    monkeypatch.setattr("tagrank.metrics.chance.MOST_DRAWS", 60)


@pytest.fixture
def in_this_process(monkeypatch):
    monkeypatch.setattr(running, "WorkerPool", Here)


@pytest.fixture(scope="module")
def found():
    """In processes of their own, as always."""
    return compare(draw(), methods=[*BASELINES, "label-ranker"], metrics="Image-AUC,Micro-F1", test_size=0.4)


def test_figures_are_those_of_train_and_evaluate(found):
    parted = tagrank.split_collection(draw(), test_size=0.4, random_state=0)
    lines = {line.method: line for line in found.data[0].lines}
    assert len(lines) == 3
    for name, line in lines.items():
        model = train(parted, method=name, **line.parameters[0]).annotator
        table = evaluate(model, parted).table
        for metric in ("Image-AUC", "Micro-F1", "Category-MAP"):
            assert line.values[metric] == pytest.approx(table[metric], abs=1e-9)
        assert line.values[CRITERION] == pytest.approx((table["Image-AUC"] + table["Image-MAP"]) / 2)


def test_lines_are_ordered_and_have_intervals(found):
    values = [line.values[CRITERION] for line in found.data[0].lines]
    assert values == sorted(values, reverse=True)
    for line in found.data[0].lines:
        low, high = line.intervals[CRITERION]
        assert low < line.values[CRITERION] < high
        assert set(line.intervals) == {CRITERION, "Image-AUC", "Micro-F1"}
        assert line.total_seconds > 0
    assert found.data[0].lines[0].is_like_best
    frequency = next(line for line in found.data[0].lines if line.method == "label-frequency")
    assert not frequency.is_like_best


def test_the_answer_is_plain(found):
    document = json.loads(json.dumps(found.to_dict()))
    assert document["criterion"] == CRITERION
    assert [line["method"] for line in document["data"][0]["methods"]]
    assert document["data"][0]["folds"] == [{"training": 36, "test": 24}]


def unit(value, *, f1=0.5, spread=0.01, shift=0.0):
    """What comes out of a method: the draws lie around the value, the same for all but for a shift."""
    draws = value + shift + spread * np.sin(np.arange(200.0))
    return {
        "state": "done",
        "values": {CRITERION: value, "Micro-F1": f1},
        "draws": {CRITERION: draws, "Micro-F1": f1 + spread * np.cos(np.arange(200.0))},
        "parameters": {},
        "seconds": dict.fromkeys(("tuning", "training", "prediction"), 1.0),
        "tuning": None,
        "warnings": [],
    }


def test_who_loses_is_told():
    noisy = unit(0.789)
    noisy["draws"][CRITERION] = 0.789 + 0.05 * np.cos(np.arange(200.0))
    found = {
        "label-ranker": [unit(0.6, f1=0.4)],
        "label-frequency": [unit(0.7, f1=0.3)],
        "one-vs-all-logistic": [unit(0.79, f1=0.6)],
        "one-vs-all": [unit(0.8, f1=0.2)],
        "joint-svm": [noisy],
        "online-ranker": [{"state": "failed", "reason": "no columns"}],
    }
    lines = summarise("toy", [], found, CRITERION, ["Micro-F1"]).lines
    words = {line.method: line.words for line in lines}
    assert list(words) == [
        "one-vs-all",
        "one-vs-all-logistic",
        "joint-svm",
        "label-frequency",
        "label-ranker",
        "online-ranker",
    ]
    assert (
        words["label-ranker"]
        == "below label frequency in MAP and AUC; below logistic regression in MAP and AUC"
    )
    assert words["one-vs-all"] == "below label frequency in Micro-F1"
    assert words["joint-svm"] == "below logistic regression in MAP and AUC, within chance"
    assert words["label-frequency"] == words["one-vs-all-logistic"] == ""
    assert words["online-ranker"] == "failed: no columns"
    assert [line.method for line in lines if line.is_like_best] == ["one-vs-all", "joint-svm"]


def test_figures_of_folds_are_means():
    late = {**unit(0.8), "tuning": {"is_complete": False}}
    line = summarise("toy", [], {"one-vs-all": [unit(0.6), late]}, CRITERION, ["Micro-F1"]).lines[0]
    assert line.values[CRITERION] == pytest.approx(0.7)
    assert line.seconds["tuning"] == 2
    assert line.words == "tuning stopped early"
    units = {"one-vs-all": [unit(0.6), {"state": "too slow", "reason": "not finished"}]}
    assert summarise("toy", [], units, CRITERION, []).lines[0].words == "too slow: fold 2: not finished"


def test_baselines_always_run_and_families_are_known():
    assert choose_methods("label-ranker") == ["label-ranker", *BASELINES]
    assert choose_methods("all") == [entry.name for entry in METHODS]
    assert set(choose_methods(["multiple kernels", "joint"])) >= {"multiple-kernel-svm", "joint-svm"}
    assert choose_methods("multiple-kernels,joint") == choose_methods(["multiple kernels", "joint"])
    with pytest.raises(ArgumentError, match="did you mean 'label-ranker'"):
        choose_methods("label-rankr")
    assert choose_metrics("micro-f1, image-auc") == ("Micro-F1", "Image-AUC")


def test_it_goes_on_where_it_was(in_this_process, tmp_path, monkeypatch):
    folder = tmp_path / "kept"
    first = compare(draw(), folder, **QUICK)
    assert first.n_before == 0
    more = compare(draw(), folder, **{**QUICK, "methods": "online-ranker"})
    assert more.n_before == 2
    monkeypatch.setattr(running, "run_unit", None)
    again = compare(draw(), folder, **QUICK)
    assert again.n_before == 2
    assert again.data[0].lines == first.data[0].lines


def test_an_interrupted_comparison_keeps_what_is_done(tmp_path, monkeypatch):
    class Interrupted(Here):
        def map(self, questions):
            yield questions[0], self.work(questions[0])
            raise KeyboardInterrupt

    monkeypatch.setattr(running, "WorkerPool", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        compare(draw(), tmp_path / "kept", **QUICK)
    monkeypatch.setattr(running, "WorkerPool", Here)
    assert compare(draw(), tmp_path / "kept", **QUICK).n_before == 1


def test_other_settings_are_refused(in_this_process, tmp_path):
    folder, frequency = tmp_path / "kept", {**QUICK, "methods": "label-frequency"}
    compare(draw(), folder, **frequency)
    with pytest.raises(
        ArgumentError, match=r"other settings \(seed was 0 and is now 1\); name another folder, or"
    ):
        compare(draw(), folder, seed=1, **frequency)
    with pytest.raises(ArgumentError, match="other content of 'toy'"):
        compare(draw(seed=5), folder, **frequency)
    compare(draw(seed=5, name="another"), folder, **frequency)
    assert compare(draw(), folder, **frequency).n_before == 2
    assert compare(draw(), folder, seed=1, fresh=True, **frequency).n_before == 0


def test_a_folder_of_others_is_refused(tmp_path):
    (tmp_path / "letters.txt").write_text("mine")
    with pytest.raises(ArgumentError, match="has files, but no comparison"):
        compare(draw(), tmp_path, **QUICK)
    assert [path.name for path in tmp_path.iterdir()] == ["letters.txt"]


def test_a_method_that_does_not_fit_is_not_begun(monkeypatch, tmp_path):
    monkeypatch.setattr(running, "available_memory", lambda: 10.0)
    found = compare(draw(), tmp_path / "kept", **QUICK)
    assert {line.state for line in found.data[0].lines} == {"too large"}
    assert "of memory, but only 0 MiB are free" in found.data[0].lines[0].words
    monkeypatch.undo()
    monkeypatch.setattr(running, "WorkerPool", Here)
    # what was not done is tried again
    assert compare(draw(), tmp_path / "kept", **QUICK).data[0].lines[0].is_done


def test_without_room_for_similarities_kernels_are_straight(monkeypatch):
    monkeypatch.setattr(running, "WorkerPool", Here)
    monkeypatch.setattr(running, "available_memory", lambda: 10_000.0)
    found = compare(draw(), methods="one-vs-all", metrics="Image-AUC")
    parameters = {line.method: line.parameters for line in found.data[0].lines if line.is_done}
    assert parameters["one-vs-all"][0]["kernel"] == "linear"


@pytest.mark.parametrize(
    ("answer", "state", "words"),
    [
        (TooSlow("late"), "too slow", "not finished within 5 seconds"),
        (WorkerDied("killed"), "failed", "its process crashed (killed)"),
    ],
)
def test_a_process_that_ends_stops_no_other(monkeypatch, answer, state, words):
    class Dying(Here):
        def map(self, questions):
            yield questions[0], answer
            yield from super().map(questions[1:])

    monkeypatch.setattr(running, "WorkerPool", Dying)
    found = compare(draw(), max_seconds=5, **QUICK)
    done, lost = found.data[0].lines
    assert done.is_done
    assert (lost.method, lost.state, lost.reason) == (BASELINES[0], state, words)


def test_a_method_that_fails_says_why(monkeypatch):
    def fail(unit):
        raise ZeroDivisionError("one by\nnought")

    monkeypatch.setattr("tagrank.commands.compare.unit._measured", fail)
    assert run_unit(None) == {"state": "failed", "reason": "ZeroDivisionError: one by nought"}


def test_several_data_sets_are_ranked(in_this_process):
    found = compare([draw(), draw(seed=1), draw(seed=2, name="c")], **QUICK)
    assert [one.name for one in found.data] == ["toy", "toy (2)", "c"]
    assert found.ranked_over == "data sets"
    assert found.ranks.names == tuple(BASELINES)
    assert found.ranks.ranks == (1.0, 2.0)
    assert found.ranks.n_blocks == 3
    assert found.left_out == []


def test_folds(in_this_process):
    found = compare(draw(), folds=3, **QUICK)
    line = found.data[0].lines[0]
    assert (len(line.parameters), found.ranked_over, found.ranks.n_blocks) == (3, "folds", 3)
    assert found.data[0].sizes == "3 folds of 60 rows, 3 tags"


def test_data_that_cannot_be_compared_on():
    rows = draw(20)
    part = np.repeat(["train", "test"], 10)
    labels = np.where((part == "test")[:, None], 0.0, rows.Y)
    untagged = rows.with_labels(labels, rows.tags).with_part(part)
    with pytest.raises(ValueError, match="the test part of toy has no tags"):
        compare(untagged, **QUICK)
    with pytest.raises(ValueError, match="has one row"):
        compare(rows.subset([0]), **QUICK)
    with pytest.raises(ArgumentError, match="cannot be combined"):
        compare(rows, folds=3, test_size=0.2, **QUICK)
    with pytest.raises(ArgumentError, match="no data to compare on"):
        compare([], **QUICK)
    with pytest.raises(ValueError, match="30 folds need at least as many rows, got 20"):
        compare(rows, folds=30, **QUICK)


def test_one_tag(in_this_process):
    rows = draw()
    found = compare(rows.with_labels(rows.Y[:, :1], ["sea"]), methods=BASELINES, metrics="Micro-F1")
    assert found.criterion == "Category-AUC"
    assert found.data[0].lines[0].method == BASELINES[0]


def test_pictures(in_this_process):
    pictures = tagrank.draw_pictures(40)
    found = compare(pictures, methods="label-frequency", metrics="Micro-F1", features="fast", cache=False)
    assert found.data[0].folds[0].kind == "picture"
    logistic = next(line for line in found.data[0].lines if line.method == BASELINES[0])
    assert logistic.parameters[0]["kernel_power"] in (1, 2, 4)

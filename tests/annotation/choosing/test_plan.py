"""How many rows are compared, within the memory there is."""

from types import SimpleNamespace

import numpy as np
import pytest

from tagrank import Annotator
from tagrank.annotation.choosing import Budget, Recipe, plan
from tagrank.annotation.choosing.landmarks import settle_landmarks
from tagrank.annotation.choosing.pace import Pace
from tagrank.data import Collection
from tagrank.errors import ArgumentError
from tagrank.estimators import LabelRanker, MultipleKernelRanker, RidgeRegression, ScoreSum
from tagrank.options import read_size, size

GIBIBYTE = 2.0**30


@pytest.fixture(autouse=True)
def _of_an_empty_process(monkeypatch):
    monkeypatch.setattr(plan, "memory_in_use", lambda: 0.0)


def draw(n_rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    Y = np.cos(2 * X) + 0.3 * rng.normal(size=X.shape) > 0.3
    return Collection({"rows": X}, Y.astype(float), ["sky", "sea", "boat", "street"])


@pytest.fixture
def rows():
    return draw(300)


def test_what_fits_is_compared_as_a_whole():
    told = Budget(GIBIBYTE).plan(LabelRanker(), 5000, 20)
    assert (told.n_landmarks, told.words) == (None, "")
    assert told.n_bytes <= GIBIBYTE
    estimator = LabelRanker()
    assert told.applied(estimator) is estimator


def test_what_does_not_fit_is_compared_with_landmarks():
    told = Budget(GIBIBYTE).plan(LabelRanker(), 50_000, 20)
    assert told.n_landmarks == plan.LANDMARKS
    assert told.n_bytes <= GIBIBYTE
    assert "1,024 landmarks" in told.words
    assert "15.3 GiB" in told.words
    assert told.applied(LabelRanker(C=3)).get_params()["landmarks"] == plan.LANDMARKS
    both = told.applied(ScoreSum(LabelRanker(), LabelRanker()))
    assert both.landmarks == both.second.landmarks == plan.LANDMARKS


def test_with_less_memory_there_are_fewer_landmarks():
    numbers = [Budget(share * GIBIBYTE).plan(LabelRanker(), 50_000, 20).n_landmarks for share in (1, 0.2)]
    assert numbers == [1024, 256]


def ways_of(n_bytes, n_rows=50_000):
    told = Budget(n_bytes, is_exact=True).plan(LabelRanker(), n_rows, 20)
    assert told.n_landmarks is None
    assert told.n_bytes <= n_bytes
    return told


def test_exact_ways_are_taken_in_their_order(monkeypatch, tmp_path):
    monkeypatch.setattr(plan, "large_files_folder", lambda: tmp_path)
    monkeypatch.setattr(plan, "is_in_memory", lambda folder: False)
    disk = SimpleNamespace(free=20 * GIBIBYTE)
    monkeypatch.setattr(plan.shutil, "disk_usage", lambda folder: disk)
    assert [ways_of(n * GIBIBYTE).place for n in (16, 10, 8)] == ["memory", "shared", "file"]
    assert "in a file of 9.3 GiB" in ways_of(8 * GIBIBYTE).words
    disk.free = 10 * GIBIBYTE
    assert ways_of(8 * GIBIBYTE).place == "computed"
    disk.free = 20 * GIBIBYTE
    monkeypatch.setattr(plan, "is_in_memory", lambda folder: True)
    assert ways_of(8 * GIBIBYTE).place == "computed"


def test_what_has_no_more_ways_is_refused_with_the_least():
    with pytest.raises(
        ArgumentError, match=r"at least 233 MiB .* 100 MiB of the 100 MiB .*; allow 500 MiB, leave exact out"
    ):
        ways_of(100 * 2.0**20)


def test_seconds_that_are_left_are_obeyed():
    pace = Pace(operations=1e11, seconds_a_pair=1e-8)
    usual = Budget(16 * GIBIBYTE).plan(LabelRanker(), 20_000, 100, pace)
    assert usual.n_landmarks is None
    assert usual.seconds > 10
    assert Budget(16 * GIBIBYTE).plan(LabelRanker(), 20_000, 100, pace, seconds=5.0).n_landmarks


def test_what_this_process_holds_counts(monkeypatch):
    monkeypatch.setattr(plan, "memory_in_use", lambda: 3 * GIBIBYTE)
    assert Budget(4 * GIBIBYTE).n_bytes == GIBIBYTE
    assert Budget(2 * GIBIBYTE).n_bytes == 0


def test_a_pace_is_measured():
    pace = Pace.measure(LabelRanker().raised_kernel(1), np.random.default_rng(0).normal(size=(300, 4)))
    assert pace.operations > 0
    assert pace.seconds_a_pair > 0
    seconds = pace.of_all(1000, 10)
    assert seconds["computed"] > seconds["memory"] > 0


@pytest.mark.parametrize("place", ["shared", "file", "computed"])
def test_a_model_is_that_of_similarities_in_memory(rows, monkeypatch, place):
    monkeypatch.setattr("tagrank.annotation.choosing.steps.MOST_ROWS", 150)
    monkeypatch.setattr("tagrank.annotation.choosing.steps.MOST_PAIRS", 1)
    recipe = Recipe("label-ranker", {"kernel": "rbf", "tol": 1e-6}, exact=True)
    usual = Annotator(recipe).fit(rows)
    ways = Budget._ways

    def only(*args):
        return [way._replace(n_bytes=0 if way.place == place else 1e18) for way in ways(*args)]

    monkeypatch.setattr(Budget, "_ways", only)
    model = Annotator(recipe).fit(rows)
    assert plan.PLACES[place] in model.choice_.plan
    at = np.random.default_rng(1).normal(size=(50, 4))
    np.testing.assert_allclose(model.probabilities(at), usual.probabilities(at), atol=2e-3)


def test_many_rows_have_landmarks_however_much_memory_there_is():
    assert Budget(1e15).plan(LabelRanker(), plan.MOST_COMPARED + 1, 5).n_landmarks == plan.LANDMARKS
    assert Budget(1e15, is_exact=True).plan(LabelRanker(), plan.MOST_COMPARED + 1, 5).n_landmarks is None


@pytest.mark.parametrize(
    ("budget", "estimator", "words"),
    [
        (
            Budget(GIBIBYTE, is_exact=True),
            RidgeRegression(),
            r"least 15\.3 GiB .* 1\.0 GiB of the 1\.0 GiB .* left; allow 16,000 MiB, leave exact out",
        ),
        (Budget(GIBIBYTE), MultipleKernelRanker(), "choose a method with landmarks"),
        (
            Budget(1e6),
            LabelRanker(),
            r"need at least \d+ MiB, and 1 MiB of the 1 MiB .*; allow 400 MiB or train",
        ),
    ],
)
def test_what_cannot_be_done_is_told_with_what_it_needs(budget, estimator, words):
    with pytest.raises(ArgumentError, match=words):
        budget.plan(estimator, 50_000, 20)


@pytest.mark.parametrize("method", ["auto", "label-ranker", "ridge-regression"])
@pytest.mark.parametrize("exact", [False, True])
def test_too_little_memory_is_told_before_anything_is_tried(rows, monkeypatch, method, exact):
    monkeypatch.setattr("tagrank.annotation.choosing.steps.Trials.try_costs", None)
    with pytest.raises(
        ArgumentError, match=r"300 rows with 4 labels needs at least \d MiB, .*; allow 300 MiB"
    ):
        Annotator(Recipe(method, memory=1e4, exact=exact)).fit(rows)


def test_the_memory_that_is_told_counts_what_this_process_holds(monkeypatch):
    monkeypatch.setattr(plan, "memory_in_use", lambda: GIBIBYTE)
    with pytest.raises(ArgumentError, match=r"0 MiB of the 500 MiB .*; allow 1,300 MiB"):
        Budget(500 * 2.0**20).check([2.0**20], 10, 3)


def test_the_choice_leaves_room_for_the_training_on_all_rows():
    n_bytes = 4.0 * 1000**2 * (2 + plan.PART**2) + plan.BYTES_A_LABEL * 1000 * 20
    assert Budget(n_bytes).fits(1000, 20)
    assert Budget(n_bytes + 1e6).fits(1000, 20, beside=1e6)
    assert not Budget(n_bytes).fits(1000, 20, beside=1e6)


def test_the_way_that_needs_least_decides():
    straight, landmarks = (
        Budget(1e12).least(LabelRanker(), 50_000, 20, is_compared=is_compared)
        for is_compared in (False, True)
    )
    assert straight < landmarks
    assert Budget(straight).check([straight, landmarks], 50_000, 20) == straight
    with pytest.raises(ArgumentError, match="at least"):
        Budget(straight).check([landmarks], 50_000, 20)


def test_a_model_of_many_rows_learns_from_landmarks(rows, monkeypatch, tmp_path):
    monkeypatch.setattr(plan, "MOST_COMPARED", 100)
    monkeypatch.setattr("tagrank.annotation.choosing.steps.MOST_COMPARED", 100)
    monkeypatch.setattr("tagrank.annotation.choosing.steps.MOST_ROWS", 150)
    monkeypatch.setattr("tagrank.annotation.choosing.steps.MOST_PAIRS", 1)
    exact = Annotator(Recipe(exact=True)).fit(rows)
    assert exact.choice_.plan == ""
    few = Annotator(Recipe()).fit(rows)
    assert "compared with 1,024 landmarks" in few.choice_.plan
    assert few.choice_.to_dict()["plan"] == few.choice_.plan
    at = np.random.default_rng(1).normal(size=(50, 4))
    # with as many landmarks as rows nothing is lost
    np.testing.assert_allclose(few.probabilities(at), exact.probabilities(at), atol=0.02)


def test_what_landmarks_cost_is_not_told_when_time_was_over(rows):
    told = Budget(1e15).plan(LabelRanker(), plan.MOST_COMPARED + 1, 4)
    X, Y = rows.view("rows"), np.asarray(rows.labels, dtype=float)
    sample = LabelRanker().compare(X), Y
    options = {"sample": sample, "stop": lambda: True}
    late = settle_landmarks(told, Budget(1e15), LabelRanker(), X, Y, **options)
    assert "beside comparing all" not in late.words
    in_time = settle_landmarks(told, Budget(1e15), LabelRanker(), X, Y, sample=sample)
    assert "beside comparing all" in in_time.words


def test_with_little_memory_the_choice_looks_at_fewer_rows():
    rows = draw(1200)
    few = Annotator(Recipe("label-ranker", {"kernel": "rbf"}, memory=5e6)).fit(rows)
    assert few.choice_.n_rows == 600
    assert "512 landmarks" in few.choice_.plan


@pytest.mark.parametrize(
    ("text", "n_bytes"), [("8G", 8 * 2**30), ("500m", 500 * 2**20), ("1.5 GiB", 1.5 * 2**30), ("4096", 4096)]
)
def test_sizes_are_read(text, n_bytes):
    assert read_size(text) == n_bytes
    size(text)


@pytest.mark.parametrize("text", ["", "much", "-1G", "0", "8X", "G"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ArgumentError, match="expected an amount of memory with its unit, such as 8G"):
        size(text)

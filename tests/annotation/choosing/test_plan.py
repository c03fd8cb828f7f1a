"""How many rows are compared, within the memory there is."""

import numpy as np
import pytest

from tagrank import Annotator
from tagrank.annotation.choosing import Budget, Recipe, plan
from tagrank.data import Collection
from tagrank.errors import ArgumentError
from tagrank.estimators import LabelRanker, MultipleKernelRanker, ScoreSum
from tagrank.options import read_size, size

GIBIBYTE = 2.0**30


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


def test_many_rows_have_landmarks_however_much_memory_there_is():
    assert Budget(1e15).plan(LabelRanker(), plan.MOST_COMPARED + 1, 5).n_landmarks == plan.LANDMARKS
    assert Budget(1e15, is_exact=True).plan(LabelRanker(), plan.MOST_COMPARED + 1, 5).n_landmarks is None


@pytest.mark.parametrize(
    ("budget", "estimator", "words"),
    [
        (
            Budget(GIBIBYTE, is_exact=True),
            LabelRanker(),
            r"15\.3 GiB .* 1\.0 GiB may be taken; leave exact out",
        ),
        (Budget(GIBIBYTE), MultipleKernelRanker(), "choose a method with landmarks"),
        (Budget(1e6), LabelRanker(), r"need at least 0\.\d GiB, and 0\.0 GiB may be taken; give more memory"),
    ],
)
def test_what_cannot_be_done_is_told_with_what_it_needs(budget, estimator, words):
    with pytest.raises(ArgumentError, match=words):
        budget.plan(estimator, 50_000, 20)


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
    with pytest.raises(ArgumentError, match="expected an amount of memory, such as 8G"):
        size(text)

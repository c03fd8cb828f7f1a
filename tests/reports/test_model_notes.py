"""How the model was chosen, on the page: from the model itself, and from its notes.

What each kernel weighs and costs, on the page: from the model itself, and from its notes.
"""

from dataclasses import replace

import numpy as np
import pytest

from tagrank import Annotator, MultipleKernelRanker
from tagrank.annotation.choosing import Choice, Trial, Weighing
from tagrank.reports.model_notes import (
    CHOICE,
    KERNELS,
    choice_section,
    choice_words,
    describe_choice,
    describe_kernels,
    kernels_section,
)


@pytest.fixture
def choice():
    scores = {"MAP and AUC": (0.7, 0.8)}
    first = Trial((1.0, 3.0), scores, method="label-ranker", kernel="Gaussian", value=0.83)
    second = Trial((1.0, 3.0), scores, method="one-vs-all", kernel="Gaussian", value=0.81)
    third = Trial((1.0, 3.0), scores, method="label-ranker", kernel="linear")
    return Choice((first, second, third), (first, second), 0.85, "MAP and AUC", 400, 12.5)


def loaded(notes):
    annotator = Annotator()
    annotator.choice_, annotator.metadata = None, {CHOICE: notes}
    return annotator


def test_words(choice):
    assert choice_words(choice) == (
        "MAP and AUC 0.850, 2.0 points above the next best; 3 models tried on 400 held out in 12.5 s"
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.8297, "0.0 points above"), (0.8267, "0.3 points below"), (0.83, "0.0 points above")],
)
def test_a_lead_has_no_sign(choice, value, words):
    assert f"{value:.3f}, {words} the next best" in choice_words(replace(choice, value=value))


def test_what_was_tried_is_listed(choice):
    section = choice_section(loaded(describe_choice(choice)))
    assert section["words"] == choice.words
    assert [line["taken"] for line in section["lines"]] == [True, True, False]
    assert [line["cells"] for line in section["lines"]] == [
        ["0.800", "0.830"],
        ["0.800", "0.810"],
        ["0.800", "–"],
    ]


def test_what_landmarks_cost_stays_known(choice):
    assert choice_section(loaded(describe_choice(choice)))["plan"] == ""
    plan = "compared with 1,024 landmarks; beside comparing all, -0.10 points of Image-MAP (4,166 rows)"
    notes = describe_choice(replace(choice, plan=plan))
    assert choice_section(loaded(notes))["plan"] == plan
    del notes["plan"]  # as models of before have them
    assert choice_section(loaded(notes))["plan"] == ""


@pytest.mark.parametrize("notes", [None, {}, "any", 7, {"tried": 3}, {"tried": [["a"]], "taken": []}, np.pi])
def test_the_notes_of_a_model_may_say_anything(notes):
    assert choice_section(loaded(notes)) is None


@pytest.fixture
def annotator():
    weighing = Weighing(("gist", "lbp", "hog"), (0.2, 0.8, 0.0), ((1 / 3,) * 3, (0.2, 0.8, 0.0)))
    annotator = Annotator()
    annotator.choice_ = Choice((), (), 0.9, "MAP and AUC", 400, 12.5, weighing)
    annotator.metadata = {}
    return annotator


def test_the_heaviest_stands_first_and_costs_are_told(annotator):
    notes = describe_kernels(annotator, {"gist": 0.009, "lbp": 0.001, "hog": 0.002})
    annotator.metadata = {KERNELS: notes}
    section = kernels_section(annotator)
    assert [line["name"] for line in section["lines"]] == ["lbp", "gist", "hog"]
    assert [round(line["length"]) for line in section["lines"]] == [100, 25, 0]
    assert section["n_active"] == 2
    assert (section["active"], section["total"]) == pytest.approx((10, 12))
    assert [line.name for line in section["chart"].lines] == ["lbp", "gist", "hog"]


def test_what_was_not_timed_has_no_cost(annotator):
    section = kernels_section(annotator)
    assert section["total"] is None
    assert section["lines"][0]["milliseconds"] is None


def test_weights_that_an_estimator_learned():
    rng = np.random.default_rng(0)
    views = {name: rng.normal(size=(60, 2)) for name in ("place", "noise")}
    Y = np.column_stack([views["place"] > 0.3, views["place"] < -0.3]).astype(float)
    annotator = Annotator(MultipleKernelRanker(kernel="rbf", random_state=0))
    annotator.estimator_ = MultipleKernelRanker(kernel="rbf", random_state=0).fit(views, Y)
    annotator.metadata = {}
    section = kernels_section(annotator)
    assert section["lines"][0]["name"] == "place"
    assert sum(line["weight"] for line in section["lines"]) == pytest.approx(1)


@pytest.mark.parametrize(
    "notes",
    [
        "none",
        {},
        {"names": ["a"], "weights": [-1.0], "milliseconds": [None], "path": []},
        {"names": ["a", "b"], "weights": [1.0], "milliseconds": [None], "path": []},
        {"names": ["a"], "weights": ["x"], "milliseconds": [None], "path": []},
        {"names": ["a"], "weights": [float("nan")], "milliseconds": [None], "path": []},
    ],
)
def test_notes_from_elsewhere_may_say_anything(annotator, notes):
    annotator.metadata = {KERNELS: notes}
    assert kernels_section(annotator) is None

"""How the model was chosen, on the page: from the model itself, and from its notes."""

import numpy as np
import pytest

from tagrank.annotation import Annotator
from tagrank.annotation.choosing import Choice
from tagrank.annotation.tuning import Tuning
from tagrank.reports.sections.choice import CHOICE, choice_section, choice_words, describe_choice


@pytest.fixture
def choice():
    scores = {"MAP and AUC": (0.7, 0.8)}
    first = Tuning((1.0, 3.0), scores, method="label-ranker", kernel="Gaussian", value=0.83)
    second = Tuning((1.0, 3.0), scores, method="one-vs-all", kernel="Gaussian", value=0.81)
    third = Tuning((1.0, 3.0), scores, method="label-ranker", kernel="linear")
    return Choice((first, second, third), (first, second), 0.85, "MAP and AUC", 400, 12.5)


def loaded(notes):
    annotator = Annotator()
    annotator.choice_, annotator.metadata = None, {CHOICE: notes}
    return annotator


def test_words(choice):
    assert choice_words(choice) == (
        "MAP and AUC 0.850, 2.0 points more than the next best; 3 tried on 400 held out, 12.5 seconds"
    )


def test_what_was_tried_is_listed(choice):
    section = choice_section(loaded(describe_choice(choice)))
    assert section["words"] == choice.words
    assert [line["taken"] for line in section["lines"]] == [True, True, False]
    assert [line["cells"] for line in section["lines"]] == [
        ["0.800", "0.830"],
        ["0.800", "0.810"],
        ["0.800", "–"],
    ]


@pytest.mark.parametrize("notes", [None, {}, "any", 7, {"tried": 3}, {"tried": [["a"]], "taken": []}, np.pi])
def test_the_notes_of_a_model_may_say_anything(notes):
    assert choice_section(loaded(notes)) is None

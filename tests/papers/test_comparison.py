"""Comparisons: every method tuned and measured alike, and a page that says what the numbers say."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tagrank.data import Collection, load_dataset
from tagrank.estimators import LabelFrequency, LabelRanker
from tagrank.metrics import image_auc, metric_table
from tagrank_papers.experiments.comparison import compare, find_outcome, render_comparisons, worse_metrics

ROOT = Path(__file__).parents[2]
METHODS = ["LabelRanker", "OneVsAllSVM", "LabelFrequency"]


@pytest.fixture(scope="module")
def collection():
    """90 training and 60 test rows, 6 labels of a noisy linear kind; columns of very different scale."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 5))
    Y = (X @ rng.normal(size=(5, 6)) + rng.normal(size=(150, 6)) > 0.5).astype(float)
    part = np.repeat(["train", "test"], [90, 60])
    return Collection({"features": X * [1, 1e3, 1, 1e-3, 1] + 5}, Y, part=part, name="toy")


@pytest.fixture(scope="module")
def comparison(collection):
    lines = []
    found = compare(collection, kernels=("rbf", "linear"), costs=(0.1, 1), say=lines.append)
    assert len(lines) == 9, "four cross-validations and five outcomes"
    return found


def test_every_method_and_criterion_is_there(comparison):
    assert [(outcome["method"], outcome["chosen_by"]) for outcome in comparison["methods"]] == [
        ("LabelRanker", "Image-AUC"),
        ("OneVsAllSVM", "Image-AUC"),
        ("LabelRanker", "Image-MAP"),
        ("OneVsAllSVM", "Image-MAP"),
        ("LabelFrequency", None),
    ]


def test_choice_is_the_best_of_the_cross_validation(comparison):
    for outcome in comparison["methods"][:4]:
        tried = {
            (kernel, cost): score
            for kernel, tuning in outcome["cross_validation"].items()
            for cost, score in zip(tuning["C"], tuning[outcome["chosen_by"]], strict=True)
        }
        assert len(tried) == 4
        assert tried[outcome["kernel"], outcome["C"]] == max(tried.values())


def test_model_that_is_measured_is_the_one_that_was_chosen(collection, comparison):
    outcome = find_outcome(comparison, "LabelRanker", "Image-AUC")
    X, test = collection.train.X, collection.test
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    model = LabelRanker(outcome["C"], kernel=outcome["kernel"], tol=5e-3, random_state=0)
    model.fit((X - mean) / deviation, collection.train.Y)
    rows = (test.X - mean) / deviation
    expected = metric_table(test.Y, model.decision_function(rows), model.predict(rows))
    for name in ("Image-AUC", "Category-AUC", "Micro-F1"):
        assert outcome["metrics"][name] == pytest.approx(expected[name], abs=1e-6)
    assert outcome["gap"] <= 5e-3


def test_rules_change_predictions_but_not_scores(comparison):
    outcome = find_outcome(comparison, "OneVsAllSVM", "Image-AUC")
    by_rule = outcome["thresholds"]
    assert set(by_rule) == {"f1", "global"}
    assert all("Image-AUC" not in values for values in by_rule.values())
    assert len({values["Micro-F1"] for values in (outcome["metrics"], *by_rule.values())}) > 1


def test_json_says_the_same(comparison):
    document = json.loads(json.dumps(comparison, allow_nan=False))
    assert document["n_test"] == 60
    assert document["methods"] == comparison["methods"]
    assert document["methods"][0]["cross_validation"]["rbf"]["C"] == [0.1, 1]


def test_page_states_numbers_and_best(comparison):
    page = render_comparisons([comparison], intro="# Title", machine="abacus", notes={"toy": "As drawn."})
    assert page.startswith("# Title\n")
    assert page.endswith("As drawn.\n")
    row = next(line for line in page.splitlines() if line.startswith("| toy |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")][1:]
    values = [find_outcome(comparison, name, "Image-AUC")["metrics"]["Image-AUC"] for name in METHODS[:2]]
    values.append(find_outcome(comparison, "LabelFrequency")["metrics"]["Image-AUC"])
    assert [float(cell.strip("*")) for cell in cells] == [round(value, 3) for value in values]
    assert [cell.startswith("**") for cell in cells] == [
        round(value, 3) == round(max(values), 3) for value in values
    ]
    widths = {line.count("|") for line in page.splitlines() if line.startswith("| LabelRanker")}
    assert widths == {13, 6}
    assert "\\* the smallest or largest C" in page, "with two costs each is at an edge"


def test_page_names_what_is_worse(comparison):
    ours, rival, *rest = comparison["methods"]
    swapped = [{**ours, "metrics": rival["metrics"]}, {**rival, "metrics": ours["metrics"]}, *rest]
    names = ("Image-AUC", "P@1", "Hamming loss")
    there = worse_metrics(comparison, "Image-AUC", rule="own", names=names)
    back = worse_metrics({**comparison, "methods": swapped}, "Image-AUC", rule="own", names=names)
    assert not set(there) & set(back)
    for name in names:
        gain = round(ours["metrics"][name], 3) - round(rival["metrics"][name], 3)
        lost = gain > 0 if name == "Hamming loss" else gain < 0
        assert (name in there) == lost


@pytest.mark.usefixtures("research_data")
def test_published_page_can_be_made_again():
    collection = load_dataset("emotions")
    found = compare(collection)
    frequency = LabelFrequency().fit(collection.train.X, collection.train.Y)
    baseline = image_auc(collection.test.Y, frequency.decision_function(collection.test.X))
    assert find_outcome(found, "LabelFrequency")["metrics"]["Image-AUC"] == pytest.approx(baseline)
    page = (ROOT / "docs" / "results.md").read_text()
    stated = re.search(r"\| emotions \| \W*([\d.]+)\W+([\d.]+)", page)
    for text, name in zip(stated.groups(), METHODS, strict=False):
        assert float(text) == pytest.approx(
            find_outcome(found, name, "Image-AUC")["metrics"]["Image-AUC"], abs=0.01
        )

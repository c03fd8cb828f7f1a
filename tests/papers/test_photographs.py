"""Joint SVMs and other systems on photographs: what is chosen where, and the tables of two data sets."""

import numpy as np
import pytest

from tagrank_papers.catalogue import find_table
from tagrank_papers.experiments import joint_svm, joint_svm_features
from tagrank_papers.protocols import photographs
from tagrank_papers.protocols.data import DRAWN
from tagrank_papers.protocols.photographs import Bench, measure_method, read_photographs


@pytest.fixture(scope="module")
def results():
    *_, lines = joint_svm.run(**joint_svm.QUICK)
    return lines


def test_pictures_held_out_are_training_pictures_that_are_not_fitted(monkeypatch):
    monkeypatch.setattr(photographs, "FITTED", 100)
    drawn = read_photographs(DRAWN, ("gist",))
    rows = {tuple(row) for row in drawn.whole.views["gist"]}
    fitted, held_out = ({tuple(row) for row in part["gist"]} for part in drawn.inside[:2])
    assert (len(fitted), len(held_out)) == (100, 40)
    assert not fitted & held_out
    assert fitted | held_out <= rows
    assert not rows & {tuple(row) for row in drawn.whole.others["gist"]}


def test_the_best_candidate_on_pictures_held_out_is_measured_on_the_others():
    class Oracle:
        """Knows the labels of as many of the pictures as it is told."""

        def __init__(self, kernel, share):
            self.share = share

        def fit(self, X, Y):
            return self

        def decision_function(self, X):
            truth = next(part.truth for part in parts if X is part.others)
            return np.where(np.arange(len(truth))[:, None] < self.share * len(truth), truth, 0.0)

    drawn = read_photographs(DRAWN, ("gist",))
    parts = drawn.inside, drawn.whole
    inside, outside = (Bench(part, drawn.kernels) for part in parts)
    candidates = [(Oracle, "gist", None, {"share": share}) for share in (0.2, 0.8, 0.5)]
    found = measure_method(inside, outside, candidates)
    assert found["chosen"] == {"kernel": "gist", "power": None, "share": 0.8}
    assert [one["share"] for one in found["tried"]] == [0.2, 0.8, 0.5]
    assert max(one["f1"] for one in found["tried"]) == found["tried"][1]["f1"] > found["tried"][2]["f1"]
    expected = outside.measure(Oracle, "gist", None, {"share": 0.8})
    assert found["top 5"] == expected["top 5"]


def test_every_method_of_table_5_has_a_row(results):
    found = joint_svm.answer("jsvm-table5", results).figures
    assert set(found.rows) == set(find_table("jsvm-table5").published.rows)
    assert all(cell for cells in found.rows.values() for cell in cells)


def test_a_method_that_was_not_measured_on_a_data_set_has_empty_cells(results):
    other = [line | {"data": "iaprtc12"} for line in results if line["method"] != "TagProp"]
    found = joint_svm.answer("jsvm-table5", results + other)
    assert found.figures.columns[:5] == ("Corel5k P", "Corel5k R", "Corel5k F1", "Corel5k N+", "IAPR P")
    assert found.figures.rows["TagProp"][4:] == ("",) * 4
    assert found.figures.rows["JSVM"][:4] == found.figures.rows["JSVM"][4:]
    assert "IAPR TC-12: F1 of the joint SVMs" in found.verdict
    (page,) = joint_svm.render(results + other, {"cores": 1, "processor": "one"}).values()
    assert page.count("## Table 5: ") == 2
    assert "200 training pictures; 2 sets of features for the joint SVMs, 2 for the others." in page


def test_table_3_counts_pairs_in_the_published_order():
    lines = [
        {"data": "corel5k_images_260", "features": name, "n_train": 9, "top 5": {"f1": f1}}
        for name, f1 in (("gist", 0.2), ("hsv", 0.3), ("rgb", 0.25))
    ]
    for line in lines:
        line["top 5"] |= {"precision": 0.1, "recall": 0.1}
    verdict = joint_svm_features.answer("jsvm-table3", lines).verdict
    assert "of 3 pairs of sets 2 are in the published order; best is hsv (published rgb)" in verdict
    assert "4.0 to 12.2 points below" in verdict

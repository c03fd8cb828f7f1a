"""Type checkers see what ``import tagrank`` resolves on first use: right programs pass, wrong ones do not."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "docs" / "public_types.py"
RIGHT = """
import numpy as np
import tagrank
from tagrank import Annotator, Collection, Gaussian, LabelRanker, OneVsAllSVM, ProbabilityRanker
from tagrank import get_scorer, image_auc, image_auc_scorer, metric_table, train

X, Y = np.zeros((4, 2)), np.zeros((4, 2))
ranker: LabelRanker = LabelRanker(C=1, kernel=0.5 * Gaussian().on("a") + Gaussian(gamma=1.0)).fit(X, Y)
scores, sets = ranker.decision_function(X), ranker.predict_tags(X)
worth: float = image_auc(Y, scores) + image_auc_scorer(ranker, X, Y) + get_scorer("P@1")(ranker, X, Y)
worth += metric_table(Y, scores)["Image-AUC"] + ranker.score(X, Y) + tagrank.metrics.image_auc(Y, scores)
print(ranker.classes_, ranker.dual_coef_, ranker.n_features_in_, ranker.get_params(), sets[0] | {"sky"})
annotator = Annotator(ProbabilityRanker(OneVsAllSVM())).fit(["a.jpg"], [{"sky"}])
ranked = annotator.annotate("a.jpg", n_tags=3)[0]
print(ranked["sky"].score, ranked[0].tag, ranked[:2].tags, "sky" in ranked, annotator.classes_)
print(train("photos", "model").annotator.tags, Collection({"x": X}, Y).tags, tagrank.__version__)
"""
WRONG = {
    "LabelRanker(Cc=1)": 'Unexpected keyword argument "Cc" for "LabelRanker"',
    "LabelRanker(C='1')": 'Argument "C" to "LabelRanker" has incompatible type "str"',
    "Annotator(feature='fast')": 'Unexpected keyword argument "feature" for "Annotator"',
    "Annotator().anotate('a.jpg')": '"Annotator" has no attribute "anotate"',
    "LabelRanker().fitt(1, 2)": '"LabelRanker" has no attribute "fitt"',
    "train('photos', featurs='fast', output=3)": 'Argument "output" to "train" has incompatible type "int"',
    "tagrank.no_such_name": 'Module has no attribute "no_such_name"',
}


@pytest.fixture(scope="module")
def complaints(tmp_path_factory):
    """What mypy says of both programs: file and line to message."""
    folder = tmp_path_factory.mktemp("typed")
    (folder / "right.py").write_text(RIGHT)
    wrong = ["import tagrank; from tagrank import Annotator, LabelRanker, train", *WRONG]
    (folder / "wrong.py").write_text("\n".join(wrong) + "\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder), "right.py", "wrong.py"]
    answer = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    found = re.findall(r"^(\w+)\.py:(\d+): error: (.*)$", answer.stdout, flags=re.M)
    assert found, answer.stdout + answer.stderr
    return {(name, int(line)): message for name, line, message in found}


def test_a_right_program_has_no_errors(complaints):
    assert not {place: message for place, message in complaints.items() if place[0] == "right"}


@pytest.mark.parametrize("program", WRONG)
def test_a_wrong_program_has_one(complaints, program):
    assert WRONG[program] in complaints["wrong", 2 + list(WRONG).index(program)]


def test_the_types_are_those_of_the_public_names():
    checked = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr

"""A comparison as a page, as Markdown and as LaTeX."""

import re
from dataclasses import replace

import numpy as np
import pytest

from tagrank.annotation.choosing import CRITERION
from tagrank.commands.compare.documents import best_words, write_comparison_page, write_latex, write_markdown
from tagrank.commands.compare.folds import Fold
from tagrank.commands.compare.result import Comparison, rank_words, said, shown, table_lines
from tagrank.commands.compare.summary import summarise
from tagrank.metrics.chance import average_ranks

METHODS = {"one-vs-all": 0.8, "one-vs-all-logistic": 0.79, "label-frequency": 0.7, "label-ranker": 0.6}


def unit(value):
    wave = 0.01 * np.sin(np.arange(100.0))
    return {
        "state": "done",
        "values": {CRITERION: value, "Ranking loss": 1 - value},
        "draws": {CRITERION: value + wave, "Ranking loss": 1 - value + wave},
        "parameters": {"C": 3.0, "kernel": "linear", "decoding": "transfer"},
        "seconds": {"tuning": 1.0, "training": 0.5, "prediction": 0.25},
        "tuning": None,
        "warnings": [],
    }


def result(name):
    fold = Fold(name, 0, "", "", 40, 20, 4, 3, "row")
    found = {method: [unit(value)] for method, value in METHODS.items()}
    found["joint-svm"] = [{"state": "failed", "reason": "50 % of <rows> are_bad & lost"}]
    return summarise(name, [fold], found, CRITERION, ["Ranking loss"])


@pytest.fixture
def comparison():
    ranks = average_ranks(list(METHODS), np.array([list(METHODS.values())] * 3))
    data = [result("birds & bees_1 #3"), result("<b>sea</b>"), result("c")]
    return Comparison(data, CRITERION, ["Ranking loss"], ranks, "data sets", 12.0)


def test_cells(comparison):
    lines = dict((line.method, cells) for line, cells in table_lines(comparison, comparison.data[0]))
    assert list(lines) == list(METHODS)
    best, loss = lines["one-vs-all"]
    assert (best.text, best.is_best, best.marks) == ("0.800", True, "=")
    # of a loss the lowest is best
    assert (loss.text, loss.is_best, loss.marks) == ("0.200", True, "")
    assert [cell.marks for cell in lines["label-ranker"]] == ["▼", "▼"]
    assert shown(float("nan")) == "–"
    assert shown(88.25) == "88.2"


def test_words(comparison):
    words = said(comparison.data[0])
    assert next(iter(words)) == "failed: 50 % of <rows> are_bad & lost"
    assert list(words.values()) == [["joint-svm"], ["label-ranker"]]
    assert (
        best_words(replace(comparison, data=comparison.data[:1]))
        == "one-vs-all is best on birds & bees_1 #3."
    )
    assert best_words(comparison) == (
        "one-vs-all has the best average rank, 1.00, over 3 data sets; 2 others are not significantly worse."
    )
    assert "over 3 data sets" in rank_words(comparison)
    assert "failed somewhere: joint-svm" in rank_words(comparison)


def test_markdown(comparison, tmp_path):
    write_markdown(tmp_path / "made" / "table.md", comparison)
    text = (tmp_path / "made" / "table.md").read_text()
    lines = text.splitlines()
    assert lines[0] == "## birds & bees_1 #3"
    header = lines.index("| method | MAP and AUC | 95 % | Ranking loss | seconds |")
    assert re.fullmatch(
        r"\| one-vs-all \| =\*\*0\.800\*\* \| 0\.79\d–0\.8\d+ \| \*\*0\.200\*\* \| 1\.8 \|", lines[header + 2]
    )
    assert "| one-vs-all | --C 3 --kernel linear --set decoding=transfer |" in lines
    assert "| one-vs-all | 1.00 |" in lines
    assert all(line.count("|") == 6 for line in lines[header : header + 6])


def test_latex(comparison, tmp_path):
    write_latex(tmp_path / "table.tex", comparison)
    text = (tmp_path / "table.tex").read_text()
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 4
    assert r"birds \& bees\_1 \#3" in text
    assert r"one-vs-all & $=$\textbf{0.800} & 0.790--0.810 & \textbf{0.200} & 1.8 \\" in text
    assert r"$\downarrow$0.600" in text
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {line.replace(r"\&", "").count("&") for line in rows} == {4, 1}


def test_page(comparison, tmp_path):
    write_comparison_page(tmp_path / "page.html", comparison)
    page = (tmp_path / "page.html").read_text()
    assert "Comparison of methods on birds &amp; bees_1 #3, &lt;b&gt;sea&lt;/b&gt;, c" in page
    assert "<b>sea</b>" not in page
    for word in ("Average ranks", "critical difference", "below label frequency", "are_bad &amp; lost", "▼"):
        assert word in page
    assert "<script" not in page
    assert page.count('class="interval lost"') == 3


def test_a_page_without_any_figures(tmp_path):
    fold = Fold("a", 0, "", "", 40, 20, 4, 3, "row")
    found = summarise("a", [fold], {"one-vs-all": [{"state": "failed", "reason": "no"}]}, CRITERION, [])
    nothing = Comparison([found], CRITERION, [], None, "folds", 1.0)
    write_comparison_page(tmp_path / "page.html", nothing)
    assert "No method finished on a." in (tmp_path / "page.html").read_text()
    write_markdown(tmp_path / "a.md", nothing)
    write_latex(tmp_path / "a.tex", nothing)
    assert rank_words(nothing) == ""

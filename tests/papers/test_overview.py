"""The page on top of the tables: its figures are those that are kept, and its sentences still hold."""

import re

from tagrank_papers.catalogue import TABLES
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.overview import NOT_YET, first_sentence, render_overview
from tagrank_papers.reproduce import Reproduction, reproduce


def figures(name, *rows):
    """The numbers of some rows of a table, ours and the published ones."""
    found = reproduce(name, kept=True)
    ours = {row: value for row, _, value in found.answer.figures.numbers()}
    published = {row: value for row, _, value in found.table.published.numbers()}
    return [ours[row] for row in rows], [published.get(row) for row in rows]


def test_the_animals_hardly_need_their_pictures():
    ours, published = figures("m3l-animals", "M3L", "1-vs-All")
    assert ours[0] < ours[1] - 1
    assert all(abs(a - b) < 2 for a, b in zip(ours, published, strict=True))
    guess = figures("m3l-animals", "most frequent in the test")[0][0]
    assert guess < published[0] + 0.5
    page = render_overview()
    assert f"wrong for {ours[0]:.2f} and {ours[1]:.2f} %" in page.replace("\n", " ")


def test_the_plane_shows_an_intercept():
    cells = reproduce("mlr-figure1", kept=True).answer.figures.rows
    with_intercept, without, ranking = (float(row[0]) for row in cells.values())
    assert with_intercept > 90
    assert abs(without - ranking) < 5


def test_the_lead_of_the_joint_svm_is_not_found():
    verdict = reproduce("jsvm-table4", kept=True).answer.verdict
    assert float(re.search(r"its F1 is ([+-][\d.]+) points", verdict)[1]) < 8


def test_few_pictures_tie_rare_words():
    shares = re.search(r"It has: ([\d.]+) % .* beside ([\d.]+) % .* and ([\d.]+) % are", one_line())
    test, training, drawn = map(float, shares.groups())
    assert test > 1.5 * training
    assert drawn > 0.9 * test


def one_line():
    return render_overview().replace("\n", " ")


def test_the_page_is_short_and_counts_all_states():
    page = render_overview()
    assert len(page.splitlines()) < 75
    asked = [table for table in TABLES if table.state not in ("ours", "no figures")]
    assert f"{len(asked)} tables and figures" in page.replace("\n", " ")


def test_a_figure_that_is_measured_again_changes_the_page(monkeypatch):
    before = one_line()

    def other(name, *, kept):
        found = reproduce(name, kept=kept)
        if name != "mlr-table2":
            return found
        return Reproduction(found.table, answer=Answer(Figures(("a",), {"b": ("1",)}), "Takes 99.9 times."))

    monkeypatch.setattr("tagrank_papers.overview.reproduce", other)
    assert (
        "**Does ranking all labels at once take less time than a machine for each?** Takes 99.9 times."
        in (one_line())
    )
    assert "Takes 99.9 times." not in before


def test_the_first_sentence_with_a_figure_is_said():
    assert first_sentence("Seconds by size. It takes 4.8 times. More 3.") == "It takes 4.8 times."
    assert first_sentence("F1 of yeast is 3.2 points up (0.1)") == "F1 of yeast is 3.2 points up (0.1)."
    assert first_sentence("") == first_sentence("No figure.") == NOT_YET

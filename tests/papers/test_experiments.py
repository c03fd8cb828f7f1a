"""Every experiment runs in seconds, answers its tables, and its pages say what the kept figures say."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tagrank.estimators.methods import find_method
from tagrank.metrics import f_measure
from tagrank_papers.catalogue import EXPERIMENTS, FILES, HOME, TABLES, TO_COME, find_table
from tagrank_papers.experiments import automatic_choice, honest_probability, two_way, voc_objects
from tagrank_papers.lines import distinct, exponent, listed, mean, where
from tagrank_papers.measuring import describe_machine, read_record
from tagrank_papers.text import PAGES, fill, read_text

ROOT = Path(__file__).parents[2]
ANSWERED = [table for table in TABLES if table.experiment]
AWAITED = {table.experiment for table in TABLES if table.state == TO_COME}  # their figures are not kept yet


@pytest.fixture(scope="module")
def quick_results():
    """Results of quick runs, each made once."""
    made = {}

    def run(name):
        if name not in made:
            module = EXPERIMENTS[name].load()
            *_, made[name] = module.run(**module.QUICK)
        return made[name]

    return run


def test_every_module_is_an_experiment_of_the_list():
    modules = {path.stem for path in (HOME / "experiments").glob("*.py")} - {"__init__"}
    assert modules == set(EXPERIMENTS)
    assert {path.stem for path in (HOME / "published").glob("*.toml")} == set(FILES)
    kept = {path.stem for path in (HOME / "results").glob("*.json") if not path.stem.endswith(".part")}
    assert kept == set(EXPERIMENTS) - AWAITED


@pytest.mark.filterwarnings("default")  # those of peers
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_runs_quickly_and_answers_its_tables(name, quick_results):
    results, module = quick_results(name), EXPERIMENTS[name].load()
    for table in ANSWERED:
        if table.experiment == name:
            answer = EXPERIMENTS[name].answer(table.name, results)
            assert answer.figures.rows
            assert {len(cells) for cells in answer.figures.rows.values()} == {len(answer.figures.columns)}
    pages = module.render(results, describe_machine()) if hasattr(module, "render") else {}
    assert set(pages) == set(getattr(module, "PAGES", ()))
    assert all(text.strip() for text in pages.values())


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_names_the_page_that_it_writes(name):
    experiment = EXPERIMENTS[name]
    written = [page for page in getattr(experiment.load(), "PAGES", ()) if page.endswith(".md")]
    assert not written or written == [experiment.page]
    assert not experiment.page or (ROOT / "docs" / experiment.page).is_file()


@pytest.mark.parametrize("name", sorted(set(EXPERIMENTS) - AWAITED))
def test_figures_of_every_experiment_are_kept(name):
    record = read_record(name)
    assert record["results"]
    assert record["machine"]["processor"]


@pytest.mark.parametrize(
    "table", [table for table in ANSWERED if table.experiment not in AWAITED], ids=lambda table: table.name
)
def test_kept_figures_answer_every_table(table):
    answer = EXPERIMENTS[table.experiment].answer(table.name, read_record(table.experiment)["results"])
    assert all(len(cells) == len(answer.figures.columns) for cells in answer.figures.rows.values())
    assert any(cell[:1].isdigit() for cells in answer.figures.rows.values() for cell in cells)
    if table.experiment != "set_sizes":
        assert answer.verdict.endswith(".")


def test_pages_say_what_the_figures_say():
    script = ROOT / "docs" / "results.py"
    checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_growth_has_a_page_and_a_plot(quick_results):
    lines = quick_results("growth")
    pages = EXPERIMENTS["growth"].load().render(lines, describe_machine())
    assert all(line["ratio_to_peer"] > 0 for line in lines)
    assert all(f"({line['gap']:.0e})" in pages["growth-results.md"] for line in lines)
    assert "(growth.svg)" in pages["growth-results.md"]
    assert pages["growth.svg"].count("<polyline") == 2 * 4


def test_hidden_labels_are_measured_for_every_method(quick_results):
    results = quick_results("incomplete_labels")
    assert {line["method"] for line in results["lines"]} == {"SVM", "PLATT", "MLR-L1", "MLR-GL"}
    assert all(0.5 < line["auc"] <= 1 for line in results["lines"])
    (page,) = EXPERIMENTS["incomplete_labels"].load().render(results, describe_machine()).values()
    assert "## drawn\n\nQuick run. 60 training samples, 1 draw of hidden labels" in page
    assert page.count("C, column by column: SVM ") == 1


def test_a_page_has_no_columns_of_labels_that_cannot_be_hidden(quick_results):
    lines = quick_results("incomplete_labels")["lines"]
    few = [line | {"hidden": min(line["hidden"], 0.058)} for line in lines]
    (page,) = EXPERIMENTS["incomplete_labels"].load().render({"lines": few}, describe_machine()).values()
    assert "| Image AUC; hidden | 0.0% | 5.8% | lost |" in page


def test_the_choice_says_where_it_is_below_its_peer(quick_results):
    (line,) = quick_results("automatic_choice")
    better = line | {"data": "better", "ours_auc": line["peer_auc"] + 1, "ours_map": line["peer_map"] - 0.2}
    worse = line | {"data": "worse", "ours_auc": line["peer_auc"] + 1, "ours_map": line["peer_map"] - 0.4}
    page = automatic_choice.render_page([better, worse], ["enron"], "a machine")
    assert "In image AUC the choice is above the peer on 2 of 2 sets, and nowhere more than" in page
    assert "In image MAP the choice is above the peer on 0 of 2 sets" in page
    assert "points below on worse (-0.40)." in page
    assert "Not measured yet: enron." in page
    assert set(automatic_choice.SETS) == set(EXPERIMENTS["automatic_choice"].data)


def test_probabilities_are_as_far_off_as_they_claim_too_much():
    claims = np.array([[0.05, 0.25, 0.25, 0.25, 0.25, 0.9, 0.9]])
    truth = np.array([[1, 1, 0, 0, 0, 1, 0]])
    assert honest_probability.distance_from_claims(claims, truth) == pytest.approx((0 + 0.4) / 2)


def test_an_order_that_is_better_than_by_score_misses_no_aim():
    line = {"claim": 0.7, "right": 0.76, "off": 0.01, "completeness": 0.5, "true_completeness": 0.62}
    line |= {"first_score": 0.3, "first_probability": 0.4, "map_score": 0.5, "map_probability": 0.5}
    points = honest_probability.misses(line)
    assert list(points.values()) == pytest.approx([6, 1, 0, 12])


def test_the_threshold_is_the_best_for_all_labels_together():
    rng = np.random.default_rng(0)
    truth = (rng.random((40, 6)) < 0.2).astype(float)
    scores = (truth + rng.normal(size=truth.shape)).round(1)
    threshold, value = two_way.choose_threshold(truth, scores)
    found = {cut: f_measure(truth, scores >= cut) for cut in np.unique(scores)}
    assert value == pytest.approx(max(found.values()))
    assert found[threshold] == pytest.approx(value)


def test_the_methods_of_the_two_way_paper_are_known_by_their_acronyms():
    assert list(two_way.METHODS) == list(find_table("twmmf-table3").published.rows)
    for acronym, name in two_way.METHODS.items():
        assert acronym in find_method(name).acronym


@pytest.mark.parametrize("path", sorted(PAGES.glob("*.md")), ids=lambda path: path.stem)
def test_every_text_of_a_page_is_used(path):
    module = (HOME / "experiments" / f"{path.stem}.py").read_text(encoding="utf-8")
    assert set(re.findall(r"\bTEXT\.(\w+)", module)) == set(vars(read_text(path.stem)))


def test_texts_are_the_parts_between_comments(monkeypatch, tmp_path):
    (tmp_path / "toy.md").write_text("<!-- first -->\n# One {n}\n\n<!-- second -->\n\nTwo\n")
    monkeypatch.setattr("tagrank_papers.text.PAGES", tmp_path)
    assert vars(read_text("toy")) == {"first": "# One {n}\n", "second": "\nTwo"}


def test_lines_are_picked_averaged_and_fitted():
    lines = [{"n": n, "kind": kind, "seconds": n**1.5} for n in (1, 2, 4) for kind in "ba"]
    assert distinct(lines, "kind") == ["b", "a"]
    assert where(lines, kind="a", n=2) == [lines[3]]
    assert mean(lines, "n", kind="b") == pytest.approx(7 / 3)
    some = where(lines, kind="a")
    slope = exponent([line["n"] for line in some], [line["seconds"] for line in some])
    assert slope == pytest.approx(1.5)
    assert listed((0.1, 1.0, 10)) == "0.1, 1, 10"


def test_only_paragraphs_and_items_are_broken_into_lines():
    table = "| " + "a wide cell " * 4 + "|\n| --- |"
    text = f"\n## A heading that is long\n\nsome words\nin a row\n\n{table}\n\n- one item\n  of two\n- two\n"
    assert fill(text, 14) == (
        f"\n## A heading that is long\n\nsome words in\na row\n\n{table}\n\n- one item of\n  two\n- two\n"
    )


def test_objects_are_ranked_by_all_methods_of_the_paper(quick_results):
    lines = quick_results("voc_objects")
    assert distinct(lines, "method") == list(find_table("mlr-table1").published.columns)
    assert all(line["draw"] == place // 4 for place, line in enumerate(lines))
    assert all(min(line[part] for part in voc_objects.OBJECTS) > 0.6 for line in lines)
    assert all((line["gap"] is None) == (line["method"] == "MLSSM") for line in lines)
    verdict = EXPERIMENTS["voc_objects"].answer("mlr-table1", lines).verdict
    best = max(distinct(lines, "method"), key=lambda method: mean(lines, "several", method=method))
    assert f"multi-obj {best}, " in verdict


def test_training_pictures_are_drawn_by_the_number_of_their_objects():
    Y = np.array([[1, 0, 0]] * 6 + [[1, 1, np.nan]] * 5 + [[0, 0, np.nan]])
    sample = voc_objects.split(np.eye(12), Y, (4, 2), 0)
    assert sorted(sample.Y.sum(axis=1)) == [1, 1, 1, 1, 2, 2]
    assert np.isfinite(sample.Y).all()
    assert np.isnan(sample.truth).sum() == 4  # of three pictures with two objects, and of one without any
    assert sample.test.shape == (6, 6)


@pytest.mark.parametrize(("best", "tried"), [(4, 3), (2, 3), (0, 4)])
def test_a_climb_ends_where_it_gets_worse(best, tried):
    values, seen = [0, 1, 2, 3, 4], []

    def quality(value):
        seen.append(value)
        return -abs(value - best)

    assert voc_objects.climb(quality, values, 2) == (best, 0)
    assert len(seen) == tried

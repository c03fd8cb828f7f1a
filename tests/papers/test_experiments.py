"""Every experiment runs in seconds, answers its tables, and its pages say what the kept figures say."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tagrank.estimators import BoostedStumps
from tagrank.estimators.methods import find_method
from tagrank.metrics import f_measure
from tagrank_papers.catalogue import EXPERIMENTS, FILES, HOME, TABLES, TO_COME, find_table
from tagrank_papers.experiments import (
    animal_attributes,
    automatic_choice,
    given_tags,
    honest_probability,
    illustrations,
    label_priors,
    prior_speed,
    set_sizes,
    two_way,
    voc_objects,
)
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
    shared = where(lines, method="SharedSubspace")
    assert all(line["gap"] is None for line in shared)
    assert all(f"{line['seconds']:.3g} |" in pages["growth-results.md"] for line in shared)
    iterative = [line for line in lines if line not in shared]
    assert all(f"({line['gap']:.0e})" in pages["growth-results.md"] for line in iterative)
    assert "(growth.svg)" in pages["growth-results.md"]
    assert pages["growth.svg"].count("<polyline") == 2 * 5
    verdict = EXPERIMENTS["growth"].answer("mlr-l1-figure4.4", lines).verdict
    ranked = where(lines, method="LabelRanker")  # of the same sizes, in the same order
    ratios = [ours["seconds"] / other["seconds"] for ours, other in zip(shared, ranked, strict=True)]
    assert f"MLLS takes {min(ratios):.1f} to {max(ratios):.1f} times as long" in verdict


def test_hidden_labels_are_measured_for_every_method(quick_results):
    results = quick_results("incomplete_labels")
    published = find_table("mlr-gl-table5.2").published.rows
    assert distinct(results["lines"], "method") == list(published)
    counts = EXPERIMENTS["incomplete_labels"].load().COUNTS
    assert {line["choice"] for line in where(results["lines"], method="MLKNN")} <= set(counts)
    assert all(0.5 < line["auc"] <= 1 for line in results["lines"])
    (page,) = EXPERIMENTS["incomplete_labels"].load().render(results, describe_machine()).values()
    assert "## drawn\n\nQuick run. 60 training samples, 1 draw of hidden labels" in page
    assert page.count("Chosen, column by column: SVM ") == 1
    for table, rows in {"mlr-gl-table5.3": published, "dissertation-table1.2": ("SVM", "MLLS")}.items():
        figures = EXPERIMENTS["incomplete_labels"].answer(table, results).figures
        assert all(any(name.endswith(row) for name in figures.rows) for row in rows)
        assert ("MLKNN" in str(figures.rows)) == ("MLKNN" in rows)


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


def test_few_samples_make_unrelated_labels_look_tied():
    rng = np.random.default_rng(0)
    Y = rng.random((2000, 30)) < 0.02
    found = set_sizes.describe_correlations(Y, Y[:60])
    assert found["training"]["strong"] == 0
    assert found["drawn"]["strong"] > 0.01
    assert [sum(one["shares"]) for one in found.values()] == pytest.approx([1, 1, 1])
    same = set_sizes.histogram(np.repeat([[1, 1, 0], [0, 0, 1]], 3, axis=0) > 0)
    assert same["shares"] == pytest.approx([2 / 3, *(0,) * 7, 1 / 3])


def test_printed_rows_that_contradict_themselves_are_named():
    line = {"samples": 8677, "labels": 101, "cardinality": 1.0, "single": 1.0, "data": "caltech101"}
    answer = set_sizes.answer("dissertation-tableA.2", [line])
    assert answer.figures.rows == {"Caltech 101": ("8,677", "101", "1.0", "85.9")}
    assert "each other: ImageNet subset (81,738 x 1 / 101 is not 85.9), MIR Flickr subset (" in answer.verdict
    assert "Caltech 101 (" not in answer.verdict


def test_methods_without_pictures_know_what_most_animals_are():
    rng = np.random.default_rng(0)
    attributes = (rng.random((30, 8)) < np.linspace(0.1, 0.9, 8)).astype(float)
    is_test = np.arange(30) < 10
    losses = animal_attributes.measure(attributes, is_test, seed=0)
    guess = 100 * np.mean((attributes[~is_test].mean(axis=0) > 0.5) != attributes[is_test])
    assert losses["1-vs-All, 24,292 samples"] == pytest.approx(guess)
    assert losses["1-vs-All"] == pytest.approx(guess, abs=3)
    truth = attributes[is_test].mean(axis=0)
    least = 100 * np.minimum(truth, 1 - truth).mean()
    assert losses["most frequent in the test"] == pytest.approx(least)
    assert min(losses.values()) == pytest.approx(least)


def test_a_region_is_divided_among_classes():
    chosen, nearest = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 1, 1, 0])
    found = illustrations.divide(chosen, np.array([True, True, True, True, False]), nearest)
    assert found == {"largest": 0.75, "far": 0.5, "near": 0.0}
    plane = illustrations.look_at_plane(0)
    assert plane["one-vs-all, LIBSVM"]["largest"] > 0.9
    assert plane["ranking"]["far"] > 0.9


def test_two_kernels_are_weighed_for_each_class():
    kernels, Y = illustrations.read_pictures("drawn")
    found = np.array(illustrations.try_weights(kernels, Y, 0))
    pairs = illustrations.pairs()
    assert found.shape == (35, 3)
    assert (0.0, 0.0) not in pairs
    # the first kernel tells the first class from the others, the second kernel the third
    assert found[pairs.index((1.0, 0.0))][0] > found[pairs.index((0.0, 1.0))][0]
    assert found[pairs.index((0.0, 1.0))][2] > found[pairs.index((1.0, 0.0))][2]


def test_recall_grows_with_the_tags_that_are_given(quick_results):
    results = quick_results("given_tags")
    assert [line["method"] for line in results["lines"]] == list(given_tags.METHODS)
    assert all(0 < line["recall"][0] < line["recall"][1] <= 100 for line in results["lines"])


def test_rounds_of_boosting_are_those_of_a_shorter_training():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    Y = (X[:, :3] + rng.normal(size=(80, 3)) > 0).astype(float)
    short, *_ = label_priors.boost(X[:60], Y[:60], X[60:])
    alone = BoostedStumps(label_priors.ROUNDS[0], n_jobs=1).fit(X[:60], Y[:60])
    np.testing.assert_array_equal(short, alone.predict(X[60:]))


@pytest.mark.filterwarnings("ignore:the relative duality gap")
def test_a_method_that_is_late_is_not_tried_with_more_rows():
    *_, results = prior_speed.run(**prior_speed.QUICK | {"seconds": 0.0})
    assert len(results["lines"]) == 2 * len(prior_speed.METHODS)
    assert all(line["seconds"] is None for line in results["lines"])
    answer = prior_speed.answer("m3l-table1", results)
    assert {cell for cells in answer.figures.rows.values() for cell in cells} == {"> 0"}


def test_labels_alone_must_be_at_hand(monkeypatch, tmp_path):
    monkeypatch.setenv("TAGRANK_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"labels\.jsonl is in none of .*"):
        set_sizes.read_labels("voc2007")
    (tmp_path / "voc2007_labels").mkdir()
    (tmp_path / "voc2007_labels" / "labels.jsonl").write_text(
        '{"tags": ["a", "b"], "part": "train"}\n{"tags": ["b"], "part": "test"}\n'
    )
    whole = set_sizes.read_labels("voc2007")
    assert whole.Y.tolist() == [[1, 1], [0, 1]]
    assert set_sizes.count(whole, "voc2007")["single"] == 0.5


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

"""Every benchmark runs in seconds, and only a run as usual replaces figures and pages that are kept."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import catalogue, output
from benchmarks.__main__ import main, run
from benchmarks.experiments.honest_probability import distance_from_claims
from benchmarks.pages import automatic_choice, honest_probability
from benchmarks.tables import fill

ROOT = Path(__file__).parents[1]
NAMES = {name: group for group in catalogue.GROUPS for name in catalogue.names_of(group)}
WITH_PAGES = [name for name in NAMES if hasattr(catalogue.find(name), "PAGES")]


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Folders of kept figures, kept pages and local ones that stand in for those of the repository."""
    kept, local = output.Place(tmp_path / "results", tmp_path / "docs"), tmp_path / "local"
    monkeypatch.setattr(output, "KEPT", kept)
    monkeypatch.setattr(output, "LOCAL", output.Place(local, local))
    return SimpleNamespace(results=kept.results, pages=kept.pages, local=local)


@pytest.fixture
def toy(places, monkeypatch):
    """A benchmark that measures how many samples it was asked for."""

    def measure(*, samples=100, cases=("a", "b"), with_peer=True):
        for k in range(1, 1 + len(cases)):
            yield [{"case": case, "samples": samples, "peer": with_peer} for case in cases[:k]]

    def render(results, machine):
        return {"toy.md": f"{len(results)} cases on {machine['cores']} cores\n"}

    module = SimpleNamespace(__doc__="Toy", MINUTES=0, QUICK={"samples": 2}, run=measure)
    module.PAGES, module.render = ("toy.md",), render
    monkeypatch.setattr(catalogue, "find", lambda name: module)
    return module


def read(folder, name):
    return json.loads((folder / f"{name}.json").read_text())["results"]


@pytest.mark.filterwarnings("default")  # those of peers
@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_runs_quickly(name, places):
    run(name, ["--quick"])
    assert not places.results.exists()
    assert not places.pages.exists()
    results = read(places.local, name)
    lines = results if isinstance(results, list) else results["lines"]
    assert lines
    if NAMES[name] == "speed":
        assert all(any("ratio" in key for key in line) for line in lines)
    for page in getattr(catalogue.find(name), "PAGES", ()):
        assert (places.local / page).read_text().strip()


def test_figures_are_kept_by_a_usual_run_only(toy, places):
    run("toy", [])
    kept = [{"case": case, "samples": 100, "peer": True} for case in "ab"]
    assert read(places.results, "toy") == kept
    page = (places.pages / "toy.md").read_text()
    assert page.startswith("2 cases")
    for options in (
        ["--quick"],
        ["--samples", "7"],
        ["--cases", "a"],
        ["--no-with-peer"],
        ["--quick", "--cases", "b"],
    ):
        (places.local / "toy.json").unlink()
        run("toy", options)
        assert read(places.local, "toy") != kept
        assert read(places.results, "toy") == kept
        assert (places.pages / "toy.md").read_text() == page
    assert read(places.local, "toy") == [{"case": "b", "samples": 2, "peer": True}]


def test_a_run_that_fails_keeps_the_figures_and_leaves_what_it_had(toy, places):
    run("toy", [])
    measure = toy.run

    def fail(*, samples=200):
        yield from measure(samples=samples)
        raise RuntimeError("no more data")

    toy.run = fail
    with pytest.raises(RuntimeError, match="no more data"):
        run("toy", [])
    assert [line["samples"] for line in read(places.results, "toy")] == [100, 100]
    assert [line["samples"] for line in read(places.local, "toy")] == [200, 200]


def test_pages_are_written_again_from_the_figures(toy, places):
    run("toy", [])
    (places.pages / "toy.md").unlink()
    toy.run = None
    run("toy", ["--page"])
    assert (places.pages / "toy.md").read_text().startswith("2 cases")


@pytest.mark.parametrize("name", WITH_PAGES)
def test_pages_say_what_the_figures_say(name):
    module, record = catalogue.find(name), output.read_results(name)
    pages = module.render(record["results"], record["machine"])
    assert set(pages) == set(module.PAGES)
    for page, text in pages.items():
        assert (ROOT / "docs" / page).read_text() == text, (
            f"python -m benchmarks {name} --page writes it again"
        )


@pytest.mark.parametrize("name", NAMES)
def test_figures_of_every_benchmark_are_kept(name):
    assert output.read_results(name)["results"]


def test_the_list_of_benchmarks_stands_on_its_page(capsys):
    main([])
    table = catalogue.describe_all()
    assert table in capsys.readouterr().out
    assert all(f"| `{name}` | {group} |" in table for name, group in NAMES.items())
    assert table in (ROOT / "docs" / "benchmarks.md").read_text()


def test_a_name_that_is_unknown_is_answered_with_those_that_are():
    with pytest.raises(SystemExit, match=r"no benchmark is called 'gram'.*speed.*gram_training"):
        main(["speed", "gram"])


def test_only_paragraphs_and_items_are_broken_into_lines():
    table = "| " + "a wide cell " * 4 + "|\n| --- |"
    text = f"\n## A heading that is long\n\nsome words\nin a row\n\n{table}\n\n- one item\n  of two\n- two\n"
    assert fill(text, 14) == (
        f"\n## A heading that is long\n\nsome words in\na row\n\n{table}\n\n- one item of\n  two\n- two\n"
    )


def test_growth_has_a_page_and_a_plot(places):
    run("growth", ["--quick"])
    page = (places.local / "growth-results.md").read_text()
    lines = read(places.local, "growth")
    assert all(line["ratio_to_peer"] > 0 and f"({line['gap']:.0e})" in page for line in lines)
    assert "(growth.svg)" in page
    assert (places.local / "growth.svg").read_text().count("<polyline") == 2 * 4


def test_hidden_labels_are_measured_for_every_method(places):
    run("incomplete_labels", ["--quick"])
    lines = read(places.local, "incomplete_labels")["lines"]
    assert {line["method"] for line in lines} == {"SVM", "PLATT", "MLR-L1", "MLR-GL"}
    assert all(0.5 < line["auc"] <= 1 for line in lines)
    page = (places.local / "incomplete-labels-results.md").read_text()
    assert "## drawn\n\nQuick run. 60 training samples, 1 draw of hidden labels" in page
    assert page.count("C, column by column: SVM ") == 1


def test_the_choice_says_where_it_is_below_its_peer(places):
    run("automatic_choice", ["--quick"])
    (line,) = read(places.local, "automatic_choice")
    better = line | {"data": "better", "ours_auc": line["peer_auc"] + 1, "ours_map": line["peer_map"] - 0.2}
    worse = line | {"data": "worse", "ours_auc": line["peer_auc"] + 1, "ours_map": line["peer_map"] - 0.4}
    page = automatic_choice.render_page([better, worse], ["enron"], "a machine")
    assert "In image AUC the choice is above the peer on 2 of 2 sets, and nowhere more than" in page
    assert "In image MAP the choice is above the peer on 0 of 2 sets" in page
    assert "points below on worse (-0.40)." in page
    assert "Not measured yet: enron." in page


def test_probabilities_are_as_far_off_as_they_claim_too_much():
    claims = np.array([[0.05, 0.25, 0.25, 0.25, 0.25, 0.9, 0.9]])
    truth = np.array([[1, 1, 0, 0, 0, 1, 0]])
    assert distance_from_claims(claims, truth) == pytest.approx((0 + 0.4) / 2)


def test_an_order_that_is_better_than_by_score_misses_no_aim():
    line = {"claim": 0.7, "right": 0.76, "off": 0.01, "completeness": 0.5, "true_completeness": 0.62}
    line |= {"first_score": 0.3, "first_probability": 0.4, "map_score": 0.5, "map_probability": 0.5}
    points = honest_probability.misses(line)
    assert list(points.values()) == pytest.approx([6, 1, 0, 12])

"""Every benchmark runs in seconds, and only a run as usual replaces figures that are kept."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import catalogue, output, savings_page
from benchmarks.__main__ import main, run

ROOT = Path(__file__).parents[1]
NAMES = catalogue.names()


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Folders of kept and of local figures that stand in for those of the repository."""
    stand_in = output.Places(tmp_path / "results", tmp_path / "local")
    monkeypatch.setattr(output, "PLACES", stand_in)
    return stand_in


@pytest.fixture
def toy(places, monkeypatch):
    """A benchmark that measures how many samples it was asked for."""

    def measure(*, samples=100, cases=("a", "b"), with_peer=True):
        for k in range(1, 1 + len(cases)):
            yield [{"case": case, "samples": samples, "peer": with_peer} for case in cases[:k]]

    module = SimpleNamespace(__doc__="Toy", MINUTES=0, QUICK={"samples": 2}, run=measure)
    monkeypatch.setattr(catalogue, "find", lambda name: module)
    return module


def read(folder, name):
    return json.loads((folder / f"{name}.json").read_text())["results"]


@pytest.mark.filterwarnings("default")  # those of peers
@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_runs_quickly(name, places):
    run(name, ["--quick"])
    assert not places.kept.exists()
    results = read(places.local, name)
    lines = results if isinstance(results, list) else results["lines"]
    assert lines
    assert all(any("ratio" in key for key in line) for line in lines)


def test_figures_are_kept_by_a_usual_run_only(toy, places):
    run("toy", [])
    kept = [{"case": case, "samples": 100, "peer": True} for case in "ab"]
    assert read(places.kept, "toy") == kept
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
        assert read(places.kept, "toy") == kept
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
    assert [line["samples"] for line in read(places.kept, "toy")] == [100, 100]
    assert [line["samples"] for line in read(places.local, "toy")] == [200, 200]


@pytest.mark.parametrize("name", NAMES)
def test_figures_of_every_benchmark_are_kept(name):
    if getattr(catalogue.find(name), "NEEDS_GPU", False) and output.read_results(name) is None:
        pytest.skip("needs a GPU, and no figures of one are kept")
    assert output.read_results(name)["results"]


def test_the_list_of_benchmarks_stands_on_its_page(capsys):
    main([])
    table = catalogue.describe_all()
    assert table in capsys.readouterr().out
    assert all(f"| `{name}` |" in table for name in NAMES)
    assert table in (ROOT / "docs" / "benchmarks.md").read_text()


def test_the_page_of_the_keeper_shows_the_kept_figures():
    lines = output.read_results("desk_keeper")["results"]
    assert savings_page.PAGE.read_text() == savings_page.render(savings_page.PAGE.read_text(), lines)
    assert savings_page.PLOT.read_text() == savings_page.draw(lines)


def test_a_name_that_is_unknown_is_answered_with_those_that_are():
    with pytest.raises(SystemExit, match=r"no benchmark is called 'gram'.*all.*gram_training"):
        main(["scaling", "gram"])

"""Kept figures carry the code that measured them, and a run of all tables can be interrupted."""

import importlib.util
import json
from pathlib import Path

import pytest

import tagrank
from tagrank_papers import catalogue, origin
from tagrank_papers import reproduce as command
from tagrank_papers.catalogue import EXPERIMENTS
from tagrank_papers.measuring import describe_machine, read_record, write_record

SCRIPT = Path(__file__).parents[2] / "docs" / "results.py"


@pytest.fixture
def results_script(monkeypatch, tmp_path):
    """docs/results.py, with an empty folder for what it keeps."""
    spec = importlib.util.spec_from_file_location("results_script", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "KEPT", tmp_path)
    monkeypatch.setattr(module, "read_record", lambda name: read_record(name, tmp_path))
    return module


def test_every_kept_figure_has_a_day_and_a_commit():
    for name in EXPERIMENTS:
        if (record := read_record(name)) is not None:
            assert {"date", "commit"} <= set(record["origin"]), name
            assert record["origin"]["date"] in origin.tell_origin(record)


def test_a_run_says_what_measured_it(tmp_path):
    found = tagrank.reproduce("twmmf-table2", quick=True, output=tmp_path)
    record = read_record("set_sizes", tmp_path)
    assert origin.is_current(record, "set_sizes")
    assert origin.tell_age(record, "set_sizes") == ""
    assert found.origin == (origin.tell_origin(record),)
    assert record["origin"]["date"] in found.origin[0]
    assert not list(tmp_path.glob("*.part.json"))


@pytest.mark.parametrize(
    ("part", "words"), [("experiment", "The experiment has"), ("library", "tagrank has")]
)
def test_changed_code_makes_figures_old(part, words, tmp_path):
    made = origin.describe_origin("set_sizes")
    write_record("set_sizes", [], describe_machine(), tmp_path, origin=made | {part: "0" * 16})
    record = read_record("set_sizes", tmp_path)
    assert not origin.is_current(record, "set_sizes")
    assert origin.tell_age(record, "set_sizes").startswith(f"{words} changed since")


def test_digests_follow_the_code(monkeypatch, tmp_path):
    for name in ("experiments", "protocols"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(origin, "HOME", tmp_path)
    texts = {"experiments/toy.py": "a = 1", "protocols/data.py": "b = 2", "experiments/other.py": "c = 3"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    first = origin.digests("toy")
    (tmp_path / "experiments" / "other.py").write_text("c = 4")
    assert origin.digests("toy") == first
    (tmp_path / "protocols" / "data.py").write_text("b = 3")
    assert origin.digests("toy")["experiment"] != first["experiment"]
    assert origin.digests("toy")["library"] == first["library"]


def test_what_a_part_measured_does_not_replace_what_is_kept(tmp_path):
    write_record("toy", [1], {}, tmp_path)
    write_record("toy", [2], {}, tmp_path, is_complete=False)
    assert read_record("toy", tmp_path)["results"] == [1]
    assert json.loads((tmp_path / "toy.part.json").read_text())["results"] == [2]
    write_record("toy", [3], {}, tmp_path)
    assert read_record("toy", tmp_path)["results"] == [3]
    assert [path.name for path in tmp_path.iterdir()] == ["toy.json"]


def test_an_interrupted_run_of_all_goes_on(results_script, monkeypatch, tmp_path, capsys):
    """Three experiments; the second is interrupted, and data of the third are missing."""
    some = {name: EXPERIMENTS[name] for name in ("two_way_times", "set_sizes", "growth")}
    tables = {
        name: next(table for table in catalogue.TABLES if table.experiment == name).name for name in some
    }
    measured = []

    def reproduce(table, *, output):
        name = next(name for name, found in tables.items() if found == table)
        if name == "growth":
            raise FileNotFoundError("data is missing")
        measured.append(name)
        if measured == ["two_way_times", "set_sizes"]:
            write_record(name, ["a part"], {}, output, is_complete=False)
            raise KeyboardInterrupt
        write_record(name, ["all"], {}, output, origin=origin.describe_origin(name))

    monkeypatch.setattr(results_script, "TABLES", [command.find_table(tables[name]) for name in some])
    monkeypatch.setattr(results_script, "reproduce", reproduce)
    with pytest.raises(KeyboardInterrupt):
        results_script.measure(["all"])
    results_script.measure(["all"])
    assert measured == ["two_way_times", "set_sizes", "set_sizes"]
    said = capsys.readouterr()
    assert "two_way_times: measured by the code of today" in said.out
    assert "growth: left out, data is missing" in said.err
    assert read_record("set_sizes", tmp_path)["results"] == ["all"]
    with pytest.raises(FileNotFoundError):
        results_script.measure([tables["growth"]])

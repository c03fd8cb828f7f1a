"""`tagrank reproduce` runs, shows what is kept, and says what is missing."""

import json

import pytest
from typer.testing import CliRunner

import tagrank
from tagrank.app.cli.main import app
from tagrank_papers import reproduce as command
from tagrank_papers.catalogue import TABLES, Experiment


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    monkeypatch.setenv("TAGRANK_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def invoke(*arguments):
    return CliRunner().invoke(app, ["reproduce", *arguments])


def test_all_tables_are_listed_with_their_state():
    result = invoke()
    assert result.exit_code == 0
    assert all(table.name in result.stdout for table in TABLES)
    assert "impossible" in result.stdout
    listed = json.loads(invoke("--json").stdout)
    assert [entry["name"] for entry in listed] == [table.name for table in TABLES]
    assert {"state", "why", "published", "experiment"} <= set(listed[0])


def test_kept_figures_are_shown_beside_the_published_ones(no_data):
    result = invoke("jsvm-table4", "--kept")
    assert result.exit_code == 0
    assert "Published, and ours" in result.stdout
    assert "Ours less published" in result.stdout
    assert "6285.11" in result.stdout
    found = tagrank.reproduce("jsvm-table4", kept=True)
    assert found.answer.figures.rows["Joint SVM (Gau)"][-1] in result.stdout
    document = json.loads(invoke("jsvm-table4", "--kept", "--json").stdout)
    assert document["ours"]["rows"]["Joint SVM (Gau)"] == list(found.answer.figures.rows["Joint SVM (Gau)"])
    assert document["sentences"] == found.sentences()


def test_an_impossible_table_says_why():
    result = invoke("mkl-figure2.9")
    assert result.exit_code == 0
    assert "ImageNet is not at hand" in result.stdout


def test_a_quick_run_needs_no_data_and_writes_what_it_measured(no_data, tmp_path):
    result = invoke("twmmf-table2", "--quick", "-o", str(tmp_path / "out"))
    assert result.exit_code == 0, result.stderr
    assert "quick run on drawn data" in result.stderr
    assert "data drawn" in result.stderr, "what experiments print goes where progress goes"
    record = json.loads((tmp_path / "out" / "set_sizes.json").read_text())
    assert record["results"][0]["samples"] == 40
    assert record["machine"]["python"]


def test_missing_data_is_told_with_where_to_put_it(no_data, tmp_path):
    result = invoke("twmmf-table2", "-o", str(tmp_path / "out"))
    assert result.exit_code == 1
    assert "data is missing" in result.stderr
    assert "corel5k" in result.stderr
    assert "TAGRANK_DATA" in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("research_data")
def test_a_table_is_measured_again():
    found = tagrank.reproduce("twmmf-table2")
    assert found.answer.figures.rows["Features"] == ("499", "1,836")
    assert found.answer == tagrank.reproduce("twmmf-table2", kept=True).answer
    assert not found.is_quick


def test_a_missing_package_is_told_with_what_to_install():
    experiment = Experiment("toy", "Toy.", (), "None.", 1, packages=("no_such_package",))
    with pytest.raises(
        ImportError, match=r"no_such_package is not installed: pip install 'tagrank\[bench\]'"
    ):
        command.check_packages(experiment)


def test_what_has_no_meaning_together_is_refused():
    result = invoke("jsvm-table4", "--kept", "--quick")
    assert result.exit_code == 2
    assert "--kept measures nothing" in result.stderr


def test_an_unknown_name_is_a_usage_error():
    result = invoke("jsvm-table9")
    assert result.exit_code == 2
    assert "jsvm-table4" in result.stderr


def test_options_reach_the_experiment():
    found = tagrank.reproduce("twmmf-table2", quick=True, only=("drawn", "drawn"))
    assert found.is_quick
    assert found.answer.figures.columns == ("drawn",)

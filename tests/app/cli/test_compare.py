"""`tagrank compare`: tables, JSON, and what Ctrl-C leaves."""

import json

import pytest


@pytest.fixture(scope="module")
def folder(tagrank, table, tmp_path_factory):
    """A comparison of the baselines, kept."""
    folder = tmp_path_factory.mktemp("kept") / "comparison"
    result = tagrank("compare", table, "--methods", "label-frequency", "--jobs", 1, "-o", folder)
    assert result.exit_code == 0, result.output
    return folder


def test_tables(tagrank, table, folder):
    result = tagrank("compare", table, "--methods", "label-frequency", "-o", folder)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "coast: 45 training rows, 15 test rows, 3 tags"
    assert lines[1].split()[:4] == ["method", "MAP", "and", "AUC"]
    assert [line.split()[0] for line in lines[2:4]] == ["one-vs-all-logistic", "label-frequency"]
    assert "--kernel" in result.stdout
    assert f"2 results from an earlier run, see {folder}" in result.stderr


def test_json(tagrank, table, folder):
    result = tagrank("compare", table, "--methods", "label-frequency", "-o", folder, "--json")
    document = json.loads(result.stdout)
    assert document["done_before"] == 2
    best = document["data"][0]["methods"][0]
    assert best["method"] == "one-vs-all-logistic"
    assert best["intervals"]["Micro-F1"][0] < best["values"]["Micro-F1"]


def test_other_settings_are_refused_in_the_words_of_the_command_line(tagrank, table, folder):
    result = tagrank("compare", table, "--methods", "label-frequency", "-o", folder, "--seed", 3)
    assert result.exit_code == 2
    assert "seed was 0 and is now 3" in result.stderr
    assert "start again with --fresh" in result.stderr
    assert "True" not in result.stderr


def test_ctrl_c(tagrank, table, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("tagrank.commands.compare.running.run_units", interrupt)
    result = tagrank("compare", table, "-o", tmp_path / "kept")
    assert result.exit_code == 130
    assert f"results so far are saved in {tmp_path / 'kept'}; the same command continues" in result.stderr
    assert "-o FOLDER saves them" in tagrank("compare", table).stderr


def test_files_that_cannot_be_written_are_told_before_the_work(tagrank, table, tmp_path):
    for option in ("--report", "--markdown", "--latex"):
        result = tagrank("compare", table, option, tmp_path)
        assert result.exit_code == 1
        assert f"{tmp_path} is a folder; name a file" in result.stderr
    result = tagrank("compare", table, "--markdown", tmp_path / "a", "--latex", tmp_path / "a")
    assert "are the same file" in result.stderr
    assert "overwrite" in tagrank("compare", table, "--latex", table).stderr


def test_errors(tagrank, table, tmp_path):
    assert "did you mean 'joint-svm'" in tagrank("compare", table, "--methods", "join-svm").stderr
    assert "no metric 'F2'" in tagrank("compare", table, "--metrics", "F2").stderr
    result = tagrank("compare", "emotion")
    assert result.exit_code in (1, 2)
    assert "did you mean 'emotions'" in result.stderr
    result = tagrank("compare", table, "-o", table.parent)
    assert result.exit_code == 2
    assert "has files, but no comparison" in result.stderr or "overwrite the input" in result.stderr

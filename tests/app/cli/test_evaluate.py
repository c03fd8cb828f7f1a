"""`tagrank evaluate`: the metrics of the library, and a page."""

import json

import pytest

from tagrank.annotation import Annotator
from tagrank.data import read_collection
from tagrank.metrics import metric_table


def test_numbers_are_those_of_the_library(tagrank, model, table):
    annotator, rows = Annotator.load(model), read_collection(table)
    expected = metric_table(rows.Y, annotator.scores(rows), annotator.predict(rows))
    result = tagrank("evaluate", model, table)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert f"{expected['Image-AUC']:.3f}" in result.stdout.splitlines()[4]
    assert "Micro-F1" not in result.stdout
    assert f"--all-metrics shows {len(expected) - 3} more" in result.stdout
    whole = tagrank("evaluate", model, table, "--all-metrics").stdout
    assert all(row.name in whole for row in expected)
    assert "--all-metrics" not in whole
    document = json.loads(tagrank("evaluate", model, table, "--json").stdout)
    found = {row["name"]: row["value"] for row in document["metrics"]["rows"]}
    assert found["Micro-F1"] == pytest.approx(expected["Micro-F1"])
    assert document["per_tag"]["tag"] == ["sky", "sea", "boat"]


def test_report(tagrank, model, table, tmp_path):
    result = tagrank("evaluate", model, table, "--report", tmp_path / "pages" / "report.html")
    assert result.exit_code == 0
    page = (tmp_path / "pages" / "report.html").read_text()
    assert "Image-AUC" in page
    assert "LabelRanker, calibrated" in page


def test_tags_are_aligned_by_name(tagrank, model, table, tmp_path):
    # the columns of sky and sea exchanged, boat unknown to the data, and a stranger
    lines = [line.split(",") for line in table.read_text().splitlines()]
    swapped = [[*line[:3], line[4], line[3], "0"] for line in lines]
    swapped[0][3:] = ["tag:sea", "tag:SKY", "tag:zeppelin"]
    (tmp_path / "swapped.csv").write_text("\n".join(map(",".join, swapped)) + "\n")
    result = tagrank("evaluate", model, tmp_path / "swapped.csv", "--json")
    assert "the data do not have as absent: 1" in result.stderr
    assert "the data that the model does not know: 1" in result.stderr
    per_tag = json.loads(result.stdout)["per_tag"]
    whole = json.loads(tagrank("evaluate", model, table, "--json").stdout)["per_tag"]
    assert per_tag["auc"][:2] == whole["auc"][:2]
    assert per_tag["support"] == [*whole["support"][:2], 0]


def test_no_common_tag(tagrank, model, tmp_path):
    (tmp_path / "other.csv").write_text("red,green,blue,tag:zebra\n0.1,0.2,0.3,1\n")
    result = tagrank("evaluate", model, tmp_path / "other.csv")
    assert result.exit_code == 1
    assert "have no tag in common" in result.stderr


def test_missing_model(tagrank, table, tmp_path):
    result = tagrank("evaluate", tmp_path / "nothing", table)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: {tmp_path / 'nothing'}: model not found; train it first")


def test_official_test_part(tagrank, tmp_path, research_data):
    assert tagrank("train", "scene", "-o", tmp_path / "m", "--method", "label-frequency").exit_code == 0
    document = json.loads(tagrank("evaluate", tmp_path / "m", "scene", "--json").stdout)
    assert document["metrics"]["n_samples"] == 1196

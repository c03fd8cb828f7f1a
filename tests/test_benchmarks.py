"""Benchmarks run, at sizes that only show that they do; scaling starts a process per size and is left out."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
RUNS = {
    "gram_training": ["--quick", "--C", "1"],
    "linear_training": ["--samples", "300", "--labels", "17", "--peer-labels", "3"],
    "prior_margin": ["--scale", "0.0005", "--peer-labels", "1"],
    "joint_svm": ["--quick", "--C", "1"],
    "joint_svm_experiment": ["--quick"],
    "online_joint_svm": ["--samples", "600", "--chunk", "300", "--peer-samples", "300"],
    "chi_square_gram": ["--samples", "60", "--features", "20"],
    "missing_tags": ["--quick"],
}


def run(name, options, folder):
    """The lines of results that a benchmark writes."""
    environment = {**os.environ, "TAGRANK_RESULTS": str(folder)}
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), *options]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    record = json.loads((folder / f"{name}.json").read_text())
    assert record["machine"]["cores"] >= 1
    return record["results"] if isinstance(record["results"], list) else record["results"]["lines"]


@pytest.mark.parametrize("name", RUNS)
def test_benchmark_runs_and_writes_its_ratios(name, tmp_path):
    lines = run(name, RUNS[name], tmp_path)
    assert lines
    assert all(any("ratio" in key for key in line) for line in lines)


def test_growth_has_a_page_and_a_plot(tmp_path):
    lines = run("growth", ["--quick"], tmp_path)
    page = (tmp_path / "growth-results.md").read_text()
    assert all(line["ratio_to_peer"] > 0 and f"({line['gap']:.0e})" in page for line in lines)
    assert "(growth.svg)" in page
    assert (tmp_path / "growth.svg").read_text().count("<polyline") == 2 * 4


def test_hidden_labels_are_measured_for_every_method(tmp_path):
    lines = run("incomplete_labels", ["--quick", "--sets", "drawn"], tmp_path)
    assert {line["method"] for line in lines} == {"SVM", "PLATT", "MLR-L1", "MLR-GL"}
    assert all(0.5 < line["auc"] <= 1 for line in lines)
    page = (tmp_path / "incomplete-labels-results.md").read_text()
    assert "## drawn\n\nQuick run. 60 training samples, 1 draw of hidden labels" in page
    assert page.count("C, column by column: SVM ") == 1

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
    "joint_svm": ["--quick", "--C", "1"],
    "joint_svm_experiment": ["--quick"],
    "online_joint_svm": ["--samples", "600", "--chunk", "300", "--peer-samples", "300"],
    "chi_square_gram": ["--samples", "60", "--features", "20"],
}


@pytest.mark.parametrize("name", RUNS)
def test_benchmark_runs_and_writes_its_ratios(name, tmp_path):
    environment = {**os.environ, "TAGRANK_RESULTS": str(tmp_path)}
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), *RUNS[name]]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    record = json.loads((tmp_path / f"{name}.json").read_text())
    assert record["machine"]["cores"] >= 1
    lines = record["results"] if isinstance(record["results"], list) else record["results"]["lines"]
    assert lines
    assert all(any("ratio" in key for key in line) for line in lines)

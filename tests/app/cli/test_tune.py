"""`tagrank tune`: a table, a file that `train` takes, JSON."""

import json


def test_what_it_writes_train_takes(tagrank, table, tmp_path):
    result = tagrank("tune", table, "--method", "online-joint-svm", "-o", tmp_path / "best.yml")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("--method online-joint-svm --kernel ")
    assert "kernel=rbf" in result.stdout
    assert "kernel=linear" in result.stdout
    assert f"parameters written to {tmp_path / 'best.yml'}" in result.stderr
    result = tagrank("train", table, "-c", tmp_path / "best.yml", "-o", tmp_path / "model")
    assert result.exit_code == 0, result.output


def test_json(tagrank, table):
    options = (
        "--method",
        "joint-svm",
        "--C",
        1,
        "--set",
        "decoding=transfer",
        "--metric",
        "micro-f1",
        "--json",
    )
    document = json.loads(tagrank("tune", table, *options).stdout)
    assert document["config"]["set"] == {"decoding": "transfer"}
    assert document["search"]["criterion"] == "Micro-F1"
    assert len(document["search"]["trials"]) == 2


def test_errors(tagrank, table):
    assert "did you mean 'joint-svm'" in tagrank("tune", table, "--method", "join-svm").stderr
    assert "'auto' has no parameters" in tagrank("tune", table).stderr
    result = tagrank("tune", table, "--method", "joint-svm", "--metric", "F2")
    assert result.exit_code == 2
    assert "no metric 'F2'" in result.stderr

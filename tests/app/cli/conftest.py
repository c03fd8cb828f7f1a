"""A small data file, a model trained on it, and a way to run commands in this process."""

import csv

import numpy as np
import pytest
from typer.testing import CliRunner

from tagrank.app.cli.main import app


@pytest.fixture(scope="session")
def tagrank():
    """Run a command; the result has exit_code, stdout and stderr."""

    def run(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    """Sixty rows of three features; each tag follows one of them."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("data") / "coast.csv"
    with open(path, "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["red", "green", "blue", "tag:Sky", "tag:sea", "tag:boat"])
        for row in rng.random((60, 3)):
            writer.writerow([*row.round(3), *(row > [0.5, 0.4, 0.7]).astype(int)])
    return path


@pytest.fixture(scope="session")
def model(tagrank, table, tmp_path_factory):
    """A calibrated model of the table, trained by the command itself."""
    path = tmp_path_factory.mktemp("models") / "coast"
    options = ("--method", "label-ranker", "--C", 10, "--calibration", "platt", "--lower-case")
    result = tagrank("train", table, "-o", path, *options)
    assert result.exit_code == 0, result.output
    return path

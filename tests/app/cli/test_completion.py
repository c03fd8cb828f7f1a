"""What the shell offers at the Tab key."""

import pytest
from typer.testing import CliRunner

from tagrank.app.cli.main import app
from tagrank.data import list_datasets
from tagrank.estimators.methods import METHODS, method_names
from tagrank.features import FEATURES, PRESETS


def offered(line):
    """What bash would offer for the last word of a line."""
    environment = {
        "_TAGRANK_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
    }
    result = CliRunner().invoke(app, [], prog_name="tagrank", env=environment)
    assert result.exit_code == 0
    return result.stdout.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tagrank tr", ["train"]),
        ("tagrank missing --wr", ["--wrong"]),
        ("tagrank train photos --method ", ["auto", *method_names()]),
        ("tagrank methods fa", ["fasttag"]),
        ("tagrank methods lab", [method.name for method in METHODS if method.name.startswith("lab")]),
        ("tagrank train photos -f ", [*PRESETS, *FEATURES]),
        ("tagrank train sc", [entry.name for entry in list_datasets() if entry.name.startswith("sc")]),
        ("tagrank annotate model dr", ["drawn-pictures"]),
        ("tagrank train ", []),
    ],
)
def test_offers(line, expected):
    assert offered(line) == expected


def test_the_script_for_a_shell_can_be_shown(tagrank, monkeypatch):
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", "/bin/bash"))
    result = tagrank("--show-completion")
    assert result.exit_code == 0
    assert "_TAGRANK_COMPLETE" in result.stdout or "COMPLETE=complete_bash" in result.stdout

"""Streams that are closed, full or no longer read; names that would steer the terminal; pipes as files."""

import os
import subprocess
import sys

import pytest

from tagrank.annotation import Annotator
from tagrank.app.cli.console import say
from tagrank.visible_text import printable

COMMAND = [sys.executable, "-m", "tagrank"]
posix_only = pytest.mark.skipif(os.name != "posix", reason="streams are closed by a POSIX shell")


def in_shell(line, **options):
    """Run a line in which $@ stands for tagrank."""
    return subprocess.run(["bash", "-c", line, "bash", *COMMAND], capture_output=True, text=True, **options)


@posix_only
@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&- <&-"])
def test_training_with_closed_streams(table, tmp_path, closed):
    model = tmp_path / "m"
    answer = in_shell(f'"$@" train {table} -o {model} --method label-frequency {closed}')
    assert answer.returncode == 0
    assert Annotator.load(model).tags


@posix_only
@pytest.mark.parametrize("options", ["features", "--help"])
def test_a_reader_that_has_had_enough_is_no_error(options):
    # the reader is gone before anything is written
    answer = in_shell(f'set -o pipefail; (sleep 0.2; "$@" {options}) | exec true')
    assert answer.returncode == 0
    assert answer.stderr == ""


@posix_only
def test_a_wrong_command_line_stays_wrong_if_nobody_reads_why():
    answer = in_shell('set -o pipefail; (sleep 0.2; "$@" train 2>&1) | exec true')
    assert answer.returncode == 2


@posix_only
def test_notes_that_nobody_reads_stop_no_work(table, tmp_path):
    model = tmp_path / "m"
    line = f'(sleep 0.2; "$@" train {table} -o {model} --method label-frequency 2>&1) | exec true'
    assert in_shell(f"set -o pipefail; {line}").returncode == 0
    assert Annotator.load(model).tags


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is a disk that is always full")
def test_a_full_disk_is_an_error():
    answer = in_shell('"$@" features --json > /dev/full')
    assert answer.returncode == 1
    assert answer.stderr == "error: standard output: No space left on device\n"


@pytest.mark.parametrize(
    "hidden",
    ["\x1b", "\x9b", "\r", "\u200e", "\u202e", "\u2066", "\u2069", "\u061c", "\u2028", "\ufeff", "\udc80"],
)
def test_names_do_not_steer_the_terminal(hidden, capsys):
    assert printable(f"a{hidden}b") == "a\N{REPLACEMENT CHARACTER}b"
    say(f"skipped: a{hidden}b.jpg")
    assert hidden not in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["plain", "Straße 日本", "e\u0301te\u0301", "\u0645\u06cc\u200c\u062e", "👩\u200d🌾"]
)
def test_names_in_all_scripts_stay_as_they_are(name):
    assert printable(name) == name


def test_a_usage_error_does_not_steer_the_terminal(tagrank, tmp_path):
    (tmp_path / "config.yml").write_text('"\\u202Eprobe": 1\n')
    assert "\u202e" not in tagrank("features", "-c", tmp_path / "config.yml").stderr
    result = tagrank("annotate", "model", "data", "-o", "a\u202ecsv.txt")
    assert result.exit_code == 2
    assert "\u202e" not in result.stderr


PIPES = """
import sys
from typer.testing import CliRunner
from tagrank.app.cli.main import app
for line in sys.stdin:
    result = CliRunner().invoke(app, line.split())
    print(result.exit_code, "Traceback" in result.stderr, "PIPE" in result.stderr)
"""


@posix_only
def test_a_pipe_is_no_file(table, model, tmp_path):
    for name in ("PIPE.csv", "PIPE.png"):
        os.mkfifo(tmp_path / name)
    lines = [
        "train PIPE.csv -o m",
        f"train {table} -o m -c PIPE.csv",
        f"train {table} -o m --method prior-margin --set prior=PIPE.csv",
        "missing PIPE.csv",
        f"annotate PIPE.csv {table}",
        f"annotate {model} PIPE.csv",
        f"annotate {model} PIPE.png",
        f"evaluate {model} PIPE.csv",
    ]
    command = [sys.executable, "-c", PIPES]
    options = {"input": "\n".join(lines), "capture_output": True, "text": True, "check": True}
    # the time is only there so that a hang ends
    answer = subprocess.run(command, cwd=tmp_path, timeout=600, **options)
    assert answer.stdout.splitlines() == [f"{2 if '-c' in line else 1} False True" for line in lines]
    assert not (tmp_path / "m").exists()

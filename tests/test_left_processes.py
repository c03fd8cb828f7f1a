"""Files of tests that leave something behind fail, and an order that was drawn can be drawn again."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.left_processes import VARIABLE, end_left, mark_children

ROOT = Path(__file__).parents[1]
SLEEP = "import time; time.sleep(600)"
# the process in between ends at once, and so nobody is the parent of the one that sleeps
ENDED = -signal.SIGKILL
ORPHAN = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {SLEEP!r}])"


def start(code, mark=None):
    environment = os.environ | ({} if mark is None else {VARIABLE: mark})
    return subprocess.Popen([sys.executable, "-c", code], env=environment)


def run(tmp_path, code, *options):
    """What pytest says about a file, with the fixtures of all tests."""
    file = tmp_path / "test_this.py"
    file.write_text(code)
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-c", ROOT / "pyproject.toml", "-vv"]
    return subprocess.run(
        [*command, "--rootdir", tmp_path, *options, file], cwd=ROOT, capture_output=True, text=True
    )


@pytest.fixture
def mark(monkeypatch):
    monkeypatch.setenv(VARIABLE, os.environ[VARIABLE])
    return mark_children()


def test_what_is_left_is_named_and_ended(mark):
    with start(SLEEP) as process:
        (line,) = end_left(mark, patience=0)
        assert process.wait() == ENDED
    assert line.startswith(f"{process.pid} {sys.executable} -c")
    assert "test_what_is_left_is_named_and_ended" in line


def test_an_orphan_is_found(mark):
    assert start(ORPHAN).wait() == 0
    assert len(end_left(mark, patience=0)) == 1
    assert end_left(mark, patience=0) == []


def test_what_ends_by_itself_is_waited_for(mark):
    with start("import time; time.sleep(0.5)") as process:
        assert end_left(mark) == []
        assert process.wait() == 0


@pytest.mark.parametrize("other", ["", "/somebody", "{mark}0"])
def test_processes_of_others_are_left_alone(mark, other):
    with start(SLEEP, other.format(mark=mark)) as process:
        assert end_left(mark, patience=0) == []
        assert process.poll() is None
        process.kill()


def test_what_was_started_within_a_nested_run_is_found(mark):
    with start(SLEEP, f"{mark}/deeper") as process:
        assert len(end_left(mark, patience=0)) == 1
        assert process.wait() == ENDED


def test_the_command_fails_on_what_is_left(mark):
    command = [sys.executable, "-m", "tests.left_processes"]
    assert subprocess.run(command, cwd=ROOT).returncode == 0
    with start(SLEEP) as process:
        code = "from tests.left_processes import main; main(patience=0)"
        answer = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
        assert process.wait() == ENDED
    assert answer.returncode == 1
    assert f"left processes behind, which were ended now:\n{process.pid} " in answer.stderr


def test_a_file_that_leaves_a_running_loop_fails(tmp_path):
    code = (
        "import asyncio\n"
        "def test_that_leaves_a_loop():\n"
        "    loop = asyncio.new_event_loop()\n"
        "    asyncio.events._set_running_loop(loop)\n"
        "    loop.close()\n"
    )
    answer = run(tmp_path, code)
    assert answer.returncode == 1
    assert "a running event loop was left" in answer.stdout


ORDERED = "import pytest\n@pytest.mark.parametrize('k', range(20))\ndef test_it(k):\n    pass\n"


def order(answer):
    return list(map(int, re.findall(r"test_it\[(\d+)\]", answer.stdout)))


def test_an_order_is_drawn_and_can_be_repeated(tmp_path):
    assert order(run(tmp_path, ORDERED)) == list(range(20))
    first = run(tmp_path, ORDERED, "--random-order", "new")
    seed = re.search(r"--random-order (\d+)", first.stdout)[1]
    assert sorted(order(first)) == list(range(20))
    assert order(first) != list(range(20))
    assert order(run(tmp_path, ORDERED, "--random-order", seed)) == order(first)
    assert order(run(tmp_path, ORDERED, "--random-order", f"{seed}0")) != order(first)

"""A model survives the death of its saver at any moment, and many savers and readers at once."""

import subprocess
import sys
from pathlib import Path

import pytest

PROCESSES = Path(__file__).with_name("saving_processes.py")


@pytest.mark.skipif(sys.platform == "win32", reason="processes are forked and killed")
@pytest.mark.parametrize("way", ["one exchange", "two renames"])
@pytest.mark.parametrize("task", ["kill", "crowd"])
def test_whole_models_only(task, way, tmp_path):
    done = subprocess.run(
        [sys.executable, PROCESSES, tmp_path, task, way], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr

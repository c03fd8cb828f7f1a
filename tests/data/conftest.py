"""A process of its own whose memory is bounded and measured."""

import subprocess
import sys

import pytest

_BEGINNING = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))
"""
_END = """
import sys
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print("peak", peak // 2**20)
"""


@pytest.fixture(scope="session")
def run_within():
    """A function that runs Python code, which may take at most so many MB at its peak; what it printed."""
    pytest.importorskip("resource")
    return _run_within


def _run_within(megabytes, code, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", _BEGINNING + code + _END, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    text, _, peak = done.stdout.rpartition("peak ")
    assert int(peak) < megabytes, f"{peak} MB"
    return text

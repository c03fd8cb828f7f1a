"""A process of its own whose memory is bounded and measured."""

import subprocess
import sys
from pathlib import Path

import pytest

_BEGINNING = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))
"""
# not getrusage: its peak includes that of the process which started this one
_END = """
print("peak", next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.fixture(scope="session")
def run_within():
    """A function that runs Python code, which may take at most so many MB at its peak; what it printed."""
    if not Path("/proc/self/status").exists():
        pytest.skip("needs /proc to measure memory")
    return _run_within


def _run_within(megabytes, code, *arguments, timeout=None):
    done = subprocess.run(
        [sys.executable, "-c", _BEGINNING + code + _END, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stderr
    text, _, peak = done.stdout.rpartition("peak ")
    assert int(peak) < 1024 * megabytes, f"{peak.strip()} kB"
    return text

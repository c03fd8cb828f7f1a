"""Processes that tests left behind: found by a mark in their environment, which children inherit.

`python -m tests.left_processes` names what a run of the tests left, ends it, and fails; `.ci/run` asks it.
"""

import os
import secrets
import sys
import time
from contextlib import suppress

import psutil

VARIABLE = "TAGRANK_TEST_RUN"
# workers end by themselves, once they notice that nobody reads what they say
PATIENCE_SECONDS = 30


def mark_children():
    """Mark all that this process starts from now on, within the mark that it has itself; answers the mark."""
    os.environ[VARIABLE] = f"{os.environ.get(VARIABLE, '')}/{secrets.token_hex(8)}"
    return os.environ[VARIABLE]


def end_left(mark, *, patience=PATIENCE_SECONDS):
    """End the processes with this mark that do not end by themselves; answers a line about each."""
    deadline = time.monotonic() + patience
    while (left := _marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    lines = [line for process in left if (line := _describe(process))]
    for process in left:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    # not psutil's wait: it would take the exit status from the Popen that started it
    while any(_has(process, mark) for process in left):
        time.sleep(0.01)
    return lines


def _marked(mark):
    """Running processes with the mark, but for this one, those that it runs for and its helpers."""
    own = {os.getpid(), *(process.pid for process in psutil.Process().parents())}
    own |= {child.pid for child in psutil.Process().children() if _is_tracker(child)}
    return [process for process in psutil.process_iter() if process.pid not in own and _has(process, mark)]


def _is_tracker(process):
    """Whether it looks after the shared memory of its parent, as Python starts it, and ends with it."""
    with suppress(psutil.Error, OSError):
        return any("resource_tracker import main" in word for word in process.cmdline())
    return False


def _has(process, mark):
    """Whether it runs with this mark; one that ended and was not asked for its status does not run."""
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return f"{process.environ().get(VARIABLE, '')}/".startswith(f"{mark}/")
    except (psutil.Error, OSError):
        # it has just ended, or belongs to somebody else
        return False


def _describe(process):
    try:
        test = process.environ().get("PYTEST_CURRENT_TEST", "an unknown test")
        return f"{process.pid} {' '.join(process.cmdline())[:200]}, started by {test}"
    except psutil.Error:
        return ""


def main(patience=PATIENCE_SECONDS):
    lines = end_left(os.environ[VARIABLE], patience=patience)
    if lines:
        sys.exit("the tests left processes behind, which were ended now:\n" + "\n".join(lines))


if __name__ == "__main__":
    main()

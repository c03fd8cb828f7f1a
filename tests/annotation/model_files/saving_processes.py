"""Processes that save and read the same model, and are killed: run by test_killed_and_crowded_saving.py.

The children are forked here and not in the tests, whose process has threads.
"""

import errno
import os
import signal
import sys
import traceback
from functools import partial
from pathlib import Path

import numpy as np

from tagrank.annotation.model_files import atomic_folder, storage

TRACED = ("atomic_folder.py", "storage.py", "shutil.py")


def save(path, number):
    arrays = {name: np.full(number % 7 + 1, number) for name in ("first", "second", "third")}
    storage.write_model(path, {"number": number}, arrays)


def read(path):
    """The number of the model, all parts of which must be of that number."""
    content, arrays = storage.read_model(path)
    number = content.take("number", int)
    assert sorted(arrays) == ["first", "second", "third"]
    assert all((array == number).all() and len(array) == number % 7 + 1 for array in arrays.values())
    return number


def start(work):
    """A child that does `work` and ends with 1 if it fails."""
    child = os.fork()
    if child:
        return child
    try:
        work()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def killed_at_line(n, work):
    """Do `work` in a child that kills itself before it runs the n-th line of what saves; whether it did."""

    def traced():
        left = n

        def trace(frame, event, _):
            nonlocal left
            if not frame.f_code.co_filename.endswith(TRACED):
                return None
            left -= event == "line"
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return trace

        sys.settrace(trace)
        work()

    _, status = os.waitpid(start(traced), 0)
    assert status in (0, signal.SIGKILL)
    return status != 0


def kill_everywhere(path):
    """Kill a saver before each of its lines; there is a whole model always, and the next saver tidies up."""
    number, n, old_ones = 0, 1, 0
    save(path, number)
    while killed_at_line(n, partial(save, path, number + 1)):
        found = read(path)
        assert found in (number, number + 1)
        old_ones += found == number
        number += 2
        save(path, number)
        assert os.listdir(path.parent) == [path.name], os.listdir(path.parent)
        n += 1
    assert 50 < old_ones < n - 10, (old_ones, n)


def crowd(path, n_savers=4, n_saves=25, n_readers=3):
    """Several processes save all the time and others read: nobody meets an error or half a model."""
    save(path, 0)
    savers = [
        start(lambda i=i: [save(path, n_saves * i + k) for k in range(n_saves)]) for i in range(n_savers)
    ]
    done = path.with_name("done")

    def read_on():
        while not done.exists():
            read(path)

    readers = [start(read_on) for _ in range(n_readers)]
    ends = [os.waitpid(saver, 0)[1] for saver in savers]
    done.touch()
    ends += [os.waitpid(reader, 0)[1] for reader in readers]
    assert not any(ends), ends
    read(path)
    assert sorted(os.listdir(path.parent)) == ["done", path.name], os.listdir(path.parent)


def refuse_exchange(*_):
    raise OSError(errno.EINVAL, "as file systems say that cannot exchange names")


if __name__ == "__main__":
    folder, task, way = sys.argv[1:]
    if way == "two renames":
        atomic_folder._exchange = refuse_exchange
    {"kill": kill_everywhere, "crowd": crowd}[task](Path(folder) / "model")

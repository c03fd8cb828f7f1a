"""Worker processes: answers in order, errors as they were, and none that outlives its parent."""

import math
import os
import signal
import subprocess
import sys
import time
from functools import partial

import psutil
import pytest

from tagrank.files import FileError
from tagrank.worker_process import is_stopped, report
from tagrank.workers import TooSlow, Worker, WorkerDied, WorkerPool, map_in_order, pack_work


@pytest.mark.parametrize("n_workers", [1, 2])
def test_answers_come_in_order(n_workers):
    questions = [9, 4, 1, 0, 16, 25, 36]
    assert list(map_in_order(math.sqrt, questions, n_workers=n_workers)) == [3, 2, 1, 0, 4, 5, 6]


def test_errors_keep_their_kind():
    with pytest.raises(ZeroDivisionError, match="by zero"):
        list(map_in_order(partial(divmod, 1), [1, 0], n_workers=2))
    with pytest.raises(FileNotFoundError) as caught:
        list(map_in_order(os.listdir, ["/none/such"], n_workers=2))
    assert caught.value.errno == 2
    assert caught.value.filename == "/none/such"


def raise_file_error(_):
    raise FileError("a.onnx", "cannot run")


def raise_unsendable(_):
    raise ValueError(lambda: 0)


def test_errors_whose_arguments_are_unusual():
    with pytest.raises(FileError, match=r"^a.onnx: cannot run$"):
        list(map_in_order(raise_file_error, [1], n_workers=2))
    with pytest.raises(RuntimeError, match=r"^ValueError: <function"):
        list(map_in_order(raise_unsendable, [1], n_workers=2))


def test_a_death_is_an_answer_or_an_error():
    with pytest.raises(RuntimeError, match=r"ended with code 3.*fewer n_jobs"):
        list(map_in_order(os._exit, [3], n_workers=2))
    ((question, answer),) = WorkerPool(os._exit, n_workers=2).map([3])
    assert question == 3
    assert isinstance(answer, WorkerDied)


def test_a_question_may_have_a_time_limit():
    worker = Worker()
    worker.prepare(pack_work(time.sleep))
    assert worker.ask(0, seconds=600) is None
    with pytest.raises(TooSlow, match=r"killed after 0\.1 seconds"):
        worker.ask(10_000, seconds=0.1)


def test_a_pool_goes_on_after_a_question_that_takes_too_long():
    pool = WorkerPool(time.sleep, n_workers=1, max_seconds=2)
    answers = dict(pool.map([10_000, 0]))
    assert isinstance(answers[10_000], TooSlow)
    assert answers[0] is None


def test_threads_of_a_worker():
    def count(_):
        import numba

        return numba.config.NUMBA_NUM_THREADS

    assert list(map_in_order(count, [0], n_workers=2, n_threads=1)) == [1]


def test_what_is_printed_does_not_mix_with_the_answers(capfd):
    assert list(map_in_order(print, ["hello"], n_workers=2)) == [None]
    assert capfd.readouterr().err == "hello\n"


def start(code, **options):
    return subprocess.Popen([sys.executable, "-c", code], **options)


SLEEPING = """
import time
from tagrank.worker_process import is_stopped, report
from tagrank.workers import TooSlow, map_in_order
try:
    list(map_in_order(time.sleep, [{seconds}] * 2, n_workers=2))
except KeyboardInterrupt:
    print("interrupted")
"""


def wait_for_workers(process):
    parent = psutil.Process(process.pid)
    while len(workers := parent.children(recursive=True)) < 2:
        assert process.poll() is None
        time.sleep(0.002)
    return workers


# while workers start, while they import, in the middle of their work
@pytest.mark.parametrize("delay", [0, 0.1, 2])
def test_workers_end_with_a_parent_that_is_killed(delay):
    process = start(SLEEPING.format(seconds=10_000))
    workers = wait_for_workers(process)
    time.sleep(delay)
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(workers, timeout=60)
    assert not alive


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is no signal there")
@pytest.mark.parametrize("delay", [0, 0.02, 0.05, 0.1, 1])
def test_ctrl_c_is_for_the_parent_alone(delay):
    """The terminal sends it to the whole group, at whatever stage the workers are."""
    process = start(
        SLEEPING.format(seconds=10_000),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    workers = wait_for_workers(process)
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate() == ("interrupted\n", "")
    _, alive = psutil.wait_procs(workers, timeout=60)
    assert not alive


@pytest.mark.skipif(os.name == "nt", reason="shells differ")
@pytest.mark.parametrize("closed", ["2>&-", "<&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_standard_streams_may_be_closed(closed, tmp_path):
    code = SLEEPING.format(seconds=0) + f"open({str(tmp_path / 'done')!r}, 'w').write('yes')"
    subprocess.run(["sh", "-c", f'exec "$0" -c "$1" {closed}', sys.executable, code], check=True)
    assert (tmp_path / "done").read_text() == "yes"


def count_until_stopped(most):
    for number in range(most):
        report(number)
        if is_stopped():
            return number
        time.sleep(0.01)
    return most


def test_work_reports_and_is_stopped():
    worker, heard = Worker(), []
    worker.prepare(pack_work(count_until_stopped))
    try:
        assert worker.ask(3, on_report=heard.append) == 3
        assert heard == [0, 1, 2]
        answer = worker.ask(100_000, on_report=lambda number: worker.stop() if number == 2 else None)
        assert 2 <= answer < 100_000
        # a wish to stop does not outlive the question that it was about
        assert worker.ask(2) == 2
    finally:
        worker.kill()
    worker.stop()

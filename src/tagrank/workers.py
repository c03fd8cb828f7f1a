"""Worker processes that may die without harm.

Each is a fresh interpreter, not a fork: compiled loops do not survive one. It imports nothing from the
working folder, which may come from elsewhere, answers one question at a time through a pipe, and ends when
the pipe closes, however the parent ended. A worker that dies over a question is replaced.
"""

import os
import pickle
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from tagrank.worker_process import ADVICE, STOP, Failure, Report

# read by the libraries when they load
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "OPENCV_FOR_THREADS_NUM",
)
_START = "import sys; sys.path[:] = {path!r}; from tagrank.worker_process import serve; serve()"
_PACKAGES = str(Path(__file__).parents[1])
SECONDS_ASLEEP = 0.5  # of whoever waits for workers, before it looks whether it was interrupted


class WorkerDied(RuntimeError):
    """A worker process ended before it answered."""


class TooSlow(WorkerDied):
    """A worker process was ended since its answer took too long."""


def map_in_order(
    work: Callable[[Any], Any], questions: Iterable[Any], *, n_workers: int, n_threads: int = 1
) -> Iterator[Any]:
    """The answers to questions, one by one; in this process for one worker, else in a `WorkerPool`."""
    if n_workers == 1:
        yield from map(work, questions)
        return
    pool = WorkerPool(work, n_workers=n_workers, n_threads=n_threads)
    with closing(pool.map(questions, in_order=True)) as answers:
        for _, answer in answers:
            if isinstance(answer, WorkerDied):
                raise RuntimeError(
                    f"a worker process did not answer ({answer}); is there enough memory? Try fewer n_jobs"
                )
            yield answer


class WorkerPool:
    """Worker processes that apply one function; those that die are replaced.

    Parameters
    ----------
    work : function of one argument that can be pickled
    n_workers : processes at most; each starts when it is first needed
    n_threads : threads of each
    max_seconds : for one question; then the worker is ended, and the answer is a `TooSlow`
    """

    def __init__(
        self,
        work: Callable[[Any], Any],
        *,
        n_workers: int,
        n_threads: int = 1,
        max_seconds: float | None = None,
    ) -> None:
        self._work, self._max_seconds = pack_work(work), max_seconds
        self._n_workers, self._n_threads = n_workers, n_threads
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    def map(
        self, questions: Iterable[Any], *, in_order: bool = False
    ) -> Generator[tuple[Any, Any], None, None]:
        """(question, answer) as they are done, or in the order asked; the answer may be a `WorkerDied`.

        Few questions are on their way at any time, so that memory stays flat. Leaving early ends all workers.
        """
        pending: dict[Future, Any] = {}
        threads = ThreadPoolExecutor(self._n_workers)
        try:
            for question in questions:
                if len(pending) >= 2 * self._n_workers:
                    yield from _take_done(pending, in_order)
                pending[threads.submit(self._ask, question)] = question
            while pending:
                yield from _take_done(pending, in_order)
        finally:
            self._close()
            threads.shutdown(cancel_futures=True)

    def _ask(self, question: Any) -> Any:
        # killed for want of memory, it may well succeed beside another neighbour
        for attempt in (1, 2):
            worker = self._take_worker()
            try:
                answer = worker.ask(question, seconds=self._max_seconds)
            except WorkerDied as error:
                with self._lock:
                    self._all.discard(worker)
                if attempt == 2 or self._is_closed or isinstance(error, TooSlow):
                    return error
            else:
                with self._lock:
                    self._idle.append(worker)
                return answer

    def _take_worker(self) -> "Worker":
        with self._lock:
            if self._is_closed:
                raise RuntimeError("the worker processes were stopped")
            if self._idle:
                return self._idle.pop()
            worker = Worker(self._n_threads)
            self._all.add(worker)
        worker.prepare(self._work)
        return worker

    def _close(self) -> None:
        with self._lock:
            self._is_closed = True
            workers, self._all = self._all, set()
        for worker in workers:
            worker.kill()


class Worker:
    """One process and its pipes; `prepare` brings it the function to apply, as `pack_work` packs it."""

    def __init__(self, n_threads: int = 1) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START.format(path=[*sys.path, _PACKAGES])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | dict.fromkeys(_THREAD_VARIABLES, str(n_threads)),
            # Ctrl-C reaches the group of the parent, which decides what to do about it
            process_group=0 if os.name == "posix" else None,
        )
        self._writing = threading.Lock()
        weakref.finalize(self, _end, self._process)

    def prepare(self, work: bytes) -> None:
        """Load the function, and whatever its module imports."""
        try:
            self._exchange(work)
        except WorkerDied as error:
            raise RuntimeError(f"a worker process could not start ({error})") from None

    def ask(
        self,
        question: Any,
        *,
        seconds: float | None = None,
        on_report: Callable[[Any], None] | None = None,
    ) -> Any:
        """The answer to a question, or what the function raised; `TooSlow` if it takes too long.

        `on_report` is called with what the function tells meanwhile, see `worker_process.report`.
        """
        packed = pickle.dumps(question, protocol=5)
        if seconds is None:
            return self._exchange(packed, on_report)
        is_late = threading.Event()

        def end() -> None:
            is_late.set()
            self._process.kill()

        clock = threading.Timer(seconds, end)
        clock.daemon = True
        clock.start()
        try:
            return self._exchange(packed, on_report)
        except WorkerDied:
            if not is_late.is_set():
                raise
            raise TooSlow(f"killed after {seconds:g} seconds without an answer") from None
        finally:
            clock.cancel()

    @property
    def is_alive(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def stop(self) -> None:
        """Ask for an early end of the work that is being done, see `worker_process.is_stopped`."""
        # a process that ended does no work
        with suppress(OSError, ValueError):
            self._write(STOP)

    def _write(self, message: Any) -> None:
        assert self._process.stdin is not None
        with self._writing:
            pickle.dump(message, self._process.stdin, protocol=5)
            self._process.stdin.flush()

    def _exchange(self, packed: bytes, on_report: Callable[[Any], None] | None = None) -> Any:
        assert self._process.stdout is not None
        try:
            self._write(packed)
            while isinstance(answer := pickle.load(self._process.stdout), Report):
                if on_report is not None:
                    on_report(answer.message)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            self.kill()
            raise WorkerDied(_ending(self._process.returncode)) from None
        if isinstance(answer, Failure):
            raise answer.error()
        return answer

    def kill(self) -> None:
        """End the process, whatever it does, and close its pipes."""
        _end(self._process)


def pack_work(work: Callable[[Any], Any]) -> bytes:
    """A function as it travels to workers; what they cannot import, as from a notebook, travels along."""
    with suppress(pickle.PicklingError, AttributeError, TypeError):
        packed = pickle.dumps(work, protocol=5)
        if b"__main__" not in packed:
            return packed
    import cloudpickle

    try:
        return cloudpickle.dumps(work, protocol=5)
    except Exception as error:
        raise RuntimeError(f"the work cannot be sent to worker processes ({error}); {ADVICE}") from None


def _take_done(pending: dict[Future, Any], in_order: bool) -> Iterator[tuple[Any, Any]]:
    awaited = [next(iter(pending))] if in_order else list(pending)
    # Ctrl-C may reach a thread that is starting a worker, and then this one learns of it when it wakes up
    while not (done := wait(awaited, timeout=SECONDS_ASLEEP, return_when=FIRST_COMPLETED).done):
        pass
    for future in done:
        yield pending.pop(future), future.result()


def _end(process: subprocess.Popen) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        # what a dead process did not take cannot be flushed
        with suppress(OSError):
            pipe.close()  # type: ignore[union-attr]


def _ending(code: int) -> str:
    if code == -getattr(signal, "SIGKILL", 9):
        return "killed, perhaps because memory ran out"
    if code < 0:
        return f"ended by {signal.Signals(-code).name}"
    return f"ended with code {code}"

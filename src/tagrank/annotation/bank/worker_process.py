"""Worker processes that may die without harm.

Each is a fresh interpreter, not a fork: compiled loops do not survive one. It runs on one thread, answers one
question at a time through a pipe, and leaves when the pipe closes, so that no parent, however it ended,
leaves it behind. Whoever dies over a question is known by it.
"""

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

# read by the libraries when they load
_ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "OPENCV_FOR_THREADS_NUM",
    ),
    "1",
)
# Ctrl-C reaches the whole group; what to do about it is for the parent to decide
_START = """
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.path[:] = {path!r}
from tagrank.annotation.bank.worker_process import serve
serve()
"""
_ADVICE = "define features in a module that can be imported, or pass n_jobs=1"


class WorkerDied(RuntimeError):
    """A worker process ended before it answered."""


class Crew:
    """Worker processes that apply one function; those that die are replaced.

    Parameters
    ----------
    work : function of one argument that can be pickled
    n_workers : processes at most; each starts when it is first needed
    """

    def __init__(self, work: Callable[[Any], Any], *, n_workers: int) -> None:
        try:
            self._work = pickle.dumps(work)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise RuntimeError(f"the work cannot be sent to processes ({error}); {_ADVICE}") from None
        self._n_workers = n_workers
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    def map(self, questions: Iterable[Any]) -> Generator[tuple[Any, Any], None, None]:
        """(question, answer) in the order in which they are done; the answer may be a `WorkerDied`.

        Few questions are on their way at any time, so that memory stays flat. Leaving early ends all workers.
        """
        pending: dict[Future, Any] = {}
        threads = ThreadPoolExecutor(self._n_workers)
        try:
            for question in questions:
                if len(pending) >= 2 * self._n_workers:
                    yield from _take_done(pending)
                pending[threads.submit(self._ask, question)] = question
            while pending:
                yield from _take_done(pending)
        finally:
            self._close()
            threads.shutdown(cancel_futures=True)

    def _ask(self, question: Any) -> Any:
        # killed for want of memory, it may well succeed beside another neighbour
        for attempt in (1, 2):
            worker = self._take_worker()
            try:
                answer = worker.ask(question)
            except WorkerDied as error:
                with self._lock:
                    self._all.discard(worker)
                if attempt == 2 or self._is_closed:
                    return error
            else:
                with self._lock:
                    self._idle.append(worker)
                return answer

    def _take_worker(self) -> "_Worker":
        with self._lock:
            if self._is_closed:
                raise RuntimeError("the crew was sent home")
            if self._idle:
                return self._idle.pop()
            worker = _Worker()
            self._all.add(worker)
        worker.prepare(self._work)
        return worker

    def _close(self) -> None:
        with self._lock:
            self._is_closed = True
            workers, self._all = self._all, set()
        for worker in workers:
            worker.kill()


@dataclass(frozen=True)
class _Failure:
    """An error of the function, which its parent raises."""

    message: str


class _Worker:
    """One process and its pipes."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | _ONE_THREAD,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._questions, self._answers = self._process.stdin, self._process.stdout

    def prepare(self, work: bytes) -> None:
        try:
            self.ask(work)
        except WorkerDied as error:
            raise RuntimeError(
                f"a worker process could not start ({error}); n_jobs=1 works without them"
            ) from None

    def ask(self, question: Any) -> Any:
        try:
            pickle.dump(question, self._questions, protocol=5)
            self._questions.flush()
            answer = pickle.load(self._answers)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            self.kill()
            raise WorkerDied(_ending(self._process.returncode)) from None
        if isinstance(answer, _Failure):
            raise RuntimeError(f"in a worker process: {answer.message}")
        return answer

    def kill(self) -> None:
        """End the process, whatever it does, and close its pipes."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._questions, self._answers):
            # what a dead process did not take cannot be flushed
            with suppress(OSError):
                pipe.close()


def _take_done(pending: dict[Future, Any]) -> Iterator[tuple[Any, Any]]:
    for future in wait(pending, return_when=FIRST_COMPLETED).done:
        yield pending.pop(future), future.result()


def _ending(code: int) -> str:
    if code == -getattr(signal, "SIGKILL", 9):
        return "killed, perhaps for want of memory"
    if code < 0:
        return f"ended by {signal.Signals(-code).name}"
    return f"ended with code {code}"


def serve() -> None:
    """Answer questions from standard input until it closes; the first brings the function to apply."""
    # what libraries print must not mix with the answers
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        work = pickle.loads(pickle.load(sys.stdin.buffer))
    except Exception as error:
        return _send(_Failure(f"{type(error).__name__}: {error}; {_ADVICE}"), answers)
    _send(None, answers)
    while True:
        try:
            question = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = work(question)
        except Exception as error:
            answer = _Failure(f"{type(error).__name__}: {error}")
        _send(answer, answers)


def _send(answer: Any, stream: Any) -> None:
    try:
        pickle.dump(answer, stream, protocol=5)
        stream.flush()
    except BrokenPipeError:
        # nobody listens any more
        os._exit(1)

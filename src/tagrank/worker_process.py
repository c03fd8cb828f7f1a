"""What a worker process does: it applies the function that its parent sends, until the parent ends."""

import os
import pickle
import queue
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

ADVICE = "define it in a module that can be imported, or pass n_jobs=1"


STOP = "stop"  # sent in the place of a question, while one is being answered


@dataclass(frozen=True)
class Report:
    """What the function tells while it works; an answer follows."""

    message: Any


@dataclass(frozen=True)
class Failure:
    """An error of the function, which the parent raises."""

    kind: type[Exception]
    arguments: tuple[Any, ...]

    def error(self) -> Exception:
        # __init__ may want other arguments than those that are kept
        return self.kind.__new__(self.kind, *self.arguments)


class _ParentLine:
    """How the function that is applied reaches the parent; nobody listens outside of a worker."""

    def __init__(self) -> None:
        self.answers: Any = None
        self.is_stopped = threading.Event()


_line = _ParentLine()


def report(message: Any) -> None:
    """Tell the parent something while the work is done; see `Worker.ask`."""
    if _line.answers is not None:
        _send(Report(message), _line.answers)


def is_stopped() -> bool:
    """Whether the parent asked to end the work that is being done; see `Worker.stop`."""
    return _line.is_stopped.is_set()


def serve() -> None:
    """Answer questions from standard input until it closes; the first brings the function to apply."""
    # on Windows Ctrl-C reaches every process of the console
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    open_standard_streams()
    # what libraries print must not mix with the answers
    answers = _line.answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    questions: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=[questions], daemon=True).start()
    try:
        work = pickle.loads(questions.get())
    except Exception as error:
        return _send(Failure(RuntimeError, (f"{type(error).__name__}: {error}; {ADVICE}",)), answers)
    _send(None, answers)
    while True:
        try:
            answer = work(pickle.loads(questions.get()))
        except Exception as error:
            answer = _failure(error)
        _send(answer, answers)


def _receive(questions: "queue.SimpleQueue[bytes]") -> None:
    """Read on while the work is done, so that the end of the parent is noticed in its middle."""
    with suppress(EOFError, OSError, pickle.UnpicklingError):
        while True:
            question = pickle.load(sys.stdin.buffer)
            if question == STOP:
                _line.is_stopped.set()
            else:
                # a wish to stop was about the question before
                _line.is_stopped.clear()
                questions.put(question)
    os._exit(1)


def _failure(error: Exception) -> Failure:
    try:
        # unlike args, these name the file of an OSError
        failure = Failure(type(error), error.__reduce__()[1])  # type: ignore[arg-type]
        pickle.dumps(failure)
    except Exception:
        return Failure(RuntimeError, (f"{type(error).__name__}: {error}",))
    return failure


def _send(answer: Any, stream: Any) -> None:
    try:
        pickle.dump(answer, stream, protocol=5)
        stream.flush()
    except BrokenPipeError:
        # the parent ended
        os._exit(1)


def open_standard_streams() -> None:
    """The null device for those that are closed: files opened later would take their place."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            # the lowest free number is given
            os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))

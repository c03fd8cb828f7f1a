"""One thread writes: what several threads ask for at once is committed, and brought to the disk, together."""

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from tagrank.archive.storage.database import explained
from tagrank.errors import warn

Result = TypeVar("Result")
Work = Callable[[sqlite3.Connection], Any]
# what waits longer is committed in the next step
_MOST_TOGETHER = 256


class Writer:
    """The thread that writes to a database.

    Parameters
    ----------
    connection : used by this thread alone; it stays open
    path : what messages call the file
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path
        self._waiting: SimpleQueue[tuple[Work, Callable[[Any], None], Future[Any]] | None] = SimpleQueue()
        self._lock, self._is_closed = threading.Lock(), False
        self._thread = threading.Thread(target=self._run, name="archive writer", daemon=True)
        self._thread.start()

    def run(
        self, work: Callable[[sqlite3.Connection], Result], after: Callable[[Result], None] = lambda _: None
    ) -> Result:
        """The answer of `work`, once what it wrote is on disk; an error of it, and nothing is written.

        `after` is called with the answer in the writing thread before the next is written; it may not write.
        """
        future: Future[Result] = Future()
        with self._lock:
            if self._is_closed:
                raise OSError(f"{self._path} is closed")
            self._waiting.put((work, after, future))
        return future.result()

    def close(self) -> None:
        """Write what waits, and end."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        is_open = True
        while is_open:
            group = [self._waiting.get()]
            while not self._waiting.empty() and len(group) < _MOST_TOGETHER:
                group.append(self._waiting.get())
            is_open = group[-1] is not None
            self._commit([job for job in group if job is not None])

    def _commit(self, group: list[tuple[Work, Callable[[Any], None], Future[Any]]]) -> None:
        answers: list[tuple[Callable[[Any], None], Future[Any], Any]] = []
        failures: list[tuple[Future[Any], BaseException]] = []
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for work, after, future in group:
                try:
                    answers.append((after, future, self._step(work)))
                except (ValueError, LookupError) as error:
                    failures.append((future, explained(error, self._connection, self._path)))
            self._connection.execute("COMMIT")
        except BaseException as error:
            answers, failures = [], [(future, self._refusal(error)) for _, _, future in group]
            self._roll_back()
        for future, failure in failures:
            future.set_exception(failure)
        for after, _, answer in answers:
            self._tell(after, answer)
        for _, future, answer in answers:
            future.set_result(answer)

    def _step(self, work: Work) -> Any:
        """The answer of one piece of work; one that cannot be meant leaves nothing, and the others stay."""
        self._connection.execute("SAVEPOINT step")
        try:
            answer = work(self._connection)
        except (ValueError, LookupError):
            self._connection.execute("ROLLBACK TO step")
            raise
        finally:
            if self._connection.in_transaction:
                self._connection.execute("RELEASE step")
        return answer

    def _tell(self, after: Callable[[Any], None], answer: Any) -> None:
        try:
            after(answer)
        except Exception as error:
            # it is on disk: whoever asked must not hear that it is not; nor may this thread end
            with suppress(Warning):
                warn(f"a listener of the archive failed ({type(error).__name__}: {error})")

    def _roll_back(self) -> None:
        # a full disk may have ended the transaction already
        with suppress(sqlite3.Error):
            self._connection.execute("ROLLBACK")

    def _refusal(self, error: BaseException) -> BaseException:
        if not isinstance(error, sqlite3.Error):
            if not isinstance(error, Exception):
                return error
            return explained(error, self._connection, self._path)
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            return OSError(
                f"the disk of {self._path} is full or fails ({error}); nothing was recorded; free disk space"
            )
        return OSError(f"{self._path} could not be written ({error}): nothing was recorded")

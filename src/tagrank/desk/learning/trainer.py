"""The trainings of a desk, in a process of their own that stays alive between them.

What it keeps, rows and their similarities, makes the next training quick; it starts again if it died. A
training that is cancelled is over for the desk at once: the process is asked to stop, and ended if it does
not within a moment. It ends with the desk, however that ended (`tagrank.workers`). `Learning` says when
a model is trained: after so many decisions, and at once where there is none or a tag is new to it.
"""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tagrank.archive import Archive
from tagrank.desk.learning.models import MODEL, Models, Proposals, model_rows
from tagrank.resources import count_threads
from tagrank.workers import Worker, WorkerDied, pack_work

if TYPE_CHECKING:
    from tagrank.annotation.describing import FeatureChoice
    from tagrank.desk.learning.training import TrainingProcess

PATIENCE = 3.0  # seconds for a process to stop by itself
TRAIN_AFTER = 50  # decisions
EXAMPLES = 3  # pictures with a new tag from which it is learned at once
_TOLD = ("number", "made", "method", "metrics", "quality", "is_compared")  # of the model that answers
MOST_POINTS = 200  # of the falling gap that are shown


class TrainingRequest(NamedTuple):
    """What the process is to do: train, with `fresh` choosing the model again; or only prepare for it."""

    fresh: bool = False
    only_prepare: bool = False


class _Work:
    """What travels to the process; everything heavy is imported there, when the first request comes."""

    def __init__(self, home: str, folder: str, database: str, options: dict[str, Any]) -> None:
        self._home, self._folder, self._database, self._options = home, folder, database, options
        self._process: TrainingProcess | None = None

    def __call__(self, request: TrainingRequest) -> None:
        if self._process is None:
            from tagrank.desk.learning.training import ArchiveReader, TrainingProcess

            reader = ArchiveReader(self._folder, self._database, **self._options)
            self._process = TrainingProcess(self._home, reader, n_jobs=self._options["n_jobs"])
        self._process.train(fresh=request.fresh, only_prepare=request.only_prepare)


class Trainer:
    """One training at a time; every method returns at once.

    Parameters
    ----------
    archive : its folder and database are read by the process
    cache, features, n_jobs : as in `Desk.open`

    Attributes
    ----------
    on_finished : function of the number of a new model, called from another thread
    """

    def __init__(
        self,
        archive: Archive,
        *,
        cache: bool | str | os.PathLike = True,
        features: "FeatureChoice" = None,
        n_jobs: int | None = None,
        on_finished: Callable[[int], None] | None = None,
    ) -> None:
        options = {"cache": cache, "features": features, "n_jobs": n_jobs}
        folders = str(archive.own.folder), str(archive.folder), str(archive.database)
        self._work = pack_work(_Work(*folders, options))
        self._n_threads = count_threads(n_jobs)
        self.on_finished = on_finished
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._run: _Run | None = None
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def warm_up(self) -> None:
        """Start the process and let it read what the next training will need; nothing is trained."""
        self._begin(_Run(TrainingRequest(only_prepare=True), state="idle"))

    def start(self, fresh: bool = False) -> None:
        """Begin a training, unless one is under way."""
        self._begin(_Run(TrainingRequest(fresh)))

    def _begin(self, run: "_Run") -> None:
        with self._lock:
            if self._is_closed or (self._run is not None and self._run.state == "running"):
                return
            self._run = run
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, daemon=True)
                self._thread.start()

    def cancel(self) -> None:
        """End the training; the last good model stays."""
        with self._lock:
            run, worker = self._run, self._worker
            if run is None or run.state != "running":
                return
            run.end("cancelled")
        self._stop_worker()
        if worker is not None:
            clock = threading.Timer(PATIENCE, self._end_if_busy, [run, worker])
            clock.daemon = True
            clock.start()

    def status(self) -> dict[str, Any]:
        """How far the training is, or how the last one ended."""
        run = self._run
        return _Run(TrainingRequest(), state="idle").to_dict() if run is None else run.to_dict()

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._is_closed, worker, thread = True, self._worker, self._thread
            is_saving = self._run is not None and self._run.state == "done" and not self._run.is_over
            if self._run is not None:
                self._run.end("cancelled")
        if thread is not None and is_saving:
            thread.join(PATIENCE)
        if worker is not None:
            worker.kill()
        if thread is not None:
            thread.join(PATIENCE)

    def _serve(self) -> None:
        """Train until nothing is wanted; a training may be asked for while the last one is being saved."""
        while True:
            with self._lock:
                run = self._run
                if self._is_closed or run is None or run.is_over:
                    self._thread = None
                    return
            self._train(run)
            run.is_over = True

    def _train(self, run: "_Run") -> None:
        try:
            worker = self._ready_worker()
            if run.state == "cancelled":
                return
            worker.ask(run.request, on_report=lambda message: self._hear(run, message))
            run.end("cancelled" if run.state == "running" else run.state)
        except WorkerDied as error:
            self._worker = None
            run.end("failed", f"the training process crashed ({error}); train again")
        except MemoryError as error:
            run.end("failed", f"not enough memory: {error}")
        except Exception as error:
            run.end("failed", _sentence(error))

    def _ready_worker(self) -> Worker:
        with self._lock:
            if self._is_closed:
                raise RuntimeError("the desk was closed")
            if self._worker is not None and self._worker.is_alive:
                return self._worker
            worker = self._worker = Worker(self._n_threads)
        worker.prepare(self._work)
        return worker

    def _hear(self, run: "_Run", message: dict[str, Any]) -> None:
        if run.state != "running":
            if run.state == "cancelled":
                # it may have been asked to stop before it began
                self._stop_worker()
            return
        number = message.get("model")
        if number is None:
            run.hear(message)
            return
        run.changes = message["changes"]
        run.end("done")
        if self.on_finished is not None:
            try:
                self.on_finished(number)
            except Exception as error:
                # the model is there all the same, and the process does well
                run.error = f"model {number} was trained, but cannot be used: {_sentence(error)}"

    def _stop_worker(self) -> None:
        worker = self._worker
        if worker is not None:
            worker.stop()

    def _end_if_busy(self, run: "_Run", worker: Worker) -> None:
        if not run.is_over:
            with self._lock:
                if self._worker is worker:
                    self._worker = None
            worker.kill()


class Learning:
    """Which model answers, and when the next one is trained: what a desk tells about both.

    Decisions are counted since the last training began.

    Parameters
    ----------
    archive : knows its last decision
    models, trainer : those of the archive
    on_model : called with the proposals of a model that answers from now on
    train_after : train again after so many decisions; 0 for never

    Attributes
    ----------
    current : the proposals of the model that answers, None before the first
    """

    def __init__(
        self,
        archive: Archive,
        models: Models,
        trainer: Trainer,
        *,
        on_model: Callable[[Proposals], None],
        train_after: int = TRAIN_AFTER,
    ) -> None:
        self._archive, self._models, self._trainer = archive, models, trainer
        self._on_model, self._after, self._lock = on_model, train_after, threading.Lock()
        number = models.current
        self.current = None if number is None else models.open(number)
        since = 0 if self.current is None else int(self.current.facts["last_decision"])
        self._n_decided = archive.n_decisions(since)
        trainer.on_finished = self._take_over

    def training(self) -> dict[str, Any]:
        """How far the training is, and what the last one changed."""
        return self._trainer.status() | {"due_in": self.due_in}

    def train(self, fresh: bool = False) -> dict[str, Any]:
        """Begin a training in the background; with `fresh` method and kernel are chosen again."""
        with self._lock:
            self._n_decided = 0
        self._trainer.start(fresh=fresh)
        return self.training()

    def cancel(self) -> dict[str, Any]:
        """End the training; the last good model keeps answering."""
        self._trainer.cancel()
        return self.training()

    def models(self) -> dict[str, Any]:
        """All models that are kept, the newest first."""
        return {"models": model_rows(self._models.list(), self._models.current)}

    def current_model(self) -> dict[str, Any] | None:
        """The facts of the model that answers, with the quality that the list of models tells."""
        if self.current is None:
            return None
        rows = model_rows(self._models.list(), self.current.number)
        return next(({name: row[name] for name in _TOLD} for row in rows if row["current"]), None)

    def model_path(self) -> Path | None:
        """The folder of the current model, which `annotate` takes; None where there is none."""
        number = self._models.current
        path = None if number is None else self._models.path(number, MODEL)
        return path if path is not None and path.is_dir() else None

    def use(self, number: int) -> dict[str, Any]:
        """Let another model answer; LookupError where there is none of that number."""
        self._models.use(number)
        self._answer_with(self._models.open(number))
        return self.models()

    @property
    def due_in(self) -> int | None:
        """Decisions until the next training; None where none begins by itself."""
        return max(0, self._after - self._n_decided) if self._after else None

    def count(self, n_new: int) -> None:
        """More was decided, or taken back."""
        with self._lock:
            self._n_decided += n_new
        self.train_if_due()

    def train_soon(self) -> None:
        """A training is due at once, unless none ever is."""
        with self._lock:
            self._n_decided = max(self._n_decided, self._after)
        self.train_if_due()

    def train_if_due(self) -> None:
        """Begin a training if one is due and none is at work; called again when one ends."""
        if self.due_in == 0 and self._trainer.status()["state"] != "running":
            self.train()

    def close(self) -> None:
        """End a training that is at work."""
        self._trainer.close()

    def _take_over(self, number: int) -> None:
        """A training ended well: its model answers from now on."""
        proposals = self._models.open(number)
        self._answer_with(proposals)
        if proposals.facts["last_decision"] == self._archive.last_decision():
            # all that was decided is learned, also what was decided after the training began
            with self._lock:
                self._n_decided = 0
        self.train_if_due()

    def _answer_with(self, proposals: Proposals) -> None:
        self.current = proposals
        self._on_model(proposals)


class _Run:
    """One training, as the desk sees it."""

    def __init__(self, request: TrainingRequest, state: str = "running") -> None:
        self.request, self.state, self.is_over = request, state, False
        self.what, self.done, self.of = "starting", 0, 0
        self.gap: list[list[float]] = []
        self.error: str | None = None
        self.changes: dict[str, Any] | None = None
        self._started, self._seconds = time.monotonic(), 0.0

    def hear(self, message: dict[str, Any]) -> None:
        """Take over what the process tells."""
        if "gap" in message:
            self.gap = [*self.gap, message["gap"]][-MOST_POINTS:]
        else:
            self.what, self.done, self.of = message["what"], message["done"], message["of"]

    def end(self, state: str, error: str | None = None) -> None:
        """Take the time, unless it ended before."""
        if self.state == "running":
            self._seconds = time.monotonic() - self._started
            self.state, self.error = state, error

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        if self.state == "idle":
            seconds = 0.0
        else:
            seconds = time.monotonic() - self._started if self.state == "running" else self._seconds
        return {
            "state": self.state,
            "what": self.what if self.state == "running" else "",
            "done": self.done,
            "of": self.of,
            "seconds": round(seconds, 1),
            "gap": self.gap,
            "error": self.error,
            "changes": self.changes,
        }


def _sentence(error: Exception) -> str:
    """One line, not too long."""
    return " ".join(str(error).split())[:500] or type(error).__name__

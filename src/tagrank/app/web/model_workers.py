"""Processes that hold a model and look at pictures: a damaged one may end the decoder, not the server."""

import os
import queue
from functools import cached_property
from typing import Any, NamedTuple

from tagrank.files import FileError
from tagrank.workers import TooSlow, Worker, WorkerDied, pack_work

MAX_SECONDS = 60.0


class PictureQuestion(NamedTuple):
    """One picture, and what is asked about it.

    Attributes
    ----------
    path : the file
    name : what the answer calls it
    top : the number of best tags
    min_probability : predict what is at least so probable; None leaves it to the model
    why : the tags to explain instead, none for those that are predicted; None to explain nothing
    """

    path: str
    name: str
    top: int = 5
    min_probability: float | None = None
    why: tuple[str, ...] | None = None


class PictureReader:
    """What a worker does: it answers questions about pictures, and without one tells facts of the model."""

    def __init__(self, model: str | os.PathLike) -> None:
        self.model = os.fspath(model)

    @cached_property
    def _annotator(self) -> Any:
        from tagrank.commands.given_data import open_model

        return open_model(self.model)

    def __call__(self, question: PictureQuestion | None) -> dict[str, Any]:
        if question is None:
            return self._facts()
        try:
            return self._explain(question) if question.why is not None else self._annotate(question)
        except FileError as error:
            return {"name": question.name, "reason": str(error).removeprefix(f"{question.path}: ")}

    def _facts(self) -> dict[str, Any]:
        model = self._annotator
        if model.features_ is None:
            raise ValueError(
                f"{self.model}: was trained on rows of numbers; the service needs a model of pictures"
            )
        known = {key: value for key, value in model.metadata.items() if isinstance(value, str | int | float)}
        return {
            "name": os.path.basename(os.path.abspath(self.model)),
            "facts": known,
            "features": list(model.features_),
            "tags": list(model.tags),
        }

    def _annotate(self, question: PictureQuestion) -> dict[str, Any]:
        import tagrank

        answer = tagrank.annotate(
            self._annotator,
            _one_picture(question),
            top=question.top,
            min_probability=question.min_probability,
            cache=False,
            n_jobs=1,
        )
        return answer.ranked[0].to_dict()

    def _explain(self, question: PictureQuestion) -> dict[str, Any]:
        from tagrank.annotation import explain
        from tagrank.annotation.describing import see_pictures

        seen = see_pictures(self._annotator, _one_picture(question), cache=False, n_jobs=1)
        reasons = explain(self._annotator, seen.collection, tags=question.why or None)
        return {"name": question.name, "why": [reason.to_dict() for reason in reasons]}


def _one_picture(question: PictureQuestion) -> Any:
    from tagrank.data import Collection

    return Collection(views={"pictures": [question.path]}, names=[question.name])


class ModelWorkers:
    """Worker processes with a model, which stay; one that dies is replaced.

    Parameters
    ----------
    model : the folder of the model
    n_workers : processes at most; each starts when it is first needed
    max_seconds : for one picture
    """

    def __init__(
        self, model: str | os.PathLike, *, n_workers: int = 1, max_seconds: float = MAX_SECONDS
    ) -> None:
        self._work, self._max_seconds = pack_work(PictureReader(model)), max_seconds
        self.n_workers = n_workers
        self._idle: queue.LifoQueue[Worker | None] = queue.LifoQueue()
        for _ in range(n_workers):
            self._idle.put(None)

    def ask(self, question: PictureQuestion | None) -> dict[str, Any]:
        """The answer of the next worker that is free."""
        worker = self._idle.get()
        try:
            if worker is None:
                worker = Worker()
                worker.prepare(self._work)
            # no picture may be waited for for ever; a model may take long to load
            return worker.ask(question, seconds=None if question is None else self._max_seconds)
        except WorkerDied as error:
            worker = None
            if question is None:
                raise RuntimeError(f"the process that loads the model did not answer ({error})") from None
            what = "took too long" if isinstance(error, TooSlow) else "crashed the process"
            return {"name": question.name, "reason": f"describing it {what}: {error}"}
        finally:
            self._idle.put(worker)

    def close(self) -> None:
        """End all workers that are idle; the others end with this process."""
        while True:
            try:
                worker = self._idle.get_nowait()
            except queue.Empty:
                return
            if worker is not None:
                worker.kill()

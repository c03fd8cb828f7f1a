"""Pictures described by the workers of a Dask cluster, a few in a task; their rows are kept here alone.

A worker that finds a picture under the same path, of the same size and time, reads it itself, as from a
folder on shared storage. The bytes of others are sent along, and decoded there.
"""

import tempfile
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tagrank.annotation.bank.row_maker import Describer, Job, Outcome
from tagrank.annotation.bank.row_store import file_state
from tagrank.features.feature import one_opencv_thread
from tagrank.resources import limited_threads
from tagrank.solvers.cluster.client import (
    answers_as_done,
    check_version,
    given,
    own_version,
    reached,
    worker_here,
)
from tagrank.workers import WorkerDied

_PICTURES_A_TASK, _BYTES_A_TASK = 16, 2**23

Answer = tuple[Job, Outcome | WorkerDied]


def describe_on_cluster(
    scheduler: Any, describer: Describer, jobs: Sequence[Job]
) -> Generator[Answer, None, None]:
    """(job, outcome) as they are done; a `WorkerDied` for a picture that ended every worker that tried it.

    `scheduler` is the address of a Dask scheduler, or a Client.
    """
    with reached(scheduler) as client:
        spreading = _Spreading(client, describer)
        groups = _cut(jobs)
        while groups:
            yield from spreading.outcomes(groups)
            groups = spreading.left()


class _Spreading:
    """Which jobs are left, and whether workers see the files of pictures."""

    def __init__(self, client: Any, describer: Describer) -> None:
        self._client, self._describer = client, describer
        self._told = given(client, describer)
        self._is_first = True  # files are not sent before workers have looked for them
        self._n_seen = 0
        self._unseen: list[Job] = []
        self._suspects: list[Job] = []  # they were in the hands of workers that died
        self._is_alone = False  # whether a task is asked for when the one before is done

    def outcomes(self, groups: Iterable[Sequence[Job]]) -> Iterator[Answer]:
        n_most = 1 if self._is_alone else None
        with closing(answers_as_done(self._client, self._tasks(groups), n_most)) as answers:
            for (jobs, is_sent), answer in answers:
                if not isinstance(answer, WorkerDied):
                    for job, outcome in zip(jobs, answer, strict=True):
                        yield from self._taken(job, outcome, is_sent)
                elif self._is_alone:
                    yield jobs[0], answer
                else:
                    self._suspects += jobs

    def left(self) -> list[Sequence[Job]]:
        """Jobs that are still to be done, in groups."""
        self._is_first = False
        if self._unseen and not self._is_alone:
            groups, self._unseen = _cut(self._unseen), []
            return groups
        self._is_alone = True
        jobs, self._suspects, self._unseen = [*self._suspects, *self._unseen], [], []
        return [[job] for job in jobs]

    def _tasks(self, groups: Iterable[Sequence[Job]]) -> Iterator[tuple[Any, Any, Any]]:
        for jobs in groups:
            # most of them seem to lie where workers do not look
            is_sent = not self._is_first or len(self._unseen) > self._n_seen
            files = [_content(job) if is_sent else None for job in jobs]
            yield (jobs, is_sent), _describe_some, (self._told, own_version(), jobs, files)

    def _taken(self, job: Job, outcome: Outcome | None, is_sent: bool) -> Iterator[Answer]:
        if outcome is not None:
            self._n_seen += not is_sent
            yield job, outcome
        elif is_sent:  # the file is not as it was: here this is found, and told as ever
            yield job, _describe_one(self._describer, job)
        else:
            self._unseen.append(job)


def _cut(jobs: Sequence[Job]) -> list[Sequence[Job]]:
    groups: list[list[Job]] = []
    n_bytes = 0
    for job in jobs:
        n_bytes += _size(job)
        if not groups or len(groups[-1]) == _PICTURES_A_TASK or n_bytes > _BYTES_A_TASK:
            groups.append([])
            n_bytes = _size(job)
        groups[-1].append(job)
    return list(groups)


def _size(job: Job) -> int:
    if isinstance(job.source.picture, np.ndarray):
        return job.source.picture.nbytes
    return int((job.source.state or "0").partition(":")[0])


def _content(job: Job) -> bytes | None:
    """The bytes of a file that is as it was; None of any other, and of an array, which travels as it is."""
    path = job.source.picture
    if isinstance(path, np.ndarray):
        return None
    try:
        content = Path(path).read_bytes()
        return content if file_state(path) == job.source.state else None
    except OSError:
        return None


def _describe_some(
    describer: Describer, version: str, jobs: Sequence[Job], files: Sequence[bytes | None]
) -> list[Outcome | None]:
    """On a worker: the outcomes of jobs; None of those whose file it does not see, nor was sent."""
    check_version(version)
    _check_ready(describer)
    return [_describe_there(describer, job, content) for job, content in zip(jobs, files, strict=True)]


def _check_ready(describer: Describer) -> None:
    try:
        for feature in describer.features.values():
            feature.check_ready()
    except Exception as error:
        raise OSError(f"the worker {worker_here()} cannot describe pictures: {error}") from None


def _describe_there(describer: Describer, job: Job, content: bytes | None) -> Outcome | None:
    if content is not None:
        with tempfile.TemporaryDirectory(prefix="tagrank-") as folder:
            path = str(Path(folder, "picture"))
            Path(path).write_bytes(content)
            source = replace(job.source, picture=path, state=file_state(path))
            return _describe_one(describer, replace(job, source=source))
    if not isinstance(job.source.picture, np.ndarray):
        try:
            is_seen = file_state(job.source.picture) == job.source.state
        except OSError:
            is_seen = False
        if not is_seen:
            return None
    return _describe_one(describer, job)


def _describe_one(describer: Describer, job: Job) -> Outcome:
    # the last digits depend on the number of threads
    with limited_threads(1), one_opencv_thread():
        return describer(job)

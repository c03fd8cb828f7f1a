"""Rows that a store lacks, computed in this process or in several, and saved as they come."""

import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tagrank.annotation.bank.row_store import KeyedPicture, RowStore, file_state, pack_row
from tagrank.data.picture_files import read_picture
from tagrank.features.feature import Feature, Picture, one_opencv_thread
from tagrank.progress import Progress
from tagrank.resources import count_threads, limited_threads
from tagrank.workers import WorkerDied, WorkerPool

# fewer pictures are done before worker processes have started
FEW_PICTURES = 16
# finished pictures are saved when so many came together, or so many seconds went by
_SAVE_PICTURES, _SAVE_SECONDS = 64, 2.0
# one picture may break a decoder; when so many in a row do, something else is wrong
_MAX_DEATHS = 8


@dataclass(frozen=True)
class Job:
    """A picture and the names of the features that it lacks."""

    source: KeyedPicture
    names: tuple[str, ...]


@dataclass
class Outcome:
    """What came of a job.

    Attributes
    ----------
    rows : packed row by name of the feature
    seconds : by name of the feature; work that several share counts for the first
    reason : why some or all rows are missing, None if none is
    """

    rows: dict[str, bytes] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    reading_seconds: float = 0.0
    reason: str | None = None


@dataclass(frozen=True)
class Describer:
    """Does jobs with fitted features; travels to worker processes. Files are shrunk to `max_side`."""

    features: Mapping[str, Feature]
    max_side: int | None

    def __call__(self, job: Job) -> Outcome:
        outcome = Outcome()
        start = time.perf_counter()
        try:
            picture = Picture(self._read(job.source))
        # whatever a damaged picture makes a decoder do, the others are still to be described
        except Exception as error:
            outcome.reason = describe_error(error, job.source.picture)
            return outcome
        outcome.reading_seconds = time.perf_counter() - start
        for name in job.names:
            self._describe(picture, name, outcome)
        return outcome

    def _read(self, source: KeyedPicture) -> np.ndarray:
        if isinstance(source.picture, np.ndarray):
            return source.picture
        pixels = read_picture(source.picture, max_side=self.max_side)
        if file_state(source.picture) != source.state:
            raise OSError("changed while it was being read; run again")
        return pixels

    def _describe(self, picture: Picture, name: str, outcome: Outcome) -> None:
        start = time.perf_counter()
        try:
            row = np.asarray(self.features[name](picture))
            if row.ndim != 1 or not len(row) or not np.isfinite(row).all():
                raise ValueError(f"expected a row of finite numbers, got shape {row.shape}: {row}")
            outcome.rows[name] = pack_row(row)
        # a library that is missing is missing for every picture
        except ImportError:
            raise
        except Exception as error:
            outcome.reason = outcome.reason or f"{name}: {describe_error(error)}"
        outcome.seconds[name] = time.perf_counter() - start


def describe_error(error: BaseException, picture: str | np.ndarray | None = None) -> str:
    """An error in a few words, without the path that stands beside it anyway."""
    words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if isinstance(picture, str):
        words = words.removeprefix(f"{picture}: ")
    return words or type(error).__name__


class RowMaker:
    """Computes rows and counts what it did.

    Parameters
    ----------
    describer : the features
    stored_as : what a store calls each of them
    n_jobs : processes
    strict : stop at the first picture that cannot be described
    scheduler : address of a Dask scheduler, or a Client, whose workers compute the rows; or None

    Attributes
    ----------
    seconds : by name of the features, summed over processes
    reading_seconds : spent on decoding
    computed : content keys of the pictures for which something was computed
    """

    def __init__(
        self,
        describer: Describer,
        stored_as: Mapping[str, str],
        *,
        n_jobs: int | None = None,
        strict: bool = False,
        scheduler: Any = None,
    ) -> None:
        self.describer, self._n_jobs, self._strict = describer, n_jobs, strict
        self._scheduler = scheduler
        self.stored_as = stored_as
        self.seconds = dict.fromkeys(stored_as, 0.0)
        self.reading_seconds = 0.0
        self.computed: set[bytes] = set()

    def fill(
        self, store: RowStore, sources: Mapping[bytes, KeyedPicture], progress: Progress | None = None
    ) -> dict[bytes, str]:
        """Bring the rows that are missing into the store, a few pictures at a time.

        What is finished stays there, whatever happens next. Sources are by content key, and so is the answer:
        why pictures could not be described.
        """
        jobs = [job for source in sources.values() if (job := self._job(source, store)).names]
        n_done = len(sources) - len(jobs)
        failures: dict[bytes, str] = {}
        finished: list[tuple[Job, Outcome]] = []
        saved_at = time.monotonic()
        with closing(self._outcomes(jobs)) as outcomes:
            try:
                for number, (job, outcome) in enumerate(outcomes, n_done + 1):
                    finished.append((job, outcome))
                    if outcome.reason is not None:
                        failures[job.source.key] = outcome.reason
                        if self._strict:
                            break
                    if len(finished) >= _SAVE_PICTURES or time.monotonic() - saved_at > _SAVE_SECONDS:
                        self._save(finished, store)
                        saved_at = time.monotonic()
                    if progress is not None:
                        progress(number, len(sources), "describing pictures")
            finally:
                self._save(finished, store)
        return failures

    def _job(self, source: KeyedPicture, store: RowStore) -> Job:
        known = store.features_of(source.key)
        return Job(source, tuple(name for name, stored in self.stored_as.items() if stored not in known))

    def _outcomes(self, jobs: Sequence[Job]) -> Generator[tuple[Job, Outcome], None, None]:
        n_workers = count_threads(self._n_jobs)
        if jobs and self._scheduler is not None:
            from tagrank.annotation.bank.spreading import describe_on_cluster

            yield from _tolerated(describe_on_cluster(self._scheduler, self.describer, jobs))
        elif n_workers > 1 and len(jobs) >= FEW_PICTURES:
            yield from _tolerated(WorkerPool(self.describer, n_workers=n_workers).map(jobs))
        elif jobs:
            # as in the workers: the last digits depend on the number of threads
            with limited_threads(1), one_opencv_thread():
                yield from ((job, self.describer(job)) for job in jobs)

    def _save(self, finished: list[tuple[Job, Outcome]], store: RowStore) -> None:
        """Write what is finished, count it, and empty the list."""
        rows = [
            (job.source.key, self.stored_as[name], packed)
            for job, outcome in finished
            for name, packed in outcome.rows.items()
        ]
        store.save_rows(rows)
        timings = [(name, seconds) for _, outcome in finished for name, seconds in outcome.seconds.items()]
        store.add_seconds((self.stored_as[name], seconds, 1) for name, seconds in timings)
        for name, seconds in timings:
            self.seconds[name] += seconds
        self.reading_seconds += sum(outcome.reading_seconds for _, outcome in finished)
        self.computed |= {job.source.key for job, outcome in finished if outcome.reason is None}
        finished.clear()


def _tolerated(
    answers: Generator[tuple[Job, Outcome | WorkerDied], None, None],
) -> Generator[tuple[Job, Outcome], None, None]:
    """What came of jobs, also of those that ended their worker; not of too many in a row."""
    n_deaths = 0
    with closing(answers):
        for job, answer in answers:
            if isinstance(answer, WorkerDied):
                n_deaths += 1
                if n_deaths == _MAX_DEATHS:
                    raise RuntimeError(
                        f"{n_deaths} pictures in a row ended their worker process ({answer}); what was "
                        "finished is saved. Is there enough memory? Try a smaller n_jobs"
                    )
                yield job, Outcome(reason=f"describing it crashed the process: {answer}")
            else:
                n_deaths = 0
                yield job, answer

"""One run over a collection: find what is missing, compute and save it, put the views together."""

import os
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tagrank.annotation.picture_jobs import Describer, Job, Outcome, describe_error
from tagrank.annotation.picture_keys import PictureLike, Progress, Source, identify_pictures
from tagrank.annotation.row_store import RowStore
from tagrank.annotation.view_files import assemble_view
from tagrank.annotation.worker_process import Crew, WorkerDied
from tagrank.data.problems import Problem, ProblemLog
from tagrank.parallel import count_threads, limited_threads

# fewer pictures are done before worker processes have started
_FEW = 16
# finished pictures are saved when so many came together, or so many seconds went by
_SAVE_PICTURES, _SAVE_SECONDS = 64, 2.0
# one picture may break a decoder; when so many in a row do, something else is wrong
_MAX_DEATHS = 8


@dataclass(frozen=True)
class Extraction:
    """The features of a collection.

    Attributes
    ----------
    views : name of each set to its float32 array, shape (n_kept, n_columns), read-only, mapped from a file
        where it is large; shape (0, 0) if no picture could be read
    rows : int array, shape (n_kept,): which pictures those are, in their order
    problems : the pictures that were left out, and why
    seconds : name of each set to the seconds spent on it now, summed over processes; 0 if all was known
    seconds_a_picture : the same as a mean over all pictures ever measured
    reading_seconds : spent on decoding now
    n_computed, n_cached : different pictures for which something was computed, and for which nothing had to
    """

    views: dict[str, np.ndarray]
    rows: np.ndarray
    problems: tuple[Problem, ...]
    seconds: dict[str, float]
    seconds_a_picture: dict[str, float]
    reading_seconds: float
    n_computed: int
    n_cached: int


class ExtractionRun:
    """Brings the rows of pictures into a store, and from there into views.

    Parameters
    ----------
    describer : the features
    stored_as : what the store calls each of them
    store, view_folder : where rows and views are kept; None builds views in memory
    n_jobs, strict, progress : as for the bank
    """

    def __init__(
        self,
        describer: Describer,
        stored_as: Mapping[str, str],
        store: RowStore,
        *,
        view_folder: Path | None = None,
        n_jobs: int | None = None,
        strict: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self._describer, self._stored_as, self._store = describer, stored_as, store
        self._view_folder, self._n_jobs, self._strict = view_folder, n_jobs, strict
        self._progress = progress
        self._seconds = dict.fromkeys(stored_as, 0.0)
        self._reading_seconds = 0.0
        self._n_computed = 0

    def extract(self, pictures: Sequence[PictureLike]) -> Extraction:
        """All views of the pictures; may be called again after a StoreDamage."""
        sources = identify_pictures(pictures, self._store, self._progress)
        log = ProblemLog(strict=self._strict)
        for number, source in enumerate(sources):
            if isinstance(source, OSError):
                log.add(_name(pictures[number], number), describe_error(source))
        distinct = {source.key: source for source in sources if isinstance(source, Source)}
        failures = self._compute_missing(distinct)
        kept, keys = [], []
        for number, source in enumerate(sources):
            if isinstance(source, OSError):
                continue
            if source.key in failures:
                log.add(_name(pictures[number], number), failures[source.key])
            else:
                kept.append(number)
                keys.append(source.key)
        self._store.mark_used(self._stored_as.values(), distinct)
        return Extraction(
            views={
                name: assemble_view(self._store, stored, keys, self._view_folder)
                for name, stored in self._stored_as.items()
            },
            rows=np.array(kept, dtype=np.intp),
            problems=log.listed(),
            seconds=dict(self._seconds),
            seconds_a_picture={
                name: self._store.seconds_a_picture(stored) for name, stored in self._stored_as.items()
            },
            reading_seconds=self._reading_seconds,
            n_computed=self._n_computed,
            n_cached=len(distinct) - len(failures) - self._n_computed,
        )

    def _compute_missing(self, sources: Mapping[bytes, Source]) -> dict[bytes, str]:
        """Fill the store; the reasons of those that could not be described, by content key."""
        jobs = [job for source in sources.values() if (job := self._job(source)).names]
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
                        self._save(finished)
                        saved_at = time.monotonic()
                    if self._progress is not None:
                        self._progress(number, len(sources), "describing pictures")
            finally:
                self._save(finished)
        return failures

    def _job(self, source: Source) -> Job:
        missing = (
            name for name, stored in self._stored_as.items() if not self._store.has_row(stored, source.key)
        )
        return Job(source, tuple(missing))

    def _outcomes(self, jobs: Sequence[Job]) -> Generator[tuple[Job, Outcome], None, None]:
        n_workers = count_threads(self._n_jobs)
        if n_workers == 1 or len(jobs) < _FEW:
            with limited_threads(1):
                for job in jobs:
                    yield job, self._describer(job)
            return
        n_deaths = 0
        with closing(Crew(self._describer, n_workers=n_workers).map(jobs)) as answers:
            for job, answer in answers:
                if isinstance(answer, WorkerDied):
                    n_deaths += 1
                    if n_deaths == _MAX_DEATHS:
                        raise RuntimeError(
                            f"{n_deaths} pictures in a row ended their worker process ({answer}); what was "
                            "finished is saved. Is there enough memory? Try a smaller n_jobs"
                        )
                    yield job, Outcome(reason=f"describing it ended the process: {answer}")
                else:
                    n_deaths = 0
                    yield job, answer

    def _save(self, finished: list[tuple[Job, Outcome]]) -> None:
        """Write what is finished, count it, and empty the list."""
        rows = [
            (self._stored_as[name], job.source.key, packed)
            for job, outcome in finished
            for name, packed in outcome.rows.items()
        ]
        self._store.save_rows(rows)
        timings = [(name, seconds) for _, outcome in finished for name, seconds in outcome.seconds.items()]
        self._store.add_seconds((self._stored_as[name], seconds, 1) for name, seconds in timings)
        for name, seconds in timings:
            self._seconds[name] += seconds
        self._reading_seconds += sum(outcome.reading_seconds for _, outcome in finished)
        self._n_computed += sum(outcome.reason is None for _, outcome in finished)
        finished.clear()


def _name(picture: PictureLike, number: int) -> str:
    return f"picture {number}" if isinstance(picture, np.ndarray) else os.fspath(picture)

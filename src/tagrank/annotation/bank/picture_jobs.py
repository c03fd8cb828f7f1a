"""One picture described by the features that it lacks, in this process or in a worker."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tagrank.annotation.bank.picture_keys import Source, file_state
from tagrank.annotation.bank.row_store import pack_row
from tagrank.data.pictures.files import read_picture
from tagrank.features.base import Feature, Picture


@dataclass(frozen=True)
class Job:
    """A picture and the names of the features that it lacks."""

    source: Source
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
    """Does jobs; travels to worker processes.

    Parameters
    ----------
    features : by name, all fitted
    max_side : pictures in files are shrunk to this many pixels on their longer side
    """

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

    def _read(self, source: Source) -> np.ndarray:
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

"""How so many rows are compared with each other within the memory there is.

What each way needs is counted before anything is begun. Of n rows, m labels and k landmarks, in bytes beside
the rows, and beside 40 n m for scores and coefficients:

    memory       4 n^2 of similarities, and those of the largest part of a calibration beside them
    shared       4 n^2, of which the parts are read
    file         a few rows of similarities; 4 n^2 on the disk
    computed     a few rows of similarities, each time that training visits them
    landmarks    4 n k of columns, and the same for a part

Straight lines need scores and coefficients only. Exact ways are taken in this order; `computed` and more than
`MOST_COMPARED` rows only where they are asked for, or where a method has no landmarks.
"""

import math
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sklearn.base import clone

from tagrank.annotation.choosing.pace import Pace, about
from tagrank.array_files import is_in_memory, large_files_folder
from tagrank.errors import ArgumentError
from tagrank.resources import available_memory, gibibytes, memory_in_use

MOST_COMPARED = 20_000  # rows, above which all with all takes longer than it is worth
LANDMARKS, FEWEST_LANDMARKS = 1_024, 64
SHARE_OF_FREE = 0.8  # of the memory that is free, unless somebody says how much may be taken; and of the disk
PART = 0.8  # of the rows, in a fold of the calibration
BYTES_A_LABEL = 40.0  # scores, slopes, curvatures, coefficients and bounds of a label of a row
OF_CHOICE = 2**28  # bytes, of a choice on few rows and of compiled code
STEP = 100 * 2**20  # bytes, in which it is told how much memory would do
ROWS_OF_A_VISIT = 1_024  # rows of similarities that are in memory at a time where the others are not
PARAMETER = "landmarks"
PLACES = {
    "memory": "",
    "shared": "all rows are compared, and the folds share the similarities",
    "file": "all rows are compared, and their similarities are in a file",
    "computed": "all rows are compared, again each time that training visits them",
}


class Way(NamedTuple):
    """A way to compare rows: where similarities are, and what that needs of memory, disk and time."""

    place: str
    n_bytes: float
    n_bytes_on_disk: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True)
class RowPlan:
    """How rows are compared.

    Attributes
    ----------
    place : where the similarities of all rows with each other are, see `KernelEstimator.compare`
    n_landmarks : how many rows stand for all; None compares all with each other
    n_bytes : of memory that this needs
    seconds : that training takes, about; 0 where that was not asked
    words : what was planned and why; empty where all are compared as they always are
    """

    place: str = "memory"
    n_landmarks: int | None = None
    n_bytes: float = 0.0
    seconds: float = 0.0
    words: str = ""

    def applied(self, estimator: Any) -> Any:
        """A copy of the estimator that goes by the plan; itself where there is nothing to change."""
        names = landmark_names(estimator)
        if self.n_landmarks is None or not names:
            return estimator
        return clone(estimator).set_params(**dict.fromkeys(names, self.n_landmarks))

    def with_landmarks(self, n_landmarks: int, words: str, n_bytes: float) -> "RowPlan":
        """The same with so many, after they were tried."""
        return replace(self, n_landmarks=n_landmarks, words=f"{self.words}; {words}", n_bytes=n_bytes)


@dataclass(frozen=True)
class Budget:
    """What a training may take.

    Attributes
    ----------
    memory : bytes of this process, what it has taken already among them; None for most of what is free
    is_exact : whether to refuse any approximation
    """

    memory: float | None = None
    is_exact: bool = False

    @property
    def n_bytes(self) -> float:
        """Bytes that may still be taken."""
        if self.memory is None:
            return SHARE_OF_FREE * available_memory()
        return max(0.0, self.memory - memory_in_use())

    def fits(self, n_rows: int, n_labels: int, beside: float = 0.0) -> bool:
        """Whether all rows can be compared with each other, to the power of the kernel beside it.

        `beside` are bytes that have to be left.
        """
        needed = 4.0 * n_rows**2 * (2 + PART**2) + BYTES_A_LABEL * n_rows * n_labels
        return needed + beside <= self.n_bytes

    def check(self, ways: Iterable[float], n_rows: int, n_labels: int) -> float:
        """Refuse, before anything is begun, what needs more than there is whatever the way; else its bytes.

        `ways` are the least bytes of each, see `least`.
        """
        least, n_bytes = min(ways), self.n_bytes
        if least > n_bytes:
            raise ArgumentError(
                f"training on {n_rows:,} rows with {n_labels:,} labels needs at least {gibibytes(least)}, "
                f"and {self._gave(n_bytes)}; {self._remedy(least)} or train on fewer rows"
            )
        return least

    def least(self, estimator: Any, n_rows: int, n_labels: int, *, is_compared: bool = True) -> float:
        """Bytes that an estimator needs at least; it reads the similarities of all rows if `is_compared`."""
        if not is_compared:
            return BYTES_A_LABEL * n_rows * n_labels
        ways = [way.n_bytes for way in self._ways(estimator, n_rows, n_labels, None)]
        if landmark_names(estimator) and not self.is_exact:
            ways.append(bytes_of_some(n_rows, n_labels, FEWEST_LANDMARKS))
        return min(ways)

    def plan(
        self,
        estimator: Any,
        n_rows: int,
        n_labels: int,
        pace: Pace | None = None,
        seconds: float | None = None,
    ) -> RowPlan:
        """How to compare so many rows for an estimator that is to learn so many labels.

        Parameters
        ----------
        estimator : not fitted
        n_rows, n_labels : of what it is to learn
        pace : how fast this machine is at it; None counts memory only
        seconds : that are left; None for as long as it takes
        """
        n_bytes, names = self.n_bytes, landmark_names(estimator)
        ways = list(self._ways(estimator, n_rows, n_labels, pace))
        may_compare = self.is_exact or not names
        for way in ways:
            is_worth_it = n_rows <= MOST_COMPARED and way.place != "computed"
            is_in_time = seconds is None or way.seconds <= seconds
            if way.n_bytes <= n_bytes and (may_compare or (is_worth_it and is_in_time)):
                return RowPlan(way.place, None, way.n_bytes, way.seconds, self._told(way, ways[0], n_bytes))
        if may_compare:
            remedy = "leave exact out" if self.is_exact and names else "choose a method with landmarks"
            least = min(way.n_bytes for way in ways)
            raise ArgumentError(
                f"training needs at least {gibibytes(least)} to compare {n_rows:,} rows, and "
                f"{self._gave(n_bytes)}; {self._remedy(least)}, {remedy}, or use kernel=linear"
            )
        n_landmarks = LANDMARKS
        while n_landmarks > FEWEST_LANDMARKS and bytes_of_some(n_rows, n_labels, n_landmarks) > n_bytes:
            n_landmarks //= 2
        planned = bytes_of_some(n_rows, n_labels, n_landmarks)
        if planned > n_bytes:
            raise ArgumentError(
                f"{n_rows:,} rows with {n_labels:,} labels need at least {gibibytes(planned)}, and "
                f"{self._gave(n_bytes)}; {self._remedy(planned)} or train on fewer rows"
            )
        taken = 0.0 if pace is None else pace.of_landmarks(n_rows, n_labels, n_landmarks)
        words = (
            f"compared with {n_landmarks:,} landmarks ({gibibytes(planned)}{about(taken)}); to compare "
            f"all {n_rows:,} rows would take {gibibytes(ways[0].n_bytes)}{about(ways[0].seconds)}"
        )
        return RowPlan("memory", n_landmarks, planned, taken, words)

    def most_landmarks(self, n_rows: int, n_labels: int, wanted: int) -> int:
        """As many of the landmarks that somebody wants as there is memory for."""
        while wanted > FEWEST_LANDMARKS and bytes_of_some(n_rows, n_labels, wanted) > self.n_bytes:
            wanted //= 2
        return wanted

    def _ways(self, estimator: Any, n_rows: int, n_labels: int, pace: Pace | None) -> Iterator[Way]:
        """The exact ways that an estimator can go, the best first."""
        of_labels, whole = BYTES_A_LABEL * n_rows * n_labels, 4.0 * n_rows**2
        seconds = dict.fromkeys(PLACES, 0.0) if pace is None else pace.of_all(n_rows, n_labels)
        yield Way("memory", whole * (1 + PART**2) + of_labels, 0.0, seconds["memory"])
        if not getattr(estimator, "visits_rows", False):
            return
        a_visit = 4.0 * min(ROWS_OF_A_VISIT, n_rows) * n_rows + of_labels
        yield Way("shared", whole + a_visit, 0.0, seconds["shared"])
        folder = large_files_folder()
        if not is_in_memory(folder) and whole <= SHARE_OF_FREE * shutil.disk_usage(folder).free:
            yield Way("file", a_visit, whole, seconds["file"])
        yield Way("computed", a_visit, 0.0, seconds["computed"])

    def _told(self, way: Way, usual: Way, n_bytes: float) -> str:
        if way.place == usual.place:
            return ""
        on_disk = f" of {gibibytes(way.n_bytes_on_disk)}" if way.n_bytes_on_disk else ""
        return (
            f"{PLACES[way.place]}{on_disk} ({gibibytes(way.n_bytes)} of memory{about(way.seconds)}): to hold "
            f"them in memory needs {gibibytes(usual.n_bytes)}, and {self._gave(n_bytes)}"
        )

    def _remedy(self, least: float) -> str:
        """How much memory would do, with what this process holds already."""
        if self.memory is None:
            return "free some memory"
        enough = STEP * math.ceil((memory_in_use() + OF_CHOICE + least) / STEP)
        return f"allow {enough // 2**20:,} MiB"

    def _gave(self, n_bytes: float) -> str:
        if self.memory is None:
            return f"{gibibytes(n_bytes)} are free"
        return f"{gibibytes(n_bytes)} of the {gibibytes(self.memory)} that may be taken are left"


def bytes_of_some(n_rows: int, n_labels: int, n_landmarks: int) -> float:
    """What it takes to compare all rows with landmarks."""
    return 4.0 * n_rows * n_landmarks * (1 + PART) + BYTES_A_LABEL * n_rows * n_labels


def landmark_names(estimator: Any) -> list[str]:
    """The parameters, of it or of the estimators inside it, that say how many landmarks there are."""
    return [name for name in estimator.get_params() if name.split("__")[-1] == PARAMETER]

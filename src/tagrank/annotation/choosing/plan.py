"""How so many rows are compared with each other within the memory there is: all with all, or with landmarks.

What each way needs is counted before anything is begun:

    all with all     4 n^2 bytes of similarities, and those of the largest part of a calibration beside them
    with landmarks   4 n L bytes of columns, and the same for a part

and scores, slopes and coefficients of n rows and m labels for both. Straight lines need the latter only.
"""

from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from tagrank.errors import ArgumentError
from tagrank.resources import available_memory, gibibytes

MOST_COMPARED = 20_000  # rows, above which all with all takes longer than it is worth
LANDMARKS, FEWEST_LANDMARKS = 1_024, 64
SHARE_OF_FREE = 0.8  # of the memory that is free, unless somebody says how much may be taken
PART = 0.8  # of the rows, in a fold of the calibration
BYTES_A_LABEL = 40.0  # scores, slopes, curvatures, coefficients and bounds of a label of a row
PARAMETER = "landmarks"


@dataclass(frozen=True)
class RowPlan:
    """How rows are compared.

    Attributes
    ----------
    n_landmarks : how many rows stand for all; None compares all with each other
    n_bytes : what that needs
    words : what was planned and why; empty where all are compared as they always are
    """

    n_landmarks: int | None = None
    n_bytes: float = 0.0
    words: str = ""

    def applied(self, estimator: Any) -> Any:
        """A copy of the estimator that goes by the plan; itself where there is nothing to change."""
        names = landmark_names(estimator)
        if self.n_landmarks is None or not names:
            return estimator
        return clone(estimator).set_params(**dict.fromkeys(names, self.n_landmarks))


@dataclass(frozen=True)
class Budget:
    """What a training may take.

    Attributes
    ----------
    memory : bytes; None for most of what is free
    is_exact : whether to refuse any approximation
    """

    memory: float | None = None
    is_exact: bool = False

    @property
    def n_bytes(self) -> float:
        """Bytes that may be taken."""
        return SHARE_OF_FREE * available_memory() if self.memory is None else self.memory

    def fits(self, n_rows: int, n_labels: int) -> bool:
        """Whether all rows can be compared with each other."""
        return bytes_of_all(n_rows, n_labels) <= self.n_bytes

    def plan(self, estimator: Any, n_rows: int, n_labels: int) -> RowPlan:
        """How to compare so many rows for an estimator that is to learn so many labels."""
        needed = bytes_of_all(n_rows, n_labels)
        has_landmarks = bool(landmark_names(estimator))
        if needed <= self.n_bytes and (n_rows <= MOST_COMPARED or self.is_exact or not has_landmarks):
            return RowPlan(n_bytes=needed)
        gave = "are free" if self.memory is None else "may be taken"
        told = f"{gibibytes(needed)} to compare {n_rows:,} rows, and {gibibytes(self.n_bytes)} {gave}"
        if self.is_exact or not has_landmarks:
            remedy = "leave exact out" if self.is_exact else "choose a method with landmarks"
            raise ArgumentError(f"training needs {told}; {remedy}, or take a straight line (kernel=linear)")
        n_landmarks = LANDMARKS
        while n_landmarks > FEWEST_LANDMARKS and bytes_of_some(n_rows, n_labels, n_landmarks) > self.n_bytes:
            n_landmarks //= 2
        planned = bytes_of_some(n_rows, n_labels, n_landmarks)
        if planned > self.n_bytes:
            raise ArgumentError(
                f"{n_rows:,} rows with {n_labels:,} labels need at least {gibibytes(planned)}, and "
                f"{gibibytes(self.n_bytes)} {gave}; give more memory, or learn from fewer rows"
            )
        words = (
            f"compared with {n_landmarks:,} landmarks ({gibibytes(planned)}); all {n_rows:,} rows with each "
            f"other would take {gibibytes(needed)}"
        )
        return RowPlan(n_landmarks, planned, words)


def bytes_of_all(n_rows: int, n_labels: int) -> float:
    """What it takes to compare all rows with each other."""
    return 4.0 * n_rows**2 * (1 + PART**2) + BYTES_A_LABEL * n_rows * n_labels


def bytes_of_some(n_rows: int, n_labels: int, n_landmarks: int) -> float:
    """What it takes to compare all rows with landmarks."""
    return 4.0 * n_rows * n_landmarks * (1 + PART) + BYTES_A_LABEL * n_rows * n_labels


def landmark_names(estimator: Any) -> list[str]:
    """The parameters, of it or of the estimators inside it, that say how many landmarks there are."""
    return [name for name in estimator.get_params() if name.split("__")[-1] == PARAMETER]

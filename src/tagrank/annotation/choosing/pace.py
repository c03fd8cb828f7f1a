"""How fast this machine compares rows and learns from them: two short measurements, and what follows.

Estimates are for plans, and told with "about": they may be off by a factor of two.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from tagrank.kernels.gram import gram, n_rows, take_rows
from tagrank.resources import limited_threads

SIDE = 1_024  # of the matrices that are multiplied, and rows that are compared
PASSES = 12.0  # over all rows, to a gap of 1e-2
PRODUCTS = 60.0  # with all columns, of Newton steps to a gap of 1e-3
TRAININGS = 1 + 3 * 0.64  # the last one, and those of a calibration on parts of the rows
DISK = 1e9  # bytes a second, of which nothing is known before the file is there
LEAST_TOLD = 5.0  # seconds, below which nobody has to know


@dataclass(frozen=True)
class Pace:
    """What was measured.

    Attributes
    ----------
    operations : of products of float32 matrices, a second
    seconds_a_pair : of comparing two rows
    """

    operations: float
    seconds_a_pair: float

    @classmethod
    def measure(cls, kernel: Any, X: Any, n_jobs: int | None = None) -> "Pace":
        """Of this machine, with a kernel on some of the rows `X`."""
        rng = np.random.default_rng(0)
        A = rng.random((SIDE, SIDE), dtype=np.float32)
        with limited_threads(n_jobs):
            A @ A
            of_product = _seconds(lambda: A @ A)
        some = take_rows(X, slice(0, min(SIDE, n_rows(X))))
        kernel, n_pairs = kernel.fit(some), n_rows(some) ** 2
        gram(kernel, take_rows(X, slice(0, 2)), some, dtype=np.float32, n_jobs=n_jobs)
        of_pairs = _seconds(
            lambda: gram(kernel, some, take_rows(X, slice(0, SIDE)), dtype=np.float32, n_jobs=n_jobs)
        )
        return cls(2.0 * SIDE**3 / of_product, of_pairs / n_pairs)

    def of_all(self, n_rows: int, n_labels: int) -> dict[str, float]:
        """Seconds of a training with its calibration, by where similarities come from."""
        comparing = n_rows**2 * self.seconds_a_pair
        passes = PASSES * TRAININGS
        learning = passes * 2.0 * n_rows**2 * n_labels / self.operations
        reading = 4.0 * n_rows**2 * (passes + 2) / DISK
        return {
            "memory": comparing / 2 + learning,
            "shared": comparing / 2 + learning,
            "file": comparing / 2 + learning + reading,
            "computed": comparing * passes + learning,
        }

    def of_landmarks(self, n_rows: int, n_labels: int, n_landmarks: int) -> float:
        """Seconds of a training with its calibration on so many landmarks."""
        mapping = n_rows * n_landmarks * (self.seconds_a_pair + 2.0 * n_landmarks / self.operations)
        products = 2.0 * PRODUCTS * 2.0 * n_rows * n_landmarks * n_labels / self.operations
        return mapping + TRAININGS * products


def about(seconds: float) -> str:
    """For people, after what it takes of memory; nothing where it is little or not known."""
    if seconds < LEAST_TOLD:
        return ""
    if seconds < 90:
        return f", about {10 * max(1, round(seconds / 10))} seconds"
    if seconds < 2 * 3600:
        return f", about {round(seconds / 60)} minutes"
    return f", about {round(seconds / 3600)} hours"


def _seconds(work: Any) -> float:
    started = time.perf_counter()
    work()
    return max(1e-6, time.perf_counter() - started)

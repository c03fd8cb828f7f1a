"""Cheap features with habits, in a module of their own so that worker processes can import them."""

import os
import signal
import time
from dataclasses import dataclass

import numpy as np

from tagrank.features.feature import Feature


@dataclass(frozen=True)
class Means(Feature):
    """Mean colour of every band; may be slow, and may note in a file what it was asked for."""

    bands: int = 2
    delay: float = 0.0
    diary: str = ""

    def describe(self, picture):
        time.sleep(self.delay)
        row = np.concatenate([band.mean(axis=(0, 1)) for band in np.array_split(picture.pixels, self.bands)])
        if self.diary:
            descriptor = os.open(self.diary, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(descriptor, f"{row.sum():.6f}\n".encode())
            os.close(descriptor)
        return row.astype(np.float32)


@dataclass(frozen=True)
class Wide(Feature):
    """Many columns, most of them zero."""

    n_columns: int = 1000

    def describe(self, picture):
        row = np.zeros(self.n_columns, dtype=np.float32)
        row[: 10 * self.n_columns // 100] = picture.pixels.ravel()[0] + 1
        return row


@dataclass(frozen=True)
class FirstRow(Feature):
    """The first row of pixels: wider pictures have more columns, which is wrong."""

    def describe(self, picture):
        return picture.pixels[0, :, 0].astype(np.float32)


@dataclass(frozen=True)
class Fragile(Feature):
    """Ends its process over a white picture, and fails over a black one."""

    def describe(self, picture):
        if picture.pixels.min() == 255:
            os.kill(os.getpid(), signal.SIGKILL)
        if picture.pixels.max() == 0:
            raise ValueError("too dark")
        return np.ones(3, dtype=np.float32)


@dataclass(frozen=True)
class NeedsMissingLibrary(Feature):
    """Needs a library that is not installed."""

    def describe(self, picture):
        import a_library_that_is_missing  # noqa: F401

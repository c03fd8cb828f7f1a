"""What a set of features is: settings that can be written down, and one row of numbers for every picture."""

import hashlib
import json
import numbers
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np

from tagrank.features.pixels import grey_levels, need_opencv, opencv


def check_image(image):
    """A picture as a uint8 array of shape (height, width, 3), or an error that says what is wrong."""
    image = np.asarray(image)
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise ValueError(
            "a picture must be a uint8 array of shape (height, width, 3), "
            f"got {image.dtype} of shape {image.shape}; convert grey or transparent pictures to RGB first"
        )
    if min(image.shape[:2]) < 8:
        raise ValueError(f"a picture must be at least 8 pixels wide and high, got shape {image.shape}")
    return image


def check_count(name, value, *, least=1, most):
    """`value` if it is a whole number from `least` to `most`, or a ValueError that names it."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or not least <= value <= most:
        raise ValueError(f"{name} must be a whole number from {least} to {most}, got {value!r}")
    return int(value)


# rec. 601: how bright red, green and blue look
_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32) / 255


class Picture:
    """A picture, uint8 (height, width, 3), and what was worked out of it already: descriptors share it."""

    def __init__(self, pixels):
        self.pixels = check_image(pixels)
        self._known: dict[Any, Any] = {}

    def once(self, key, compute):
        """`compute()`, or what it returned when it was asked for `key` before."""
        if key not in self._known:
            self._known[key] = compute()
        return self._known[key]

    @property
    def grey(self):
        """Brightness from 0 to 1, float32 array, shape (height, width)."""
        return self.once("grey", lambda: self.pixels @ _LUMA)

    @property
    def grey_levels(self):
        """Brightness in 256 levels, uint8 array, shape (height, width)."""
        return self.once("grey_levels", lambda: grey_levels(self.pixels))


def as_picture(image):
    """A `Picture` as it is, or made from its pixels."""
    return image if isinstance(image, Picture) else Picture(image)


def one_opencv_thread():
    """A context in which OpenCV uses one thread: with more, some results (Canny's edges) differ."""
    return nullcontext() if opencv() is None else _opencv_threads().limited(1)


@cache
def _opencv_threads():
    from tagrank.resources import SharedSetting

    cv2 = need_opencv()
    return SharedSetting(cv2.getNumThreads, cv2.setNumThreads)


@dataclass(frozen=True)
class Part:
    """Something with settings: a feature, or an exchangeable step of one.

    A subclass is a frozen dataclass. Its fields are plain JSON values, other parts, or arrays that were
    learned; together with `version` they decide every number that comes out.
    """

    # raised whenever the same settings give other numbers, so that old rows are not mixed with new ones
    version: ClassVar[int] = 1
    # what settings call the class, if that is not its name
    written_as: ClassVar[str] = ""
    # whether it works with OpenCV only
    uses_opencv: ClassVar[bool] = False

    def settings(self) -> dict[str, Any]:
        """The class, its version and its fields as plain JSON values; learned arrays are not among them."""
        plain = {
            name: value.settings() if isinstance(value, Part) else value
            for name, value in self._fields().items()
            if not isinstance(value, np.ndarray)
        }
        return {"type": self.written_as or type(self).__name__, "version": self.version} | plain

    def arrays(self) -> dict[str, np.ndarray]:
        """Learned arrays by name; those of a part within have its name and a dot before their own."""
        learned = {}
        for name, value in self._fields().items():
            if isinstance(value, np.ndarray):
                learned[name] = value
            elif isinstance(value, Part):
                learned |= {f"{name}.{inner}": array for inner, array in value.arrays().items()}
        return learned

    def fingerprint(self) -> str:
        """32 hexadecimal digits that differ wherever rows could differ."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(json.dumps(self.settings(), sort_keys=True).encode())
        for name, array in sorted(self.arrays().items()):
            digest.update(f"{name}{array.dtype}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    @property
    def needs_opencv(self) -> bool:
        """Whether it, or a part of it, works with OpenCV only."""
        parts = (value for value in self._fields().values() if isinstance(value, Part))
        return self.uses_opencv or any(part.needs_opencv for part in parts)

    def _fields(self):
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def replace(self, **changes) -> Self:
        """A copy with other settings."""
        return replace(self, **changes)


@dataclass(frozen=True)
class Feature(Part):
    """A set of features: a picture in, a row of numbers out. Subclasses write `describe`.

    >>> from tagrank import choose_features
    >>> gist = choose_features("gist")["gist"]
    >>> gist(np.zeros((32, 48, 3), dtype=np.uint8)).shape
    (512,)
    """

    # the kernel that suits its rows, as estimators take it
    kernel: ClassVar[str] = "chi2"
    # in a mean of kernels each family counts alike, however many sets it has
    family: ClassVar[str] = "descriptor"

    def __call__(self, image) -> np.ndarray:
        """One picture, uint8 (height, width, 3) or a `Picture`, as one float32 row (n_columns,)."""
        return self.describe(as_picture(image))

    def describe(self, picture: Picture) -> np.ndarray:
        """The row of a picture, float32, shape (n_columns,)."""
        raise NotImplementedError

    @property
    def about(self) -> str:
        """What it describes, in a sentence."""
        return (type(self).__doc__ or "").strip().partition("\n")[0]

    @property
    def looks(self) -> "tuple[Feature, ...]":
        """The features whose rows it averages; most have one look, their own."""
        return (self,)

    @property
    def is_fitted(self) -> bool:
        """Whether it can describe pictures; False for one that must learn a vocabulary first."""
        return True

    def check_ready(self) -> None:
        """Raise if what it needs beside the picture, such as a file or a library, is not there."""
        if self.needs_opencv:
            need_opencv()

    def fit(self, pictures: Iterable[Any], *, random_state=0) -> Self:
        """Learn what must be learned from pictures; most features learn nothing."""
        return self

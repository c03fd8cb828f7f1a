"""From a picture of any shape to the views of one fixed size that a network looks at.

A framing is called with pixels, uint8 (any, any, 3), and a size; it returns views, uint8
(n_views, height, width, 3). What the network says about several views is averaged.
"""

from dataclasses import dataclass, field

import numpy as np

from tagrank.features.feature import Part
from tagrank.features.pixels import stretch

# framings can be put into each other, and each Mirrored doubles the views
_MAX_VIEWS = 16


@dataclass(frozen=True)
class Framing(Part):
    """One way to look at a picture. Subclasses write `__call__`."""

    @property
    def n_views(self):
        """How many views it makes."""
        return 1

    def __call__(self, pixels, height, width):
        """Views of a picture, uint8 array, shape (n_views, height, width, 3)."""
        raise NotImplementedError

    def _check_views(self):
        if self.n_views > _MAX_VIEWS:
            raise ValueError(f"a framing makes at most {_MAX_VIEWS} views of a picture, got {self.n_views}")


@dataclass(frozen=True)
class Squash(Framing):
    """The whole picture; its proportions change."""

    def __call__(self, pixels, height, width):
        return resize(pixels, height, width)[None]


@dataclass(frozen=True)
class CentreCrop(Framing):
    """The largest centred rectangle of the right proportions, shrunk by `share`; the margins are not seen.

    A share of 0.875 is what ImageNet networks are commonly evaluated with.
    """

    share: float = 0.875

    def __post_init__(self):
        if not 0 < self.share <= 1:
            raise ValueError(f"share must be above 0 and at most 1, got {self.share}")

    def __call__(self, pixels, height, width):
        scale = self.share * min(pixels.shape[0] / height, pixels.shape[1] / width)
        inner = [max(round(side * scale), 1) for side in (height, width)]
        top, left = ((side - part) // 2 for side, part in zip(pixels.shape, inner, strict=False))
        return resize(pixels[top : top + inner[0], left : left + inner[1]], height, width)[None]


@dataclass(frozen=True)
class Together(Framing):
    """The views of two framings."""

    first: Framing = field(default_factory=Squash)
    second: Framing = field(default_factory=CentreCrop)

    def __post_init__(self):
        self._check_views()

    @property
    def n_views(self):
        return self.first.n_views + self.second.n_views

    def __call__(self, pixels, height, width):
        return np.concatenate([framing(pixels, height, width) for framing in (self.first, self.second)])


@dataclass(frozen=True)
class Mirrored(Framing):
    """The views of a framing and their mirror images."""

    framing: Framing = field(default_factory=Squash)

    def __post_init__(self):
        self._check_views()

    @property
    def n_views(self):
        return 2 * self.framing.n_views

    def __call__(self, pixels, height, width):
        views = self.framing(pixels, height, width)
        return np.concatenate([views, views[:, :, ::-1]])


@dataclass(frozen=True)
class Flipped(Framing):
    """The mirror images of the views of a framing, without the views themselves."""

    framing: Framing = field(default_factory=Squash)

    @property
    def n_views(self):
        return self.framing.n_views

    def __call__(self, pixels, height, width):
        return self.framing(pixels, height, width)[:, :, ::-1]


def resize(pixels, height, width):
    """Resize a picture, uint8 (any, any, 3): averages where it shrinks, cubic where it grows."""
    shrunk = min(height, pixels.shape[0]), min(width, pixels.shape[1])
    return stretch(stretch(pixels, *shrunk, "area"), height, width, "cubic")

"""The whole picture in few grey pixels: what remains of a photograph that was resized or saved again."""

from dataclasses import dataclass

import numpy as np

from tagrank.features.feature import Feature, check_count
from tagrank.features.pixels import resize


@dataclass(frozen=True)
class Miniature(Feature):
    """Grey levels of the picture, stretched to a small square: by these near-duplicates are compared.

    Parameters
    ----------
    side : int, pixels along a side; the row has side * side columns, line after line
    """

    kernel = "rbf"

    side: int = 32

    def __post_init__(self):
        check_count("side", self.side, least=8, most=128)

    def describe(self, picture):
        small = resize(picture.grey, height=self.side, width=self.side)
        # whole levels: what is finer is noise, and would not be stored in few bytes
        return np.rint(255 * small).astype(np.float32).ravel()

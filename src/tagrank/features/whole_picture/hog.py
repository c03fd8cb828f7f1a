"""Histograms of oriented gradients of the whole picture (Dalal and Triggs, 2005)."""

from dataclasses import dataclass
from functools import lru_cache

from tagrank.features.base import Feature, check_count
from tagrank.features.opencv import resize

CELL_SIDE = 8


@dataclass(frozen=True)
class Hog(Feature):
    """Gradient orientations in overlapping blocks of 2 x 2 cells, each block normalised (L2, clipped at 0.2).

    Parameters
    ----------
    cells : int, the picture is stretched to cells x cells squares of 8 x 8 pixels
    orientations : int, bins over half a turn

    The row has (cells - 1) ** 2 * 4 * orientations columns, 1,764 by default. Values lie in [0, 1].
    """

    cells: int = 8
    orientations: int = 9

    def __post_init__(self):
        check_count("cells", self.cells, least=2, most=32)
        check_count("orientations", self.orientations, most=36)

    def describe(self, picture):
        side = self.cells * CELL_SIDE
        square = picture.once(("resized", side), lambda: resize(picture.pixels, height=side, width=side))
        return _descriptor(self.cells, self.orientations).compute(square).ravel()


@lru_cache(maxsize=8)
def _descriptor(cells, orientations):
    import cv2

    cell, block, window = [(CELL_SIDE * n, CELL_SIDE * n) for n in (1, 2, cells)]
    return cv2.HOGDescriptor(window, block, cell, cell, orientations)

"""Object bank: which things the parts of a picture look like (Li, Su, Xing and Fei-Fei, 2010).

Theirs has the answers of 177 detectors. Here the 1,000 classes of ImageNet, as EfficientNet-Lite tells them
apart, take their place: the network looks at each cell of a spatial pyramid as at a picture of its own.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tagrank.features.feature import Feature, check_count
from tagrank.features.networks.efficientnet import VARIANTS, answers
from tagrank.features.networks.framing import resize

MAX_LEVELS = 3


@dataclass(frozen=True)
class ObjectBank(Feature):
    """Probabilities of 1,000 classes in the cells of a spatial pyramid, as EfficientNet-Lite sees each.

    A row holds the square roots of the probabilities, scaled to length 1, so that the Gaussian kernel
    compares them as histograms (Hellinger). It has 1,000 columns for each cell: the whole picture first, then
    its quarters row by row, 5,000 by default.

    Parameters
    ----------
    variant : 0, 1 or 2: larger ones see more (224, 240, 260 pixels) and take longer (1 : 1.5 : 2)
    levels : int, levels of the pyramid: 1 x 1, 2 x 2, 4 x 4 cells
    maximum : bool, keep the largest probability in the cells of a level only: 1,000 columns a level
    """

    kernel: ClassVar[str] = "rbf"
    family: ClassVar[str] = "embedding"

    variant: int = 0
    levels: int = 2
    maximum: bool = False

    def __post_init__(self):
        if self.variant not in range(len(VARIANTS)):
            raise ValueError(f"variant must be 0, 1 or 2, got {self.variant!r}")
        check_count("levels", self.levels, most=MAX_LEVELS)

    @property
    def about(self):
        return f"Which of 1,000 things EfficientNet-Lite{self.variant} sees in the picture and in its parts."

    def describe(self, picture):
        rows = [self._responses(picture.pixels, 2**level) for level in range(self.levels)]
        if self.maximum:
            rows = [cells.max(axis=0) for cells in rows]
        root = np.sqrt(np.concatenate(rows, axis=None))
        return root / np.linalg.norm(root)

    def _responses(self, pixels, n):
        """Probabilities of the classes in n x n cells, row by row, float32 (n * n, 1000)."""
        side = VARIANTS[self.variant].side
        cells = [
            resize(cell, side, side)
            for band in np.array_split(pixels, n)
            for cell in np.array_split(band, n, axis=1)
        ]
        logits = answers(self.variant, np.stack(cells), classify=True)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)

"""Self-similarity: where around a point the picture looks as it does there (Shechtman and Irani, 2007).

A small patch is compared with the patches around it. The likeness of the most alike patch in each cell of a
log-polar grid is the descriptor: it shows shape, whatever colours, edges or texture make the shape visible.

Every offset is worked out for all points at once: the squared difference between the picture and the shifted
picture, averaged over the patch.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tagrank.features.base import check_count
from tagrank.features.words.descriptors.descriptor import LocalDescriptor
from tagrank.validation import check_positive

# the grid begins at this share of its radius: nearer patches overlap the one in the middle too much
INNER_SHARE = 0.1
# each cell of the grid is probed at so many radii, and at each of them in so many directions
PROBES = 3
# likeness that varies less than this is noise, and is not stretched
FLAT = 0.01
NEXT_TO_IT = [(right, down) for right in (-1, 0, 1) for down in (-1, 0, 1) if (right, down) != (0, 0)]


@dataclass(frozen=True)
class SelfSimilarity(LocalDescriptor):
    """Likeness to the surroundings in a log-polar grid of rings x angles cells, stretched to [0, 1].

    The grid has a radius of two scales of the point, the compared patches are about half a scale wide. Rows
    of flat places, which have no shape, are near zero.

    Parameters
    ----------
    rings, angles : int, cells of the grid
    noise : float, mean squared difference in brightness (from 0 to 1) that still counts as alike
    """

    rings: int = 3
    angles: int = 10
    noise: float = 0.06

    def __post_init__(self):
        check_count("rings", self.rings, most=8)
        check_count("angles", self.angles, most=36)
        check_positive("noise", self.noise)

    @property
    def n_columns(self):
        return self.rings * self.angles

    def describe_scale(self, picture, scale, x, y, rows):
        # beyond the picture there are only its mirror images
        scale = min(scale, max(picture.grey.shape) / 4)
        difference = _patch_difference(
            picture.grey, x, y, reach=int(2 * scale) + 1, patch=2 * int(scale / 4) + 1
        )
        least = np.full((self.n_columns, len(x)), np.inf, dtype=np.float32)
        for cell, offset in _probes(self.rings, self.angles, 2 * scale):
            np.minimum(least[cell], difference(*offset), out=least[cell])
        # where neighbouring pixels already differ much, more difference counts as alike
        variation = np.max([difference(*offset) for offset in NEXT_TO_IT], axis=0)
        likeness = np.exp(-least / np.maximum(variation, np.float32(self.noise)))
        likeness -= likeness.min(axis=0)
        rows[:] = (likeness / np.maximum(likeness.max(axis=0), np.float32(FLAT))).T


def _patch_difference(grey, x, y, *, reach, patch):
    """A function of an offset (right, down) up to `reach`: the mean squared difference between patches.

    It compares the patch at each point with the patch at the offset from there, shape (n_points,).
    """
    import cv2

    half = patch // 2
    padded = cv2.copyMakeBorder(grey, *[reach + half] * 4, cv2.BORDER_REFLECT_101)
    height, width = (length + 2 * half for length in grey.shape)
    places = (y + half) * width + x + half

    def shifted(right, down):
        return padded[reach + down : reach + down + height, reach + right : reach + right + width]

    def difference(right, down):
        error = cv2.subtract(shifted(0, 0), shifted(right, down))
        return cv2.blur(cv2.multiply(error, error), (patch, patch)).take(places)

    return difference


@lru_cache(maxsize=64)
def _probes(rings, angles, radius):
    """Pairs of a cell of the grid, ring by ring, and a whole offset (right, down) inside it, each once."""
    shares = (np.arange(rings * PROBES) + 0.5) / (rings * PROBES)
    radii = radius * INNER_SHARE ** (1 - shares)
    turns = (np.arange(angles * PROBES) + 0.5) / (angles * PROBES)
    probes = {}
    for i, j in np.ndindex(len(radii), len(turns)):
        angle = 2 * np.pi * turns[j]
        offset = (round(radii[i] * np.cos(angle)), round(radii[i] * np.sin(angle)))
        if offset != (0, 0):
            probes[i // PROBES * angles + j // PROBES, offset] = None
    return tuple(probes)

"""GIST: the energy of oriented waves of four lengths in a 4 x 4 grid (Oliva and Torralba, 2001).

The picture is stretched to a square, its local contrast is evened out, and 32 one-sided Gabor filters are
applied in the frequency domain. The modulus of each answer, averaged over each of 16 blocks, is the row.

A coarse filter passes low frequencies only. Its answer is therefore computed from the low corner of the
spectrum, on a grid with correspondingly fewer points.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tagrank.features.feature import Feature
from tagrank.features.pixels import resize

SIDE = 128
MARGIN = 32
PADDED = SIDE + 2 * MARGIN
ORIENTATIONS = 8
BLOCKS = 4
# centre of the passband in cycles per pixel; points along a side of the grid that holds its answers
SCALES = tuple(zip([0.3 / 1.85**scale for scale in range(4)], (192, 144, 96, 48), strict=True))
# the local contrast is what is faster than this many cycles per pixel
CONTRAST_CUTOFF = 4 / SIDE


@dataclass(frozen=True)
class Gist(Feature):
    """Energy of 4 scales x 8 orientations in 4 x 4 blocks of the grey picture: 512 columns, non-negative."""

    kernel = "rbf"

    def describe(self, picture):
        from scipy import fft

        square = resize(picture.grey, height=SIDE, width=SIDE)
        spectrum = fft.fft2(_even_contrast(np.pad(square, MARGIN, mode="symmetric")))
        return np.concatenate(
            [_block_energies(spectrum, *_filters(*scale)) for scale in SCALES], dtype=np.float32
        )


def _even_contrast(grey):
    """Logarithm of brightness, less its surroundings, over the local standard deviation."""
    from scipy import fft

    def blur(image):
        return fft.irfft2(fft.rfft2(image) * _low_pass(), s=image.shape)

    image = np.log1p(255 * grey)
    image -= blur(image)
    # the constant keeps noise in flat places from being blown up
    return image / (0.2 + np.sqrt(np.abs(blur(image**2))))


def _block_energies(spectrum, filters, shift):
    """Mean modulus of the answers to each filter in each block, shape (ORIENTATIONS * BLOCKS * BLOCKS,)."""
    from scipy import fft

    n_points = len(shift)
    answers = np.abs(fft.ifft2(filters * (_low_corner(spectrum, n_points) * shift), overwrite_x=True))
    margin, block = n_points * MARGIN // PADDED, n_points * SIDE // PADDED // BLOCKS
    inner = answers[:, margin:-margin, margin:-margin]
    return inner.reshape(ORIENTATIONS, BLOCKS, block, BLOCKS, block).mean(axis=(2, 4)).ravel()


def _low_corner(spectrum, n_points):
    """The n_points lowest frequencies of either axis, in the order of a transform of that size."""
    if n_points == len(spectrum):
        return spectrum
    kept = np.r_[: n_points // 2, -(n_points // 2) : 0]
    # the inverse transform divides by the number of points
    return spectrum[np.ix_(kept, kept)] * np.float32((n_points / len(spectrum)) ** 2)


@lru_cache(maxsize=1)
def _low_pass():
    """Gaussian that halves at CONTRAST_CUTOFF, for `rfft2` of the padded square."""
    y, x = np.fft.fftfreq(PADDED)[:, None], np.fft.rfftfreq(PADDED)
    return (0.5 ** ((x**2 + y**2) / CONTRAST_CUTOFF**2)).astype(np.float32)


@lru_cache(maxsize=len(SCALES))
def _filters(centre, n_points):
    """Filters of one scale, float32 (ORIENTATIONS, n_points, n_points), and a phase, complex64.

    The phase (n_points, n_points) moves each point of the grid to the middle of its pixels.
    """
    frequency = np.fft.fftfreq(n_points) * n_points / PADDED
    x, y = frequency, frequency[:, None]
    turned = np.arctan2(y, x) + np.pi / ORIENTATIONS * np.arange(ORIENTATIONS)[:, None, None]
    angle = (turned + np.pi) % (2 * np.pi) - np.pi
    # the widths of the original: neighbouring filters cross at about half their height
    filters = np.exp(-3.5 * (np.hypot(x, y) / centre - 1) ** 2 - 2 * np.pi * ORIENTATIONS**2 / 64 * angle**2)
    shift = np.exp(1j * np.pi * (PADDED / n_points - 1) * (x + y))
    return filters.astype(np.float32), shift.astype(np.complex64)

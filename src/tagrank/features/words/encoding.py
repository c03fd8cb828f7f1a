"""Encodings: what a local descriptor says about the visual words near it.

A picture's points are encoded as a few words with weights each, never as a matrix of points x words.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tagrank.features.feature import Part
from tagrank.features.words.vocabulary import CentreVocabulary, Vocabulary, squared_distances
from tagrank.validation import check_positive

_TINY = np.finfo(np.float32).tiny
# a point has few neighbours; without a limit, settings from a file could fill the memory
_MAX_NEAREST = 64


class WordCodes(NamedTuple):
    """The words of every point, which differ, and their float32 weights, both (n_points, n_nearest)."""

    words: np.ndarray
    weights: np.ndarray
    n_words: int

    def mean(self, cells, n_cells):
        """Mean weight of every word over the points of every cell, float32, shape (n_cells, n_words)."""
        sums = np.bincount(self._places(cells), self.weights.ravel(), n_cells * self.n_words)
        counts = np.bincount(cells, minlength=n_cells)
        return (sums.reshape(n_cells, -1) / np.maximum(counts, 1)[:, None]).astype(np.float32)

    def max(self, cells, n_cells):
        """Largest weight of every word in every cell, at least 0, float32, shape (n_cells, n_words)."""
        largest = np.zeros(n_cells * self.n_words, dtype=np.float32)
        np.maximum.at(largest, self._places(cells), self.weights.ravel())
        return largest.reshape(n_cells, -1)

    def _places(self, cells):
        return (cells[:, None] * self.n_words + self.words).ravel()


@dataclass(frozen=True)
class Encoding(Part):
    """Turns descriptors into codes, which know their `mean` and `max` over cells."""

    # the kernel that suits the rows
    kernel: ClassVar[str] = "chi2"
    # the words that it can use
    vocabulary_type: ClassVar[type[Vocabulary]] = CentreVocabulary
    # whether its codes have a `max`
    has_maximum: ClassVar[bool] = True

    def encode(self, descriptors, vocabulary):
        """Codes of descriptors, float32 of shape (n_points, n_columns), in the words of a vocabulary."""
        raise NotImplementedError

    def n_columns(self, vocabulary):
        """The length of the row of one cell."""
        return vocabulary.n_words

    def finish_cells(self, rows, share):
        """Rows of the cells of a grid, float32 of shape (n_cells, n_columns), as parts of a picture's row.

        `share` is what each cell is to contribute to the kernel, relative to other cells.
        """
        return share * self.normalise(rows)

    def normalise(self, rows):
        """Rows that sum to 1, float32 of shape (..., n_columns); rows of zeros stay."""
        return rows / np.maximum(rows.sum(axis=-1, keepdims=True), _TINY)


@dataclass(frozen=True)
class EuclideanEncoding(Encoding):
    """An encoding whose rows are compared by dot products, and have length one."""

    kernel: ClassVar[str] = "linear"

    def finish_cells(self, rows, share):
        return np.float32(np.sqrt(share)) * self.normalise(rows)

    def normalise(self, rows):
        return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), _TINY)


@dataclass(frozen=True)
class HardEncoding(Encoding):
    """The nearest word alone."""

    def encode(self, descriptors, vocabulary):
        words = vocabulary.nearest(descriptors)
        return WordCodes(words, np.ones(words.shape, dtype=np.float32), vocabulary.n_words)


@dataclass(frozen=True)
class SoftEncoding(Encoding):
    """The nearest words by a Gaussian of their distance; a point's weights sum to 1 (van Gemert et al. 2010).

    Parameters
    ----------
    n_nearest : int
    width : float, the standard deviation of the Gaussian; 1 is the root mean square distance of the
        vocabulary's training descriptors to their nearest words
    """

    n_nearest: int = 5
    width: float = 0.3

    def __post_init__(self):
        _check_nearest(self.n_nearest, 1)
        check_positive("width", self.width)

    def encode(self, descriptors, vocabulary):
        words = vocabulary.nearest(descriptors, n_nearest=self.n_nearest)
        distances = squared_distances(descriptors, vocabulary.words, words)
        # a point far from every word shares its weight too: only differences of distances matter
        distances -= distances.min(axis=1, keepdims=True)
        weights = np.exp(distances / (-2 * self.width**2 * vocabulary.spread))
        weights /= weights.sum(axis=1, keepdims=True)
        return WordCodes(words, weights, vocabulary.n_words)


@dataclass(frozen=True)
class SalientEncoding(Encoding):
    """The nearest word, by how much nearer it is than the next ones (Huang et al. 2011).

    The weight is 1 - d_1 / mean(d_2, ..., d_k), where d_j is the distance to the j-th nearest word.

    Parameters
    ----------
    n_nearest : int, k
    """

    n_nearest: int = 5

    def __post_init__(self):
        _check_nearest(self.n_nearest, 2)

    def encode(self, descriptors, vocabulary):
        words = vocabulary.nearest(descriptors, n_nearest=self.n_nearest)
        distances = np.sqrt(squared_distances(descriptors, vocabulary.words, words))
        nearest, others = distances[:, :1], distances[:, 1:]
        # a vocabulary of one word has no others
        reference = others.mean(axis=1, keepdims=True) if others.shape[1] else np.float32(np.inf)
        weights = 1 - nearest / np.maximum(reference, _TINY)
        return WordCodes(words[:, :1], np.maximum(weights, 0), vocabulary.n_words)


@dataclass(frozen=True)
class LocalityConstrained(EuclideanEncoding):
    """The nearest words, weighted so that they rebuild the descriptor (LLC; Wang et al. 2010).

    For a point x and its words B the weights w solve

        min  |x - w B|^2 + ridge trace(C) |w|^2    subject to  sum(w) = 1,    C = (B - x)(B - x)'

    which in closed form is (C + ridge trace(C) I) w ~ 1. Weights may be negative; rows are scaled to length
    one. Meant for `MaxPooling` and a linear kernel.

    Parameters
    ----------
    n_nearest : int
    ridge : float
    """

    n_nearest: int = 5
    ridge: float = 1e-4

    def __post_init__(self):
        _check_nearest(self.n_nearest, 1)
        check_positive("ridge", self.ridge)

    def encode(self, descriptors, vocabulary):
        words = vocabulary.nearest(descriptors, n_nearest=self.n_nearest)
        differences = vocabulary.words[words] - descriptors[:, None]
        gram = differences @ differences.swapaxes(1, 2)
        trace = np.trace(gram, axis1=1, axis2=2)
        # a descriptor on top of all its words shares itself evenly among them
        ridge = np.where(trace > 0, self.ridge * trace, 1)
        gram += ridge[:, None, None] * np.eye(words.shape[1], dtype=np.float32)
        weights = np.linalg.solve(gram, np.ones((*words.shape, 1)))[..., 0]
        weights /= weights.sum(axis=1, keepdims=True)
        return WordCodes(words, weights.astype(np.float32), vocabulary.n_words)


def _check_nearest(n_nearest, least):
    if not isinstance(n_nearest, int) or not least <= n_nearest <= _MAX_NEAREST:
        raise ValueError(
            f"n_nearest must be a whole number from {least} to {_MAX_NEAREST}, got {n_nearest!r}"
        )

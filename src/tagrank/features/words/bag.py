"""Bags of visual words, of exchangeable steps: where to look, what to describe, words, codes, cells."""

import re
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tagrank.features.base import Feature
from tagrank.features.words.descriptors.descriptor import LocalDescriptor
from tagrank.features.words.encoding import Encoding, HardEncoding
from tagrank.features.words.layout import AveragePooling, Layout, MaxPooling, Pooling
from tagrank.features.words.learning import DescribedPoints, VocabularyTask, learn_vocabularies
from tagrank.features.words.sampling import Sampling
from tagrank.features.words.vocabulary import KMeansWords, Vocabulary


@dataclass(frozen=True)
class BagOfWords(Feature):
    """Local descriptors counted as words of a learned vocabulary, in the cells of a layout.

    The row of every cell is normalised, then the row as a whole: to the sum 1 for counts, to length 1 for
    encodings made for dot products. A picture without points is a row of zeros. Bags that differ only in
    pooling and layout share the work on a picture.

    Parameters
    ----------
    sampling : Sampling, chooses the points
    descriptor : LocalDescriptor, describes their surroundings
    vocabulary : Vocabulary, learned by `fit`
    encoding : Encoding, turns descriptors into weights of words
    pooling : Pooling, turns the weights of a cell's points into one row
    layout : Layout, the cells

    >>> from tagrank import draw_pictures
    >>> from tagrank.features.words.descriptors.sift import Sift
    >>> from tagrank.features.words.sampling import DenseGrid
    >>> pictures = draw_pictures(4, size=64).view("pictures")
    >>> bag = BagOfWords(DenseGrid(), Sift(), KMeansWords(20), layout=Layout("3x1"))
    >>> bag.fit(pictures)(pictures[0]).shape
    (60,)
    """

    sampling: Sampling
    descriptor: LocalDescriptor
    vocabulary: Vocabulary = field(default_factory=KMeansWords)
    encoding: Encoding = field(default_factory=HardEncoding)
    pooling: Pooling = field(default_factory=AveragePooling)
    layout: Layout = field(default_factory=Layout)

    def __post_init__(self):
        if not isinstance(self.vocabulary, self.encoding.vocabulary_type):
            raise ValueError(
                f"{type(self.encoding).__name__} needs a {self.encoding.vocabulary_type.__name__}, "
                f"got {type(self.vocabulary).__name__}"
            )
        if isinstance(self.pooling, MaxPooling) and not self.encoding.has_maximum:
            raise ValueError(f"{type(self.encoding).__name__} has no maximum: use AveragePooling")
        if self.is_fitted and self.vocabulary.n_columns != self.descriptor.n_columns:
            raise ValueError(
                f"{type(self.descriptor).__name__} has {self.descriptor.n_columns} columns, "
                f"the vocabulary was learned from {self.vocabulary.n_columns}"
            )

    @property
    def kernel(self):
        return self.encoding.kernel

    @property
    def about(self):
        descriptor, sampling, words = (
            re.sub("(?<=[a-z])(?=[A-Z])", " ", type(step).__name__).lower()
            for step in (self.descriptor, self.sampling, self.vocabulary)
        )
        where = {"1x1": "in the picture", "3x1": "in three horizontal bands"}
        return (
            f"Bag of visual words: {descriptor} at {sampling}, {words}, "
            f"{where.get(self.layout.name, f'in cells of {self.layout.name}')}."
        )

    @property
    def is_fitted(self):
        return self.vocabulary.is_fitted

    @property
    def n_columns(self):
        """The length of a row, once fitted."""
        self._check_fitted()
        return self.layout.n_cells * self.encoding.n_columns(self.vocabulary)

    @cached_property
    def task(self):
        """All that the vocabulary depends on: bags of equal tasks can share it."""
        return VocabularyTask(DescribedPoints(self.sampling, self.descriptor), self.vocabulary)

    def fit(self, pictures, *, random_state=0):
        (vocabulary,) = learn_vocabularies([self.task], pictures, random_state=random_state)
        return self.replace(vocabulary=vocabulary)

    def describe(self, picture):
        self._check_fitted()
        points, descriptors = self.task.source.of(picture)
        if len(descriptors) == 0:
            return np.zeros(self.n_columns, dtype=np.float32)
        codes = picture.once(self._codes_key, lambda: self.encoding.encode(descriptors, self.vocabulary))
        parts = []
        for grid in self.layout.grids:
            cells = grid.cells(points, picture.pixels.shape)
            rows = self.pooling.pool(codes, cells, grid.n_cells)
            parts.append(self.encoding.finish_cells(rows, grid.weight / grid.n_cells).ravel())
        return self.encoding.normalise(np.concatenate(parts))

    @cached_property
    def _codes_key(self):
        return ("codes", self.task.source.key, self.vocabulary.identity, self.encoding.fingerprint())

    def _check_fitted(self):
        if not self.is_fitted:
            raise RuntimeError("this bag of words has no vocabulary yet: use what its fit(pictures) returns")

"""Bags of visual words, of exchangeable steps: where to look, what to describe, words, codes, cells.
Vocabularies are learned from descriptors that are sampled evenly from pictures, which are read once, in
bounded memory.
"""

import re
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from tagrank.features.feature import Feature, as_picture, one_opencv_thread
from tagrank.features.words.encoding import Encoding, HardEncoding
from tagrank.features.words.layout import AveragePooling, CellLayout, MaxPooling, Pooling
from tagrank.features.words.local_descriptors import LocalDescriptor
from tagrank.features.words.sampling import Points, Sampling
from tagrank.features.words.vocabulary import KMeansWords, Vocabulary
from tagrank.workers import map_in_order


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
    layout : CellLayout, the cells

    >>> from tagrank import draw_pictures
    >>> from tagrank.features.words.local_descriptors import Sift
    >>> from tagrank.features.words.sampling import DenseGrid
    >>> pictures = draw_pictures(4, size=64).view("pictures")
    >>> bag = BagOfWords(DenseGrid(), Sift(), KMeansWords(20), layout=CellLayout("3x1"))
    >>> bag.fit(pictures)(pictures[0]).shape
    (60,)
    """

    sampling: Sampling
    descriptor: LocalDescriptor
    vocabulary: Vocabulary = field(default_factory=KMeansWords)
    encoding: Encoding = field(default_factory=HardEncoding)
    pooling: Pooling = field(default_factory=AveragePooling)
    layout: CellLayout = field(default_factory=CellLayout)

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


@dataclass(frozen=True)
class DescribedPoints:
    """Where descriptors are taken, and which; every picture computes them once."""

    sampling: Sampling
    descriptor: LocalDescriptor

    def of(self, picture) -> tuple[Points, np.ndarray]:
        """Points of a picture, and their descriptors, float32 of shape (n_points, n_columns)."""
        points = picture.once(self._points_key, lambda: self.sampling.points(picture))
        return points, picture.once(self.key, lambda: self._describe(picture, points))

    def _describe(self, picture, points):
        if len(points.x) == 0:
            return np.empty((0, self.descriptor.n_columns), dtype=np.float32)
        return self.descriptor.compute(picture, points)

    @cached_property
    def key(self):
        return ("descriptors", *self._points_key[1:], self.descriptor.fingerprint())

    @cached_property
    def _points_key(self):
        return "points", self.sampling.fingerprint()


class VocabularyTask(NamedTuple):
    """A vocabulary to learn, and from what."""

    source: DescribedPoints
    vocabulary: Vocabulary


def learn_vocabularies(tasks, pictures, *, random_state=0, n_jobs=1, progress=None):
    """The fitted vocabularies of all tasks, learned in one pass over uint8 arrays or `Picture` objects.

    `n_jobs` processes describe them; `progress` is told the number of pictures described so far.
    """
    samples = [EvenSample(task.vocabulary.n_samples, random_state) for task in tasks]
    sources = [task.source for task in tasks]
    described = map_in_order(partial(_describe, sources), pictures, n_workers=n_jobs)
    for n_described, descriptors in enumerate(described, start=1):
        for sample, rows in zip(samples, descriptors, strict=True):
            sample.add(rows)
        if progress is not None:
            progress(n_described)
    return [
        task.vocabulary.fit(sample.rows(), random_state=random_state)
        for task, sample in zip(tasks, samples, strict=True)
    ]


def _describe(sources, image):
    picture = as_picture(image)
    with one_opencv_thread():
        return [source.of(picture)[1] for source in sources]


class EvenSample:
    """At most `n_rows` rows out of many groups, as many from each group as from any other that has them.

    Every group is shuffled, and a row's rank in its group decides: all first rows are kept before any second
    one, and so on; chance decides among rows of the last rank kept. How many groups there will be need not
    be known, and little more than `n_rows` rows are held.
    """

    def __init__(self, n_rows, random_state=0):
        self.n_rows = n_rows
        self._rng = np.random.default_rng(random_state)
        self._groups, self._ranks, self._n_held, self._limit = [], [], 0, np.inf

    def add(self, group):
        """Offer the rows of another group, shape (n_group, n_columns)."""
        ranks = np.arange(len(group)) + self._rng.random(len(group))
        order = self._rng.permutation(len(group))
        kept = ranks < self._limit
        self._groups.append(group[order[kept]])
        self._ranks.append(ranks[kept])
        self._n_held += int(kept.sum())
        if self._n_held > 1.25 * self.n_rows:
            self._thin()

    def rows(self):
        """The sample, shape (at most n_rows, n_columns), in the order in which the groups came."""
        self._thin()
        return self._groups[0]

    def _thin(self):
        if not self._groups:
            raise ValueError("a vocabulary is learned from pictures, got none")
        groups, ranks = np.concatenate(self._groups), np.concatenate(self._ranks)
        if len(ranks) > self.n_rows:
            chosen = np.sort(np.argpartition(ranks, self.n_rows)[: self.n_rows])
            groups, ranks = groups[chosen], ranks[chosen]
            self._limit = ranks.max()
        self._groups, self._ranks, self._n_held = [groups], [ranks], len(ranks)

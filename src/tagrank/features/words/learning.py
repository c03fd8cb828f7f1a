"""Learning vocabularies: descriptors sampled evenly from pictures that are read once, in bounded memory."""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from tagrank.features.base import as_picture
from tagrank.features.opencv import one_opencv_thread
from tagrank.features.words.descriptors.descriptor import LocalDescriptor
from tagrank.features.words.sampling import Points, Sampling
from tagrank.features.words.vocabulary import Vocabulary
from tagrank.workers import map_in_order


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
            raise ValueError("a vocabulary is learned from pictures, and there are none")
        groups, ranks = np.concatenate(self._groups), np.concatenate(self._ranks)
        if len(ranks) > self.n_rows:
            chosen = np.sort(np.argpartition(ranks, self.n_rows)[: self.n_rows])
            groups, ranks = groups[chosen], ranks[chosen]
            self._limit = ranks.max()
        self._groups, self._ranks, self._n_held = [groups], [ranks], len(ranks)

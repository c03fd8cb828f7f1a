"""A tree of visual words (Nister & Stewenius 2006): large vocabularies with few comparisons."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from tagrank.arrays import row_blocks, rows_within
from tagrank.features.words.vocabulary import (
    CentreVocabulary,
    check_counts,
    check_learned,
    check_spread,
    learn_centres,
    nearest_words,
    squared_distances,
    take_largest,
    warn_if_fewer,
)

_MAX_WORDS = 1_000_000


@dataclass(frozen=True, eq=False)
class HierarchicalWords(CentreVocabulary):
    """k-means within the clusters of k-means; the words are the leaves.

    A descriptor goes down the tree to the nearest child each time: branching * levels comparisons for
    branching ** levels words. The leaf is not always the nearest of all. Asked for several words, it follows
    that many branches.

    Parameters
    ----------
    branching : int, children of every node; fewer where descriptors are too few or too much alike
    levels : int
    n_samples : int
    max_iter : int, rounds of k-means at every node
    centres : float32 array, shape (n_nodes, n_columns), learned; level by level, all leaves in the last one
    parents : int32 array, shape (n_nodes,), learned; -1 in the first level, ascending
    spread : float, learned
    """

    branching: int = 10
    levels: int = 3
    n_samples: int = 100_000
    max_iter: int = 20
    centres: np.ndarray | None = None
    parents: np.ndarray | None = None
    spread: float | None = None

    def __post_init__(self):
        check_counts(self, "branching", "levels", "n_samples", "max_iter")
        if self.levels > 20 or self.branching**self.levels > _MAX_WORDS:
            raise ValueError(
                f"branching ** levels must be at most {_MAX_WORDS} words, in at most 20 levels, "
                f"got {self.branching} ** {self.levels}"
            )
        if self.centres is not None:
            check_learned("centres", self.centres, (None, None))
            check_spread(self.spread)
            self._check_tree()

    @property
    def n_words(self):
        return len(self.centres) - self._first_leaf

    @property
    def words(self):
        return self.centres[self._first_leaf :]

    @property
    def _first_leaf(self):
        # the last of the parents is the last node that is not a leaf
        return int(self.parents[-1]) + 1

    @cached_property
    def _levels(self):
        """The nodes of every level as slices, from the top."""
        ends = [0, int(np.searchsorted(self.parents, 0))]
        while ends[-1] < len(self.parents) and ends[-1] > ends[-2]:
            ends.append(int(np.searchsorted(self.parents, ends[-1])))
        return [slice(start, end) for start, end in pairwise(ends)]

    @cached_property
    def _children(self):
        """The nodes under every inner node, -1 where there are fewer, shape (n_inner_nodes, branching)."""
        counts = np.bincount(self.parents + 1)
        table = np.full((len(counts) - 1, self.branching), -1, dtype=np.intp)
        nodes = np.arange(counts[0], len(self.parents))
        parents = self.parents[counts[0] :]
        table[parents, nodes - np.cumsum(counts)[parents]] = nodes
        return table

    @cached_property
    def _half_norms(self):
        return np.einsum("ij,ij->i", self.centres, self.centres) / 2

    def _check_tree(self):
        check_learned("parents", self.parents, (len(self.centres),), dtype=np.int32)
        parents = self.parents
        ordered = (np.diff(parents) >= 0).all() and (parents < np.arange(len(parents))).all()
        counts = np.bincount(parents + 1) if ordered and parents[0] == -1 else np.zeros(1)
        if not (
            0 < counts.min() <= counts.max() <= self.branching
            and len(self._levels) == self.levels
            and self._levels[-1].start == self._first_leaf
        ):
            raise ValueError(
                f"parents must be the tree of {self.levels} levels, each node above the last with 1 to "
                f"{self.branching} children that follow each other; these are not"
            )

    def learn(self, sample, rng):
        centres, parents = self._grow(sample, rng)
        tree = self.replace(centres=centres, parents=parents, spread=1.0)
        warn_if_fewer(tree.n_words, self.branching**self.levels, "words")
        spread = squared_distances(sample, tree.words, tree.nearest(sample)).mean()
        return tree.replace(spread=float(spread) or 1.0)

    def _grow(self, sample, rng):
        """Centres and parents, level by level; a node that cannot be split has itself as its child."""
        centres, parents, level = [], [], [(-1, np.arange(len(sample)))]
        for _ in range(self.levels):
            below = []
            for parent, members in level:
                rows = sample[members] if len(members) else centres[parent][None]
                children = learn_centres(rows, self.branching, max_iter=self.max_iter, rng=rng)
                nearest = nearest_words(rows, children)[: len(members), 0]
                below += [(len(centres) + place, members[nearest == place]) for place in range(len(children))]
                centres += list(children)
                parents += [parent] * len(children)
            level = below
        return np.array(centres), np.array(parents, dtype=np.int32)

    def nearest(self, descriptors, *, n_nearest=1):
        words = np.empty((len(descriptors), min(n_nearest, self.n_words)), dtype=np.intp)
        n_gathered = n_nearest * self.branching * self.n_columns
        for block in row_blocks(len(descriptors), rows_within(n_gathered, itemsize=4, megabytes=2)):
            words[block] = self._descend(descriptors[block], n_nearest)
        words -= self._first_leaf
        return words

    def _descend(self, descriptors, n_nearest):
        """The leaves reached by way of the `n_nearest` best nodes of every level."""
        top, *lower = self._levels
        nodes = nearest_words(descriptors, self.centres[top], n_nearest=min(n_nearest, top.stop))
        for level in lower:
            candidates = self._children[nodes].reshape(len(descriptors), -1)
            scores = (self.centres[candidates] @ descriptors[:, :, None])[..., 0]
            scores -= self._half_norms[candidates]
            scores[candidates < 0] = -np.inf
            best = np.empty((len(descriptors), min(n_nearest, level.stop - level.start)), dtype=np.intp)
            take_largest(scores, best)
            nodes = np.take_along_axis(candidates, best, axis=1)
        return nodes

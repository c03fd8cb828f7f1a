"""A Gram matrix K and the scores F = A K of all samples, brought up to date as coefficients change.

Coefficients have shape (n_samples, n_labels), for a visit reads all labels of a sample. Scores and changes
have shape (n_labels, n_samples): then the change of one coefficient is one run along a row of K.
"""

import numpy as np

from tagrank.arrays import (
    astype,
    beside,
    namespace_of,
    row_blocks,
    rows_within,
    to_host,
    written_zeros,
)
from tagrank.resources import compiled, share_out

FAST = {"contract", "nsz", "arcp", "reassoc"}
TILE = 2048  # scores of a label, at most, that a thread brings up to date together: they stay in its cache
ENOUGH_PRODUCTS = 200_000  # of two numbers, for a thread to be worth its start
ENOUGH_GATHERED = 48  # pairs of rows of a corner, as well


class GramScores:
    """Gram matrix K (n_samples, n_samples) and the scores of all samples.

    With an `intercept` every similarity counts as K + intercept; the share of that constant in the scores is
    one number per label, kept apart in `offset`, and K stays as it is.
    K may live on a device (torch or cupy): the scores then live there too, and only the scores and the
    changes of one block cross to the host.
    On the host the scores are float64, and exact, until `round_scores` trades digits for speed.
    """

    block_size = 192

    def __init__(self, K, n_labels, dtype, intercept=0.0):
        self.K = K
        self.intercept = intercept
        self.offset = np.zeros(n_labels)
        self.xp = namespace_of(K)
        self.n_samples = K.shape[0]
        self.dtype = dtype
        self.diagonal = self._read_diagonal().astype(np.float64) + intercept
        self.is_exact = self.xp is np
        F = written_zeros((n_labels, self.n_samples), np.float64 if self.is_exact else dtype)
        self.F = beside(F, K)

    def _read_diagonal(self):
        return to_host(self.xp.diagonal(self.K))

    def read(self, rows):
        """Corner K[rows][:, rows] and scores (n_labels, len(rows)) of some samples, on the host."""
        if self.xp is np:
            corner = np.empty((len(rows), len(rows)), self.dtype)
            scores = np.empty((len(self.F), len(rows)), self.dtype)
            share_out(
                _gather, (len(rows) + 1) // 2, self.K, self.F, rows, corner, scores, least=ENOUGH_GATHERED
            )
        else:
            index = beside(rows, self.K)
            corner = np.ascontiguousarray(to_host(self.K[index][:, index]), dtype=self.dtype)
            scores = np.ascontiguousarray(to_host(self.F[:, index]))
        if self.intercept:
            corner += self.dtype.type(self.intercept)
            scores += self.offset[:, None].astype(self.dtype)
        return corner, scores

    def _fetch(self, rows):
        """A copy of some rows of K."""
        return self.K[beside(rows, self.K)]

    def nearest(self, rows):
        """For each of some samples, the other one that is most similar by the angle between them."""
        similarities = to_host(self._fetch(rows))
        if self.intercept:
            similarities = similarities + self.intercept
        lengths = np.sqrt(np.where(self.diagonal > 0, self.diagonal, np.inf))
        similarities = similarities / lengths.astype(similarities.dtype)
        similarities[np.arange(len(rows)), rows] = -np.inf
        return similarities.argmax(axis=1)

    def add(self, rows, changes):
        """Bring the scores up to date after the coefficients of `rows` changed."""
        self.offset += self.intercept * changes.sum(axis=1)
        if self.xp is np:
            self._add(self.F, changes.astype(self.F.dtype, copy=False), rows)
        else:
            changes = beside(changes, self.K, dtype=self.F.dtype)
            self.F += changes @ beside(self._fetch(rows), self.K, dtype=self.F.dtype)

    def _add(self, F, changes, rows):
        """F += changes @ K[rows] on the host."""
        _add_product(F, changes, rows, self.K)

    def scores(self):
        F = to_host(self.F)
        return F + self.offset[:, None].astype(F.dtype) if self.intercept else F

    def round_scores(self):
        """Go on in the precision `dtype`: products take less time, but a certificate needs `recompute`."""
        if self.is_exact and self.F.dtype != self.dtype:
            self.F, self.is_exact = self.F.astype(self.dtype), False

    def recompute(self, coefficients):
        """Scores of all samples in float64, anew from the coefficients."""
        if self.xp is not np:
            return self._recompute_on_device(coefficients)
        F = written_zeros(coefficients.shape[::-1])
        changed = np.flatnonzero(np.any(coefficients != 0, axis=1))
        for block in row_blocks(len(changed), self.block_size):
            rows = changed[block]
            A = np.ascontiguousarray(coefficients[rows].T)
            self._add(F, A, rows)
        self.F[:] = F
        self.offset = self.intercept * coefficients.sum(axis=0)
        return F + self.offset[:, None] if self.intercept else F

    def _recompute_on_device(self, coefficients):
        """The same, where K is."""
        double, F = self.xp.float64, np.empty(coefficients.shape[::-1])
        A = astype(beside(np.ascontiguousarray(coefficients.T), self.K), double)
        for rows in row_blocks(self.n_samples, rows_within(self.n_samples, megabytes=1024)):
            scores = A @ astype(self.K[:, rows], double)
            self.F[:, rows] = astype(scores, self.F.dtype)
            F[:, rows] = to_host(scores)
        self.offset = self.intercept * coefficients.sum(axis=0)
        return F + self.offset[:, None] if self.intercept else F


def _add_product(F, changes, rows, K):
    """F += changes @ K[rows], with products in the precision of `changes`."""
    if K.dtype.itemsize > changes.dtype.itemsize:
        part = np.empty((len(rows), K.shape[1]), changes.dtype)
        share_out(_take_rows, len(rows), K, rows, part)
        K, rows = part, np.arange(len(rows))
    n_labels, n_rows = changes.shape
    firsts = np.zeros(n_labels + 1, np.int64)
    steps, where = (
        np.empty(n_labels * (n_rows + 4), changes.dtype),
        np.empty(n_labels * (n_rows + 4), np.int64),
    )
    _compress(changes, rows, firsts, steps, where)
    least = max(1, ENOUGH_PRODUCTS // max(int(firsts[-1]), 1))
    share_out(_add_columns, F.shape[1], F, firsts, steps, where, K, least=least)


@compiled()
def _take_rows(K, rows, out, start, stop):
    """out = K[rows] in the precision of `out`."""
    for b in range(start, stop):
        for j in range(K.shape[1]):
            out[b, j] = K[rows[b], j]


@compiled()
def _gather(K, F, rows, corner, scores, start, stop):
    """Of rows from both ends of a block, a long one and a short one each: corner and scores.

    A row of the corner is read up to its diagonal and is the same column, too: K is symmetric.
    """
    n_rows = rows.shape[0]
    for position in range(2 * start, 2 * stop):
        b = position // 2 if position % 2 == 0 else n_rows - 1 - position // 2
        i = rows[b]
        for c in range(b + 1):
            corner[b, c] = corner[c, b] = K[i, rows[c]]
        for label in range(F.shape[0]):
            scores[label, b] = F[label, i]


@compiled()
def _compress(changes, rows, firsts, steps, where):
    """Changes that are not zero and their rows, label by label, filled up with zeros to fours."""
    n_changed = 0
    for label in range(changes.shape[0]):
        for b in range(rows.shape[0]):
            steps[n_changed], where[n_changed] = changes[label, b], rows[b]
            n_changed += changes[label, b] != 0
        while n_changed % 4:
            steps[n_changed], where[n_changed] = 0, rows[0]
            n_changed += 1
        firsts[label + 1] = n_changed


@compiled(fastmath=FAST)
def _add_columns(F, firsts, steps, where, K, start, stop):
    """F[:, start:stop] += changes @ K[rows] for changes as `_compress` makes them, eight rows of K at once.

    Numbers of columns are unsigned: for them no negative index is thought of, and loops become vectors
    without slices, which take long to compile.
    """
    for left in range(start, stop, TILE):
        first, last = np.uint64(left), np.uint64(min(left + TILE, stop))
        for label in range(F.shape[0]):
            target, p = F[label], firsts[label]
            while p < firsts[label + 1]:
                d0, d1, d2, d3 = steps[p], steps[p + 1], steps[p + 2], steps[p + 3]
                i0, i1, i2, i3 = where[p], where[p + 1], where[p + 2], where[p + 3]
                p += 4
                if p == firsts[label + 1]:
                    for j in range(first, last):
                        target[j] += d0 * K[i0, j] + d1 * K[i1, j] + d2 * K[i2, j] + d3 * K[i3, j]
                    break
                d4, d5, d6, d7 = steps[p], steps[p + 1], steps[p + 2], steps[p + 3]
                i4, i5, i6, i7 = where[p], where[p + 1], where[p + 2], where[p + 3]
                p += 4
                for j in range(first, last):
                    half = d0 * K[i0, j] + d1 * K[i1, j] + d2 * K[i2, j] + d3 * K[i3, j]
                    target[j] += half + (d4 * K[i4, j] + d5 * K[i5, j] + d6 * K[i6, j] + d7 * K[i7, j])


class VisitedScores(GramScores):
    """As `GramScores`, of a matrix that no memory holds: its rows come when they are asked for.

    Rows of a visit are fetched once, for what it reads and for what it changes.
    """

    def __init__(self, K, n_labels, dtype, intercept=0.0):
        self.fetched = None, None
        super().__init__(K, n_labels, dtype, intercept)

    def _read_diagonal(self):
        return self.K.diagonal()

    def _fetch(self, rows):
        if self.fetched[0] is not rows:
            self.fetched = rows, self.K[rows]
        return self.fetched[1]

    def read(self, rows):
        lower = np.tril(self._fetch(rows)[:, rows].astype(self.dtype))  # symmetric but for rounding
        corner = np.ascontiguousarray(lower + np.tril(lower, -1).T)
        # picked columns lie one after the other: sweeps read labels side by side
        scores = np.ascontiguousarray(self.F[:, rows], dtype=self.dtype)
        if self.intercept:
            corner += self.dtype.type(self.intercept)
            scores += self.offset[:, None].astype(self.dtype)
        return corner, scores

    def _add(self, F, changes, rows):
        _add_product(F, changes, np.arange(len(rows)), self._fetch(rows))


class JointGram(GramScores):
    """As `GramScores` of one label: there most of a visit goes into the block's corner of the matrix."""

    block_size = 96
    nearest = None  # a pass takes little more time than looking for them

    def __init__(self, K, dtype):
        super().__init__(K, 1, dtype)

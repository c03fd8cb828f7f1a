"""A Gram matrix K and the scores F = A K of all samples, brought up to date as coefficients change.

Coefficients have shape (n_samples, n_labels), for a visit reads all labels of a sample. Scores and changes
have shape (n_labels, n_samples): then the change of one coefficient is one run along a row of K.
"""

import numpy as np
from numba import get_num_threads, njit, prange

from tagrank.arrays import (
    astype,
    beside,
    namespace_of,
    row_blocks,
    rows_within,
    to_host,
    written_zeros,
)

FAST = {"contract", "nsz", "arcp", "reassoc"}
TILE = 2048  # scores of a label, at most, that a thread brings up to date together: they stay in its cache


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
            _gather_block(self.K, self.F, rows, corner, scores)
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
        A = astype(beside(coefficients, self.K).T, double)
        for rows in row_blocks(self.n_samples, rows_within(self.n_samples, megabytes=1024)):
            # K is symmetric: its rows are its columns
            scores = A @ astype(self.K[rows], double).T
            self.F[:, rows] = astype(scores, self.F.dtype)
            F[:, rows] = to_host(scores)
        self.offset = self.intercept * coefficients.sum(axis=0)
        return F + self.offset[:, None] if self.intercept else F


def _add_product(F, changes, rows, K):
    """F += changes @ K[rows], with products in the precision of `changes`."""
    if K.dtype.itemsize > changes.dtype.itemsize:
        K, rows = _take_rows(K, rows, np.empty((len(rows), K.shape[1]), changes.dtype)), np.arange(len(rows))
    n_threads = get_num_threads()
    _add_sparse_product(F, changes, rows, K, n_threads * -(-F.shape[1] // (TILE * n_threads)))


@njit(cache=True, parallel=True)
def _take_rows(K, rows, out):
    """K[rows] in the precision of `out`."""
    for b in prange(rows.shape[0]):
        out[b] = K[rows[b]]
    return out


@njit(cache=True)
def _gather_row(K, rows, b, corner):
    """Row b of the corner up to its diagonal, and the same column: K is symmetric."""
    for c in range(b + 1):
        corner[b, c] = corner[c, b] = K[rows[b], rows[c]]


@njit(cache=True, parallel=True)
def _gather_block(K, F, rows, corner, scores):
    n_rows = rows.shape[0]
    for half in prange((n_rows + 1) // 2):  # a short row and a long one each
        _gather_row(K, rows, half, corner)
        _gather_row(K, rows, n_rows - 1 - half, corner)
    for label in prange(F.shape[0]):
        for b in range(n_rows):
            scores[label, b] = F[label, rows[b]]


@njit(cache=True, fastmath=FAST)
def _add_four(target, d, K, rows, start):
    """target += d[:4] @ K[rows[:4]], from column `start` on."""
    stop = start + target.shape[0]
    d0, d1, d2, d3 = d[0], d[1], d[2], d[3]
    k0, k1 = K[rows[0], start:stop], K[rows[1], start:stop]
    k2, k3 = K[rows[2], start:stop], K[rows[3], start:stop]
    for j in range(target.shape[0]):
        target[j] += d0 * k0[j] + d1 * k1[j] + d2 * k2[j] + d3 * k3[j]


@njit(cache=True, fastmath=FAST)
def _add_eight(target, d, K, rows, start):
    """The same for eight: `target` is read and written half as often."""
    stop = start + target.shape[0]
    d0, d1, d2, d3, d4, d5, d6, d7 = d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]
    k0, k1 = K[rows[0], start:stop], K[rows[1], start:stop]
    k2, k3 = K[rows[2], start:stop], K[rows[3], start:stop]
    k4, k5 = K[rows[4], start:stop], K[rows[5], start:stop]
    k6, k7 = K[rows[6], start:stop], K[rows[7], start:stop]
    for j in range(target.shape[0]):
        first_half = d0 * k0[j] + d1 * k1[j] + d2 * k2[j] + d3 * k3[j]
        target[j] += first_half + (d4 * k4[j] + d5 * k5[j] + d6 * k6[j] + d7 * k7[j])


@njit(cache=True)
def _compress(changes, rows, steps, where):
    """Changes that are not zero and their rows, filled up with zeros to fours; returns how many they are."""
    n_changed = 0
    for b in range(rows.shape[0]):
        steps[n_changed], where[n_changed] = changes[b], rows[b]
        n_changed += changes[b] != 0
    n_filled = -(-n_changed // 4) * 4
    steps[n_changed:n_filled], where[n_changed:n_filled] = 0, rows[0]
    return n_filled


@njit(cache=True, parallel=True)
def _add_sparse_product(F, changes, rows, K, n_tiles):
    """F += changes @ K[rows], touching only the entries of `changes` that are not zero."""
    n_labels, n_rows = changes.shape
    n_samples = F.shape[1]
    steps, where = np.empty((n_labels, n_rows + 4), changes.dtype), np.empty((n_labels, n_rows + 4), np.int64)
    n_changed = np.empty(n_labels, np.int64)
    for label in range(n_labels):
        n_changed[label] = _compress(changes[label], rows, steps[label], where[label])
    width = -(-n_samples // n_tiles)
    for tile in prange(n_tiles):
        start = tile * width
        for label in range(n_labels):
            target = F[label, start : min(n_samples, start + width)]
            p = 0
            while p + 8 <= n_changed[label]:
                _add_eight(target, steps[label, p:], K, where[label, p:], start)
                p += 8
            if p < n_changed[label]:
                _add_four(target, steps[label, p:], K, where[label, p:], start)


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
        corner, scores = lower + np.tril(lower, -1).T, self.F[:, rows].astype(self.dtype)
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

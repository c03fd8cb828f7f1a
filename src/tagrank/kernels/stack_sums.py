"""Sums over the entries of many Gram matrices at once, each read once, half of them by symmetry.

The work goes by strips of rows, and in a strip by blocks of columns from the diagonal on. What all kernels
share, a tile of the weighted sum or of T T', stays in the cache while the tiles of the kernels are read. By
strips, matrices on disk are read in the order in which they lie there.

`rows` and `columns` are positions in the matrices, for parts of them; None stands for all.
"""

import numpy as np
from numba import get_num_threads
from scipy import sparse

from tagrank.arrays import row_blocks
from tagrank.kernels.gram import run_tiles
from tagrank.resources import compiled

STRIP, BLOCK = 128, 1024
PATCH = 32  # turned inside the first-level cache
FAST = {"contract", "nsz", "reassoc"}
# below this share of nonzero rows, passing over the others is worth reading by positions
SCATTERED = 0.7
# labels with fewer samples than this share are summed pair by pair; a product is faster for the others
SCARCE = 0.12


def add_weighted(matrices, weights, out, *, rows=None, columns=None, symmetric=False):
    """out += sum_j weights[j] * matrices[j][rows, columns]; of symmetric parts half is read."""
    weights = [out.dtype.type(weight) for weight in weights]

    def fill(strip):
        for start in range(strip.start if symmetric else 0, out.shape[1], BLOCK):
            corners = (strip.start, strip.stop, start, min(start + BLOCK, out.shape[1]))
            for K, weight in zip(matrices, weights, strict=True):
                if rows is None and columns is None:
                    _add_block(K, weight, out, *corners)
                else:
                    _add_part(K, weight, out, rows, columns, *corners)
            if symmetric:
                _mirror(out, *corners)

    run_tiles(fill, list(row_blocks(len(out), STRIP)), get_num_threads())
    return out


def quadratic_sums(matrices, T, *, rows=None):
    """<T, K T> for the part K[rows, rows] of each matrix, by <T T', K>: one product for all of them.

    Products are taken in the precision of `T`, tiles are added in float64.
    """
    n_samples = len(T)
    present = np.flatnonzero(T.any(axis=1))
    if rows is not None or len(present) < SCATTERED * n_samples:
        rows, T = (present if rows is None else rows[present]), T[present]
    T = np.ascontiguousarray(T)

    def sum_strip(strip):
        sums = np.zeros(len(matrices))
        for start in range(strip.start, len(T), BLOCK):
            product = T[strip] @ T[start : start + BLOCK].T
            product[:, max(strip.stop - start, 0) :] *= 2
            for j, K in enumerate(matrices):
                if rows is None:
                    sums[j] += _dot_block(K, product, strip.start, start)
                else:
                    sums[j] += _dot_part(K, product, rows, strip.start, start)
        return sums

    strips = list(row_blocks(len(T), STRIP))
    sums = run_tiles(sum_strip, strips, get_num_threads())
    return np.sum(sums, axis=0) if strips else np.zeros(len(matrices))


def label_sums(matrices, T, *, rows=None):
    """<t, K t> for the part K[rows, rows] of each matrix and each column t of `T`: (n_labels, n_matrices)."""
    sums = np.zeros((T.shape[1], len(matrices)))
    counts = np.count_nonzero(T, axis=0)
    scarce = np.flatnonzero((counts > 0) & (counts < SCARCE * len(T)))
    frequent = np.flatnonzero(counts >= max(SCARCE * len(T), 1))
    if len(scarce):
        sums[scarce] = _scarce_label_sums(matrices, T[:, scarce], rows)
    if len(frequent):
        sums[frequent] = _frequent_label_sums(matrices, np.ascontiguousarray(T[:, frequent]), rows)
    return sums


def _scarce_label_sums(matrices, T, rows):
    by_sample = sparse.csr_array(T)
    by_label = by_sample.tocsc()
    rows = np.arange(len(T)) if rows is None else rows
    positions = rows[by_label.indices]

    def sum_strip(strip):
        sums = np.zeros((len(matrices), T.shape[1]))
        for K, of_kernel in zip(matrices, sums, strict=True):
            _add_pairs(
                (by_sample.indptr, by_sample.indices, by_sample.data),
                (by_label.indptr, by_label.indices, by_label.data),
                (rows, positions),
                K,
                (strip.start, strip.stop),
                of_kernel,
            )
        return sums

    return np.sum(run_tiles(sum_strip, list(row_blocks(len(T), STRIP)), get_num_threads()), axis=0).T


def _frequent_label_sums(matrices, T, rows):
    def sum_strip(strip):
        sums = np.empty((len(matrices), T.shape[1]))
        for j, K in enumerate(matrices):
            right = slice(strip.start, len(T))
            part = K[strip, right] if rows is None else K[np.ix_(rows[strip], rows[right])]
            height = strip.stop - strip.start
            scores = 2 * (part[:, height:] @ T[strip.stop :])
            scores += part[:, :height] @ T[strip]
            sums[j] = np.einsum("il,il->l", T[strip], scores, dtype=np.float64)
        return sums

    return np.sum(run_tiles(sum_strip, list(row_blocks(len(T), STRIP)), get_num_threads()), axis=0).T


def take(K, rows, columns, dtype):
    """The part K[rows, columns] as an array of its own."""
    out = np.zeros((len(rows), len(columns)), dtype)
    return add_weighted([K], [1.0], out, rows=rows, columns=columns)


@compiled()
def _add_block(K, weight, out, top, bottom, left, right):
    for r in range(top, bottom):
        row, target = K[r, left:right], out[r, left:right]
        for c in range(len(target)):
            target[c] += weight * row[c]


@compiled()
def _add_part(K, weight, out, rows, columns, top, bottom, left, right):
    columns = columns[left:right]
    for r in range(top, bottom):
        row, target = K[rows[r]], out[r, left:right]
        for c in range(len(target)):
            target[c] += weight * row[columns[c]]


@compiled()
def _mirror(out, top, bottom, left, right):
    """Write what lies right of the diagonal to its other side, in patches."""
    for first in range(left, right, PATCH):
        for r in range(top, bottom):
            for c in range(max(first, r + 1), min(first + PATCH, right)):
                out[c, r] = out[r, c]


@compiled(fastmath=FAST)
def _dot_block(K, product, top, left):
    total = 0.0
    for r in range(len(product)):
        factors, of_row = product[r], product.dtype.type(0)
        row = K[top + r, left : left + len(factors)]
        for c in range(len(factors)):
            of_row += factors[c] * row[c]
        total += of_row
    return total


@compiled(fastmath=FAST)
def _dot_part(K, product, rows, top, left):
    total = 0.0
    columns = rows[left : left + product.shape[1]]
    for r in range(len(product)):
        row, factors, of_row = K[rows[top + r]], product[r], product.dtype.type(0)
        for c in range(len(factors)):
            of_row += factors[c] * row[columns[c]]
        total += of_row
    return total


@compiled()
def _add_pairs(by_sample, by_label, places, K, strip, sums):
    """sums[l] += sum over samples i of the strip and j >= i of T[i, l] K[i, j] T[j, l], j > i twice."""
    (starts, labels, values), (firsts, samples, factors), (rows, positions) = by_sample, by_label, places
    for i in range(strip[0], strip[1]):
        row = K[rows[i]]
        for p in range(starts[i], starts[i + 1]):
            label = labels[p]
            first, last = firsts[label], firsts[label + 1]
            first += np.searchsorted(samples[first:last], i)
            total = 0.5 * factors[first] * row[positions[first]]
            for q in range(first + 1, last):
                total += factors[q] * row[positions[q]]
            sums[label] += 2 * values[p] * total

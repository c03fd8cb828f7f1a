"""One-vs-all hinge loss: every label of every sample asks for a margin of one, on its own.

Problem, with bounds B (+C for a present label, -C for an absent one, 0 unknown) and scores F = K A:

    primal   1/2 <A, F> + sum_il |B_il| max(0, 1 - sign(B_il) F_il)
    dual     sum_il |A_il| - 1/2 <A, F>       A_il between 0 and B_il
    gap      sum_il |B_il| max(0, r_il) - |A_il| r_il,   r = 1 - sign(B) F; no term is negative

The best new coefficient of one sample and label, all others fixed, clips one Newton step to its bounds.
The labels do not touch each other, so each one is a task of its own for the threads.
"""

import numpy as np
from numba import njit, prange

from tagrank.losses.loss import BoxLoss
from tagrank.simd import add_to_rows, copy_columns, in_whole_vectors, multiply_row, prefetch

FAST = {"contract", "nsz", "nnan", "arcp", "reassoc"}
TILE = 64
ENOUGH = 0.1  # a label is swept again until its largest gap falls below this share of the first
NEGLIGIBLE = 0.02  # of the mean square: changes below it are not worth a row of K each


class Hinge(BoxLoss):
    """State of the one-vs-all hinge loss during training."""

    sweeps_on_device = True

    @staticmethod
    def without_kernel(bounds):
        return bounds

    def sweep_block(self, rows, corner, scores, changes, least_gap, n_sweeps):
        return _sweep_block(
            self.bounds, self.coefficients, rows, corner, scores, changes, least_gap / len(scores), n_sweeps
        )

    def sweep_rows(self, order, X, squared_norms, W, least_gap):
        return _sweep_rows(
            self.bounds, self.coefficients, order,
            X.indptr, X.indices, X.data, squared_norms, W, least_gap,
        )  # fmt: skip

    @staticmethod
    def measure(bounds, coefficients, scores):
        return _measure(bounds, coefficients, scores), None


@njit(cache=True, parallel=True)
def _sweep_block(bounds, coefficients, rows, corner, scores, changes, least_gap, n_sweeps):
    n_labels, n_rows = scores.shape
    n_changed = np.zeros(n_labels, np.int64)
    wide_corner = in_whole_vectors(corner)
    inverses = np.zeros(n_rows, corner.dtype)  # zero keeps a sample without kernel as it is
    for b in range(n_rows):
        if corner[b, b] > 0:
            inverses[b] = 1 / corner[b, b]
    for label in prange(n_labels):
        wide_scores = in_whole_vectors(scores[label : label + 1])
        n_changed[label] = _sweep_label(
            bounds[:, label], coefficients[:, label], rows, wide_corner, inverses,
            wide_scores, changes[label], least_gap, n_sweeps,
        )  # fmt: skip
        copy_columns(wide_scores, scores[label : label + 1], n_rows)
    return n_changed.sum()


@njit(cache=True, fastmath=FAST)
def _sweep_label(bounds, coefficients, rows, corner, inverses, scores, changes, least_gap, n_sweeps):
    """Exact steps on one label of a block; returns how many samples changed."""
    mine = scores[0]
    zero, one = mine.dtype.type(0), mine.dtype.type(1)
    active = np.empty(rows.shape[0], np.int64)
    bound_of, new_of = np.empty(rows.shape[0], mine.dtype), np.empty(rows.shape[0], mine.dtype)
    n_active = 0
    for b in range(rows.shape[0]):
        changes[b] = 0
        bound, old = bounds[rows[b]], mine.dtype.type(coefficients[rows[b]])
        slack = one - (mine[b] if bound > zero else -mine[b])
        active[n_active], bound_of[n_active], new_of[n_active] = b, bound, old
        n_active += (abs(bound) * max(slack, zero) - abs(old) * slack > least_gap) & (inverses[b] > 0)
    which, delta = np.zeros(1, np.int64), np.empty(1, mine.dtype)
    first = zero
    for sweep in range(n_sweeps if n_active > 0 else 0):
        largest = zero
        for position in range(n_active):
            k = position if sweep % 2 == 0 else n_active - 1 - position
            b, bound, old = active[k], bound_of[k], new_of[k]
            miss = (one if bound > zero else -one) - mine[b]
            new = min(max(old + miss * inverses[b], min(bound, zero)), max(bound, zero))
            if new != old:
                slack = miss if bound > zero else -miss
                largest = max(largest, abs(bound) * max(slack, zero) - abs(old) * slack)
                new_of[k], delta[0] = new, new - old
                add_to_rows(scores, which, delta, 0, 1, corner[b])
        first = largest if sweep == 0 else first
        if largest <= max(least_gap, ENOUGH * first):
            break
    return _store_label(coefficients, rows, active[:n_active], new_of, changes)


@njit(cache=True, fastmath=FAST)
def _store_label(coefficients, rows, active, new_of, changes):
    """Take over what changed, but for the smallest changes; returns how many entries did."""
    n_changed, square = 0, 0.0
    for k in range(active.shape[0]):
        changes[active[k]] = new_of[k] - coefficients[rows[active[k]]]
        square += changes[active[k]] ** 2
        n_changed += changes[active[k]] != 0
    least, n_stored = NEGLIGIBLE * square / max(n_changed, 1), 0
    for k in range(active.shape[0]):
        b = active[k]
        if changes[b] ** 2 > least:
            coefficients[rows[b]] = new_of[k]
            n_stored += 1
        else:
            changes[b] = 0
    return n_stored


@njit(cache=True, fastmath=FAST)
def _row_step(bounds, coefficients, scores, norm, changes):
    """Best changes of some labels of one sample; returns their share of gap and primal before the step."""
    gap = primal = scores.dtype.type(0)
    inverse = 1 / norm
    for k in range(bounds.shape[0]):
        bound, old = bounds[k], coefficients[k]
        sign = 1 if bound > 0 else -1
        new = min(max(old + (sign - scores[k]) * inverse, min(bound, 0)), max(bound, 0))
        changes[k] = new - old
        slack = 1 - sign * scores[k]
        loss = abs(bound) * max(slack, 0)
        gap += loss - abs(old) * slack
        primal += loss + old * scores[k] / 2
    return gap, primal


@njit(cache=True)
def _sweep_group(bounds, coefficients, order, first_visit, indptr, indices, data, norms, W, first, least_gap):
    """One pass over `order` for the labels that W holds, of which `first` is the first."""
    stop = min(first + W.shape[1], bounds.shape[1])
    scores, changes = np.zeros(W.shape[1], W.dtype), np.zeros(W.shape[1], W.dtype)
    own_scores, own_changes = scores[: stop - first], changes[: stop - first]
    total_gap = total_primal = 0.0
    for visit in range(len(order)):
        i = order[(first_visit + visit) % len(order)]
        if norms[i] <= 0:
            continue
        soon = order[(first_visit + visit + 4) % len(order)]
        prefetch(indices, indptr[soon], indptr[soon + 1])
        prefetch(data, indptr[soon], indptr[soon + 1])
        prefetch(bounds, soon * bounds.shape[1] + first, soon * bounds.shape[1] + stop)
        prefetch(coefficients, soon * bounds.shape[1] + first, soon * bounds.shape[1] + stop)
        multiply_row(W, indices, data, indptr[i], indptr[i + 1], scores)
        mine = coefficients[i, first:stop]
        gap, primal = _row_step(bounds[i, first:stop], mine, own_scores, norms[i], own_changes)
        total_gap += gap
        total_primal += primal
        if gap > least_gap:
            for k in range(stop - first):
                mine[k] += own_changes[k]
            add_to_rows(W, indices, data, indptr[i], indptr[i + 1], changes)
    return total_gap, total_primal


@njit(cache=True, parallel=True)
def _sweep_rows(bounds, coefficients, order, indptr, indices, data, norms, W, least_gap):
    """The groups of labels run beside each other, each at another place of the order: no line is shared."""
    n_groups, _, width = W.shape
    gaps, primals = np.zeros(n_groups), np.zeros(n_groups)
    for group in prange(n_groups):
        gaps[group], primals[group] = _sweep_group(
            bounds, coefficients, order, group * len(order) // n_groups,
            indptr, indices, data, norms, W[group], group * width, least_gap / n_groups,
        )  # fmt: skip
    return gaps.sum(), primals.sum()


@njit(cache=True, fastmath=FAST)
def _sums_of_sample(bounds, coefficients, scores):
    loss = size = inner = 0.0
    for k in range(scores.shape[0]):
        bound, coefficient, score = bounds[k], np.float64(coefficients[k]), np.float64(scores[k])
        loss += abs(bound) * max(1 - (score if bound > 0 else -score), 0.0)
        size += abs(coefficient)
        inner += coefficient * score
    return loss, size, inner


@njit(cache=True, parallel=True)
def _measure(bounds, coefficients, scores):
    n_labels, n_samples = scores.shape
    sums = np.zeros((3, n_samples))
    for tile in prange((n_samples + TILE - 1) // TILE):
        start = tile * TILE
        n_rows = min(n_samples - start, TILE)
        mine = np.empty((TILE, n_labels), scores.dtype)
        for label in range(n_labels):
            for b in range(n_rows):
                mine[b, label] = scores[label, start + b]
        for b in range(n_rows):
            i = start + b
            sums[0, i], sums[1, i], sums[2, i] = _sums_of_sample(bounds[i], coefficients[i], mine[b])
    return sums

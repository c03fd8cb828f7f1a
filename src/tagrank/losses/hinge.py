"""One-vs-all hinge loss: every label of every sample asks for a margin of one, on its own.

Problem, with bounds B (+C for a present label, -C for an absent one, 0 unknown) and scores F = K A:

    primal   1/2 <A, F> + sum_il |B_il| max(0, 1 - sign(B_il) F_il)
    dual     sum_il |A_il| - 1/2 <A, F>       A_il between 0 and B_il
    gap      sum_il |B_il| max(0, r_il) - |A_il| r_il,   r = 1 - sign(B) F; no term is negative

The best new coefficient of one sample and label, all others fixed, clips one Newton step to its bounds.
The labels do not touch each other, so each one is a task of its own for the threads.
"""

import numpy as np

from tagrank.losses.loss import ENOUGH_ENTRIES, BoxLoss, as_double
from tagrank.resources import compiled, share_out
from tagrank.simd import add_to_rows, in_whole_vectors, multiply_row, prefetch

FAST = {"contract", "nsz", "nnan", "arcp", "reassoc"}
TILE = 64
ENOUGH = 0.1  # a label is swept again until its largest gap falls below this share of the first
ENOUGH_LABELS = 4  # of a block, for a thread to be worth its start
NEGLIGIBLE = 0.02  # of the mean square: changes below it are not worth a row of K each


class Hinge(BoxLoss):
    """State of the one-vs-all hinge loss during training."""

    sweeps_on_device = True

    @staticmethod
    def without_kernel(bounds):
        return bounds

    def sweep_block(self, rows, corner, scores, changes, least_gap, n_sweeps):
        diagonal, wide_scores = corner.diagonal(), in_whole_vectors(scores)
        # zero keeps a sample without kernel as it is
        inverses = np.divide(1, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)
        n_changed = share_out(
            _sweep_labels, len(scores), self.bounds, self.coefficients, rows, in_whole_vectors(corner),
            inverses, wide_scores, changes, least_gap / len(scores), n_sweeps, least=ENOUGH_LABELS,
        )  # fmt: skip
        scores[:] = wide_scores[:, : len(rows)]
        return sum(n_changed)

    def sweep_rows(self, order, X, squared_norms, W, least_gap):
        """The groups of labels run beside each other, each elsewhere in the order: no line is shared."""
        return np.sum(share_out(
            _sweep_groups, len(W), self.bounds, self.coefficients, order,
            X.indptr, X.indices, X.data, squared_norms, W, least_gap / len(W),
        ), axis=0)  # fmt: skip

    @staticmethod
    def measure(bounds, coefficients, scores):
        sums = np.empty((3, len(bounds)))
        least = max(1, ENOUGH_ENTRIES // len(scores))
        share_out(_measure, len(bounds), bounds, coefficients, as_double(scores), sums, least=least)
        return sums, None


@compiled(fastmath=FAST)
def _sweep_labels(
    bounds, coefficients, rows, corner, inverses, scores, changes, least_gap, n_sweeps, start, stop
):
    """Exact steps on some labels of a block; returns how many coefficients changed.

    corner, scores : in whole vectors
    """
    n_rows, n_stored = rows.shape[0], 0
    zero, one = scores.dtype.type(0), scores.dtype.type(1)
    active, room = np.empty(n_rows, np.int64), np.empty((2, n_rows), scores.dtype)
    bound_of, new_of = room
    where, delta = np.empty(1, np.int64), np.empty(1, scores.dtype)
    for label in range(start, stop):
        n_active, where[0], first = 0, label, zero
        for b in range(n_rows):
            changes[label, b] = 0
            bound, old = bounds[rows[b], label], scores.dtype.type(coefficients[rows[b], label])
            slack = one - (scores[label, b] if bound > zero else -scores[label, b])
            active[n_active], bound_of[n_active], new_of[n_active] = b, bound, old
            n_active += (abs(bound) * max(slack, zero) - abs(old) * slack > least_gap) & (inverses[b] > 0)
        for sweep in range(n_sweeps if n_active > 0 else 0):
            largest = zero
            for position in range(n_active):
                k = position if sweep % 2 == 0 else n_active - 1 - position
                b, bound, old = active[k], bound_of[k], new_of[k]
                miss = (one if bound > zero else -one) - scores[label, b]
                new = min(max(old + miss * inverses[b], min(bound, zero)), max(bound, zero))
                if new != old:
                    slack = miss if bound > zero else -miss
                    largest = max(largest, abs(bound) * max(slack, zero) - abs(old) * slack)
                    new_of[k], delta[0] = new, new - old
                    add_to_rows(scores, where, delta, 0, 1, corner[b])
            first = largest if sweep == 0 else first
            if largest <= max(least_gap, ENOUGH * first):
                break
        n_changed, square = 0, 0.0
        for k in range(n_active):
            b = active[k]
            changes[label, b] = new_of[k] - coefficients[rows[b], label]
            square += changes[label, b] ** 2
            n_changed += changes[label, b] != 0
        least = NEGLIGIBLE * square / max(n_changed, 1)
        for k in range(n_active):  # take over what changed, but for the smallest changes
            b = active[k]
            if changes[label, b] ** 2 > least:
                coefficients[rows[b], label] = new_of[k]
                n_stored += 1
            else:
                changes[label, b] = 0
    return n_stored


@compiled(fastmath=FAST)
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


@compiled()
def _sweep_groups(bounds, coefficients, order, indptr, indices, data, norms, weights, least_gap, start, stop):
    """One pass over `order` for some groups of labels; returns the sums of gaps and primals met."""
    n_groups, _, width = weights.shape
    total_gap = total_primal = 0.0
    for group in range(start, stop):
        scores, changes = np.zeros(width, weights.dtype), np.zeros(width, weights.dtype)
        W, first, first_visit = weights[group], group * width, group * len(order) // n_groups
        last = min(first + width, bounds.shape[1])
        for visit in range(len(order)):
            i = order[(first_visit + visit) % len(order)]
            if norms[i] <= 0:
                continue
            soon = order[(first_visit + visit + 4) % len(order)]
            prefetch(indices, indptr[soon], indptr[soon + 1])
            prefetch(data, indptr[soon], indptr[soon + 1])
            prefetch(bounds, soon * bounds.shape[1] + first, soon * bounds.shape[1] + last)
            prefetch(coefficients, soon * bounds.shape[1] + first, soon * bounds.shape[1] + last)
            multiply_row(W, indices, data, indptr[i], indptr[i + 1], scores)
            mine = coefficients[i, first:last]
            gap, primal = _row_step(bounds[i, first:last], mine, scores, norms[i], changes)
            total_gap += gap
            total_primal += primal
            if gap > least_gap:
                for k in range(last - first):
                    mine[k] += changes[k]
                add_to_rows(W, indices, data, indptr[i], indptr[i + 1], changes)
    return total_gap, total_primal


@compiled(fastmath=FAST)
def _measure(bounds, coefficients, scores, sums, start, stop):
    n_labels, tile = scores.shape[0], np.empty((TILE, scores.shape[0]))
    for first in range(start, stop, TILE):
        n_rows = min(stop - first, TILE)
        for label in range(n_labels):
            for b in range(n_rows):
                tile[b, label] = scores[label, first + b]
        for b in range(n_rows):
            loss = size = inner = 0.0
            for k in range(n_labels):
                bound, coefficient = bounds[first + b, k], np.float64(coefficients[first + b, k])
                score = tile[b, k]
                loss += abs(bound) * max(1 - (score if bound > 0 else -score), 0.0)
                size += abs(coefficient)
                inner += coefficient * score
            sums[0, first + b], sums[1, first + b], sums[2, first + b] = loss, size, inner

"""Ranking loss over all pairs of a present and an absent label: the problem that MLR-L1 approximates.

Problem, with bounds B (+C for a present label, -C for an absent one, 0 unknown) and scores F = K A:

    primal   1/2 <A, F> + sum_i sum_kl sqrt(B_ik |B_il|) max(0, 2 - F_ik + F_il)
    dual     sum_il |A_il| - 1/2 <A, F>

where k runs over the present and l over the absent labels of sample i. In the dual every pair has a weight
0 <= Z_kl <= sqrt(B_ik |B_il|); A_ik is the sum of row k of Z, A_il minus the sum of column l. All weights of
all pairs are kept and visited: this is a reference for problems of moderate size.
"""

import numpy as np

from tagrank.losses.loss import BalancedLoss, balanced, shrunk_to_fit, with_signs_of
from tagrank.resources import compiled
from tagrank.simd import add_to_rows, multiply_row

ENOUGH = 0.1  # a block is swept again until the gain falls below this share of its first gain
MARGIN = 2.0


class Pairwise(BalancedLoss):
    """State of the pairwise loss during training."""

    def __init__(self, bounds, coefficients):
        super().__init__(bounds, coefficients)
        n_pairs = np.count_nonzero(bounds > 0, axis=1) * np.count_nonzero(bounds < 0, axis=1)
        self.starts = np.concatenate([[0], np.cumsum(n_pairs)])
        self.pairs = np.empty(self.starts[-1])
        _share_in_proportion(bounds, coefficients, self.starts, self.pairs)

    @staticmethod
    def without_kernel(bounds):
        """Coefficients of samples with k(x, x) = 0: every pair has all its weight."""
        present, absent = np.sqrt(np.maximum(bounds, 0)), np.sqrt(np.maximum(-bounds, 0))
        return present * absent.sum(axis=1, keepdims=True) - absent * present.sum(axis=1, keepdims=True)

    @staticmethod
    def feasible(start, bounds):
        return shrunk_to_fit(bounds, balanced(with_signs_of(bounds, start)), norm=np.inf)

    def sweep_block(self, rows, corner, scores, changes, least_gap, n_sweeps):
        return _sweep_block(
            self.bounds, self.coefficients, self.starts, self.pairs, rows, corner, scores, changes, n_sweeps
        )

    def sweep_rows(self, order, X, squared_norms, W, least_gap):
        return _sweep_rows(
            self.bounds, self.coefficients, self.starts, self.pairs, order,
            X.indptr, X.indices, X.data, squared_norms, W[0], least_gap,
        )  # fmt: skip

    @staticmethod
    def measure(bounds, coefficients, scores):
        """The threshold is the middle between the lowest present and the highest absent label."""
        scores = scores.T.astype(np.float64)
        sums = np.stack(
            [_losses(bounds, scores), np.abs(coefficients).sum(1), (coefficients * scores).sum(1)]
        )
        lowest = np.where(bounds > 0, scores, np.inf).min(axis=1)
        highest = np.where(bounds < 0, scores, -np.inf).max(axis=1)
        is_mixed = np.isfinite(lowest) & np.isfinite(highest)
        middle = np.add(lowest, highest, out=np.zeros(len(scores)), where=is_mixed) / 2
        return sums, np.stack([middle, scores.max(axis=1)])


@compiled()
def _share_in_proportion(bounds, coefficients, starts, pairs):
    for i in range(bounds.shape[0]):
        total = max(np.maximum(coefficients[i], 0).sum(), 1e-300)
        p = starts[i]
        for k in np.flatnonzero(bounds[i] > 0):
            for label in np.flatnonzero(bounds[i] < 0):
                pairs[p] = coefficients[i, k] * (-coefficients[i, label] / total)
                p += 1


@compiled()
def _loss(bounds, scores):
    present, absent = np.flatnonzero(bounds > 0), np.flatnonzero(bounds < 0)
    loss = 0.0
    for k in present:
        for label in absent:
            cost = np.sqrt(bounds[k] * -bounds[label])
            loss += cost * max(MARGIN - scores[k] + scores[label], 0.0)
    return loss


@compiled()
def _losses(bounds, scores):
    losses = np.empty(len(bounds))
    for i in range(len(bounds)):
        losses[i] = _loss(bounds[i], scores[i])
    return losses


@compiled()
def _step(bounds, scores, diagonal, pairs, new):
    """One exact step for each pair of a sample, one after the other; keeps its scores current."""
    present, absent = np.flatnonzero(bounds > 0), np.flatnonzero(bounds < 0)
    new[:] = 0
    p = 0
    for k in present:
        for label in absent:
            cost = np.sqrt(bounds[k] * -bounds[label])
            weight = pairs[p] + (MARGIN - scores[k] + scores[label]) / (2 * diagonal)
            weight = min(max(weight, 0.0), cost)
            change = diagonal * (weight - pairs[p])
            scores[k] += change
            scores[label] -= change
            pairs[p] = weight
            new[k] += weight
            new[label] -= weight
            p += 1


@compiled()
def _sweep_block(bounds, coefficients, starts, pairs, rows, corner, scores, changes, n_sweeps):
    n_labels, n_rows = scores.shape
    mine, new = np.empty(n_labels), np.empty(n_labels)
    for b in range(n_rows):
        changes[:, b] = coefficients[rows[b]]
    first_gain = 0.0
    for sweep in range(n_sweeps):
        gain = 0.0
        for position in range(n_rows):
            b = position if sweep % 2 == 0 else n_rows - 1 - position
            i, diagonal = rows[b], corner[b, b]
            if diagonal <= 0 or starts[i] == starts[i + 1]:
                continue
            mine[:] = scores[:, b]
            _step(bounds[i], mine, diagonal, pairs[starts[i] : starts[i + 1]], new)
            for label in range(n_labels):
                change = new[label] - coefficients[i, label]
                if change != 0:
                    gain += diagonal * change * change
                    coefficients[i, label] = new[label]
                    for j in range(n_rows):
                        scores[label, j] += change * corner[b, j]
        if sweep == 0:
            first_gain = gain
        elif gain <= ENOUGH * first_gain:
            break
    n_changed = 0
    for b in range(n_rows):
        for label in range(n_labels):
            changes[label, b] = coefficients[rows[b], label] - changes[label, b]
            n_changed += changes[label, b] != 0
    return n_changed


@compiled()
def _sweep_rows(bounds, coefficients, starts, pairs, order, indptr, indices, data, norms, W, least_gap):
    n_labels, width = bounds.shape[1], W.shape[1]
    scores_wide, changes_wide = np.zeros(width, W.dtype), np.zeros(width, W.dtype)
    mine, new = np.empty(n_labels), np.empty(n_labels)
    total_gap = total_primal = 0.0
    for i in order:
        if norms[i] <= 0 or starts[i] == starts[i + 1]:
            continue
        multiply_row(W, indices, data, indptr[i], indptr[i + 1], scores_wide)
        mine[:] = scores_wide[:n_labels]
        loss, size, inner = _loss(bounds[i], mine), 0.0, 0.0
        for label in range(n_labels):
            size += abs(coefficients[i, label])
            inner += coefficients[i, label] * mine[label]
        gap = loss + inner - size
        total_gap += gap
        total_primal += loss + inner / 2
        if gap <= least_gap:
            continue
        _step(bounds[i], mine, np.float64(norms[i]), pairs[starts[i] : starts[i + 1]], new)
        for label in range(n_labels):
            changes_wide[label] = new[label] - coefficients[i, label]
            coefficients[i, label] = new[label]
        add_to_rows(W, indices, data, indptr[i], indptr[i + 1], changes_wide)
    return total_gap, total_primal

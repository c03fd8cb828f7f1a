"""Hinge loss of labels that a prior ties together: what one label learns moves the scores of the others.

Problem, with bounds B (+C for a present label, -C for an absent one, 0 unknown), a positive semidefinite R
(n_labels, n_labels) and scores F = K A R:

    primal   1/2 <A, F> + sum_il |B_il| max(0, 1 - sign(B_il) F_il)
    dual     sum_il |A_il| - 1/2 <A, F>       A_il between 0 and B_il
    gap      sum_il |B_il| max(0, r_il) - |A_il| r_il,   r = 1 - sign(B) F; no term is negative

The best new coefficient of one sample and label, all others fixed, clips one Newton step with curvature
K_ii R_ll to its bounds. It moves the scores of all labels, along its row of R. Where that work is done:

- In a block of a Gram matrix or of dense rows the engine keeps U = K A, in which a change touches one label
  only. F = R U is formed for the block alone. One label after another is swept over all samples of the block,
  and only then the scores of the others follow: n_labels products for each label that changed, whatever the
  number of its changes. A pass so costs n_samples * n_labels^2 beside the n_samples^2 * n_labels of the
  kernel.
- Sparse rows keep the weights Z = X' A R themselves. A visit reads the scores of all labels at once, steps
  along those labels that want to move, and writes back the sum of their rows of R: the labels that stay cost
  nothing, and nothing is quadratic in the labels but the first passes, when all of them move.
"""

import numpy as np

from tagrank.arrays import row_blocks, rows_within
from tagrank.losses.hinge import Hinge
from tagrank.resources import compiled
from tagrank.simd import add_to_rows, aligned_zeros, multiply_row, padded, prefetch

FAST = {"contract", "nsz", "nnan", "arcp", "reassoc"}
ENOUGH = 0.1  # a block is swept again until the largest gap of an entry falls below this share of the first
SWEEPS_OF_LABEL = 3  # over the samples of a block, before the scores of the other labels follow
SWEEPS_OF_SAMPLE = 2  # over the labels of a sparse row
STALE = 0.1  # a least gap above this share of the average gap met is out of date


class PriorHinge(Hinge):
    """State of the coupled hinge loss during training.

    R (n_labels, n_labels) is positive semidefinite with a positive diagonal; None is the identity.
    """

    has_independent_labels = False
    sweeps_on_device = False

    def __init__(self, bounds, coefficients, *, R=None):
        super().__init__(bounds, coefficients)
        n_labels = bounds.shape[1]
        R = np.eye(n_labels) if R is None else R
        self.exact_prior = np.ascontiguousarray(R, dtype=np.float64)
        self.prior = aligned_zeros((n_labels, padded(n_labels)), bounds.dtype)
        self.prior[:, :n_labels] = R
        self.weights_lack_prior = False

    def sweep_block(self, rows, corner, scores, changes, least_gap, n_sweeps):
        """As for every loss; the scores are K A, which the prior multiplies here."""
        n_labels = len(scores)
        coupled = self.prior[:, :n_labels] @ scores
        return _sweep_block(
            self.bounds, self.coefficients, self.prior, rows, corner, coupled, changes,
            least_gap / n_labels, n_sweeps,
        )  # fmt: skip

    def sweep_rows(self, order, X, squared_norms, W, least_gap):
        if self.weights_lack_prior:
            _multiply_by_prior(W[0], self.exact_prior)
            self.weights_lack_prior = False
        return _sweep_rows(
            self.bounds, self.coefficients, self.prior, order,
            X.indptr, X.indices, X.data, squared_norms, W[0], least_gap,
        )  # fmt: skip

    def measure(self, bounds, coefficients, scores):
        """As for every loss, of scores K A that were just summed anew from the coefficients.

        Weights of sparse rows then lack the prior, and the next sweep begins by multiplying them with it.
        """
        self.weights_lack_prior = True
        return super().measure(
            bounds, coefficients, self.exact_prior.astype(scores.dtype, copy=False) @ scores
        )


def _multiply_by_prior(W, R):
    """W = W R in place, for padded weights (n_features, width)."""
    n_labels = len(R)
    for block in row_blocks(len(W), rows_within(n_labels, megabytes=4)):
        W[block, :n_labels] = W[block, :n_labels] @ R


@compiled(fastmath=FAST)
def _add_scaled(target, factor, source):
    for j in range(target.shape[0]):
        target[j] += factor * source[j]


@compiled(fastmath=FAST)
def _sweep_label(bounds, coefficients, rows, corner, curvature, mine, changes, least_gap):
    """Steps on one label of all samples of a block, its scores kept current; the largest gap met first."""
    zero, one = mine.dtype.type(0), mine.dtype.type(1)
    first = zero
    for sweep in range(SWEEPS_OF_LABEL):
        largest = zero
        for b in range(rows.shape[0]):
            bound, old = bounds[rows[b]], mine.dtype.type(coefficients[rows[b]])
            miss = (one if bound > zero else -one) - mine[b]
            slack = miss if bound > zero else -miss
            gap = abs(bound) * max(slack, zero) - abs(old) * slack
            if gap > least_gap and corner[b, b] > zero:
                new = old + miss / (curvature * corner[b, b])
                new = min(max(new, min(bound, zero)), max(bound, zero))
                if new != old:
                    largest = max(largest, gap)
                    changes[b] += new - coefficients[rows[b]]
                    coefficients[rows[b]] = new
                    _add_scaled(mine, curvature * (new - old), corner[b])
        first = largest if sweep == 0 else first
        if largest <= max(least_gap, ENOUGH * first):
            break
    return first


@compiled(fastmath=FAST)
def _sweep_block(bounds, coefficients, prior, rows, corner, scores, changes, least_gap, n_sweeps):
    n_labels, n_rows = scores.shape
    changes[:] = 0
    moved = np.empty(n_rows, scores.dtype)
    first = scores.dtype.type(0)
    for sweep in range(n_sweeps):
        largest = scores.dtype.type(0)
        for position in range(n_labels):
            label = position if sweep % 2 == 0 else n_labels - 1 - position
            mine, curvature = scores[label], prior[label, label]
            moved[:] = mine
            gap = _sweep_label(
                bounds[:, label], coefficients[:, label], rows, corner, curvature,
                mine, changes[label], least_gap,
            )  # fmt: skip
            if gap > 0:
                largest = max(largest, gap)
                for b in range(n_rows):
                    moved[b] = (mine[b] - moved[b]) / curvature
                for other in range(n_labels):
                    if other != label and prior[label, other] != 0:
                        _add_scaled(scores[other], prior[label, other], moved)
        first = largest if sweep == 0 else first
        if largest <= max(least_gap, ENOUGH * first):
            break
    return np.count_nonzero(changes)


@compiled(fastmath=FAST)
def _find_steps(bounds, coefficients, scores, inverses, steps):
    """The change that each label of a sample would make alone; returns their share of gap and primal."""
    zero, one, half = scores.dtype.type(0), scores.dtype.type(1), scores.dtype.type(0.5)
    gap = primal = zero
    for k in range(bounds.shape[0]):
        bound, old, score = bounds[k], coefficients[k], scores[k]
        miss = (one if bound > zero else -one) - score
        new = min(max(old + miss * inverses[k], min(bound, zero)), max(bound, zero))
        steps[k] = new - old
        slack = miss if bound > zero else -miss
        loss = abs(bound) * max(slack, zero)
        gap += loss - abs(old) * slack
        primal += loss + half * old * score
    return gap, primal


@compiled(fastmath=FAST)
def _step_along(steps, bounds, coefficients, prior, norm, inverses, scores, spread):
    """Exact steps on the labels that want to move, one after another; `spread` gathers their rows of R."""
    zero, one = scores.dtype.type(0), scores.dtype.type(1)
    for k in range(bounds.shape[0]):
        if steps[k] != zero:
            bound, old = bounds[k], coefficients[k]
            miss = (one if bound > zero else -one) - (scores[k] + norm * spread[k])
            new = min(max(old + miss * inverses[k], min(bound, zero)), max(bound, zero))
            if new != old:
                coefficients[k] = new
                _add_scaled(spread, new - old, prior[k])


@compiled(fastmath=FAST)
def _row_step(bounds, coefficients, prior, norm, inverses_of_prior, scores, work, least_gap):
    """Change the coefficients of one sample; `spread`, last of `work`, is what its weights must take over."""
    steps, inverses, now, spread = work
    for k in range(bounds.shape[0]):
        inverses[k] = inverses_of_prior[k] / norm
    spread[:] = 0
    gap, primal = _find_steps(bounds, coefficients, scores, inverses, steps)
    if gap > least_gap:
        _step_along(steps, bounds, coefficients, prior, norm, inverses, scores, spread)
        for _ in range(SWEEPS_OF_SAMPLE - 1):
            for k in range(scores.shape[0]):
                now[k] = scores[k] + norm * spread[k]
            _find_steps(bounds, coefficients, now, inverses, steps)
            _step_along(steps, bounds, coefficients, prior, norm, inverses, scores, spread)
    return gap, primal


@compiled()
def _sweep_rows(bounds, coefficients, prior, order, indptr, indices, data, norms, W, least_gap):
    n_labels, width = bounds.shape[1], W.shape[1]
    scores, work = np.zeros(width, W.dtype), np.zeros((4, width), W.dtype)
    inverses_of_prior = np.empty(n_labels, W.dtype)
    for k in range(n_labels):
        inverses_of_prior[k] = 1 / prior[k, k]
    total_gap = total_primal = 0.0
    for visit in range(len(order)):
        i = order[visit]
        if norms[i] <= 0:
            continue
        soon = order[(visit + 4) % len(order)]
        prefetch(indices, indptr[soon], indptr[soon + 1])
        prefetch(data, indptr[soon], indptr[soon + 1])
        prefetch(bounds, soon * n_labels, (soon + 1) * n_labels)
        prefetch(coefficients, soon * n_labels, (soon + 1) * n_labels)
        multiply_row(W, indices, data, indptr[i], indptr[i + 1], scores)
        limit = min(least_gap, STALE * total_gap / (visit + 1))
        gap, primal = _row_step(
            bounds[i], coefficients[i], prior, norms[i], inverses_of_prior, scores, work, limit
        )
        total_gap += gap
        total_primal += primal
        if gap > limit:
            add_to_rows(W, indices, data, indptr[i], indptr[i + 1], work[3])
    return total_gap, total_primal

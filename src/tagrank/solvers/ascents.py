"""Passes over the samples of a max-margin problem, and the measurements between them.

- `BlockAscent`: over random blocks of samples, beside a Gram matrix or dense rows;
- `RowAscent`: over sparse rows, one at a time.

The problem and its dual stand in `tagrank.solvers.dual_ascent`, which decides when to measure and to stop.
"""

import numpy as np

from tagrank.arrays import row_blocks, rows_within, written_zeros
from tagrank.solvers.solution import relative_gap

FAR_FROM_END = 12  # times tol: with a larger gap, scores computed anew at the end cost less than exact ones
FEW_SAMPLES = 1000  # the scores of fewer are not worth rounding, nor compiling code for rounded ones
MOST_OF_GAP = 0.9  # a pass visits the samples that hold this part of the gap, or what must go if that is more
IDLE_SHARE = 0.1  # entries, or sparse rows, with less than this share of the average gap are left alone
PASSES_BEFORE_QUARRELS = 4  # whoever is far from its end after so many will be for long
SWEEPS_IN_BLOCK = 5
SWEEPS_TO_THE_END = 200  # of an only block, or of a quarrel: there more sweeps cost less than more passes


def _feasible_start(Loss, bounds, diagonal, start, dtype):
    """Coefficients (n_samples, n_labels) to start from."""
    coefficients = written_zeros(bounds.shape, dtype)
    if start is not None:
        coefficients[:] = Loss.feasible(start, bounds)
    empty = diagonal.astype(bounds.dtype) <= 0  # what the sweeps see: a tiny one may round to zero
    if empty.any():
        coefficients[empty] = Loss.without_kernel(bounds[empty])
    return coefficients


class BlockAscent:
    """Ascent over random blocks of samples; scores have shape (n_labels, n_samples)."""

    def __init__(self, holder, Loss, bounds, start, tol):
        self.holder = holder
        bounds = bounds.astype(holder.dtype, order="C")
        coefficients = _feasible_start(Loss, bounds, holder.diagonal, start, np.float64)
        self.loss = Loss(bounds, coefficients)
        self.certified = self.thresholds = None
        self.n_passes = 0
        self.tol = tol
        self.stays_feasible = getattr(Loss, "stays_feasible", False)
        self.is_untouched = start is None and not coefficients.any()
        if not self.is_untouched:
            holder.recompute(coefficients)

    def worth_measuring(self, tol):
        """Always, for the scores are at hand; but before the first pass there is nothing to see."""
        return not self.is_untouched

    def measure(self):
        """Objectives from the scores at hand: a certificate if these and the coefficients are exact."""
        primal, dual = self._measure(self.loss.coefficients, self.holder.scores())
        self.certified = self.loss.coefficients if self.holder.is_exact and self.stays_feasible else None
        if self.gap > FAR_FROM_END * self.tol and self.holder.n_samples >= FEW_SAMPLES:
            self.holder.round_scores()
        return primal, dual

    def certify(self):
        """Objectives from scores computed anew: those at hand may be rounded or half updated."""
        self.certified = self.loss.coefficients
        if not self.stays_feasible:
            self.certified = self.certified.copy()
            self.loss.repair(self.certified)
        return self._measure(self.certified, self.holder.recompute(self.certified))

    def _measure(self, coefficients, scores):
        sums, self.thresholds = self.loss.measure(self.loss.bounds, coefficients, scores)
        self.gaps = sums[0] - sums[1] + sums[2]
        primal, dual = _objectives(sums.sum(axis=1))
        self.gap = relative_gap(primal, dual)
        return primal, dual

    def _whom_to_visit(self):
        """The samples that hold most of the gap, or towards the end twice the part of it that must go."""
        surplus = 1 - self.tol / self.gap
        part = max(0.3, min(2 * surplus, max(MOST_OF_GAP, surplus)))
        order = np.argsort(-self.gaps)
        n_needed = np.searchsorted(np.cumsum(self.gaps[order]), part * self.gaps.sum()) + 1
        return order[: max(n_needed, self.holder.block_size)]

    def _quarrels(self):
        """The samples with the largest gaps, and the nearest neighbour of each.

        Two samples that are alike but have different labels push each other up, visit by visit, for as long
        as their costs allow. In one block they come to the end of it at once.
        """
        loudest = np.argsort(-self.gaps)[: self.holder.block_size // 2]
        return np.union1d(loudest, self.holder.nearest(loudest))

    def make_pass(self, rng, ending):
        share = 0.0 if self.is_untouched else IDLE_SHARE * self.gaps.mean()
        active = rng.permutation(self.holder.n_samples if self.is_untouched else self._whom_to_visit())
        has_many_blocks = len(active) > self.holder.block_size
        self.is_untouched, self.certified = False, None
        is_long_way = has_many_blocks and self.n_passes >= PASSES_BEFORE_QUARRELS
        if is_long_way and getattr(self.holder, "nearest", None) is not None:
            self._visit(self._quarrels(), share, SWEEPS_TO_THE_END)
        self.n_passes += 1
        for block in row_blocks(len(active), self.holder.block_size):
            if ending.reason():
                break
            self._visit(active[block], share, SWEEPS_IN_BLOCK if has_many_blocks else SWEEPS_TO_THE_END)

    def _visit(self, rows, share, n_sweeps):
        corner, scores = self.holder.read(rows)
        changes = np.empty(scores.shape)
        if self.loss.sweep_block(rows, corner, scores, changes, share, n_sweeps):
            self.holder.add(rows, changes)

    @property
    def weights(self):
        return getattr(self.holder, "weights", None)


class RowAscent:
    """Ascent one sparse row at a time."""

    def __init__(self, holder, Loss, bounds, start):
        self.holder = holder
        bounds = np.ascontiguousarray(bounds, dtype=holder.W.dtype)
        coefficients = _feasible_start(Loss, bounds, holder.diagonal, start, bounds.dtype)
        self.loss = Loss(bounds, coefficients)
        self.certified = self.thresholds = None
        self.gap = self.primal = float(np.abs(bounds).sum(dtype=np.float64))
        self.share = 0.0
        if coefficients.any():
            self.measure()
            self.share = IDLE_SHARE * self.gap / holder.n_samples

    def worth_measuring(self, tol):
        """Measuring costs as much as a pass or two: wait until what the last pass met on its way is near."""
        return self.gap <= 1.5 * tol * self.primal

    def certify(self):
        """Objectives from weights summed anew in float64; their scores may be rounded, but once only."""
        self.certified = self.loss.coefficients.astype(np.float64)
        self.loss.repair(self.certified)
        self.holder.recompute(self.certified)
        return self._measure(self.certified)

    def measure(self):
        """Measurements are rare here, and so each one is a certificate."""
        return self.certify()

    def _measure(self, coefficients):
        totals, thresholds = np.zeros(3), []
        for block in row_blocks(self.holder.n_samples, rows_within(self.holder.n_labels, megabytes=4)):
            sums, found = self.loss.measure(
                self.loss.bounds[block], coefficients[block], self.holder.scores_of(block)
            )
            totals += sums.sum(axis=1)
            thresholds.append(found)
        self.thresholds = None if thresholds[0] is None else np.concatenate(thresholds, axis=1)
        self.primal, dual = _objectives(totals)
        self.gap = self.primal - dual
        return self.primal, dual

    def make_pass(self, rng, ending):
        self.certified = None
        n_samples = self.holder.n_samples
        order = rng.permutation(n_samples)
        met = np.zeros(2)
        for block in row_blocks(n_samples, max(1000, n_samples // 20)):
            if ending.reason():
                return
            met += self.loss.sweep_rows(
                order[block], self.holder.X, self.holder.squared_norms, self.holder.W, self.share
            )
        self.gap, self.primal = met
        self.share = IDLE_SHARE * self.gap / n_samples

    @property
    def weights(self):
        return self.holder.weights


def _objectives(totals):
    """Primal and dual from the sums of losses, |A| and A * F; rounding may not make the gap negative."""
    loss, linear, inner = totals
    dual = linear - inner / 2
    return max(inner / 2 + loss, dual), dual

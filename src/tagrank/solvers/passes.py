"""Passes over the samples of a max-margin problem, and the measurements between them.

- `BlockPasses`: over random blocks of samples, beside a Gram matrix or dense rows;
- `RowPasses`: over sparse rows, one at a time.

The problem and its dual stand in `tagrank.solvers.dual_ascent`, which decides when to measure and to stop.
"""

import numpy as np

from tagrank.arrays import row_blocks, rows_within
from tagrank.solvers.solution import check_finite, relative_gap

FAR_FROM_END = 12  # times tol; beyond it, rounded scores and exact ones at the end cost less than exact ones
FEW_SAMPLES = 1000  # with fewer, rounded scores save less time than it takes to compile code for them
MOST_OF_GAP = 0.9  # a pass visits the samples that hold this part of the gap, or what must go if that is more
IDLE_SHARE = 0.1  # entries, or sparse rows, with less than this share of the average gap are left alone
PASSES_BEFORE_CONFLICTS = 4  # a training that is far from its end after so many will be for long
SWEEPS_IN_BLOCK = 5
SWEEPS_TO_THE_END = 200  # where all samples fit into one block, and where they conflict


class BlockPasses:
    """Passes over random blocks of samples.

    Parameters
    ----------
    samples : what holds the data and the scores (n_labels, n_samples), such as `GramScores` or `DenseRows`
    loss : Loss, with float64 coefficients
    tol : float, relative duality gap to reach
    """

    def __init__(self, samples, loss, tol):
        self.samples = samples
        self.loss = loss
        self.tol = tol
        self.certified = self.thresholds = None
        self.n_passes = 0
        self.is_untouched = not loss.coefficients.any()
        if not self.is_untouched:
            samples.recompute(loss.coefficients)

    def worth_measuring(self, tol):
        """Always, for the scores are at hand; but before the first pass there is nothing to see."""
        return not self.is_untouched

    def measure(self):
        """Objectives from the scores at hand: a certificate if these and the coefficients are exact."""
        primal, dual = self._measure(self.loss.coefficients, self.samples.scores())
        is_exact = self.samples.is_exact and self.loss.stays_feasible
        self.certified = self.loss.coefficients if is_exact else None
        if self.gap > FAR_FROM_END * self.tol and self.samples.n_samples >= FEW_SAMPLES:
            self.samples.round_scores()
        return primal, dual

    def certify(self):
        """Objectives from scores computed anew: those at hand may be rounded or half updated."""
        self.certified = self.loss.coefficients
        if not self.loss.stays_feasible:
            self.certified = self.certified.copy()
            self.loss.repair(self.certified)
        return self._measure(self.certified, self.samples.recompute(self.certified))

    def _measure(self, coefficients, scores):
        sums, self.thresholds = self.loss.measure(self.loss.bounds, coefficients, scores)
        self.gaps = sums[0] - sums[1] + sums[2]
        primal, dual = objectives(sums.sum(axis=1))
        self.gap = relative_gap(primal, dual)
        return primal, dual

    def _samples_to_visit(self):
        """The samples that hold most of the gap, or towards the end twice the part of it that must go."""
        surplus = 1 - self.tol / self.gap
        part = max(0.3, min(2 * surplus, max(MOST_OF_GAP, surplus)))
        order = np.argsort(-self.gaps)
        n_needed = np.searchsorted(np.cumsum(self.gaps[order]), part * self.gaps.sum()) + 1
        return order[: max(n_needed, self.samples.block_size)]

    def _conflicts(self):
        """The samples with the largest gaps, and the nearest neighbour of each.

        Two samples that are alike but have different labels push each other up, visit by visit, for as long
        as their costs allow. In one block they come to the end of it at once.
        """
        largest = np.argsort(-self.gaps)[: self.samples.block_size // 2]
        return np.union1d(largest, self.samples.nearest(largest))

    def make_pass(self, rng, ending):
        least_gap = 0.0 if self.is_untouched else IDLE_SHARE * self.gaps.mean()
        active = rng.permutation(self.samples.n_samples if self.is_untouched else self._samples_to_visit())
        has_many_blocks = len(active) > self.samples.block_size
        self.is_untouched, self.certified = False, None
        is_long_way = has_many_blocks and self.n_passes >= PASSES_BEFORE_CONFLICTS
        if is_long_way and getattr(self.samples, "nearest", None) is not None:
            self._visit(self._conflicts(), least_gap, SWEEPS_TO_THE_END)
        self.n_passes += 1
        for block in row_blocks(len(active), self.samples.block_size):
            if ending.reason():
                break
            self._visit(active[block], least_gap, SWEEPS_IN_BLOCK if has_many_blocks else SWEEPS_TO_THE_END)

    def _visit(self, rows, least_gap, n_sweeps):
        corner, scores = self.samples.read(rows)
        changes = np.empty(scores.shape)
        if self.loss.sweep_block(rows, corner, scores, changes, least_gap, n_sweeps):
            self.samples.add(rows, changes)

    @property
    def weights(self):
        return getattr(self.samples, "weights", None)


class RowPasses:
    """Passes over sparse rows, one at a time; the loss has coefficients of the precision of its bounds."""

    def __init__(self, samples, loss):
        self.samples = samples
        self.loss = loss
        self.certified = self.thresholds = None
        self.gap = self.primal = float(np.abs(loss.bounds).sum(dtype=np.float64))
        self.least_gap = 0.0
        if loss.coefficients.any():
            self.measure()
            self.least_gap = IDLE_SHARE * self.gap / samples.n_samples

    def worth_measuring(self, tol):
        """Measuring costs as much as a pass or two: wait until what the last pass met on its way is near."""
        return self.gap <= 1.5 * tol * self.primal

    def certify(self):
        """Objectives from weights summed anew in float64; their scores may be rounded, but once only."""
        self.certified = self.loss.coefficients.astype(np.float64)
        self.loss.repair(self.certified)
        self.samples.recompute(self.certified)
        return self._measure(self.certified)

    def measure(self):
        """Measurements are rare here, and so each one is a certificate."""
        return self.certify()

    def _measure(self, coefficients):
        totals, thresholds = np.zeros(3), []
        for block in row_blocks(self.samples.n_samples, rows_within(self.samples.n_labels, megabytes=4)):
            sums, found = self.loss.measure(
                self.loss.bounds[block], coefficients[block], self.samples.scores_of(block)
            )
            totals += sums.sum(axis=1)
            thresholds.append(found)
        self.thresholds = None if thresholds[0] is None else np.concatenate(thresholds, axis=1)
        self.primal, dual = objectives(totals)
        self.gap = self.primal - dual
        return self.primal, dual

    def make_pass(self, rng, ending):
        self.certified = None
        n_samples = self.samples.n_samples
        order = rng.permutation(n_samples)
        met = np.zeros(2)
        for block in row_blocks(n_samples, max(1000, n_samples // 20)):
            if ending.reason():
                return
            met += self.loss.sweep_rows(
                order[block], self.samples.X, self.samples.squared_norms, self.samples.W, self.least_gap
            )
        check_finite(*met)
        self.gap, self.primal = met
        self.least_gap = IDLE_SHARE * self.gap / n_samples

    @property
    def weights(self):
        return self.samples.weights


def objectives(totals):
    """Primal and dual from the sums of losses, |A| and A * F; rounding may not make the gap negative."""
    loss, linear, inner = totals
    check_finite(loss, inner)
    dual = linear - inner / 2
    return max(inner / 2 + loss, dual), dual

"""Passes whose sweeps run on the device that holds the Gram matrix: nothing of a block crosses to the host.

For the hinge loss beside a Gram matrix of torch on a GPU. Bounds, coefficients and scores lie there as
(n_labels, n_samples), in the precision of the steps. A visit to a block of samples gathers their rows of K,
sweeps all labels beside each other, and adds one product to the scores. Certificates are computed on the
device, too, in float64.
"""

import numpy as np

from tagrank.arrays import astype, beside, empty_beside, namespace_of, row_blocks, rows_within, to_host
from tagrank.solvers.dual_ascent import BlockPasses, objectives
from tagrank.solvers.solution import relative_gap

BLOCK = 256  # samples of a visit: so many scores of a label are held by a warp
CERTIFIED_MEGABYTES = 2048  # of rows of K in float64 at a time


class DevicePasses(BlockPasses):
    """As `BlockPasses`, on the device of K.

    Parameters
    ----------
    samples : GramScores, of a matrix on a device
    loss : Hinge
    tol : float, relative duality gap to reach
    """

    def __init__(self, samples, loss, tol):
        from tagrank.solvers.device.triton_sweeps import sweep_hinge

        self.sweep, self.K, self.intercept = sweep_hinge, samples.K, samples.intercept
        samples.block_size = BLOCK
        is_new = not loss.coefficients.any()
        self.bounds = self._turned(loss.bounds)
        self.F = empty_beside(self.bounds.shape, self.K)
        self.F[:] = 0
        self.A = self.F * 1 if is_new else self._turned(loss.coefficients)
        self.offset = self.F[:, :1] * 1
        self.diagonal = beside(samples.diagonal, self.K, self.K.dtype)
        samples.recompute = lambda coefficients: None  # its scores are not used
        super().__init__(samples, loss, tol)
        if not is_new:
            self._recompute()

    def measure(self):
        self.certified = None
        sums = [
            self._terms(rows, self.F[:, rows] + self.offset)
            for rows in row_blocks(self.samples.n_samples, self._n_measured())
        ]
        return self._take_sums(np.concatenate(sums, axis=1))

    def certify(self):
        primal_and_dual = self._take_sums(self._recompute())
        self.certified = to_host(self.A.T).astype(np.float64)
        return primal_and_dual

    def _recompute(self):
        """Scores anew from the coefficients, in float64; returns the terms of the objectives."""
        xp, sums = namespace_of(self.K), []
        A = astype(self.A, xp.float64)
        offset = self.intercept * A.sum(1)[:, None]
        size = rows_within(self.samples.n_samples, megabytes=CERTIFIED_MEGABYTES)
        for rows in row_blocks(self.samples.n_samples, min(size, self._n_measured())):
            scores = A @ astype(self.K[rows], xp.float64).T
            self.F[:, rows] = astype(scores, self.F.dtype)
            sums.append(self._terms(rows, scores + offset))
        self.offset = astype(offset, self.F.dtype)
        return np.concatenate(sums, axis=1)

    def _terms(self, rows, scores):
        """Sums over the labels of loss, |coefficient| and coefficient * score of some samples."""
        xp = namespace_of(scores)
        bounds, A = (astype(values[:, rows], scores.dtype) for values in (self.bounds, self.A))
        losses = xp.abs(bounds) * xp.clip(1 - xp.sign(bounds) * scores, 0, None)
        parts = (losses, xp.abs(A), A * scores)
        return to_host(xp.stack([xp.sum(part, 0, dtype=xp.float64) for part in parts]))

    def _n_measured(self):
        """Samples whose terms are looked at together."""
        return rows_within(len(self.A), megabytes=512)

    def _take_sums(self, sums):
        self.gaps = sums[0] - sums[1] + sums[2]
        primal, dual = objectives(sums.sum(axis=1))
        self.gap = relative_gap(primal, dual)
        return primal, dual

    def _turned(self, values):
        """An array (n_samples, n_labels) of the host as one (n_labels, n_samples) on the device."""
        return astype(beside(values, self.K).T * 1, self.K.dtype)

    def _placed(self, rows):
        return beside(rows, self.K)

    def _nearest(self, rows):
        xp = namespace_of(self.K)
        index = self._placed(rows)
        lengths = xp.sqrt(xp.where(self.diagonal > 0, self.diagonal, self.diagonal + np.inf))
        similarities = (self.K[index] + self.intercept) / lengths
        similarities[beside(np.arange(len(rows)), self.K), index] = -np.inf
        return to_host(similarities.argmax(1))

    def _visit(self, rows, least_gap, n_sweeps):
        index = rows if namespace_of(rows) is not np else self._placed(rows)
        K = self.K[index]
        old = self.A[:, index]
        scores = self.F[:, index] + self.offset
        corner = K[:, index] + self.intercept
        new = self.sweep(self.bounds[:, index], old, corner, scores, least_gap / len(self.A), n_sweeps)
        changes = new - old
        self.A[:, index] = new
        if self.intercept:
            self.offset = self.offset + self.intercept * changes.sum(1)[:, None]
        self.F += changes @ K

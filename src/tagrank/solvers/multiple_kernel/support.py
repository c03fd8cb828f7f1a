"""Where few samples have coefficients, the weights are searched on these samples alone.

The others take no part in any v_j, and coefficients of zero are feasible: what bounds the optimum of a part
from below bounds that of the whole. So only the primal must be evaluated on all samples. There, some that
were left out may get coefficients, and belong to the part of the next round. The kernels of the part are
copied: being small, they stay near the processor.
"""

import numpy as np

from tagrank.solvers.multiple_kernel.problem import KernelProblem
from tagrank.solvers.multiple_kernel.search import search

FEW = 0.6  # of all samples
PART_MEGABYTES = 256  # that the copies of kernels may take
FIRST_GAP = 0.05  # of the training that tells which samples have coefficients
EXACT = 0.5  # of tol, the gap of the search on the part


class SupportProblem(KernelProblem):
    """An evaluation searches on the samples with coefficients first, from the weights of the last round."""

    def __init__(self, stack, make_loss, bounds, *, propose, **options):
        super().__init__(stack, make_loss, bounds, **options)
        self.propose = propose
        self.rows = np.arange(0)
        self.largest_inner_gap = FIRST_GAP

    def evaluate(self, weights, max_iter=1000):
        if self.best is not None and self._is_worth_it():
            weights = self._search_part(self.best.weights)
        return super().evaluate(weights, max_iter)

    def _is_worth_it(self):
        """Whether few samples have coefficients, and rounds are left; takes these samples over."""
        if self.stack.kind != "gram" or self.n_iter + 1 >= self.max_iter:
            return False
        self.rows = np.union1d(self.rows, np.flatnonzero(self.coefficients.any(axis=1)))
        size = self.n_kernels * len(self.rows) ** 2 * np.dtype(self.stack.dtype).itemsize
        return 0 < len(self.rows) < FEW * self.stack.n_samples and size <= PART_MEGABYTES * 2**20

    def _search_part(self, weights):
        part = KernelProblem(
            self.stack[np.ix_(self.rows, self.rows)].copied(),
            self.make_loss,
            self.bounds[self.rows],
            norm=self.norm,
            tol=EXACT * self.tol,
            max_iter=self.max_iter - self.n_iter - 1,
            rng=self.rng,
            start=self.coefficients[self.rows],
            intercept=self.intercept,
            ending=self.ending,
        )
        part.raise_lower(self.lower)  # all coefficients so far belong to samples of the part
        solution = search(part, self.propose(part, weights), callback=None)
        self.was_interrupted |= part.was_interrupted or solution.stopped_by == "interrupt"
        self.n_iter += part.n_iter
        self.raise_lower(solution.dual)
        self.coefficients = np.zeros(self.bounds.shape)
        self.coefficients[self.rows] = solution.coefficients
        self.largest_inner_gap = part.tol
        return solution.kernel_weights

"""Coordinate ascent on the dual of the kernels' problem itself (MKL-SMO), p > 1, hinge loss.

    max over a in [0, C] of sum a - 1/2 |v(a)|_q,    v_j = sum over labels of (a y)' K_j (a y)

There is no training at fixed weights: they are the gradient of |v|_q at every moment. A change t of one
coefficient makes v_j + 2 t u_j + t^2 k_j of v_j, with u_j = y f_j, f_j = K_j (a y), and k_j = K_j(x, x) of
its sample. The derivative along t,

    1 - sum_j beta_j(v(t)) (u_j + t k_j),

falls in t, and a bracketed Newton iteration finds its root (`smo_sweep.py`).

The dissertation adds lambda/2 |beta|_p^2 to the objective where the others have |beta|_p <= 1, which makes
|v|_q^2 / (8 lambda) of 1/2 |v|_q. The solutions are the same for lambda = |v|_q / 2 at the optimum. Without
lambda all methods solve one problem, and their objectives can be compared.

Samples are visited in blocks: inside a block only its corner of each kernel is read; then the f_j of all
samples are brought up to date. All kernels must be at hand as matrices.
"""

import numpy as np

from tagrank.arrays import row_blocks
from tagrank.losses.hinge import Hinge
from tagrank.solvers.multiple_kernel.norms import best_response
from tagrank.solvers.multiple_kernel.problem import Evaluation, KernelProblem
from tagrank.solvers.multiple_kernel.smo_sweep import sweep
from tagrank.solvers.passes import objectives
from tagrank.solvers.solution import Solution

BLOCK = 64
SWEEPS = 10
SWEEPS_TO_THE_END = 500  # where all samples fit into one block
MOST_OF_GAP = 0.99  # a pass visits the samples that hold this part of the gap


def propose(problem, weights):
    """The weights of each round follow from its coefficients."""
    while True:
        weights = (yield weights).weights


class Problem(KernelProblem):
    """A round is one pass over the samples."""

    def __init__(self, stack, make_loss, bounds, **options):
        if not (isinstance(make_loss, type) and issubclass(make_loss, Hinge)):
            raise ValueError(
                "solver='smo' does the hinge loss only; for other losses choose auto, silp or group-lasso"
            )
        super().__init__(stack, make_loss, np.asarray(bounds, np.float64), **options)
        self.kernels = [stack.kernel(j) for j in range(stack.n_kernels)]
        self.A = np.zeros(bounds.shape)
        if self.coefficients is not None:
            self.A[:] = Hinge.feasible(self.coefficients, self.bounds)
        self.F = np.stack([self.A.T @ K for K in self.kernels])  # (n_kernels, n_labels, n_samples)
        self.gaps = np.full(len(bounds), np.inf)

    def evaluate(self, weights, max_iter=1):
        if max_iter:
            self._make_pass()
        quadratics = self._quadratics()
        weights = best_response(quadratics, self.norm)
        scores = np.tensordot(weights, self.F, 1).T + self.intercept * self.A.sum(axis=0)
        slack = 1 - np.sign(self.bounds) * scores
        losses = np.abs(self.bounds) * np.maximum(slack, 0)
        self.gaps = (losses - np.abs(self.A) * slack).sum(axis=1)
        primal, dual = objectives((losses.sum(), np.abs(self.A).sum(), (self.A * scores).sum()))
        solution = Solution(self.A.copy(), primal, dual, n_iter=1, stopped_by="max_iter")
        constant = dual + weights @ quadratics / 2
        evaluation = Evaluation(weights, solution, quadratics, constant, dual)
        self.take_bounds(evaluation, planes=[])
        return evaluation

    def _quadratics(self):
        return np.einsum("il,jli->j", self.A, self.F)

    def _make_pass(self):
        active = self.rng.permutation(self._samples_to_visit())
        quadratics, sums = self._quadratics(), self.A.sum(axis=0)
        for block in row_blocks(len(active), BLOCK):
            if self.ending.reason():
                break
            self._visit(active[block], quadratics, sums)

    def _samples_to_visit(self):
        if not np.isfinite(self.gaps).all():
            return np.arange(len(self.gaps))
        order = np.argsort(-self.gaps)
        n_needed = np.searchsorted(np.cumsum(self.gaps[order]), MOST_OF_GAP * self.gaps.sum()) + 1
        return order[: max(n_needed, BLOCK)]

    def _visit(self, rows, quadratics, sums):
        corners = np.stack([K[np.ix_(rows, rows)] for K in self.kernels], axis=2).astype(np.float64)
        scores = np.ascontiguousarray(self.F[:, :, rows].transpose(1, 2, 0))
        before = self.A[rows]
        after = before.copy()
        sweep(
            self.bounds[rows], after, corners, scores, quadratics, sums,
            self.intercept, self.norm / (self.norm - 1),
            SWEEPS if len(self.A) > BLOCK else SWEEPS_TO_THE_END,
        )  # fmt: skip
        self.A[rows] = after
        changed = np.flatnonzero((after != before).any(axis=1))
        for F, K in zip(self.F, self.kernels, strict=True):
            F += (after - before)[changed].T @ K[rows[changed]]

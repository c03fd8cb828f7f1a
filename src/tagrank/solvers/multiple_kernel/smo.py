"""Coordinate ascent on the dual of the kernels' problem itself (MKL-SMO), p > 1, hinge loss.

    max over a in [0, C] of sum a - 1/2 |v(a)|_q,    v_j = sum over labels of (a y)' K_j (a y)

There is no training at fixed weights: they are the gradient of |v|_q at every moment. A change t of one
coefficient makes v_j + 2 t u_j + t^2 k_j of v_j, with u_j = y f_j, f_j = K_j (a y), and k_j = K_j(x, x) of
its sample. The derivative along t,

    1 - sum_j beta_j(v(t)) (u_j + t k_j),

falls in t, and a bracketed Newton iteration finds its root.

The dissertation adds lambda/2 |beta|_p^2 to the objective where the others have |beta|_p <= 1, which makes
|v|_q^2 / (8 lambda) of 1/2 |v|_q. The solutions are the same for lambda = |v|_q / 2 at the optimum. Without
lambda all methods solve one problem, and their objectives can be compared.

Samples are visited in blocks: inside a block only its corner of each kernel is read; then the f_j of all
samples are brought up to date. All kernels must be at hand as matrices.
"""

import numpy as np

from tagrank.arrays import row_blocks
from tagrank.losses.hinge import Hinge
from tagrank.resources import compiled
from tagrank.solvers.dual_ascent import objectives
from tagrank.solvers.multiple_kernel.cutting_planes import best_response
from tagrank.solvers.multiple_kernel.kernel_problem import KernelEvaluation, KernelProblem
from tagrank.solvers.solution import Solution

BLOCK = 64
SWEEPS = 10
SWEEPS_TO_THE_END = 500  # where all samples fit into one block
MOST_OF_GAP = 0.99  # a pass visits the samples that hold this part of the gap
NEWTON_STEPS = 50
PRECISION = 1e-12  # of a derivative whose parts are of size one


def propose_own_weights(problem, weights):
    """The weights of each round follow from its coefficients."""
    while True:
        weights = (yield weights).weights


class CoordinateProblem(KernelProblem):
    """A round is one pass over the samples."""

    def __init__(self, stack, make_loss, bounds, **options):
        if not (isinstance(make_loss, type) and issubclass(make_loss, Hinge)):
            raise ValueError(
                "solver='smo' only supports the hinge loss; for other losses choose auto, silp or group-lasso"
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
        evaluation = KernelEvaluation(weights, solution, quadratics, constant, dual)
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


@compiled()
def sweep(bounds, coefficients, corners, scores, quadratics, sums, intercept, q, n_sweeps):
    """Exact steps on all coefficients of a block, several times; everything but the corners is kept current.

    bounds, coefficients : (n_rows, n_labels); corners : (n_rows, n_rows, n_kernels)
    scores : (n_labels, n_rows, n_kernels), f_j; quadratics : (n_kernels,); sums : (n_labels,) of coefficients
    """
    slopes = np.empty(quadratics.shape[0])
    for _ in range(n_sweeps):
        n_changed = 0
        for label in range(bounds.shape[1]):
            for b in range(bounds.shape[0]):
                bound, old = bounds[b, label], coefficients[b, label]
                if bound == 0:
                    continue
                sign = 1.0 if bound > 0 else -1.0
                slopes[:] = sign * scores[label, b]
                fixed = sign * intercept * sums[label]
                t = best_change(
                    slopes, corners[b, b], quadratics, fixed, intercept, -abs(old), abs(bound) - abs(old), q
                )
                if t == 0:
                    continue
                n_changed += 1
                for j in range(quadratics.shape[0]):
                    quadratics[j] = max(quadratics[j] + t * (2 * slopes[j] + t * corners[b, b, j]), 0.0)
                coefficients[b, label] = min(max(old + sign * t, min(bound, 0.0)), max(bound, 0.0))
                sums[label] += sign * t
                scores[label] += (sign * t) * corners[b]
        if n_changed == 0:
            break


@compiled()
def best_change(u, k, v, fixed, intercept, low, high, q):
    """The t between `low` <= 0 and `high` >= 0 where the derivative of the dual along t is zero."""
    slope, curvature = derivatives(0.0, u, k, v, fixed, intercept, q)
    if abs(slope) <= PRECISION:
        return 0.0
    low, high = (0.0, high) if slope > 0 else (low, 0.0)
    end = high if slope > 0 else low
    if low == high or derivatives(end, u, k, v, fixed, intercept, q)[0] * slope >= 0:
        return end
    t = 0.0
    for _ in range(NEWTON_STEPS):
        new = t + slope / curvature if curvature > 0 else end
        t = new if low < new < high else (low + high) / 2
        slope, curvature = derivatives(t, u, k, v, fixed, intercept, q)
        if abs(slope) <= PRECISION:
            break
        if slope > 0:
            low = t
        else:
            high = t
    return t


@compiled()
def derivatives(t, u, k, v, fixed, intercept, q):
    """First derivative along t of sum a - 1/2 |v(t)|_q - 1/2 intercept * sum^2, and minus the second."""
    slope, curvature = 1 - fixed - t * intercept, intercept
    largest = 0.0
    for j in range(v.shape[0]):
        largest = max(largest, v[j] + t * (2 * u[j] + t * k[j]))
    if largest <= 0:
        return slope, curvature
    total = 0.0
    for j in range(v.shape[0]):
        total += max((v[j] + t * (2 * u[j] + t * k[j])) / largest, 0.0) ** q
    norm = total ** (1 / q)
    spread = along = 0.0
    for j in range(v.shape[0]):
        share = max((v[j] + t * (2 * u[j] + t * k[j])) / (largest * norm), 0.0)
        if share > 0:
            beta, turn = share ** (q - 1), u[j] + t * k[j]
            slope -= beta * turn
            curvature += beta * k[j]
            spread += beta / share * turn * turn
            along += beta * turn
    return slope, curvature + 2 * (q - 1) / (largest * norm) * max(spread - along * along, 0.0)

"""One weighting for all labels that is best for the worst of them, hinge loss.

    min over beta >= 0, |beta|_p <= 1 of max_k J_k(beta)

where J_k is the value of label k on K(beta). Every label gives cutting planes, J_k(beta) >= c_k - 1/2
beta'v_k, and any shares gamma of the labels a lower bound: sum_k gamma_k c_k - 1/2 |sum_k gamma_k v_k|_q.

Labels that cannot be the worst are trained loosely, and only those that are near it get planes. With p = 1
the next weights are found as in `level.py`; the least point of all planes took ten times as many rounds.
"""

from typing import NamedTuple

import numpy as np

from tagrank.arrays import row_blocks
from tagrank.losses.hinge import Hinge
from tagrank.solvers.multiple_kernel.level import below_level
from tagrank.solvers.multiple_kernel.norms import dual_norm, without_smallest
from tagrank.solvers.multiple_kernel.problem import KernelProblem, kernel_data
from tagrank.solvers.solution import Solution

LOOSE = 0.1  # relative gap of all labels together, before it is known which are the worst
TRAININGS = 5  # of labels that turn out to be near the worst, at most
NEAR = 0.8  # of the largest value
BLOCK = 512


class WorstEvaluation(NamedTuple):
    """All labels at some weights; planes of the labels near the worst.

    Attributes
    ----------
    weights : array, shape (n_kernels,)
    solution : Solution, whose objectives are those of the worst label
    labels : array, those that have planes
    constants, quadratics : arrays, shapes (n_labels,) and (n_labels, n_kernels), of these labels
    dual : float, the best bound of a single label
    """

    weights: np.ndarray
    solution: Solution
    labels: np.ndarray
    constants: np.ndarray
    quadratics: np.ndarray
    dual: float

    @property
    def primal(self):
        return self.solution.primal


def propose(problem, weights):
    """Yield weights, and take the evaluation at each: the planes of all labels are under one maximum."""
    problem.has_planes = True
    while True:
        evaluation = yield weights
        weights = problem.lowest if problem.norm > 1 else below_level(problem, evaluation.weights)


class Problem(KernelProblem):
    """Evaluations of all labels, whose upper bound is the value of the worst one."""

    near = NEAR

    def __init__(self, stack, bounds, **options):
        super().__init__(stack, Hinge, bounds, **options)
        start = self.coefficients
        self.coefficients = np.zeros(bounds.shape) if start is None else np.array(start, np.float64)

    def evaluate(self, weights, max_iter=1000):
        weights = without_smallest(weights, self.norm, self.tol)
        primals, duals = self._train_all(kernel_data(self.stack, weights, self.intercept), max_iter)
        labels = np.flatnonzero(primals >= self.near * primals.max())
        quadratics = self.stack.quadratics_by_label(self.coefficients[:, labels])
        constants = duals[labels] + quadratics @ weights / 2
        single = [c - dual_norm(v, self.norm) / 2 for c, v in zip(constants, quadratics, strict=True)]
        solution = Solution(self.coefficients.copy(), primals.max(), duals.max(), 1, "tol")
        evaluation = WorstEvaluation(weights, solution, labels, constants, quadratics, max(single))
        self.take_bounds(evaluation, zip(constants, quadratics, strict=True))
        return evaluation

    def _train_all(self, data, max_iter):
        """Primal and dual of every label: exact for those that can be the worst."""
        labels, tol = np.arange(self.bounds.shape[1]), LOOSE
        primals, duals = np.full(len(labels), np.inf), np.full(len(labels), -np.inf)
        for _ in range(TRAININGS):
            primals[labels], duals[labels] = self.train_labels(data, labels, tol, max_iter)
            largest_gap = self.wanted_gap * primals.max()
            may_be_worst = primals >= duals.max()
            labels = np.flatnonzero(may_be_worst & (primals - duals > largest_gap))
            if len(labels) == 0 or self.was_interrupted or self.ending.reason():
                break
            tol = largest_gap / primals[labels].sum()
        return primals, duals

    def train_labels(self, data, labels, tol, max_iter=1000):
        """Train some labels from where they are; returns their primals and duals."""
        bounds = np.ascontiguousarray(self.bounds[:, labels])
        start = self.coefficients[:, labels]
        solution = self.train(data, bounds, start, tol=tol, max_iter=max_iter)
        A = self.coefficients[:, labels] = solution.coefficients
        if len(labels) == 1:
            return np.array([solution.primal]), np.array([solution.dual])
        return self._objectives(A, bounds, self._scores(data, A))

    def _scores(self, data, A):
        if self.stack.kind == "rows":
            return data @ (data.T @ A)
        scores = np.empty(A.shape)
        for block in row_blocks(len(A), BLOCK):
            scores[block] = data[block].astype(np.float64) @ A
        return scores + self.intercept * A.sum(axis=0)

    def _objectives(self, A, bounds, scores):
        """Of every label."""
        inner = (A * scores).sum(axis=0) / 2
        losses = (np.abs(bounds) * np.maximum(1 - np.sign(bounds) * scores, 0)).sum(axis=0)
        duals = np.abs(A).sum(axis=0) - inner
        return np.maximum(inner + losses, duals), duals

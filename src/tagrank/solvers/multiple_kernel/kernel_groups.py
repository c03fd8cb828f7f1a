"""Kernels in groups: few kernels of a group count, and all groups do (VSKL).

    min over f of 1/2 (sum_g (sum_{j in g} |f_j|)^s)^(2/s) + losses of sum_j f_j,    s >= 2

With shares lambda >= 0 of the kernels, which sum to one in each group, and sizes gamma >= 0 of the groups,
|gamma|_r <= 1, r = s / (s - 2), this is

    min over lambda, max over gamma and T of D(T) - 1/2 sum_g 1/gamma_g sum_{j in g} lambda_j v_j

so that the model is one on K(beta), beta_j = lambda_j / gamma_g. For given T the best sizes are gamma_g
proportional to d_g^(1/(r+1)), d_g = sum_{j in g} lambda_j v_j; training and sizes take turns, and what is
convex in lambda, with the gradient -1/2 v_j / gamma_g, is descended by `proposals.mirror`. At any T, with t =
s / (s - 1),

    primal = 1/2 (sum_g (sum_j beta_j v_j^(1/2))^s)^(2/s) + losses
    dual = D(T) - 1/2 (sum_g max_j v_j^(t/2))^(2/t)

With one group, or one kernel, s has no part in it: this is the problem of `kernel_problem.py` with p = 1.

Reference: Aflalo, Ben-Tal, Bhattacharyya, Nath, Raman: Variable Sparsity Kernel Learning, JMLR 12, 2011.
"""

from dataclasses import replace

import numpy as np

from tagrank.solvers.multiple_kernel.cutting_planes import without_smallest
from tagrank.solvers.multiple_kernel.kernel_problem import (
    KernelEvaluation,
    KernelProblem,
    by_group,
    kernel_data,
)

TURNS = 50  # of training and sizes, at most
SMALLEST_SIZE = 1e-6  # of a group, as part of the largest: one whose kernels say nothing


class GroupedProblem(KernelProblem):
    """Evaluations at shares of kernels within their groups.

    An evaluation has weights beta; its quadratics are v_j / gamma_g, the gradient by the shares.
    """

    def __init__(self, stack, make_loss, bounds, *, groups, group_norm, **options):
        super().__init__(stack, make_loss, bounds, **options)
        self.groups = groups
        self.group_norm = group_norm
        self.sizes = np.ones(groups.max() + 1)
        if group_norm > 2:
            self.sizes *= len(self.sizes) ** (2 / group_norm - 1)  # |gamma|_r = 1
        self.has_planes = False

    def evaluate(self, weights, max_iter=1000):
        shares = by_group(lambda part: without_smallest(part, 1.0, self.tol), weights, self.groups)
        for _ in range(TURNS):
            sizes = self.sizes[self.groups]
            weights, wanted = shares / sizes, self.wanted_gap
            data = kernel_data(self.stack, weights, self.intercept)
            solution = self.train(data, self.bounds, self.coefficients, tol=wanted, max_iter=max_iter)
            self.coefficients = solution.coefficients
            quadratics = self.stack.quadratics(solution.coefficients)
            gain = self._resize(np.bincount(self.groups, shares * quadratics))
            if gain <= wanted * abs(solution.primal) or self.was_interrupted or self.ending.reason():
                break
        inner = weights @ quadratics / 2
        constant = solution.dual + inner
        dual = constant - self._dual_norm(quadratics) / 2
        primal = max(solution.primal - inner + self._squared_norm(weights, quadratics) / 2, dual)
        solution = replace(solution, primal=primal, dual=dual)
        evaluation = KernelEvaluation(weights, solution, quadratics / sizes, constant, dual)
        self.take_bounds(evaluation, [])
        return evaluation

    def _resize(self, parts):
        """Take the best sizes for the parts d_g, and return by how much they raise the dual."""
        parts = np.maximum(parts, 0)
        largest = parts.max()
        if self.group_norm == 2 or not largest > 0:
            return 0.0
        power = 1 - 2 / self.group_norm  # 1 / r
        before = np.sum(parts / self.sizes)
        sizes = np.maximum((parts / largest) ** (power / (1 + power)), SMALLEST_SIZE)
        self.sizes = sizes / np.sum(sizes ** (1 / power)) ** power
        return (before - np.sum(parts / self.sizes)) / 2

    def _dual_norm(self, quadratics):
        """(sum_g max_j v_j^(t/2))^(2/t)."""
        largest = np.zeros(len(self.sizes))
        np.maximum.at(largest, self.groups, quadratics)
        half = self.group_norm / (self.group_norm - 1) / 2
        return np.sum(largest**half) ** (1 / half)

    def _squared_norm(self, weights, quadratics):
        """(sum_g (sum_j |f_j|)^s)^(2/s)."""
        lengths = np.bincount(self.groups, weights * np.sqrt(np.maximum(quadratics, 0)))
        largest = lengths.max()
        if not largest > 0:
            return 0.0
        return largest**2 * np.sum((lengths / largest) ** self.group_norm) ** (2 / self.group_norm)

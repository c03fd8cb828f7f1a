"""Cutting planes: the next weights are where the maximum of all planes is least.

A semi-infinite linear program for p = 1 (SILP), and for p > 1 the same with the ball of the norm behind
tangent planes (SIP); see `cutting_planes.py`.
"""

from tagrank.solvers.multiple_kernel.cutting_planes import CuttingPlanes


def propose(problem, weights):
    """Yield weights, and take the evaluation at each."""
    evaluation = yield weights
    planes = CuttingPlanes(problem.n_kernels, problem.norm, scale=problem.upper)
    while True:
        planes.add(evaluation.constant, evaluation.quadratics)
        weights, bound = planes.minimize()
        problem.raise_lower(bound)
        evaluation = yield weights

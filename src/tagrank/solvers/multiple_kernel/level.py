"""The level method, p = 1: cutting planes as in `silp.py`, but steps that stay near.

The next weights are those nearest to the last ones where no cutting plane exceeds a level between the best
bounds:

    min |beta - last|^2    c_t - 1/2 beta'v_t <= LEVEL * upper + (1 - LEVEL) * lower,    sum beta = 1

Planes may come from coefficients that are trained loosely: any feasible ones give valid planes.
"""

import numpy as np

from tagrank.solvers.multiple_kernel.norms import normalized

LEVEL = 0.5  # the dissertation has 0.9, which takes half as many rounds again


def propose(problem, weights):
    """Yield weights, and take the evaluation at each."""
    while True:
        evaluation = yield weights
        weights = below_level(problem, evaluation.weights)


def below_level(problem, weights):
    """The nearest point of the simplex where no plane of the problem exceeds the level."""
    import daqp

    planes, level = problem.planes, LEVEL * problem.upper + (1 - LEVEL) * problem.lower
    constants, quadratics = planes.values()
    n_kernels, equality = len(weights), 5
    A = np.vstack([np.ones(n_kernels), quadratics / (2 * planes.scale)])
    low = np.concatenate([np.zeros(n_kernels), [1.0], (constants - level) / planes.scale])
    high = np.concatenate([np.ones(n_kernels), [1.0], np.full(len(constants), 1e30)])
    sense = np.zeros(len(low), np.int32)
    sense[n_kernels] = equality
    nearest, _, flag, _ = daqp.solve(np.eye(n_kernels), -weights, A, high, low, sense, primal_tol=1e-9)
    return normalized(nearest, 1.0) if flag > 0 else problem.lowest  # rounding may leave no such point

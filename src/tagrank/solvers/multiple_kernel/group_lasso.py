"""Weights in closed form (MKL-GL), any p >= 1.

With f_j = beta_j K_j T fixed, the primal 1/2 sum_j |f_j|^2 / beta_j + losses is least, over |beta|_p = 1, at

    beta_j  proportional to  |f_j|^(2/(p+1)),    |f_j|^2 = beta_j^2 v_j

so that the objective falls in each round. A weight of zero would stay zero: the search starts inside.
"""

import numpy as np

from tagrank.solvers.multiple_kernel.norms import normalized, uniform_weights

LEAST_SHARE = 0.01  # of equal weights in those that a search starts from


def propose(problem, weights):
    """Yield weights, and take the evaluation at each."""
    inside = uniform_weights(problem.n_kernels, problem.norm)
    weights = normalized((1 - LEAST_SHARE) * weights + LEAST_SHARE * inside, problem.norm)
    while True:
        evaluation = yield weights
        lengths = weights * np.sqrt(np.maximum(evaluation.quadratics, 0))
        weights = normalized(lengths ** (2 / (problem.norm + 1)), problem.norm)

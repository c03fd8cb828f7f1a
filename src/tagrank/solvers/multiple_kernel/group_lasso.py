"""Weights in closed form (MKL-GL), any p >= 1.

With f_j = beta_j K_j T fixed, the primal 1/2 sum_j |f_j|^2 / beta_j + losses is least, over |beta|_p = 1, at

    beta_j  proportional to  |f_j|^(2/(p+1)),    |f_j|^2 = beta_j^2 v_j

so that the objective falls in each round. A weight of zero would stay zero: the search starts inside.
"""

import numpy as np

from tagrank.solvers.multiple_kernel.norms import away_from_zero, normalized


def propose(problem, weights):
    """Yield weights, and take the evaluation at each."""
    weights = away_from_zero(weights, problem.norm)
    while True:
        evaluation = yield weights
        lengths = weights * np.sqrt(np.maximum(evaluation.quadratics, 0))
        weights = normalized(lengths ** (2 / (problem.norm + 1)), problem.norm)

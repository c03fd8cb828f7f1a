"""Mirror descent on the simplex, with the relative entropy as its distance (VSKL with one group), p = 1.

    beta_j  proportional to  beta_j exp(-eta g_j),    g = -v/2

The published steps, eta = sqrt(2 ln s / t) / (max g - min g), take thousands of rounds to a gap of 1e-5. Here
eta is the distance of the last two weights over the change of the gradient between them,

    (new - old)'(log new - log old) / (new - old)'(g_new - g_old)

and the first one, 1 / beta'v, makes nearly the step of `group_lasso.py`.
"""

import numpy as np

from tagrank.solvers.multiple_kernel.norms import away_from_zero, normalized

LONGEST = 4.0  # times the last step
STEEPEST = 3.0  # a step changes no ratio of weights by more than a power of e
SMALLEST_WEIGHT = 1e-12  # from where a weight can come back in a few rounds


def propose(problem, weights):
    """Yield weights, and take the evaluation at each."""
    old = away_from_zero(weights, problem.norm)
    here = yield old
    eta = 1 / max(old @ here.quadratics, problem.upper * np.finfo(float).eps, np.finfo(float).tiny)
    while True:
        new = _step(old, eta * here.quadratics / 2)
        there = yield new
        change = (new - old) @ (here.quadratics - there.quadratics) / 2
        distance = (new - old) @ np.log(new / old)
        eta = np.clip(distance / change, eta / LONGEST, LONGEST * eta) if change > 0 else LONGEST * eta
        here, old = there, new


def _step(weights, exponents):
    below = exponents.max() - exponents
    raised = weights * np.exp(-below * min(1.0, STEEPEST / max(below.max(), np.finfo(float).tiny)))
    return normalized(np.maximum(raised, SMALLEST_WEIGHT * raised.max()), 1.0)

"""Mirror descent on the simplex, with the relative entropy as its distance (VSKL with one group), p = 1.

    beta_j  proportional to  beta_j exp(-eta g_j),    g = -v/2

The published steps, eta = sqrt(2 ln s / t) / (max g - min g), take thousands of rounds to a gap of 1e-5. Here
eta is the length of the last move over that of the change of the gradient, in the metric of the entropy,

    eta^2 = (new - old)'(log new - log old) / sum_j beta_j (change of g_j, less its mean)^2

and the first one, 2 / beta'v, makes nearly two steps of `group_lasso.py` at once.
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
    eta = 2 / max(old @ here.quadratics, problem.upper * np.finfo(float).eps, np.finfo(float).tiny)
    while True:
        new = _step(old, eta * here.quadratics / 2)
        there = yield new
        length = _length(old, new, (there.quadratics - here.quadratics) / 2)
        eta = np.clip(length, eta / LONGEST, eta * LONGEST)
        here, old = there, new


def _length(old, new, change):
    """The eta that the last change of the gradient asks for; infinite where it did not change."""
    move, middle = new - old, (old + new) / 2
    across = middle @ (change - middle @ change) ** 2
    return np.sqrt(move @ np.log(new / old) / across) if across > 0 else np.inf


def _step(weights, exponents):
    below = exponents.max() - exponents
    raised = weights * np.exp(-below * min(1.0, STEEPEST / max(below.max(), np.finfo(float).tiny)))
    return normalized(np.maximum(raised, SMALLEST_WEIGHT * raised.max()), 1.0)

"""Projected gradient on the simplex with backtracking (GMKL), p = 1.

Steps have the length that the last change of the gradient suggests, and are shortened until the objective
falls by part of what the gradient promises.
"""

import numpy as np

LONGEST = 1e6  # step, in units of the one from a corner to another
SHORTEST = 1e-9
ENOUGH = 1e-4  # of the decrease that the gradient promises


def propose(problem, weights):
    """Yield weights, and take the evaluation at each."""
    problem.share = min(problem.share, 1 / 16)  # objectives are compared
    here, length = (yield weights), 1.0
    while True:
        scale = np.ptp(here.quadratics) / 2 or 1.0
        there = yield _step(here, length / scale)
        while not _falls(here, there) and length > SHORTEST:
            length /= 4
            there = yield _step(here, length / scale)
        move, change = there.weights - here.weights, (here.quadratics - there.quadratics) / 2
        curvature = move @ change
        length = min(scale * (move @ move) / curvature, LONGEST) if curvature > 0 else 4 * length
        here = there


def _step(evaluation, length):
    return nearest_on_simplex(evaluation.weights + length * evaluation.quadratics / 2)


def _falls(here, there):
    promised = here.quadratics @ (there.weights - here.weights) / 2
    return there.solution.dual <= here.primal - ENOUGH * promised  # true as far as can be known


def nearest_on_simplex(point):
    """The point of the simplex with the least Euclidean distance."""
    descending = np.sort(point)[::-1]
    excess = (np.cumsum(descending) - 1) / np.arange(1, len(point) + 1)
    return np.maximum(point - excess[np.flatnonzero(descending > excess)[-1]], 0)

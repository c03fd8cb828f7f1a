"""Reduced gradient (SimpleMKL), p = 1.

All weights move along the gradient, and the largest one, mu, keeps their sum at one:

    d_j = g_mu - g_j (0 where beta_j = 0 and g_j > g_mu),    d_mu = -sum of the others,    g = -v/2

The step goes on until a weight vanishes, as long as the objective falls there; the direction then goes on
without it. Where the objective rises, the best step lies before, and the slope along the direction finds it.
"""

import numpy as np

TRIALS = 8  # of a length, at most
FLAT = 0.1  # a slope below this part of the first is flat enough
VANISHED = 1e-6  # a weight below it is as good as none: steps that end there would be too short


def propose(problem, weights):
    """Yield weights, and take the evaluation at each."""
    problem.share = min(problem.share, 1 / 16)  # slopes are compared
    here = yield weights
    while True:
        direction = _direction(here.weights, here.quadratics)
        there = yield _move(here.weights, direction, _longest(here.weights, direction))
        while direction.any() and _slope(there, direction) < 0:
            here, direction = there, _without_vanished(there.weights, direction)
            there = yield _move(here.weights, direction, _longest(here.weights, direction))
        here = yield from _search_line(here, there, direction)


def _search_line(here, there, direction):
    """The point between two evaluations where the slope along the direction is flat; regula falsi."""
    low, high = 0.0, _longest(here.weights, direction)
    slope_low, slope_high = _slope(here, direction), _slope(there, direction)
    middle, first = here, abs(slope_low)
    for _ in range(TRIALS):
        if slope_low >= 0 or slope_high <= 0:
            break
        length = low + (high - low) * np.clip(slope_low / (slope_low - slope_high), 0.05, 0.95)
        middle = yield _move(here.weights, direction, length)
        slope = _slope(middle, direction)
        if abs(slope) <= FLAT * first:
            break
        if slope < 0:
            low, slope_low = length, slope
        else:
            high, slope_high = length, slope
    return middle


def _slope(evaluation, direction):
    return -evaluation.quadratics @ direction / 2


def _direction(weights, quadratics):
    largest = weights.argmax()
    direction = (quadratics - quadratics[largest]) / 2
    direction[(weights <= 0) & (direction < 0)] = 0
    direction[largest] -= direction.sum()
    return direction


def _without_vanished(weights, direction):
    """The direction once a weight is gone: the largest one takes its share."""
    direction = np.where((weights <= 0) & (direction < 0), 0.0, direction)
    direction[weights.argmax()] -= direction.sum()
    return direction


def _longest(weights, direction):
    """The length at which the first weight vanishes."""
    falling = direction < 0
    return np.min(weights[falling] / -direction[falling]) if falling.any() else 0.0


def _move(weights, direction, length):
    moved = np.maximum(weights + length * direction, 0)
    moved[moved < VANISHED * moved.max()] = 0
    return moved / moved.sum()

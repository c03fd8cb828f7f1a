"""How the next weights of kernels are found: one generator for each method.

Each yields weights and is sent the evaluation at them (`kernel_problem.py`), round after round.

    g = -v/2 is the gradient of J at the weights beta,    v_j = <T, K_j T>
"""

import numpy as np

from tagrank.solvers.multiple_kernel.cutting_planes import away_from_zero, normalized
from tagrank.solvers.multiple_kernel.kernel_problem import by_group

LEVEL = 0.5  # the dissertation has 0.9, which takes half as many rounds again

# mirror descent
LARGEST_GROWTH = 4.0  # of a step, times the last one
STEEPEST = 3.0  # a step changes no ratio of weights by more than a power of e
SMALLEST_WEIGHT = 1e-12  # from where a weight can come back in a few rounds

# projected gradient
LONGEST = 1e6  # step, in units of the one from a corner to another
SHORTEST = 1e-9
ENOUGH = 1e-4  # of the decrease that the gradient promises

# reduced gradient
TRIALS = 8  # of a length, at most
FLAT = 0.1  # a slope below this part of the first is flat enough
VANISHED = 1e-6  # a weight below it is as good as none: steps that end there would be too short


def lowest_of_planes(problem, weights):
    """The next weights are where the maximum of all cutting planes is least.

    A semi-infinite linear program for p = 1 (SILP), and for p > 1 the same with the ball of the norm behind
    tangent planes (SIP); see `cutting_planes.py`.
    """
    problem.has_planes = True
    while True:
        yield weights
        weights = problem.lowest


def group_lasso(problem, weights):
    """Weights in closed form (MKL-GL), any p >= 1.

    With f_j = beta_j K_j T fixed, the primal 1/2 sum_j |f_j|^2 / beta_j + losses is least, over |beta|_p = 1,
    at

        beta_j  proportional to  |f_j|^(2/(p+1)),    |f_j|^2 = beta_j^2 v_j

    so that the objective falls in each round. A weight of zero would stay zero: the search starts inside.
    """
    weights = away_from_zero(weights, problem.norm)
    while True:
        evaluation = yield weights
        lengths = weights * np.sqrt(np.maximum(evaluation.quadratics, 0))
        weights = normalized(lengths ** (2 / (problem.norm + 1)), problem.norm)


def level(problem, weights):
    """The level method, p = 1: cutting planes, but steps that stay near the last weights.

    Planes may come from coefficients that are trained loosely: any feasible ones give valid planes.
    """
    while True:
        evaluation = yield weights
        weights = below_level(problem, evaluation.weights)


def below_level(problem, weights):
    """The nearest point of the simplex where no cutting plane exceeds a level between the best bounds.

    min |beta - last|^2    c_t - 1/2 beta'v_t <= LEVEL * upper + (1 - LEVEL) * lower,    sum beta = 1
    """
    import daqp

    planes, highest = problem.planes, LEVEL * problem.upper + (1 - LEVEL) * problem.lower
    constants, quadratics = planes.values()
    n_kernels, equality = len(weights), 5
    A = np.vstack([np.ones(n_kernels), quadratics / (2 * planes.scale)])
    low = np.concatenate([np.zeros(n_kernels), [1.0], (constants - highest) / planes.scale])
    high = np.concatenate([np.ones(n_kernels), [1.0], np.full(len(constants), 1e30)])
    sense = np.zeros(len(low), np.int32)
    sense[n_kernels] = equality
    nearest, _, flag, _ = daqp.solve(np.eye(n_kernels), -weights, A, high, low, sense, primal_tol=1e-9)
    return normalized(nearest, 1.0) if flag > 0 else problem.lowest  # rounding may leave no such point


def mirror(problem, weights):
    """Mirror descent with the relative entropy as its distance (VSKL), p = 1: weights of a group sum to one.

        beta_j  proportional to  beta_j exp(-eta g_j)

    The published steps, eta = sqrt(2 ln s / t) / (max g - min g), take thousands of rounds to a gap of 1e-5.
    Here eta is the length of the last move over that of the change of the gradient, in the metric of the
    entropy,

        eta^2 = (new - old)'(log new - log old) / sum_j beta_j (change of g_j, less its mean)^2

    and the first one, 2 / beta'v, makes nearly two steps of `group_lasso` at once.
    """
    groups = problem.groups
    old = by_group(lambda part: away_from_zero(part, 1.0), weights, groups)
    here = yield old
    eta = 2 / max(old @ here.quadratics, problem.upper * np.finfo(float).eps, np.finfo(float).tiny)
    while True:
        new = _mirror_step(old, eta * here.quadratics / 2, groups)
        there = yield new
        length = _mirror_length(old, new, (there.quadratics - here.quadratics) / 2, groups)
        eta = np.clip(length, eta / LARGEST_GROWTH, eta * LARGEST_GROWTH)
        here, old = there, new


def _mirror_length(old, new, change, groups):
    """The eta that the last change of the gradient asks for; infinite where it did not change."""
    move, middle = new - old, (old + new) / 2
    across = middle @ (change - np.bincount(groups, middle * change)[groups]) ** 2
    return np.sqrt(move @ np.log(new / old) / across) if across > 0 else np.inf


def _mirror_step(weights, exponents, groups):
    below = by_group(lambda part: part.max() - part, exponents, groups)
    raised = weights * np.exp(-below * min(1.0, STEEPEST / max(below.max(), np.finfo(float).tiny)))
    return by_group(
        lambda part: normalized(np.maximum(part, SMALLEST_WEIGHT * part.max()), 1.0), raised, groups
    )


def projected_gradient(problem, weights):
    """Projected gradient on the simplex with backtracking (GMKL), p = 1.

    Steps have the length that the last change of the gradient suggests, and are shortened until the objective
    falls by part of what the gradient promises.
    """
    problem.share = min(problem.share, 1 / 16)  # objectives are compared
    here, length = (yield weights), 1.0
    while True:
        scale = np.ptp(here.quadratics) / 2 or 1.0
        there = yield _projected_step(here, length / scale)
        while not _falls(here, there) and length > SHORTEST:
            length /= 4
            there = yield _projected_step(here, length / scale)
        move, change = there.weights - here.weights, (here.quadratics - there.quadratics) / 2
        curvature = move @ change
        length = min(scale * (move @ move) / curvature, LONGEST) if curvature > 0 else 4 * length
        here = there


def _projected_step(evaluation, length):
    """The point of the simplex that is nearest to where the gradient leads."""
    point = evaluation.weights + length * evaluation.quadratics / 2
    descending = np.sort(point)[::-1]
    excess = (np.cumsum(descending) - 1) / np.arange(1, len(point) + 1)
    return np.maximum(point - excess[np.flatnonzero(descending > excess)[-1]], 0)


def _falls(here, there):
    promised = here.quadratics @ (there.weights - here.weights) / 2
    return there.solution.dual <= here.primal - ENOUGH * promised  # true as far as can be known


def reduced_gradient(problem, weights):
    """Reduced gradient (SimpleMKL), p = 1.

    All weights move along the gradient, and the largest one, mu, keeps their sum at one:

        d_j = g_mu - g_j (0 where beta_j = 0 and g_j > g_mu),    d_mu = -sum of the others

    The step goes on until a weight vanishes, as long as the objective falls there; the direction then goes on
    without it. Where the objective rises, the best step lies before, and the slope along the direction finds
    it.
    """
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

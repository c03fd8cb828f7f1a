"""The problem of several kernels, evaluated at given weights; bounds of its optimum; the search for the best.

    min over beta >= 0, |beta|_p <= 1 of J(beta),    J(beta) = max over feasible T of D(T) - 1/2 beta'v(T)

where v_j = <T, K_j T>, and D(T) - 1/2 beta'v is the dual of a max-margin problem (`solvers/dual_ascent.py`)
on K(beta) = sum_j beta_j K_j, for any loss. J is convex, and -v/2 at the best T is its gradient. Any T, found
at any weights, bounds the optimum from both sides (1/p + 1/q = 1):

    primal at these weights  >=  optimum  >=  D(T) - 1/2 |v|_q

and D(T) - 1/2 beta'v <= J(beta) for all beta is a cutting plane. The planes of all rounds together bound the
optimum better than the last T alone; with p = 1, where this is a small linear program, every method has them.

A method (`proposals.py`) is a generator: it yields weights and is sent the evaluation at them, round after
round. It has no stopping rule of its own: the search ends once the relative gap between the best bounds is
small.
"""

from contextlib import nullcontext
from typing import NamedTuple

import numpy as np

from tagrank.resources import is_interrupt, limited_threads
from tagrank.solvers.dual_ascent import solve_dual
from tagrank.solvers.multiple_kernel.cutting_planes import CuttingPlanes, dual_norm, without_smallest
from tagrank.solvers.solution import SINGLE_PRECISION_TOL, KernelPoint, KernelSolution, Solution, relative_gap

LARGEST_SHARE, SMALLEST_SHARE = 1 / 4, 1 / 64  # of the gap, that a training of the coefficients may leave
WORTH_THREADS = 2**17  # coefficients, below which threads of a training wait for each other too often
SLOW = 0.9  # a gap that does not fall below this part of the last one may be the trainings' own
MOST_UNFINISHED = 5  # trainings in a row that came to no end: kernels too large for C, say


class KernelEvaluation(NamedTuple):
    """The coefficients at some weights.

    Attributes
    ----------
    weights : array, shape (n_kernels,)
    solution : Solution of the max-margin problem on K(weights)
    quadratics : array, shape (n_kernels,), v_j = <T, K_j T>
    constant : float, D(T): constant - 1/2 beta'quadratics <= J(beta) for all beta
    dual : float, constant - 1/2 |quadratics|_q
    """

    weights: np.ndarray
    solution: Solution
    quadratics: np.ndarray
    constant: float
    dual: float

    @property
    def primal(self):
        return self.solution.primal


class KernelProblem:
    """Evaluations at given weights, each started from the last one, and the best bounds that they gave.

    A training is as exact as the gap needs that the weights have left; where the gap hardly falls, more so.

    Attributes
    ----------
    best : KernelEvaluation with the smallest primal, or None
    lower : float, the largest lower bound
    groups : int array, shape (n_kernels,), all zero: weights sum to one in each group
    has_planes : bool, whether cutting planes are kept; a method may ask for them before the first evaluation
    planes : CuttingPlanes, from the first evaluation on
    lowest : array, shape (n_kernels,), the weights where the maximum of all planes is least
    """

    def __init__(self, stack, make_loss, bounds, *, norm, tol, max_iter, rng, start, intercept, ending):
        if tol < SINGLE_PRECISION_TOL and np.dtype(stack.dtype) != np.float64:
            raise ValueError(
                f"tol={tol:g} needs kernels in float64, got {np.dtype(stack.dtype)}: in float32 choose a tol "
                f"of at least {SINGLE_PRECISION_TOL:g}"
            )
        self.stack = stack
        self.make_loss = make_loss
        self.bounds = bounds
        self.norm = norm
        self.tol = tol
        self.max_iter = max_iter
        self.n_iter = 0
        self.rng = rng
        self.coefficients = start
        self.intercept = intercept
        self.ending = ending
        self.best = None
        self.lower = -np.inf
        self.share = LARGEST_SHARE
        self.was_interrupted = False
        self.n_unfinished = 0
        self.has_planes = norm == 1
        self.planes = self.lowest = None
        self.groups = np.zeros(stack.n_kernels, np.intp)

    @property
    def n_kernels(self):
        return self.stack.n_kernels

    @property
    def upper(self):
        return np.inf if self.best is None else self.best.primal

    @property
    def dual(self):
        """The best lower bound; rounding may not lift it above the upper one."""
        return min(self.lower, self.upper)

    @property
    def gap(self):
        return 1.0 if self.best is None else relative_gap(self.upper, self.dual)

    def evaluate(self, weights, max_iter=1000):
        """Train the coefficients at some weights, and take over the bounds that they give."""
        weights = without_smallest(weights, self.norm, self.tol)
        data, tol = kernel_data(self.stack, weights, self.intercept), self.wanted_gap
        solution = self.train(data, self.bounds, self.coefficients, tol=tol, max_iter=max_iter)
        self.coefficients = solution.coefficients
        quadratics = self.stack.quadratics(solution.coefficients)
        constant = solution.dual + weights @ quadratics / 2
        dual = constant - dual_norm(quadratics, self.norm) / 2
        evaluation = KernelEvaluation(weights, solution, quadratics, constant, dual)
        self.take_bounds(evaluation, [(constant, quadratics)])
        return evaluation

    @property
    def wanted_gap(self):
        """Relative gap of the next training."""
        return self.share * max(min(self.gap, 1.0), self.tol)

    def train(self, data, bounds, start, *, tol, max_iter):
        """Coefficients within some bounds, on data of the weighted kernels."""
        with nullcontext() if bounds.size >= WORTH_THREADS else limited_threads(1):
            solution = solve_dual(
                data,
                self.make_loss,
                bounds,
                kind=self.stack.kind,
                tol=tol,
                max_iter=max_iter,
                random_state=self.rng,
                start=start,
                intercept=self.intercept,
                stop=lambda: self.ending.reason() is not None,
            )
        self.was_interrupted |= solution.stopped_by == "interrupt"
        self.n_unfinished = self.n_unfinished + 1 if solution.stopped_by == "max_iter" else 0
        return solution

    def take_bounds(self, evaluation, planes):
        """Take over the bounds of an evaluation, and its planes (constant, quadratics)."""
        before = self.gap
        self.n_iter += 1
        if evaluation.primal < self.upper:
            self.best = evaluation
        self.raise_lower(evaluation.dual)
        if self.has_planes:
            self._take_planes(planes)
        if self.gap > SLOW * before:
            self.share = max(self.share / 2, SMALLEST_SHARE)

    def _take_planes(self, planes):
        if self.planes is None:
            self.planes = CuttingPlanes(self.n_kernels, self.norm, scale=self.upper)
        for constant, quadratics in planes:
            self.planes.add(constant, quadratics)
        self.lowest, bound = self.planes.minimize()
        self.raise_lower(bound)

    def raise_lower(self, bound):
        """Take over a lower bound of the optimum."""
        self.lower = max(self.lower, bound)


def by_group(function, weights, groups):
    """What a function makes of the weights of each group."""
    found = np.empty(len(weights))
    for group in range(groups.max() + 1):
        found[groups == group] = function(weights[groups == group])
    return found


def kernel_data(stack, weights, intercept):
    """What the engine reads of the weighted kernels; rows get a constant feature for an intercept."""
    data = stack.combined(weights)
    if stack.kind == "gram" or not intercept:
        return data
    return np.hstack([data, np.full((len(data), 1), intercept**0.5, data.dtype)])


def search(problem, proposals, callback):
    """Round after round until the gap is small, or the end is asked for."""
    trace, stopped_by, weights = [], None, next(proposals)
    try:
        while stopped_by is None:
            evaluation = problem.evaluate(weights)
            trace.append(_measure(problem, evaluation.weights))
            if callback is not None:
                callback(trace[-1])
            stopped_by = _reason_to_end(problem)
            if stopped_by is None:
                weights = proposals.send(evaluation)
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interrupt(error):
            raise
        stopped_by = "interrupt"
        if problem.best is None:
            problem.evaluate(weights, max_iter=0)
        if not trace or (trace[-1].primal, trace[-1].dual) != (problem.upper, problem.dual):
            trace.append(_measure(problem, problem.best.weights))
    best = vars(problem.best.solution) | {
        "dual": problem.dual, "n_iter": trace[-1].n_iter, "stopped_by": stopped_by, "trace": trace,
    }  # fmt: skip
    return KernelSolution(**best, kernel_weights=problem.best.weights)


def _measure(problem, weights):
    seconds = problem.ending.seconds
    return KernelPoint(problem.n_iter, seconds, problem.upper, problem.dual, problem.gap, weights)


def _reason_to_end(problem):
    if problem.gap <= problem.tol:
        return "tol"
    if problem.was_interrupted:
        return "interrupt"
    if problem.n_iter >= problem.max_iter or problem.n_unfinished >= MOST_UNFINISHED:
        return "max_iter"
    return problem.ending.reason()

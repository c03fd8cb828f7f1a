"""One weighting for all labels that is best for the worst of them, hinge loss.

    min over beta >= 0, |beta|_p <= 1 of max_k J_k(beta)

where J_k is the value of label k on K(beta). Every label gives cutting planes, J_k(beta) >= c_k - 1/2
beta'v_k, and any shares gamma of the labels a lower bound: sum_k gamma_k c_k - 1/2 |sum_k gamma_k v_k|_q.

`WorstProblem`: labels that cannot be the worst are trained loosely, and only those that are near it get
planes. With p = 1 the next weights are found as in the level method; the least point of all planes took ten
times as many rounds.

`GameProblem`: the same by a stochastic game (ML-MKL-SA with less noise), p = 1. One player has the weights
beta of the kernels, the other one the shares gamma of the labels, in

    min over beta, max over gamma of sum_k gamma_k J_k(beta)

Each step draws a label k from q = (1 - MIXING) gamma + MIXING / n_labels, trains this one on K(beta), and
moves both players by exponents, in units of the objective:

    log beta += eta 1/2 (sum_l gamma_l V_l + (gamma_k / q_k) (v_k - V_k))
    log gamma += eta (U + e_k (J_k - U_k) / q_k)

where U_l and V_l are what was found when label l was trained last. In the mean these are the gradients, as
with U = V = 0, which is the dissertation's (`published_game.py`); but what is found again and again makes no
noise.

As many steps as there are labels make a round. Whenever the number of rounds has doubled, the means of beta
and gamma since the last measurement are measured, which trains all labels and is a round too.
"""

from typing import NamedTuple

import numpy as np

from tagrank.arrays import row_blocks
from tagrank.losses.hinge import Hinge
from tagrank.solvers.multiple_kernel.cutting_planes import (
    away_from_zero,
    dual_norm,
    normalized,
    without_smallest,
)
from tagrank.solvers.multiple_kernel.kernel_problem import KernelProblem, kernel_data
from tagrank.solvers.multiple_kernel.proposals import below_level
from tagrank.solvers.solution import Solution

LOOSE = 0.1  # relative gap of all labels together, before it is known which are the worst
TRAININGS = 5  # of labels that turn out to be near the worst, at most
NEAR = 0.8  # of the largest value
BLOCK = 512
MIXING = 0.2
TRAINING_TOL = 1e-2  # relative gap of the training of one label
FARTHEST = 5.0  # sum of the first steps of a round


class WorstEvaluation(NamedTuple):
    """All labels at some weights; planes of the labels near the worst.

    Attributes
    ----------
    weights : array, shape (n_kernels,)
    solution : Solution, whose objectives are those of the worst label
    labels : array, those that have planes
    constants, quadratics : arrays, shapes (n_labels,) and (n_labels, n_kernels), of these labels
    dual : float, the best bound of a single label
    """

    weights: np.ndarray
    solution: Solution
    labels: np.ndarray
    constants: np.ndarray
    quadratics: np.ndarray
    dual: float

    @property
    def primal(self):
        return self.solution.primal


def propose_below_level(problem, weights):
    """Yield weights, and take the evaluation at each: the planes of all labels are under one maximum."""
    problem.has_planes = True
    while True:
        evaluation = yield weights
        weights = problem.lowest if problem.norm > 1 else below_level(problem, evaluation.weights)


class WorstProblem(KernelProblem):
    """Evaluations of all labels, whose upper bound is the value of the worst one."""

    near = NEAR

    def __init__(self, stack, bounds, **options):
        super().__init__(stack, Hinge, bounds, **options)
        start = self.coefficients
        self.coefficients = np.zeros(bounds.shape) if start is None else np.array(start, np.float64)

    def evaluate(self, weights, max_iter=1000):
        weights = without_smallest(weights, self.norm, self.tol)
        primals, duals = self._train_all(kernel_data(self.stack, weights, self.intercept), max_iter)
        labels = np.flatnonzero(primals >= self.near * primals.max())
        quadratics = self.stack.quadratics_by_label(self.coefficients[:, labels])
        constants = duals[labels] + quadratics @ weights / 2
        single = [c - dual_norm(v, self.norm) / 2 for c, v in zip(constants, quadratics, strict=True)]
        solution = Solution(self.coefficients.copy(), primals.max(), duals.max(), 1, "tol")
        evaluation = WorstEvaluation(weights, solution, labels, constants, quadratics, max(single))
        self.take_bounds(evaluation, zip(constants, quadratics, strict=True))
        return evaluation

    def _train_all(self, data, max_iter):
        """Primal and dual of every label: exact for those that can be the worst."""
        labels, tol = np.arange(self.bounds.shape[1]), LOOSE
        primals, duals = np.full(len(labels), np.inf), np.full(len(labels), -np.inf)
        for _ in range(TRAININGS):
            primals[labels], duals[labels] = self.train_labels(data, labels, tol, max_iter)
            largest_gap = self.wanted_gap * primals.max()
            may_be_worst = primals >= duals.max()
            labels = np.flatnonzero(may_be_worst & (primals - duals > largest_gap))
            if len(labels) == 0 or self.was_interrupted or self.ending.reason():
                break
            tol = largest_gap / primals[labels].sum()
        return primals, duals

    def train_labels(self, data, labels, tol, max_iter=1000):
        """Train some labels from where they are; returns their primals and duals."""
        bounds = np.ascontiguousarray(self.bounds[:, labels])
        start = self.coefficients[:, labels]
        solution = self.train(data, bounds, start, tol=tol, max_iter=max_iter)
        A = self.coefficients[:, labels] = solution.coefficients
        if len(labels) == 1:
            return np.array([solution.primal]), np.array([solution.dual])
        return self._objectives(A, bounds, self._scores(data, A))

    def _scores(self, data, A):
        if self.stack.kind == "rows":
            return data @ (data.T @ A)
        scores = np.empty(A.shape)
        for block in row_blocks(len(A), BLOCK):
            scores[block] = data[block].astype(np.float64) @ A
        return scores + self.intercept * A.sum(axis=0)

    def _objectives(self, A, bounds, scores):
        """Of every label."""
        inner = (A * scores).sum(axis=0) / 2
        losses = (np.abs(bounds) * np.maximum(1 - np.sign(bounds) * scores, 0)).sum(axis=0)
        duals = np.abs(A).sum(axis=0) - inner
        return np.maximum(inner + losses, duals), duals


def propose_means(problem, weights):
    """The game has its weights; what is measured is their mean."""
    problem.log_weights = np.log(away_from_zero(weights, 1.0))
    while True:
        weights = (yield weights).weights


class GameProblem(WorstProblem):
    """An evaluation plays as many rounds as were played before, and measures their means.

    The logarithms of beta and gamma are known up to constants; steps shrink with the root of their number.
    """

    near = 0.0  # every label has a share in the lower bound, and so needs its quadratic forms

    def __init__(self, stack, bounds, **options):
        super().__init__(stack, bounds, **options)
        self.log_shares = np.zeros(bounds.shape[1])
        self.n_steps = 0

    def evaluate(self, weights, max_iter=1000):
        n_rounds = min(self.n_iter, self.max_iter - self.n_iter - 1)
        weights, shares = self._play(n_rounds * len(self.log_shares))
        self.n_iter += n_rounds
        evaluation = super().evaluate(weights, max_iter)
        self.raise_lower(shares @ evaluation.constants - dual_norm(shares @ evaluation.quadratics, 1.0) / 2)
        self.quadratics = evaluation.quadratics.copy()
        self.values = evaluation.constants - evaluation.quadratics @ evaluation.weights / 2
        return evaluation

    def _play(self, n_steps):
        """Some steps; returns the means of the weights and of the shares before each, and after the last."""
        beta, gamma = exponentials(self.log_weights), exponentials(self.log_shares)
        weights, shares = beta, gamma
        for _ in range(n_steps):
            if self.ending.reason() or self.was_interrupted:
                break
            self._step(beta, gamma)
            beta, gamma = exponentials(self.log_weights), exponentials(self.log_shares)
            weights, shares = weights + beta, shares + gamma
        return normalized(weights, 1.0), normalized(shares, 1.0)

    def _step(self, beta, gamma):
        n_labels = len(gamma)
        chances = (1 - MIXING) * gamma + MIXING / n_labels
        label = self.rng.choice(n_labels, p=chances / chances.sum())
        data = kernel_data(self.stack, beta, self.intercept)
        _, (value,) = self.train_labels(data, [label], TRAINING_TOL)
        quadratics = self.stack.quadratics(self.coefficients[:, [label]])
        self.n_steps += 1
        slopes, gains = gamma @ self.quadratics, self.values.copy()
        slopes += gamma[label] / chances[label] * (quadratics - self.quadratics[label])
        gains[label] += (value - self.values[label]) / chances[label]
        self.values[label], self.quadratics[label] = value, quadratics
        eta = min(1.0, FARTHEST / n_labels) / np.sqrt(1 + self.n_steps / n_labels) / (self.upper or 1.0)
        self.log_weights += eta * slopes / 2
        self.log_shares += eta * gains


def exponentials(logarithms):
    """What sums to one and has these logarithms, up to a constant."""
    return normalized(np.exp(logarithms - logarithms.max()), 1.0)

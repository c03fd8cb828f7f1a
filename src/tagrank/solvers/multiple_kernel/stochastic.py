"""The worst label by a stochastic game (ML-MKL-SA, corrected), p = 1.

One player has the weights beta of the kernels, the other one the shares gamma of the labels, in

    min over beta, max over gamma of sum_k gamma_k J_k(beta)

Each step draws a label k from q = (1 - MIXING) gamma + MIXING / n_labels, trains this one on K(beta), and
moves both players by exponents, in units of the objective:

    log beta += eta 1/2 (sum_l gamma_l V_l + (gamma_k / q_k) (v_k - V_k))
    log gamma += eta (U + e_k (J_k - U_k) / q_k)

where U_l and V_l are what was found when label l was trained last. In the mean these are the gradients, as
with U = V = 0, which is the dissertation's; but what is found again and again makes no noise.

As many steps as there are labels make a round. Whenever the number of rounds has doubled, the means of beta
and gamma since the last measurement are measured, which trains all labels and is a round too.
"""

import numpy as np

from tagrank.solvers.multiple_kernel import worst
from tagrank.solvers.multiple_kernel.norms import away_from_zero, dual_norm, normalized
from tagrank.solvers.multiple_kernel.problem import kernel_data

MIXING = 0.2
TRAINING_TOL = 1e-2  # relative gap of the training of one label
FARTHEST = 5.0  # sum of the first steps of a round


def propose(problem, weights):
    """The game has its weights; what is measured is their mean."""
    problem.log_weights = np.log(away_from_zero(weights, 1.0))
    while True:
        weights = (yield weights).weights


class Problem(worst.Problem):
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
        beta, gamma = _exponentials(self.log_weights), _exponentials(self.log_shares)
        weights, shares = beta, gamma
        for _ in range(n_steps):
            if self.ending.reason() or self.was_interrupted:
                break
            self._step(beta, gamma)
            beta, gamma = _exponentials(self.log_weights), _exponentials(self.log_shares)
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


def _exponentials(logarithms):
    return normalized(np.exp(logarithms - logarithms.max()), 1.0)

"""The stochastic game for the worst label as it was published (ML-MKL-SA; Bucak 2014, chapter 3), p = 1.

    min over beta, max over gamma of sum_k gamma_k J_k(beta)        beta and gamma sum to one

A step draws one label k from q = (1 - delta) gamma + delta / n_labels, trains this one on K(beta), and moves
both players by exponents:

    beta_j  proportional to  beta_j exp(eta / 2 (gamma_k / q_k) v_kj)
    gamma_k  proportional to  gamma_k exp(eta_labels J_k / q_k)

The answer is the mean of beta over all steps, each before its move. All labels are trained on it once, at the
end: this is the model, and with the mean of gamma its certificate. There is no other stopping rule than the
number of steps: no gap is known on the way, and weights stand still whenever an easy label is drawn.

Signs and factors are the corrected ones: a printed step of gamma descends, and the printed factor is 1 /
gamma_k although the label is drawn from q. Steps have no unit, as published; v and J grow with n_samples * C.
`worst_label.GameProblem` is our own variant, which solves the same problem with far less noise.
"""

import numpy as np

from tagrank.resources import Ending, is_interrupt
from tagrank.solvers.multiple_kernel.cutting_planes import away_from_zero, dual_norm, normalized
from tagrank.solvers.multiple_kernel.kernel_problem import kernel_data
from tagrank.solvers.multiple_kernel.worst_label import WorstProblem, exponentials
from tagrank.solvers.solution import KernelPoint, KernelSolution, relative_gap

ETA, DELTA = 0.01, 0.2  # of the dissertation, for Caltech 101
TRAINING_TOL = 1e-3  # relative gap of the training of one label


def solve_published_game(
    stack,
    bounds,
    *,
    eta=ETA,
    eta_labels=None,
    delta=DELTA,
    tol=1e-3,
    max_iter=1000,
    max_seconds=None,
    random_state=0,
    start=None,
    start_weights=None,
    intercept=0.0,
    stop=None,
    callback=None,
):
    """Play `max_iter` steps; the other options are those of `solve.solve_worst`.

    Parameters
    ----------
    eta : float, step size of the weights of kernels
    eta_labels : float or None, step size of the shares of labels; None for `eta`
    delta : float from 0 to 1, the part of the draws that is even over labels

    Returns
    -------
    KernelSolution: its path has the weights of every step, its trace the one measurement at the end; half of
    `max_seconds` is for the steps
    """
    rng = np.random.default_rng(random_state)
    draws = rng.spawn(1)[0]  # trainings take numbers from `rng`
    problem = _AllLabels(
        stack, bounds, norm=1.0, tol=tol, max_iter=max_iter, rng=rng, start=start, intercept=intercept,
        ending=Ending(None if max_seconds is None else max_seconds / 2, stop),
    )  # fmt: skip
    n_kernels, n_labels = problem.n_kernels, bounds.shape[1]
    first = np.ones(n_kernels) if start_weights is None else np.asarray(start_weights, np.float64)
    players = _Players(away_from_zero(normalized(first, 1.0), 1.0), n_labels, eta, eta_labels or eta, delta)
    stopped_by, began = _play(problem, players, draws, callback), problem.ending
    problem.ending = Ending(None if max_seconds is None else max_seconds / 2, stop)
    weights, shares = players.means()
    evaluation = problem.evaluate(weights, **({"max_iter": 0} if stopped_by == "interrupt" else {}))
    problem.raise_lower(shares @ evaluation.constants - dual_norm(shares @ evaluation.quadratics, 1.0) / 2)
    primal, dual = problem.upper, problem.dual
    gap = relative_gap(primal, dual)
    point = KernelPoint(players.n_steps, began.seconds, primal, dual, gap, evaluation.weights)
    if callback is not None and stopped_by != "interrupt":
        callback(point)
    best = vars(evaluation.solution) | {
        "primal": primal, "dual": dual, "n_iter": players.n_steps, "trace": [point],
        "stopped_by": "tol" if gap <= tol else stopped_by,
    }  # fmt: skip
    path = np.array([*players.path, evaluation.weights])
    return KernelSolution(**best, kernel_weights=evaluation.weights, path=path)


class _AllLabels(WorstProblem):
    """All labels at the mean weights; each has a share in the lower bound, and so needs its quadratics."""

    near = 0.0

    def _train_all(self, data, max_iter):
        """Not only those near the worst: these are the model."""
        n_labels = self.bounds.shape[1]
        return self.train_labels(data, np.arange(n_labels), self.tol / n_labels, max_iter)


class _Players:
    """Weights of kernels and shares of labels, known by their logarithms, and the weights of every step."""

    def __init__(self, weights, n_labels, eta, eta_labels, delta):
        self.log_weights, self.log_shares = np.log(weights), np.zeros(n_labels)
        self.eta, self.eta_labels, self.delta = eta, eta_labels, delta
        self.sum_of_shares = np.zeros(n_labels)
        self.path = []

    @property
    def n_steps(self):
        return len(self.path)

    @property
    def weights(self):
        return exponentials(self.log_weights)

    @property
    def shares(self):
        return exponentials(self.log_shares)

    def chances(self):
        """How likely each label is drawn."""
        return (1 - self.delta) * self.shares + self.delta / len(self.log_shares)

    def move(self, label, value, quadratics):
        """A step, given the objective of the label that was drawn, and its quadratic forms."""
        weights, shares, chance = self.weights, self.shares, self.chances()[label]
        self.path.append(weights)
        self.sum_of_shares += shares
        self.log_weights = np.log(np.maximum(weights, np.finfo(float).tiny))
        self.log_weights += self.eta / 2 * shares[label] / chance * quadratics
        self.log_shares[label] += self.eta_labels * value / chance

    def means(self):
        """Of the weights and of the shares over all steps; the first ones before any."""
        if self.n_steps == 0:
            return self.weights, self.shares
        return np.mean(self.path, axis=0), normalized(self.sum_of_shares, 1.0)


def _play(problem, players, draws, callback):
    """Steps until they are done, or the end is asked for; returns what ended them."""
    try:
        while players.n_steps < problem.max_iter:
            reason = "interrupt" if problem.was_interrupted else problem.ending.reason()
            if reason:
                return reason
            weights, chances = players.weights, players.chances()
            label = draws.choice(len(chances), p=chances / chances.sum())
            data = kernel_data(problem.stack, weights, problem.intercept)
            _, (value,) = problem.train_labels(data, [label], min(TRAINING_TOL, problem.tol))
            players.move(label, value, problem.stack.quadratics(problem.coefficients[:, [label]]))
            if callback is not None:
                seconds = problem.ending.seconds
                callback(KernelPoint(players.n_steps, seconds, np.inf, -np.inf, np.inf, weights))
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interrupt(error):
            raise
        return "interrupt"
    return "max_iter"

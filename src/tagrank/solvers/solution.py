"""What every solver returns: coefficients and the proof of their quality."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

LARGEST_DIAGONAL = 1e30  # products of scores stay within the range of float32
SMALLEST_COST, LARGEST_COST = 1e-100, 1e15  # products of costs stay within the range of their precision
SINGLE_PRECISION_TOL = 2e-5  # a smaller gap drowns in the rounding of float32 scores


class TracePoint(NamedTuple):
    """The state of a solver after `n_iter` passes."""

    n_iter: int
    seconds: float
    primal: float
    dual: float
    gap: float


class KernelPoint(NamedTuple):
    """The state of a search for the weights of kernels after `n_iter` rounds.

    The objectives are the best bounds so far; `weights` are those of this round.
    """

    n_iter: int
    seconds: float
    primal: float
    dual: float
    gap: float
    weights: np.ndarray


OUT_OF_RANGE = (
    "training met nan or infinity: the numbers are too large, too small or too different for floating point; "
    "scale the features, for example with sklearn.preprocessing.StandardScaler, and choose a C nearer to 1"
)


def check_finite(*numbers):
    """Raise if an objective, or a part of one, is nan or infinite: more passes would not mend it."""
    if not np.all(np.isfinite(numbers)):
        raise ValueError(OUT_OF_RANGE)


def check_costs(name, largest):
    """The largest cost, or an error if it is too large or too small to compute with."""
    check_range(name, largest, SMALLEST_COST, LARGEST_COST)
    return largest


def check_range(name, largest, low, high):
    """Raise unless the largest of some numbers is zero, or lies between `low` and `high`."""
    if not (largest == 0 or low <= largest <= high):
        raise ValueError(
            f"{name} must lie between {low:g} and {high:g}, got {largest:.3g}; scale the "
            "features or the similarities, or choose a C nearer to 1"
        )


def relative_gap(primal, dual):
    """(primal - dual) / |primal|."""
    return (primal - dual) / max(abs(primal), np.finfo(np.float64).tiny)


@dataclass
class Solution:
    """A solution with its certificate.

    Attributes
    ----------
    coefficients : array, shape (n_samples, n_labels); scores of new rows are K(new, train) @ coefficients
    primal, dual : float, objectives; dual <= optimum <= primal
    gap : float, (primal - dual) / |primal|
    n_iter : int, passes over the data
    stopped_by : {"tol", "max_iter", "max_seconds", "stop", "interrupt"}
    converged : bool, whether gap <= tol was reached
    weights : array, shape (n_features, n_labels), or None unless the kernel is linear
    thresholds : array, shape (2, n_samples), or None: each sample's best threshold between present and
        absent labels, where the loss has one, and its highest score
    trace : list of TracePoint
    """

    coefficients: np.ndarray
    primal: float
    dual: float
    n_iter: int
    stopped_by: str
    weights: np.ndarray | None = None
    thresholds: np.ndarray | None = None
    trace: list[TracePoint] = field(default_factory=list)

    @property
    def gap(self):
        return relative_gap(self.primal, self.dual)

    @property
    def converged(self):
        return self.stopped_by == "tol"


@dataclass
class KernelSolution(Solution):
    """A solution on K(beta) = sum_j beta_j K_j, whose weights beta were learned too.

    Attributes
    ----------
    kernel_weights : array, shape (n_kernels,)
    n_iter : int, rounds: one training of the coefficients each
    trace : list of KernelPoint
    path : array, shape (n_rounds, n_kernels), or None if the trace has the weights of every round
    """

    kernel_weights: np.ndarray | None = None
    path: np.ndarray | None = None


def sum_of_solutions(solutions, seconds):
    """A KernelPoint of several sets of labels: sums of their objectives, the mean of their weights."""
    primal, dual = sum(one.primal for one in solutions), sum(one.dual for one in solutions)
    weights = np.vstack([one.kernel_weights for one in solutions]).mean(axis=0)
    n_iter = sum(one.n_iter for one in solutions)
    return KernelPoint(n_iter, seconds, primal, dual, relative_gap(primal, dual), weights)


def join_solutions(solutions, seconds):
    """The KernelSolutions of several sets of labels as one, whose weights have a row for each label."""
    if len(solutions) == 1 and solutions[0].coefficients.shape[1] == 1:
        return replace(solutions[0], kernel_weights=np.atleast_2d(solutions[0].kernel_weights))
    point = sum_of_solutions(solutions, seconds)
    n_labels = [one.coefficients.shape[1] for one in solutions]
    return KernelSolution(
        np.hstack([one.coefficients for one in solutions]),
        point.primal,
        point.dual,
        point.n_iter,
        next((one.stopped_by for one in solutions if not one.converged), "tol"),
        trace=[sum_of_solutions(solutions[: at + 1], seconds) for at in range(len(solutions))],
        kernel_weights=np.repeat([one.kernel_weights for one in solutions], n_labels, axis=0),
    )

"""What every solver returns: coefficients and the proof of their quality."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

SINGLE_PRECISION_TOL = 2e-5  # a smaller gap drowns in the rounding of float32 scores


class TracePoint(NamedTuple):
    """The state of a solver after `n_iter` passes."""

    n_iter: int
    seconds: float
    primal: float
    dual: float
    gap: float


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
    thresholds : array, shape (2, n_samples), or None: each sample's best threshold, where the loss has one,
        and its highest score
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

"""Steps with momentum on batches of samples, for every factorization.

A factorization says what its data terms and half their slope are (`slope`), half their largest curvature
(`curvature`), and what they are where all weights are zero (`of_nothing`). With their mean over a batch, and
beta |weights|^2 beside them:

    velocity = momentum * velocity - step * slope,    weights = weights + velocity

Samples during or after which the loss is not finite, or far above that of zero weights, are visited again
from the state before them, at rest, with half the step. So no state that is kept has diverged.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tagrank.arrays import copy_of, namespace_of, row_blocks

EXPLODED = 3.0  # times the loss of zero weights, or of the first ones if these are worse
MAX_HALVINGS = 30
FIRST_SAMPLES = 512


def find_step(problem, weights, samples, beta):
    """The inverse of the largest curvature of the loss, on the first samples.

    Steps with momentum on a quadratic converge up to 2 (1 + momentum) times as much.
    """
    batch = _first(samples)
    curvature = 2 * (float(problem.curvature(weights, batch)) / batch.X.shape[0] + beta)
    return 1 / curvature if curvature > 0 else 1.0


def find_limit(problem, weights, samples, beta):
    """How many times the loss of zero weights is too much, given the first weights."""
    batch = _first(samples)
    nothing, value = float(problem.of_nothing(batch)), float(problem.slope(weights, batch)[0])
    loss = value + beta * batch.X.shape[0] * float((weights * weights).sum())
    return EXPLODED * max(1.0, loss / nothing if nothing > 0 else 1.0)


def _first(samples):
    return samples.take(np.arange(min(len(samples), FIRST_SAMPLES)))


@dataclass
class Descent:
    """What is learned, and how.

    Attributes
    ----------
    problem : the factorization
    weights, velocity : arrays of the same shape
    step, limit, momentum, beta : numbers
    n_halvings : int, how often `step` was halved
    """

    problem: Any
    weights: Any
    velocity: Any
    step: float
    limit: float
    momentum: float
    beta: float
    n_halvings: int = 0

    def learn(self, samples, order, *, batch_size, shrink=1.0, ending=None):
        """Visit samples in this order with `shrink` times the step; returns how many, and their mean loss.

        `ending` is asked before every batch, and may have a reason to stop.
        """
        kept = copy_of(self.weights)
        while True:
            with np.errstate(over="ignore", invalid="ignore"):
                n_seen, loss, is_sound = self._visit(samples, order, batch_size, shrink, ending)
            if is_sound:
                return n_seen, loss / max(n_seen, 1)
            self._halve()
            self.weights, self.velocity = copy_of(kept), 0 * kept
            order, ending = order[:n_seen], None

    def _visit(self, samples, order, batch_size, shrink, ending):
        """Samples visited, their data terms, and whether these were sound, during and after."""
        n_seen, loss, nothing, batch = 0, 0.0, 0.0, None
        for block in row_blocks(len(order), batch_size):
            if ending is not None and ending.reason():
                break
            batch = samples.take(order[block])
            value, slope = self.problem.slope(self.weights, batch)
            self._move(slope, self.step * shrink, block.stop - block.start)
            loss, nothing = loss + value, nothing + self.problem.of_nothing(batch)
            n_seen = block.stop
        if batch is None:
            return 0, 0.0, True
        return n_seen, float(loss), self._is_sound(loss, nothing) and self._ends_soundly(value, batch)

    def _ends_soundly(self, value, batch):
        """Whether the last step led nowhere bad; `value` is that of the data terms before it."""
        nothing = float(self.problem.of_nothing(batch))
        squares = self.beta * batch.X.shape[0] * float((self.weights * self.weights).sum())
        if float(value) + squares <= nothing:
            return True
        return self._is_sound(float(self.problem.slope(self.weights, batch)[0]) + squares, nothing)

    def _is_sound(self, loss, nothing):
        return math.isfinite(float(loss)) and float(loss) <= self.limit * float(nothing)

    def _move(self, slope, step, n_samples):
        slope *= 2 * step / n_samples
        self.velocity *= self.momentum
        self.velocity -= slope
        if self.beta:
            namespace_of(slope).multiply(self.weights, 2 * step * self.beta, out=slope)
            self.velocity -= slope
        self.weights += self.velocity

    def _halve(self):
        if self.n_halvings == MAX_HALVINGS:
            raise ValueError(
                f"training met nan or infinity: it diverges even with a step of {self.step:.3g}, halved "
                f"{MAX_HALVINGS} times; scale the features, for example with "
                "sklearn.preprocessing.StandardScaler"
            )
        self.step, self.n_halvings = self.step / 2, self.n_halvings + 1

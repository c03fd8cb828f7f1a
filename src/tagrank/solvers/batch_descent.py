"""Factorization of features and labels over one space: steps with momentum on batches of samples.

A factorization (`factorization_terms.py`) says what its data terms and half their slope are (`slope`), half
their largest curvature (`curvature`), and what they are where all weights are zero (`of_nothing`). With their
mean over a batch, and beta |weights|^2 beside them:

    velocity = momentum * velocity - step * slope,    weights = weights + velocity

Samples during or after which the loss is not finite, or far above that of zero weights, are visited again
from the state before them, at rest, with half the step. So no state that is kept has diverged. Epochs are
shuffled passes over the samples, which may end early by what is held out.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tagrank.arrays import beside, copy_of, namespace_of, row_blocks
from tagrank.solvers.solution import TracePoint

SPARSE_LABELS = 0.1  # share of present labels below which sparse products are faster
BYTES_ON_DEVICE = 2**32  # rows that take more are moved batch by batch
EXPLODED = 3.0  # times the loss of zero weights, or of the first ones if these are worse
MAX_HALVINGS = 30
FIRST_SAMPLES = 512
ROWS = 4096  # held-out samples that are answered at once


class SampleBatch(NamedTuple):
    """Rows, labels of zeros and ones, which of them are known (None: all), and the sums of their squares."""

    X: Any
    T: Any
    known: Any
    squares_X: Any
    squares_T: Any


class Samples:
    """Rows (n, d), dense or sparse, and states (n, m) of their labels.

    Parameters
    ----------
    X : array or csr matrix, float32
    states : int8 array of +1, -1 and 0
    like : array of the library and on the device of what is learned
    """

    def __init__(self, X, states, like):
        self.like, self.is_numpy = like, namespace_of(like) is np
        known = states != 0
        self.X = X if self.is_numpy or 4 * np.prod(X.shape) > BYTES_ON_DEVICE else self._dense(X)
        present = states > 0
        is_sparse = self.is_numpy and known.all() and present.mean() < SPARSE_LABELS
        self.T = sparse.csr_array(present, dtype=np.float32) if is_sparse else self._dense(present)
        self.known = None if known.all() else self._dense(known)

    def __len__(self):
        return self.T.shape[0]

    def take(self, rows):
        """The batch of some indices."""
        X, T = self._rows(self.X, rows), self._rows(self.T, rows)
        known = None if self.known is None else self._rows(self.known, rows)
        return SampleBatch(X, T, known, _squares(X), _squares(T))

    def _rows(self, matrix, rows):
        if self.is_numpy:
            return matrix[rows]
        if namespace_of(matrix) is np:
            return self._dense(matrix[rows])
        return matrix[beside(np.asarray(rows), self.like)]

    def _dense(self, matrix):
        values = matrix.toarray() if sparse.issparse(matrix) else matrix
        return beside(np.asarray(values, dtype=np.float32), self.like)


def _squares(matrix):
    values = matrix.data if sparse.issparse(matrix) else matrix
    return (values * values).sum()


def begin_descent(problem, weights, velocity, X, states, *, step, limit, momentum, beta):
    """A descent from these weights, and its samples, which tell `step` and `limit` where these are None."""
    samples = Samples(X, states, weights)
    if step is None:
        step = find_step(problem, weights, samples, beta)
    if limit is None:
        limit = find_limit(problem, weights, samples, beta)
    return Descent(problem, weights, velocity, step, limit, momentum, beta), samples


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


def make_epochs(descent, samples, held_out, *, max_iter, decay, batch_size, patience, rng, ending, callback):
    """At most `max_iter` epochs, the step of epoch k divided by 1 + decay k; returns epochs and visits.

    With `held_out` samples (rows and states; None: none) the weights end as they were when these were
    answered best, and `patience` epochs that do not better this are the last ones.
    """
    best, n_epochs, n_seen, kept = float("inf"), 0, 0, None
    if held_out is not None:
        held_out = Samples(*held_out, descent.weights)
    while n_epochs < max_iter and (kept is None or n_epochs - kept[0] < patience):
        order = rng.permutation(len(samples))
        n_visited, loss = descent.learn(
            samples, order, batch_size=batch_size, shrink=1 / (1 + decay * n_epochs), ending=ending
        )
        n_seen += n_visited
        if n_visited < len(samples):
            break
        n_epochs += 1
        if held_out is not None:
            error = answer_error(descent.problem, descent.weights, held_out)
            if error < best:
                best, kept = error, (n_epochs, copy_of(descent.weights))
        if callback is not None:
            # the loss is never negative, and no better bound is known
            callback(TracePoint(n_epochs, ending.seconds, loss, 0.0, 1.0))
    if kept is not None:
        descent.weights = kept[1]
    return n_epochs, n_seen


def answer_error(problem, weights, samples):
    """The mean squared difference of labels and their scores, over the samples."""
    total = 0.0
    for block in row_blocks(len(samples), ROWS):
        batch = samples.take(range(len(samples))[block])
        encoder, decoder = problem.coders(weights, batch.X.shape[1])
        Z = batch.X @ encoder
        if batch.known is None:
            error = ((Z.T @ Z) * (decoder.T @ decoder)).sum() - 2 * (Z * (batch.T @ decoder)).sum()
            total += float(error + batch.squares_T)
        else:
            total += float((((Z @ decoder.T - batch.T) * batch.known) ** 2).sum())
    return total / len(samples)

"""The closed-form steps of the dissertation for MLR-GL (Bucak 2014, chapter 5): a modified problem.

With s = f(x_i) without the share of sample i itself, its weights of pairs become

    Z_kl = max(0, 1 - s_k + s_l) / (2 eta k_ii)      each column shrunk into its ball

(see `losses.group_ranking`). This maximises a dual in which eta * k_ii |Z|^2 stands for k_ii / 2 (|row
sums|^2 + |column sums|^2). The limit is therefore not the optimum of MLR-GL but that of a problem with
another regulariser; below eta = n_labels / 2 it need not even be unique. Training stops where the
coefficients stand still; the objectives and the gap of the Solution are those of the *original* problem at
that point, which is feasible for it.
"""

from contextlib import suppress

import numpy as np
from scipy import sparse

from tagrank.arrays import row_blocks
from tagrank.losses.group_ranking import GroupRanking
from tagrank.resources import Ending, compiled, is_interrupt
from tagrank.solvers.dual_ascent import objectives
from tagrank.solvers.gram_scores import GramScores
from tagrank.solvers.linear_rows import plain_csr
from tagrank.solvers.solution import Solution, TracePoint, check_finite, relative_gap

DOUBLE = np.dtype(np.float64)


class _LinearRows:
    """Rows X, dense or sparse, under the linear kernel; weights W (n_labels, n_features)."""

    block_size = 192

    def __init__(self, X, n_labels):
        self.X = (plain_csr(X) if sparse.issparse(X) else X).astype(np.float64)
        self.W = np.zeros((n_labels, X.shape[1]))

    @property
    def diagonal(self):
        squares = self.X.multiply(self.X) if sparse.issparse(self.X) else self.X**2
        return np.asarray(squares.sum(axis=1)).ravel()

    def read(self, rows):
        X = self.X[rows]
        corner = X @ X.T
        return corner.toarray() if sparse.issparse(corner) else corner, np.ascontiguousarray((X @ self.W.T).T)

    def add(self, rows, changes):
        self.W += (self.X[rows].T @ changes.T).T

    def recompute(self, coefficients):
        self.W = np.asarray((self.X.T @ coefficients).T)
        return np.ascontiguousarray((self.X @ self.W.T).T)

    @property
    def weights(self):
        return self.W.T


def solve_paper(
    data,
    bounds,
    *,
    kind,
    eta,
    tol=1e-3,
    max_iter=1000,
    max_seconds=None,
    random_state=0,
    intercept=0.0,
    callback=None,
    stop=None,
):
    """Repeat the closed-form steps until a pass changes less than `tol` of the coefficients.

    `eta` is positive; the other parameters are those of `solve_dual`. The Solution has the objectives of the
    original problem; `converged` says that the coefficients stand still.
    """
    ending, rng = Ending(max_seconds, stop), np.random.default_rng(random_state)
    bounds = np.ascontiguousarray(bounds, dtype=np.float64)
    n_labels = bounds.shape[1]
    samples = GramScores(data, n_labels, DOUBLE, intercept) if kind == "gram" else _LinearRows(data, n_labels)
    A = np.zeros(bounds.shape)
    empty = samples.diagonal <= 0
    A[empty] = GroupRanking.without_kernel(bounds[empty])
    trace, stopped_by, n_iter = [], None, 0
    try:
        while stopped_by is None and n_iter < max_iter:
            order = rng.permutation(np.flatnonzero(~empty))
            change = _make_pass(samples, bounds, A, float(eta), order, ending)
            check_finite(change)
            n_iter += 1
            stopped_by = ending.reason() or ("tol" if change <= tol * np.abs(A).sum() else None)
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interrupt(error):
            raise
        stopped_by = "interrupt"
    primal, dual, thresholds = _objectives(samples, bounds, A)
    gap = relative_gap(primal, dual)
    trace.append(TracePoint(n_iter, ending.seconds, primal, dual, gap))
    if callback is not None:
        # the work is done: an interrupt has nothing left to stop
        with suppress(KeyboardInterrupt):
            callback(trace[-1])
    weights = getattr(samples, "weights", None)
    return Solution(A, primal, dual, n_iter, stopped_by or "max_iter", weights, thresholds, trace)


def _make_pass(samples, bounds, A, eta, order, ending):
    """One step for each sample; returns the sum of the sizes of all changes."""
    total = 0.0
    for block in row_blocks(len(order), samples.block_size):
        if ending.reason():
            break
        rows = order[block]
        corner, scores = samples.read(rows)
        changes = np.zeros(scores.shape)
        _sweep(bounds, A, rows, corner, scores, changes, eta)
        samples.add(rows, changes)
        total += np.abs(changes).sum()
    return total


def _objectives(samples, bounds, A):
    sums, thresholds = GroupRanking.measure(bounds, A, samples.recompute(A))
    return *objectives(sums.sum(axis=1)), thresholds


@compiled()
def _sweep(bounds, A, rows, corner, scores, changes, eta):
    n_labels, n_rows = scores.shape
    new, column = np.empty(n_labels), np.empty(n_labels)
    for b in range(n_rows):
        bound, diagonal = bounds[rows[b]], corner[b, b]
        others = scores[:, b] - diagonal * A[rows[b]]
        new[:] = 0
        for label in range(n_labels):
            if bound[label] < 0:
                square = 0.0
                for k in range(n_labels):
                    column[k] = (
                        max(1 - others[k] + others[label], 0.0) / (2 * eta * diagonal)
                        if bound[k] > 0
                        else 0.0
                    )
                    square += column[k] * column[k] / bound[k] if bound[k] > 0 else 0.0
                factor = min(1.0, np.sqrt(-bound[label] / square)) if square > 0 else 0.0
                for k in range(n_labels):
                    new[k] += factor * column[k]
                    new[label] -= factor * column[k]
        for label in range(n_labels):
            change = new[label] - A[rows[b], label]
            if change != 0:
                changes[label, b] = change
                A[rows[b], label] = new[label]
                for j in range(n_rows):
                    scores[label, j] += change * corner[b, j]

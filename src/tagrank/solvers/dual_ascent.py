"""The engine: block ascent on the dual of a max-margin problem, for any loss.

The model is f(x) = sum_i k(x_i, x) a_i with one row a_i of n_labels coefficients for each sample, and

    primal   1/2 <A, F> + sum of losses        F = K A, the scores of the samples
    dual     sum |A| - 1/2 <A, F>              A in the set that the loss allows
    gap      primal - dual, a sum over samples of terms that are never negative

Each pass visits the samples that still contribute to the duality gap, in random blocks. Inside a block the
loss takes exact steps, several times over, for they cost little; after the block one product brings the
scores of all samples up to date. Every sample's share of the gap is at hand then, so that the next pass knows
which to visit. On a long way, the samples with the largest shares meet their nearest neighbours in a block of
their own before each pass: samples that are alike but have different labels take longest.

Steps are taken in float32 while tolerance and costs allow it. The scores of a Gram matrix are float64 as long
as the end is near, and certify the solution as they are; a long way is walked faster with float32 scores, and
then the certificate is computed anew from the coefficients alone, summed in float64.
"""

import numpy as np
from numba import get_num_threads
from scipy import sparse

from tagrank.arrays import written_zeros
from tagrank.solvers.ending import Ending, is_interrupt
from tagrank.solvers.gram_scores import GramScores
from tagrank.solvers.linear_rows import DenseRows, SparseRows
from tagrank.solvers.passes import BlockPasses, RowPasses
from tagrank.solvers.solution import (
    OUT_OF_RANGE,
    Solution,
    TracePoint,
    check_costs,
    check_range,
    relative_gap,
)
from tagrank.validation import check_magnitude

SINGLE_PRECISION_GAP = 1e-4  # steps in float32 may stand still before they come to a smaller one
SINGLE_PRECISION_COST = 1e-3  # a smaller C makes coefficients that drown beside thresholds of size one
LARGEST_DIAGONAL = 1e30  # products of scores stay within the range of float32
SECONDS_BETWEEN_MEASUREMENTS = 2.0  # at most, so that a callback sees progress
TIME_FOR_MEASUREMENTS = 0.1  # share of the training time; where measuring takes long, it is done less often


def solve_dual(
    data,
    make_loss,
    bounds,
    *,
    kind,
    tol=1e-3,
    max_iter=1000,
    max_seconds=None,
    random_state=0,
    start=None,
    intercept=0.0,
    callback=None,
    stop=None,
):
    """Train one row of coefficients per sample.

    Parameters
    ----------
    data : Gram matrix (n_samples, n_samples), or rows (n_samples, n_features), dense or CSR, or a function of
        the precision that makes samples with the methods of `DenseRows`
    make_loss : function of (bounds, coefficients) that returns a `tagrank.losses.base.Loss`; a class will do
    bounds : array, shape (n_samples, n_labels): +C_il present, -C_il absent, 0 unknown
    kind : {"gram", "rows", "samples"}, what `data` is
    tol : float, relative duality gap to reach
    max_iter : int, passes at most
    max_seconds : float or None
    random_state : int or numpy Generator, for the order of visits
    start : array, shape (n_samples, n_labels), or None: coefficients to start from, made feasible
    intercept : float, added to every similarity of a Gram matrix (with rows, append a constant feature)
    callback : function of a TracePoint, called after each measurement
    stop : function without arguments, asked between blocks of samples; True ends the training

    Returns
    -------
    Solution; after `stop`, Ctrl-C, `max_seconds` or `max_iter` the last state, with its certificate
    """
    ending, rng = Ending(max_seconds, stop), np.random.default_rng(random_state)
    passes = _begin(data, make_loss, bounds, kind, tol, start, intercept)
    trace, n_iter, stopped_by = _ascend(passes, tol, max_iter, ending, rng, callback)
    if stopped_by != "tol":
        trace = [point for point in trace if point.n_iter < n_iter]
        trace.append(_certify(passes, n_iter, ending))
        stopped_by = "tol" if trace[-1].gap <= tol else stopped_by
    return Solution(
        coefficients=passes.certified,
        primal=trace[-1].primal,
        dual=trace[-1].dual,
        n_iter=n_iter,
        stopped_by=stopped_by,
        weights=passes.weights,
        thresholds=passes.thresholds,
        trace=trace,
    )


def _ascend(passes, tol, max_iter, ending, rng, callback):
    """Pass after pass; returns the trace, the number of passes and what ended them."""
    trace, n_iter, stopped_by, next_measurement = [], 0, None, SECONDS_BETWEEN_MEASUREMENTS
    try:
        while stopped_by is None:
            limit, before = "max_iter" if n_iter >= max_iter else ending.reason(), ending.seconds
            if limit or before > next_measurement or passes.worth_measuring(tol):
                trace.append(_measure(passes, tol, n_iter, ending))
                pause = max(SECONDS_BETWEEN_MEASUREMENTS, (ending.seconds - before) / TIME_FOR_MEASUREMENTS)
                next_measurement = ending.seconds + pause
                stopped_by = "tol" if trace[-1].gap <= tol else limit
                if callback is not None:
                    callback(trace[-1])
            if stopped_by is None:
                _make_pass(passes, rng, ending)
                n_iter += 1
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interrupt(error):
            raise
        stopped_by = "interrupt"
    return trace, n_iter, stopped_by


def _make_pass(passes, rng, ending):
    try:
        passes.make_pass(rng, ending)
    except ZeroDivisionError:  # only nan and inf lead compiled steps there
        raise ValueError(OUT_OF_RANGE) from None


def _measure(passes, tol, n_iter, ending):
    primal, dual = passes.measure()
    if relative_gap(primal, dual) <= tol and passes.certified is None:
        return _certify(passes, n_iter, ending)
    return TracePoint(n_iter, ending.seconds, primal, dual, relative_gap(primal, dual))


def _certify(passes, n_iter, ending):
    primal, dual = passes.certify()
    return TracePoint(n_iter, ending.seconds, primal, dual, relative_gap(primal, dual))


def _begin(data, make_loss, bounds, kind, tol, start, intercept):
    """The loss and the samples of a problem, ready for the first pass."""
    largest_cost = float(max(bounds.max(initial=0), -bounds.min(initial=0)))
    check_costs("the largest cost (C times a weight)", largest_cost)
    single = tol >= SINGLE_PRECISION_GAP and largest_cost >= SINGLE_PRECISION_COST
    dtype = np.dtype(np.float32 if single else np.float64)
    by_rows = kind == "rows" and sparse.issparse(data)
    coefficients = written_zeros(bounds.shape, dtype if by_rows else np.float64)
    if start is not None:
        if np.shape(start) != bounds.shape:
            raise ValueError(f"start must have the shape {bounds.shape} of the bounds, got {np.shape(start)}")
        if not np.all(np.isfinite(start)):
            raise ValueError("start must be finite, got nan or inf")
        coefficients[:] = start
    loss = make_loss(np.ascontiguousarray(bounds, dtype=dtype), coefficients)
    samples = _hold(data, kind, loss, dtype, intercept)
    check_range("the largest k(x, x)", float(samples.diagonal.max()), 0, LARGEST_DIAGONAL)
    empty = samples.diagonal.astype(dtype) <= 0  # as the sweeps see it: a tiny one may round to zero
    if empty.any():
        coefficients[empty] = loss.without_kernel(loss.bounds[empty])
    return RowPasses(samples, loss) if by_rows else BlockPasses(samples, loss, tol)


def _hold(data, kind, loss, dtype, intercept):
    """The samples: what holds the data, and scores or weights that follow the coefficients."""
    n_labels = loss.bounds.shape[1]
    if kind == "gram":
        return GramScores(data, n_labels, dtype, intercept)
    if kind == "samples":
        return data(dtype)
    check_magnitude("X", data, np.float64)
    if sparse.issparse(data):
        return SparseRows(data, n_labels, dtype, get_num_threads() if loss.has_independent_labels else 1)
    return DenseRows(data, n_labels, dtype)

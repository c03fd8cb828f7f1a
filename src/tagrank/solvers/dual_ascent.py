"""The engine: block ascent on the dual of a max-margin problem, for any loss.

The model is f(x) = sum_i k(x_i, x) a_i with one row a_i of n_labels coefficients for each sample, and

    primal   1/2 <A, F> + sum of losses        F = K A, the scores of the samples
    dual     sum |A| - 1/2 <A, F>              A in the set that the loss allows
    gap      primal - dual, a sum over samples of terms that are never negative

Each pass visits the samples that still contribute to the duality gap, in random blocks. Inside a block the
loss takes exact steps, several times over, for they cost little; after the block one product brings the
scores of all samples up to date. Every sample's share of the gap is at hand then, so that the next pass knows
whom to visit. On a long way, the samples with the largest shares meet their nearest neighbours in a block of
their own before each pass: samples that are alike but have different labels take longest.

Steps are taken in float32 while tolerance and costs allow it. The scores of a Gram matrix are float64 as long
as the end is near, and certify the solution as they are; a long way is walked faster with float32 scores, and
then the certificate is computed anew from the coefficients alone, summed in float64.
"""

import time

import numpy as np
from numba import get_num_threads
from scipy import sparse

from tagrank.solvers.ascents import BlockAscent, RowAscent
from tagrank.solvers.gram_scores import GramScores
from tagrank.solvers.holders import DenseRows, SparseRows
from tagrank.solvers.solution import SINGLE_PRECISION_TOL, Solution, TracePoint, relative_gap

SINGLE_PRECISION_COST = 1e-3  # a smaller C makes coefficients that drown beside thresholds of size one
SECONDS_BETWEEN_SIGNS = 2.0  # of life: measure at least so often, unless that takes
MOST_TIME_FOR_SIGNS = 0.1  # more than this share of the time


def solve_dual(
    data,
    Loss,
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
):
    """Train one row of coefficients per sample.

    Parameters
    ----------
    data : Gram matrix (n_samples, n_samples), or rows (n_samples, n_features), dense or CSR, or a function of
        the precision that makes what is to hold the data, with the methods of `DenseRows`
    Loss : class from tagrank.losses
    bounds : array, shape (n_samples, n_labels): +C_il present, -C_il absent, 0 unknown
    kind : {"gram", "rows", "holder"}, what `data` is
    tol : float, relative duality gap to reach
    max_iter : int, passes at most
    max_seconds : float or None
    random_state : int or numpy Generator, for the order of visits
    start : array, shape (n_samples, n_labels), or None: coefficients to start from, made feasible
    intercept : float, added to every similarity of a Gram matrix (with rows, append a constant feature)
    callback : function of a TracePoint, called after each measurement

    Returns
    -------
    Solution; after Ctrl-C, `max_seconds` or `max_iter` the last state, with its certificate
    """
    started = time.perf_counter()
    deadline = started + max_seconds if max_seconds is not None else np.inf
    rng = np.random.default_rng(random_state)
    ascent = _ascent(data, Loss, bounds, kind, tol, start, intercept)
    trace, n_iter, stopped_by, next_sign = [], 0, None, started + SECONDS_BETWEEN_SIGNS
    try:
        while stopped_by is None:
            now = time.perf_counter()
            is_last = n_iter >= max_iter or now >= deadline
            if is_last or now > next_sign or ascent.worth_measuring(tol):
                trace.append(_measure(ascent, tol, n_iter, started))
                seconds = time.perf_counter() - now
                next_sign = now + seconds + max(SECONDS_BETWEEN_SIGNS, seconds / MOST_TIME_FOR_SIGNS)
                stopped_by = _reason_to_stop(trace[-1], tol, max_iter, is_last)
                if callback is not None:
                    callback(trace[-1])
            if stopped_by is None:
                ascent.make_pass(rng, deadline)
                n_iter += 1
    except (KeyboardInterrupt, SystemError) as error:
        if not _is_interrupt(error):
            raise
        stopped_by = "interrupt"
    if stopped_by != "tol":
        trace = [point for point in trace if point.n_iter < n_iter]
        trace.append(_certify(ascent, n_iter, started))
        stopped_by = "tol" if trace[-1].gap <= tol else stopped_by
    return Solution(
        coefficients=ascent.certified,
        primal=trace[-1].primal,
        dual=trace[-1].dual,
        n_iter=n_iter,
        stopped_by=stopped_by,
        weights=ascent.weights,
        thresholds=ascent.thresholds,
        trace=trace,
    )


def _measure(ascent, tol, n_iter, started):
    primal, dual = ascent.measure()
    if relative_gap(primal, dual) <= tol and ascent.certified is None:
        return _certify(ascent, n_iter, started)
    return TracePoint(n_iter, time.perf_counter() - started, primal, dual, relative_gap(primal, dual))


def _certify(ascent, n_iter, started):
    primal, dual = ascent.certify()
    return TracePoint(n_iter, time.perf_counter() - started, primal, dual, relative_gap(primal, dual))


def _reason_to_stop(point, tol, max_iter, is_last):
    if point.gap <= tol:
        return "tol"
    if is_last:
        return "max_iter" if point.n_iter >= max_iter else "max_seconds"
    return None


def _is_interrupt(error):
    """Whether Ctrl-C is behind it; inside compiled code it becomes a chain of SystemErrors."""
    while isinstance(error, SystemError):
        error = error.__cause__
    return isinstance(error, KeyboardInterrupt)


def solve_path(data, Loss, bounds, costs, **options):
    """Solutions for several costs, each started from the one before, on the same data.

    Parameters
    ----------
    data, Loss, options : as in `solve_dual`
    bounds : array, shape (n_samples, n_labels), for a cost of 1
    costs : sequence of float, in the order wanted; ascending order needs the least work

    Yields
    ------
    Solution for each cost
    """
    start = options.pop("start", None)
    for cost in costs:
        solution = solve_dual(data, Loss, cost * bounds, start=start, **options)
        start = solution.coefficients
        yield solution


def _ascent(data, Loss, bounds, kind, tol, start, intercept):
    largest_cost = max(bounds.max(initial=0), -bounds.min(initial=0))
    single = tol >= SINGLE_PRECISION_TOL and largest_cost >= SINGLE_PRECISION_COST
    dtype = np.dtype(np.float32 if single else np.float64)
    n_labels = bounds.shape[1]
    if start is not None and not np.all(np.isfinite(start)):
        raise ValueError("start must be finite, got nan or inf")
    if kind == "gram":
        return BlockAscent(GramScores(data, n_labels, dtype, intercept), Loss, bounds, start, tol)
    if kind == "holder":
        return BlockAscent(data(dtype), Loss, bounds, start, tol)
    if sparse.issparse(data):
        n_groups = get_num_threads() if Loss.has_independent_labels else 1
        return RowAscent(SparseRows(data, n_labels, dtype, n_groups), Loss, bounds, start)
    return BlockAscent(DenseRows(data, n_labels, dtype), Loss, bounds, start, tol)

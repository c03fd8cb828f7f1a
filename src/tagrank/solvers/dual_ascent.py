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

Passes are made by `BlockPasses`, over random blocks of samples beside a Gram matrix or dense rows, or by
`RowPasses`, over sparse rows, one at a time.
"""

from importlib import import_module

import numpy as np
from numba import get_num_threads
from scipy import sparse

from tagrank.arrays import has_triton, row_blocks, rows_within, written_zeros
from tagrank.resources import Ending, is_interrupt
from tagrank.solvers.gram_scores import GramScores, JointGram, VisitedScores
from tagrank.solvers.linear_rows import DenseRows, JointRows, SparseRows
from tagrank.solvers.solution import (
    LARGEST_DIAGONAL,
    OUT_OF_RANGE,
    Solution,
    TracePoint,
    check_costs,
    check_finite,
    check_range,
    relative_gap,
)
from tagrank.validation import check_magnitude

LOSSES = {  # the class of each, in the file of this name
    "hinge": "Hinge",
    "logistic": "Logistic",
    "ranking": "Ranking",
    "group_ranking": "GroupRanking",
    "pairwise": "Pairwise",
    "prior": "PriorHinge",
}
SINGLE_PRECISION_GAP = 1e-4  # steps in float32 may stand still before they come to a smaller one
SINGLE_PRECISION_COST = 1e-3  # a smaller C makes coefficients that drown beside thresholds of size one
SECONDS_BETWEEN_MEASUREMENTS = 2.0  # at most, so that a callback sees progress
TIME_FOR_MEASUREMENTS = 0.1  # share of the training time; where measuring takes long, it is done less often
FAR_FROM_END = 12  # times tol; beyond it, rounded scores and exact ones at the end cost less than exact ones
FEW_SAMPLES = 1000  # with fewer, rounded scores save less time than it takes to compile code for them
MOST_OF_GAP = 0.9  # a pass visits the samples that hold this part of the gap, or what must go if that is more
IDLE_SHARE = 0.1  # entries, or sparse rows, with less than this share of the average gap are left alone
PASSES_BEFORE_CONFLICTS = 4  # a training that is far from its end after so many will be for long
SWEEPS_IN_BLOCK = 5
SWEEPS_TO_THE_END = 200  # where all samples fit into one block, and where they conflict


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
    data : Gram matrix (n_samples, n_samples), an array or one whose rows come when they are asked for
        (`VisitedGram`), or rows (n_samples, n_features), dense or CSR; of a joint
        problem its Gram matrix, or rows and label vectors (X, U), see `JointRows`
    make_loss : one of LOSSES, or a function of (bounds, coefficients) that returns a
        `tagrank.losses.loss.Loss`; a class will do
    bounds : array, shape (n_samples, n_labels): +C_il present, -C_il absent, 0 unknown
    kind : {"gram", "rows", "joint gram", "joint rows"}, what `data` is
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
    passes = _begin(data, load_loss(make_loss), bounds, kind, tol, start, intercept)
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


def load_loss(loss):
    """The class of a loss, loaded by its name with its compiled code; what is no name stays as it is."""
    return getattr(import_module(f"tagrank.losses.{loss}"), LOSSES[loss]) if isinstance(loss, str) else loss


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
    if by_rows:
        return RowPasses(samples, loss)
    if kind == "gram" and loss.sweeps_on_device and has_triton(data):
        from tagrank.solvers.device.passes import DevicePasses

        return DevicePasses(samples, loss, tol)
    return BlockPasses(samples, loss, tol)


def _hold(data, kind, loss, dtype, intercept):
    """The samples: what holds the data, and scores or weights that follow the coefficients."""
    n_labels = loss.bounds.shape[1]
    if kind == "gram":
        held = VisitedScores if hasattr(data, "source") else GramScores
        return held(data, n_labels, dtype, intercept)
    if kind == "joint gram":
        return JointGram(data, dtype)
    if kind == "joint rows":
        return JointRows(*data, dtype)
    check_magnitude("X", data, np.float64)
    if sparse.issparse(data):
        return SparseRows(data, n_labels, dtype, get_num_threads() if loss.has_independent_labels else 1)
    return DenseRows(data, n_labels, dtype)


class BlockPasses:
    """Passes over random blocks of samples.

    Parameters
    ----------
    samples : what holds the data and the scores (n_labels, n_samples), such as `GramScores` or `DenseRows`
    loss : Loss, with float64 coefficients
    tol : float, relative duality gap to reach
    """

    def __init__(self, samples, loss, tol):
        self.samples = samples
        self.loss = loss
        self.tol = tol
        self.certified = self.thresholds = None
        self.n_passes = 0
        self.is_untouched = not loss.coefficients.any()
        if not self.is_untouched:
            samples.recompute(loss.coefficients)

    def worth_measuring(self, tol):
        """Always, for the scores are at hand; but before the first pass there is nothing to see."""
        return not self.is_untouched

    def measure(self):
        """Objectives from the scores at hand: a certificate if these and the coefficients are exact."""
        primal, dual = self._measure(self.loss.coefficients, self.samples.scores())
        is_exact = self.samples.is_exact and self.loss.stays_feasible
        self.certified = self.loss.coefficients if is_exact else None
        if self.gap > FAR_FROM_END * self.tol and self.samples.n_samples >= FEW_SAMPLES:
            self.samples.round_scores()
        return primal, dual

    def certify(self):
        """Objectives from scores computed anew: those at hand may be rounded or half updated."""
        self.certified = self.loss.coefficients
        if not self.loss.stays_feasible:
            self.certified = self.certified.copy()
            self.loss.repair(self.certified)
        return self._measure(self.certified, self.samples.recompute(self.certified))

    def _measure(self, coefficients, scores):
        sums, self.thresholds = self.loss.measure(self.loss.bounds, coefficients, scores)
        self.gaps = sums[0] - sums[1] + sums[2]
        primal, dual = objectives(sums.sum(axis=1))
        self.gap = relative_gap(primal, dual)
        return primal, dual

    def _samples_to_visit(self):
        """The samples that hold most of the gap, or towards the end twice the part of it that must go."""
        surplus = 1 - self.tol / self.gap
        part = max(0.3, min(2 * surplus, max(MOST_OF_GAP, surplus)))
        order = np.argsort(-self.gaps)
        n_needed = np.searchsorted(np.cumsum(self.gaps[order]), part * self.gaps.sum()) + 1
        return order[: max(n_needed, self.samples.block_size)]

    def _conflicts(self):
        """The samples with the largest gaps, and the nearest neighbour of each.

        Two samples that are alike but have different labels push each other up, visit by visit, for as long
        as their costs allow. In one block they come to the end of it at once.
        """
        largest = np.argsort(-self.gaps)[: self.samples.block_size // 2]
        return np.union1d(largest, self._nearest(largest))

    def _nearest(self, rows):
        return self.samples.nearest(rows)

    def _placed(self, rows):
        """Indices of samples where the sweeps read them."""
        return rows

    def make_pass(self, rng, ending):
        least_gap = 0.0 if self.is_untouched else IDLE_SHARE * self.gaps.mean()
        active = rng.permutation(self.samples.n_samples if self.is_untouched else self._samples_to_visit())
        has_many_blocks = len(active) > self.samples.block_size
        self.is_untouched, self.certified = False, None
        is_long_way = has_many_blocks and self.n_passes >= PASSES_BEFORE_CONFLICTS
        if is_long_way and getattr(self.samples, "nearest", None) is not None:
            self._visit(self._conflicts(), least_gap, SWEEPS_TO_THE_END)
        self.n_passes += 1
        active = self._placed(active)
        for block in row_blocks(len(active), self.samples.block_size):
            if ending.reason():
                break
            self._visit(active[block], least_gap, SWEEPS_IN_BLOCK if has_many_blocks else SWEEPS_TO_THE_END)

    def _visit(self, rows, least_gap, n_sweeps):
        corner, scores = self.samples.read(rows)
        changes = np.empty(scores.shape)
        if self.loss.sweep_block(rows, corner, scores, changes, least_gap, n_sweeps):
            self.samples.add(rows, changes)

    @property
    def weights(self):
        return getattr(self.samples, "weights", None)


class RowPasses:
    """Passes over sparse rows, one at a time; the loss has coefficients of the precision of its bounds."""

    def __init__(self, samples, loss):
        self.samples = samples
        self.loss = loss
        self.certified = self.thresholds = None
        self.gap = self.primal = float(np.abs(loss.bounds).sum(dtype=np.float64))
        self.least_gap = 0.0
        if loss.coefficients.any():
            self.measure()
            self.least_gap = IDLE_SHARE * self.gap / samples.n_samples

    def worth_measuring(self, tol):
        """Measuring costs as much as a pass or two: wait until what the last pass met on its way is near."""
        return self.gap <= 1.5 * tol * self.primal

    def certify(self):
        """Objectives from weights summed anew in float64; their scores may be rounded, but once only."""
        self.certified = self.loss.coefficients.astype(np.float64)
        self.loss.repair(self.certified)
        self.samples.recompute(self.certified)
        return self._measure(self.certified)

    def measure(self):
        """Measurements are rare here, and so each one is a certificate."""
        return self.certify()

    def _measure(self, coefficients):
        totals, thresholds = np.zeros(3), []
        for block in row_blocks(self.samples.n_samples, rows_within(self.samples.n_labels, megabytes=4)):
            sums, of_block = self.loss.measure(
                self.loss.bounds[block], coefficients[block], self.samples.scores_of(block)
            )
            totals += sums.sum(axis=1)
            thresholds.append(of_block)
        self.thresholds = None if thresholds[0] is None else np.concatenate(thresholds, axis=1)
        self.primal, dual = objectives(totals)
        self.gap = self.primal - dual
        return self.primal, dual

    def make_pass(self, rng, ending):
        self.certified = None
        n_samples = self.samples.n_samples
        order = rng.permutation(n_samples)
        met = np.zeros(2)
        for block in row_blocks(n_samples, max(1000, n_samples // 20)):
            if ending.reason():
                return
            met += self.loss.sweep_rows(
                order[block], self.samples.X, self.samples.squared_norms, self.samples.W, self.least_gap
            )
        check_finite(*met)
        self.gap, self.primal = met
        self.least_gap = IDLE_SHARE * self.gap / n_samples

    @property
    def weights(self):
        return self.samples.weights


def objectives(totals):
    """Primal and dual from the sums of losses, |A| and A * F; rounding may not make the gap negative."""
    loss, linear, inner = totals
    check_finite(loss, inner)
    dual = linear - inner / 2
    return max(inner / 2 + loss, dual), dual

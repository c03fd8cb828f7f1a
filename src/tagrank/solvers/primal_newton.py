"""The engine for many rows: Newton steps on the primal problem, for all labels at once.

Problem, for each label with weights w, costs C and scores f = w X':

    primal   1/2 |w|^2 + sum_i C_i loss(f_i)        logistic or hinge, see `tagrank.losses.softened`
    dual     sum_i (dual term of a_i) - 1/2 |a X|^2   a_i = minus the slope of the loss, always feasible
    gap      primal - dual

The product a X is the gradient less w, so that the gap costs nothing beside a step. The hinge loss has no
curvature; it is softened by a temperature that falls, label by label, once Newton's method has come closer
than the softening allows. Its gap is that of the hinge loss itself.

A Newton step solves (I + X' D X) s = -gradient, D the curvatures, by conjugate gradients, all labels beside
each other, so that a pass over the rows is two large products. Conjugate gradients are short because they
are preconditioned: where curvature has nothing to do with the features, X' D X is the mean curvature times
X'X. So

    Q (1 + mean(D_l) L)^-1 Q'      X'X = Q L Q', the same for all labels, found once on some of the rows

With many columns it is the diagonal of I + X' D X instead. Where few samples are curved, as at low
temperatures, these have their own features: if conjugate gradients take long, each label gets its own
matrix, I + X' D X over the samples that count, which are few. A label whose gap is small enough leaves.
In the end everything is computed anew in float64.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numba import get_num_threads
from scipy import sparse

from tagrank.arrays import astype, beside, namespace_of, on_device, rounded_products, to_host
from tagrank.losses.softened import HINGE
from tagrank.resources import Ending, limited_products
from tagrank.solvers.primal_rows import cut_rows, cut_some_rows, share_calls
from tagrank.solvers.solution import Solution, TracePoint, check_finite, relative_gap

SINGLE_PRECISION_GAP = 1e-4  # rounded to float32, gradients may not come to a smaller one
SINGLE_PRECISION_COST = 1e5  # nor at larger costs
STUCK = "stuck"  # rounding leaves nothing to gain
MOST_COLUMNS = 2_048  # whose products are diagonalised
FEW_COLUMNS = 512  # up to which this, and products with the answer, are not worth a second thread
ROWS_A_COLUMN, FEWEST_ROWS = 8, 2**13  # of the rows that these products are computed from
WIDEST = 1e10  # between squared lengths of columns, beyond which the smallest drown in products of all
COARSER = 3.0  # times the tolerance, to which these are learned
INNER = 0.1  # by which conjugate gradients shrink the gradient before the next Newton step
MOST_INNER = 100  # conjugate gradients in a Newton step
LONG = 20  # conjugate gradients after which each label gets a matrix of its own
MOST_ENTRIES = 1e8  # of the matrices of all labels
COUNTS = 0.01  # of the largest curvature of a label: below it a sample is left out of its matrix
COOLING = 3.0  # by which a temperature falls
COOL_BELOW = 0.3  # of the gap: what a label may still gain at its temperature when it falls
COOLEST = 1e-6
LEAST_GAIN, MOST_IDLE = (
    0.9,
    6,
)  # a step that leaves more of the best gap is idle; so many in a row are rounding
SUFFICIENT, SHORTER, MOST_HALVINGS = 1e-4, 1 / 3, 20  # of a search along the step


def solve_rows(X, bounds, *, offset, cost, has_constant, tol, device=None, start=None, **options):
    """`solve_primal` on rows: in single precision where tolerance and costs allow it, else in double.

    Parameters
    ----------
    X : array, of a file or on a device, or CSR rows (n_samples, n_features)
    bounds : array, shape (n_samples, n_labels), for C = 1
    offset, cost, has_constant : see `cut_rows`
    device : such as "cuda", where dense rows go; None leaves them where they are
    start : coefficients (n_samples, n_labels) of an earlier training, or None
    tol, options : see `solve_primal`
    """
    if device is not None and not sparse.issparse(X):
        X = on_device(X, device)
    xp = namespace_of(X)
    bounds = bounds if xp is np else beside(bounds, X)
    is_single = tol >= SINGLE_PRECISION_GAP and cost <= SINGLE_PRECISION_COST
    for dtype in (xp.float32, xp.float64) if is_single else (xp.float64,):
        # a file stays a file, and is brought to the precision block by block
        rows = X if isinstance(X, np.memmap) else astype(X, dtype)
        settings = {"offset": offset, "cost": cost, "has_constant": has_constant}
        parts = cut_rows(rows, bounds, **settings)
        if start is not None and np.ndim(start) == 2 and np.shape(start) == tuple(bounds.shape):
            start = to_host(parts.gather(beside(np.asarray(start), X, dtype)))
        like = beside(np.zeros(1), X, dtype) if xp is not np else np.zeros(1, dtype)
        some = () if start is not None else cut_some_rows(rows, bounds, **settings)
        with limited_products(1):  # each thread has rows of its own, and what is done beside is little
            solution = solve_primal(
                parts, bounds.shape[1], like=like, offset=offset, tol=tol, start=start, some=some, **options
            )
        if solution.stopped_by != STUCK:
            break
        start = solution.weights.T
    return replace(solution, stopped_by="max_iter") if solution.stopped_by == STUCK else solution


def solve_primal(
    rows,
    n_labels,
    *,
    like,
    offset,
    tol=1e-3,
    max_iter=1000,
    max_seconds=None,
    start=None,
    some=(),
    callback=None,
    stop=None,
):
    """Train weights (n_labels, n_features).

    Parameters
    ----------
    rows : RowParts, or what answers `each`, `total` and `certified` as they do
    n_labels : int
    like : array whose library, device and type the work is done in
    offset : LOGISTIC or HINGE of `tagrank.losses.softened`
    tol : float, relative duality gap to reach
    max_iter : int, Newton steps at most
    max_seconds : float or None
    start : array, shape (n_labels, n_features), or None: weights to start from
    some : parts like `rows` of fewer of them, the fewest first, with costs to match: it begins on these, and
        has little to do on all
    callback : function of a TracePoint, called after each Newton step
    stop : function without arguments, asked between passes over the rows; True ends the training

    Returns
    -------
    Solution; its coefficients (n_samples, n_labels) are those of the dual point, and `n_iter` counts Newton
    steps. After `stop`, Ctrl-C, `max_seconds` or `max_iter` the last state, with its certificate
    """
    descent = _NewtonWay(rows, n_labels, like, offset, tol, Ending(max_seconds, stop))
    if start is not None:
        descent.W = beside(np.asarray(start), like, like.dtype)
    trace, stopped_by = [], None
    try:
        for fewer in some:
            descent.begin_on(fewer, max_iter)
        while True:
            trace.append(descent.measure())
            if callback is not None:
                callback(trace[-1])
            stopped_by = "tol" if descent.is_done else descent.reason(max_iter)
            if stopped_by is None:
                descent.step()
                continue
            if stopped_by != "tol" or descent.certify():
                break
    except KeyboardInterrupt:
        stopped_by = "interrupt"
    if stopped_by != "tol":
        descent.certify()
    sums = descent.primal.sum(), descent.dual.sum()
    trace.append(descent.point())
    return Solution(
        coefficients=to_host(descent.coefficients),
        primal=float(max(sums)),
        dual=float(sums[1]),
        n_iter=descent.n_steps,
        stopped_by="tol" if trace[-1].gap <= tol else stopped_by if stopped_by != "tol" else STUCK,
        weights=to_host(descent.W).astype(np.float64).T,
        trace=trace,
    )


class _NewtonWay:
    """The weights on their way, and which labels are still on it."""

    def __init__(self, rows, n_labels, like, offset, tol, ending):
        self.rows, self.offset, self.tol, self.ending = rows, offset, tol, ending
        self.xp, self.n_steps, self.n_stuck = namespace_of(like), 0, 0
        self.best_gap, self.n_idle = np.inf, 0
        self.W = beside(np.zeros((n_labels, rows.n_features)), like, like.dtype)
        self.temperatures = beside(np.ones(n_labels), like, like.dtype)
        self.primal, self.dual = np.full(n_labels, np.inf), np.full(n_labels, -np.inf)
        self.active = np.arange(n_labels)
        self.scores = self.coefficients = self.basis = None
        self.n_inner = self.most_inner = 0  # conjugate gradients in the last step, and in the longest

    def begin_on(self, rows, max_iter):
        """Solve the problem of other rows, and go on from its weights and temperatures."""
        way = _NewtonWay(rows, len(self.W), self.W, self.offset, COARSER * self.tol, self.ending)
        way.W, way.temperatures = self.W, self.temperatures
        way.measure()
        while not way.is_done and way.reason(max_iter) is None:
            way.step()
            way.measure()
        self.W, self.temperatures = way.W, way.temperatures
        if self.offset == HINGE:
            self.temperatures = self.xp.clip(COOLING * way.temperatures, None, 1)

    @property
    def gaps(self):
        return self.primal - self.dual

    @property
    def is_done(self):
        return relative_gap(self.primal.sum(), self.dual.sum()) <= self.tol

    def reason(self, max_iter):
        """Why to end before the tolerance is reached; None to go on."""
        if self.n_stuck > 1 or self.n_idle >= MOST_IDLE:
            return STUCK
        return "max_iter" if self.n_steps >= max_iter else self.ending.reason()

    def point(self):
        sums = float(self.primal.sum()), float(self.dual.sum())
        return TracePoint(self.n_steps, self.ending.seconds, *sums, relative_gap(*sums))

    def measure(self):
        """Objectives of the labels that are on their way, and what the next step starts from."""
        labels = self._on_device(self.active)
        if self.scores is None:
            self.scores = self.rows.each("scores", W=self.W[labels])
        self.bent = self.rows.each("bent", self.scores, **self._of(labels))
        self.sums, gathered = self.rows.total("told", self.bent)
        self._take_sums(self.active, self.sums, self.W[labels], gathered)
        self.gradient = self.W[labels] - gathered
        return self.point()

    def _take_sums(self, which, sums, W, gathered):
        sums = to_host(sums)
        check_finite(*sums.ravel())
        size, lost = (_squares(rows) / 2 for rows in (W, gathered))
        self.softened = size + sums[0]
        self.primal[which], self.dual[which] = size + sums[1], sums[2] - lost

    def step(self):
        """One Newton step of the labels that are not done."""
        # the gaps of labels add up: a small one may be large beside its own objective
        enough = self.tol * (self.primal + self.primal.mean()) / 2
        open_ones = np.flatnonzero(self.gaps[self.active] > enough[self.active])
        if len(open_ones) and len(open_ones) < len(self.active):
            self._keep(open_ones)
        if self.offset == HINGE and self._cool():
            self.measure()
        self._count_idle()
        self._move(self._direction())
        self.n_steps += 1

    def _count_idle(self):
        """Steps since the gap last fell; what a lower temperature opens is no sign of rounding."""
        gap = self.gaps.sum()
        self.n_idle = 0 if gap < LEAST_GAIN * self.best_gap else self.n_idle + 1
        self.best_gap = min(gap, self.best_gap)

    def _keep(self, which):
        """Go on with some of the labels that are on their way."""
        self.active = self.active[which]
        kept = self._on_device(which)
        self.scores = [scores[kept] for scores in self.scores] if isinstance(self.scores, list) else None
        self.measure()

    def _cool(self):
        """Lower the temperature of labels that have little to gain at theirs."""
        labels = self._on_device(self.active)
        left = _squares(self.gradient) / 2
        ready = (left < COOL_BELOW * self.gaps[self.active]) & (to_host(self.temperatures[labels]) > COOLEST)
        if ready.any():
            cooled = self._on_device(self.active[ready])
            self.temperatures[cooled] = self.temperatures[cooled] / COOLING
            self.best_gap, self.n_idle = np.inf, 0
        return bool(ready.any())

    def _direction(self):
        """Where all labels are to go, by conjugate gradients."""
        precondition = self._preconditioner()
        S, R = 0 * self.gradient, -self.gradient
        V = Z = precondition(R)
        product = first = self._dot(R, Z)
        for self.n_inner in range(1, MOST_INNER + 1):
            with rounded_products(V):
                H = V + self.rows.total("curved", self.bent, V=V)[0]
            length = product / self._positive(self._dot(V, H))
            S, R = S + self._scaled(length, V), R - self._scaled(length, H)
            Z = precondition(R)
            product, before = self._dot(R, Z), product
            if float(product.sum()) <= INNER**2 * float(first.sum()) or self.ending.reason():
                break
            V = Z + self._scaled(product / self._positive(before), V)
        return S

    def _move(self, S):
        """Go along the directions, each label as far as its softened objective falls enough."""
        labels = self._on_device(self.active)
        # a direction that left the range of its numbers leads nowhere
        S = self.xp.where(self.xp.isfinite(self.xp.sum(S * S, 1))[:, None], S, self.xp.zeros_like(S))
        W, changes = self.W[labels], self.rows.each("scores", W=S)
        slopes = to_host(self._dot(self.gradient, S))
        steps, first = np.ones(len(self.active)), self.softened
        rounding = 10 * np.finfo(to_host(self.temperatures[:1]).dtype).eps * np.abs(first)
        is_short = np.zeros(len(steps), dtype=bool)
        for _ in range(MOST_HALVINGS):
            told = beside(steps, S, S.dtype)
            sums = self.rows.total("losses", self.scores, changes, steps=told, **self._of(labels))[0]
            reached = _squares(W + told[:, None] * S) / 2 + to_host(sums)
            is_short = ~(reached <= first + SUFFICIENT * steps * slopes + rounding)
            if not is_short.any():
                break
            steps[is_short] *= SHORTER
        steps[is_short] = 0.0
        self.n_stuck = self.n_stuck + 1 if is_short.all() else 0
        told = beside(steps, S, S.dtype)
        self.W[labels] = W + told[:, None] * S
        self.scores = self.rows.each("moved", self.scores, changes, steps=told)

    def certify(self):
        """Everything anew in float64; whether the tolerance holds. If it does not, all labels go on."""
        everything = np.arange(len(self.primal))
        sums, gathered, self.coefficients = self.rows.certified(self.W, self.temperatures)
        self._take_sums(everything, sums, self.W, gathered)
        self.active, self.scores = everything, None
        self.n_stuck += not self.is_done
        return self.is_done or self.n_stuck > 1

    def _preconditioner(self):
        if self._is_own_cheaper():
            return self._own_preconditioner()
        if self.basis is None:
            self.basis = self._find_basis()
        if not self.basis:
            scale = 1 / (1 + self.rows.total("diagonal", self.bent)[0])
            return lambda R: scale * R
        lengths, Q = self.basis
        bends = beside(to_host(self.sums[3]) / self.rows.n_samples, self.W, self.W.dtype)
        scale = 1 / (1 + bends[:, None] * lengths)

        def precondition(R):
            return (R @ Q * scale) @ Q.T

        if self.xp is not np or self.rows.n_features <= FEW_COLUMNS:
            return precondition
        some = [
            slice(*ends) for ends in pairwise(np.linspace(0, len(scale), 1 + get_num_threads(), dtype=int))
        ]
        return lambda R: np.concatenate(share_calls(lambda part: (R[part] @ Q * scale[part]) @ Q.T, some))

    def _find_basis(self):
        """Squared lengths and directions of the rows; () for many columns, or for some that would drown."""
        if self.rows.n_features > MOST_COLUMNS:
            return ()
        share = min(1.0, max(ROWS_A_COLUMN * self.rows.n_features, FEWEST_ROWS) / self.rows.n_samples)
        with limited_products(get_num_threads() if self.rows.n_features > FEW_COLUMNS else 1):
            products = self.rows.total("products", share=share, like=self.W[:1])[0]
            sizes = to_host(self.xp.linalg.diagonal(products))
            if sizes.max() > WIDEST * sizes[sizes > 0].min(initial=sizes.max()):
                return ()
            lengths, Q = self.xp.linalg.eigh(products)
        return astype(self.xp.clip(lengths, 0, None), self.W.dtype), astype(Q, self.W.dtype)

    def _is_own_cheaper(self):
        """Whether matrices of their own cost less than the conjugate gradients that they save."""
        self.most_inner = max(self.most_inner, self.n_inner)
        n_labels, n_features = len(self.active), self.rows.n_features
        if self.most_inner < LONG or n_labels * n_features**2 > MOST_ENTRIES:
            return False
        n_counted = float(self.rows.total("counted", self.bent, least=COUNTS)[0])
        passes = 4 * self.most_inner * self.rows.n_samples * n_features * n_labels
        return 2 * n_counted * n_features**2 + 2 * n_labels * n_features**3 < passes

    def _own_preconditioner(self):
        """By the inverse of I + X' D X of each label, over the samples that count."""
        curved = self.rows.total("own_products", self.bent, least=COUNTS)[0]
        curved = curved + beside(np.eye(self.rows.n_features), curved)
        # with a diagonal of ones, so that columns of any size keep their digits
        sizes = self.xp.sqrt(self.xp.linalg.diagonal(curved))
        sizes = sizes[:, :, None] * sizes[:, None, :]
        if self.xp is np:
            inverses = np.stack(share_calls(np.linalg.inv, curved / sizes))
        else:
            inverses = self.xp.linalg.inv(curved / sizes)
        inverses = astype(inverses / sizes, self.W.dtype)
        return lambda R: self.xp.matmul(inverses, R[:, :, None])[:, :, 0]

    def _dot(self, A, B):
        """The product of each row with its fellow."""
        return self.xp.sum(astype(A, self.xp.float64) * astype(B, self.xp.float64), 1)

    def _positive(self, values):
        return self.xp.clip(values, np.finfo(np.float64).tiny, None)

    def _scaled(self, factors, A):
        return astype(factors, A.dtype)[:, None] * A

    def _on_device(self, labels):
        return beside(labels, self.W)

    def _of(self, labels):
        return {"labels": labels, "temperatures": self.temperatures[labels]}


def _squares(A):
    """The squared length of each row, in float64 on the host."""
    xp = namespace_of(A)
    A = astype(A, xp.float64)
    return to_host(xp.sum(A * A, 1))

"""Support vector machines for the area under the ROC curve, one per label, by cutting planes (SVM-perf).

With p_i the weights of the present samples of a label, divided by their sum, and q_j those of the absent:

    primal   1/2 |f|^2 + C sum_ij p_i q_j max(0, 1 - f(x_i) + f(x_j))
    dual     1/2 sum |A| - 1/2 <A, F>         F = K A, the scores;  A in C times the set of all cuts
    cut      a_i = p_i sum_j q_j s_ij,  a_j = -q_j sum_i p_i s_ij,  0 <= s_ij <= 1

A cut bounds the loss from below, by 1/2 sum |a| - <a, F>. The highest at given scores has s_ij = 1 where
f(x_i) < 1 + f(x_j), and is found by sorting. Each round adds it; the best mixture of all cuts of a label is
found by coordinate steps on a small matrix. (Joachims: A Support Vector Method for Multivariate Performance
Measures, ICML 2005; Training Linear SVMs in Linear Time, KDD 2006.) Every mixture is feasible, so that its
objectives certify it however well the small problem was solved.
"""

import numpy as np

from tagrank.resources import Ending, compiled, is_interrupt
from tagrank.solvers.solution import Solution, TracePoint, check_finite, relative_gap

GROUP = 32  # labels trained together: one product serves all of them, and their cuts fit into memory
UNUSED = 20  # rounds without weight, after which a cut is forgotten
SHARE_OF_GAP = 0.1  # to which the small problem is solved, of the gap that the last round left
FIRST_CUTS = 16  # of a label, for which there is room at first
MIXTURE_STEPS = 20_000
SAME = 1e-11  # what is nearer is equal but for rounding, which must not decide the way


def solve_ranking_area(
    multiply, bounds, cost, *, tol=1e-3, max_iter=1000, max_seconds=None, start=None, callback=None, stop=None
):
    """Train one column of coefficients per label.

    Parameters
    ----------
    multiply : function of an array (n, n_samples) that returns its product with the Gram matrix
    bounds : array, shape (n_samples, n_labels): weights, + if present, - if absent, 0 if unknown
    cost : float, C
    tol : float, relative duality gap to reach, of every label
    max_iter : int, rounds at most
    start : array, shape (n_samples, n_labels), or None: the coefficients for another cost, divided by it
    max_seconds, callback, stop : as in `solve_dual`

    Returns
    -------
    Solution; after `stop`, Ctrl-C, `max_seconds` or `max_iter` the last state, with its certificate
    """
    training = _AreaTraining(
        multiply, pair_shares(bounds), cost, tol, max_iter, Ending(max_seconds, stop), callback
    )
    first = training.shares if start is None else np.ascontiguousarray(start.T)
    stopped_by = "tol"
    try:
        for group in training.groups():
            stopped_by = training.train(group, first[group]) or stopped_by
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interrupt(error):
            raise
        stopped_by = "interrupt"
    last = training.measure()
    return Solution(
        coefficients=np.ascontiguousarray(training.A.T),
        primal=last.primal,
        dual=last.dual,
        n_iter=training.n_iter,
        stopped_by="tol" if last.gap <= tol else stopped_by,
        trace=training.trace,
    )


def pair_shares(bounds):
    """p of present and -q of absent samples, shape (n_labels, n_samples); 0 for labels without both."""
    present, absent = np.maximum(bounds.T, 0), np.maximum(-bounds.T, 0)
    n_present, n_absent = present.sum(axis=1, keepdims=True), absent.sum(axis=1, keepdims=True)
    has_pairs = (n_present > 0) & (n_absent > 0)
    shares = present / np.where(has_pairs, n_present, 1) - absent / np.where(has_pairs, n_absent, 1)
    return np.where(has_pairs, shares, 0.0)


def highest_cut(scores, shares):
    """The cut (n_samples,) that bounds the loss of a label exactly at these scores.

    Present samples, mostly the fewer, are sorted, and the place of each absent one is found among them.
    """
    present, absent = np.flatnonzero(shares > 0), np.flatnonzero(shares < 0)
    present = present[np.argsort(scores[present])]
    place = np.searchsorted(scores[present] - 1, scores[absent])
    share_below = np.append(0.0, np.cumsum(shares[present]))
    share_at = np.bincount(place, weights=-shares[absent], minlength=len(present) + 1)
    cut = np.zeros(len(scores))
    cut[absent] = shares[absent] * share_below[place]
    cut[present] = shares[present] * np.cumsum(share_at[:0:-1])[::-1]
    return cut


class _AreaTraining:
    """Coefficients A (n_labels, n_samples) and objectives of all labels on the way."""

    def __init__(self, multiply, shares, cost, tol, max_iter, ending, callback):
        self.multiply, self.shares, self.cost = multiply, shares, cost
        self.tol, self.max_iter, self.ending, self.callback = tol, max_iter, ending, callback
        self.A = np.zeros(shares.shape)
        self.learnable = np.flatnonzero(shares.any(axis=1))
        self.primal, self.gap = np.zeros((2, len(shares)))
        self.primal[self.learnable] = self.gap[self.learnable] = cost
        self.n_iter, self.trace = 0, []

    def groups(self):
        """The labels that have pairs, some at a time."""
        return np.split(self.learnable, range(GROUP, len(self.learnable), GROUP))

    def train(self, labels, new):
        """Rounds for some labels, from one cut each; returns what ended them, None if all are done."""
        mixtures, rounds = [_Mixture(self.shares.shape[1], self.cost) for _ in labels], 0
        while len(labels):
            products, A, F = self.multiply(new), np.empty(new.shape), np.empty(new.shape)
            for k, (label, mixture) in enumerate(zip(labels, mixtures, strict=True)):
                accuracy = SHARE_OF_GAP * self.gap[label] / self.cost
                A[k], F[k] = mixture.add(new[k], products[k], accuracy)
            new = np.array([highest_cut(*pair) for pair in zip(F, self.shares[labels], strict=True)])
            rounds += 1
            self._take_over(labels, A, F, new)
            self.n_iter = max(self.n_iter, rounds)
            point = self.measure()
            if self.callback is not None:
                self.callback(point)
            if limit := "max_iter" if rounds >= self.max_iter else self.ending.reason():
                return limit
            going = np.flatnonzero(self.gap[labels] > self.tol * self.primal[labels])
            labels, new, mixtures = labels[going], new[going], [mixtures[k] for k in going]
        return None

    def _take_over(self, labels, A, F, cuts):
        """Coefficients and objectives of some labels, given their scores and the highest cuts there."""
        loss = np.abs(cuts).sum(axis=1) / 2 - (cuts * F).sum(axis=1)
        below = np.abs(A).sum(axis=1) / 2 - (A * F).sum(axis=1)
        primal, gap = (A * F).sum(axis=1) / 2 + self.cost * loss, np.maximum(self.cost * loss - below, 0)
        check_finite(primal, gap)
        self.A[labels], self.primal[labels], self.gap[labels] = A, primal, gap

    def measure(self):
        """A TracePoint of all labels, now."""
        primal, dual = self.primal.sum(), (self.primal - self.gap).sum()
        self.trace.append(
            TracePoint(self.n_iter, self.ending.seconds, primal, dual, relative_gap(primal, dual))
        )
        return self.trace[-1]


class _Mixture:
    """The cuts of one label, and the weights with which they make up its coefficients."""

    def __init__(self, n_samples, cost):
        self.cost = cost
        self.n_cuts = 0
        self.cuts, self.products = np.empty((2, FIRST_CUTS, n_samples))
        self.G, self.heights = np.empty((FIRST_CUTS, FIRST_CUTS)), np.empty(FIRST_CUTS)
        self.weights, self.unused = np.zeros(FIRST_CUTS), np.zeros(FIRST_CUTS, np.int64)

    def add(self, cut, product, accuracy):
        """One more cut and its product with the Gram matrix; returns coefficients and scores (n_samples,)."""
        place = self._free_place()
        self.cuts[place], self.products[place] = cut, product
        self.heights[place] = np.abs(cut).sum() / 2
        used = slice(self.n_cuts)
        self.G[place, used] = self.G[used, place] = self.cuts[used] @ product
        mix(self.cost * self.G[used, used], self.heights[used], self.weights[used], accuracy, MIXTURE_STEPS)
        self.unused[used] = np.where(self.weights[used] > 0, 0, self.unused[used] + 1)
        self.unused[place] = 0
        scaled = self.cost * self.weights[used]
        return scaled @ self.cuts[used], scaled @ self.products[used]

    def _free_place(self):
        """That of a cut without weight for long, or a new one."""
        place = int(np.argmax(self.unused))
        if self.unused[place] >= UNUSED:
            return place
        if self.n_cuts == len(self.cuts):
            for name in ("cuts", "products", "heights", "weights", "unused"):
                values = getattr(self, name)
                setattr(self, name, np.concatenate([values, np.zeros_like(values)]))
            self.G = np.pad(self.G, (0, self.n_cuts))
        self.n_cuts += 1
        return self.n_cuts - 1


@compiled()
def mix(G, heights, weights, accuracy, max_steps):
    """Minimise 1/2 w'Gw - heights'w over w >= 0, sum w <= 1, in place: two weights at a time, or one alone.

    Ends when no point of the simplex is lower by more than `accuracy`, as far as the gradient tells.
    """
    gradient = G @ weights - heights
    for _ in range(max_steps):
        up, lowest = -1, 0.0  # -1: what is left of the sum, whose gradient is zero
        for t in range(len(weights)):
            if gradient[t] < lowest - SAME:
                up, lowest = t, gradient[t]
        rest = 1.0 - weights.sum()
        down, most, steepest = -2, 0.0, 0.0
        for t in range(-1, len(weights)):
            slope = (gradient[t] if t >= 0 else 0.0) - lowest
            if t == up or slope <= SAME or (weights[t] if t >= 0 else rest) <= 0:
                continue
            steepest = max(steepest, slope)
            gain = slope * slope / _curvature(G, up, t)
            if gain > most * (1 + SAME):
                down, most = t, gain
        if steepest <= accuracy or down == -2:
            break
        slope = (gradient[down] if down >= 0 else 0.0) - lowest
        step = min(slope / _curvature(G, up, down), weights[down] if down >= 0 else rest)
        if up >= 0:
            weights[up] += step
            gradient += step * G[:, up]
        if down >= 0:
            weights[down] = max(weights[down] - step, 0.0)
            gradient -= step * G[:, down]


@compiled()
def _curvature(G, i, j):
    """Of the line along which weight goes from j to i; -1 is no weight."""
    total = 0.0
    if i >= 0:
        total += G[i, i]
    if j >= 0:
        total += G[j, j]
    if i >= 0 and j >= 0:
        total -= 2 * G[i, j]
    return max(total, 1e-300)

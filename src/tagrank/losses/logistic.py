"""One-vs-all logistic loss: every label of every sample asks for a score that says how likely it is.

Problem, with bounds B (+C for a present label, -C for an absent one, 0 unknown), scores F = K A, margins
m = sign(B) F and shares u = |A| / |B| of the bounds:

    primal   1/2 <A, F> + sum_il |B_il| log(1 + exp(-m_il))
    dual     sum_il |B_il| H(u_il) - 1/2 <A, F>     H(u) = -u log u - (1 - u) log(1 - u), u between 0 and 1
    gap      sum_il |B_il| KL(u_il, 1 / (1 + exp(m_il))); no term is negative

The best new share of one sample and label, all others fixed, is u = 1 / (1 + exp(t)) with t the margin that
it leads to, the root of

    h(t) = t - q - k u(t),     q = m - k u(old), the margin without the own part,  k = |B_il| K_ii

h rises. It is convex left of zero and concave right of it, so that Newton's method, started between zero and
the root, goes straight to it. No share is ever zero; what saves work is to leave entries alone whose term of
the gap is small. The labels do not touch each other, so each one is a task of its own for the threads.
"""

import numpy as np
from numba import njit

from tagrank.losses.exponentials import exp, log
from tagrank.losses.loss import BoxLoss, as_double
from tagrank.resources import compiled, share_out
from tagrank.simd import add_to_rows, in_whole_vectors, multiply_row, prefetch

FAST = {"contract", "nsz", "arcp", "reassoc"}  # nan must be seen
ENOUGH = 0.1  # a label is swept again until its largest gain falls below this share of the first
ENOUGH_LABELS = 2  # of a block, for a thread to be worth its start
ENOUGH_EXPONENTIALS = 2000  # of samples and labels, as well
NEGLIGIBLE = 0.02  # of the mean square: changes below it are not worth a row of K each
TILE = 64
LARGEST = 60.0  # margin whose share counts; that of a larger one, exp(-60), is as good as none
LEAST = 1e-26  # exp(-60)
LOG_2 = 0.6931471805599453
MOST_STEPS = 100  # of Newton's method; more than three are rare


class Logistic(BoxLoss):
    """State of the one-vs-all logistic loss during training."""

    def __init__(self, bounds, coefficients):
        super().__init__(bounds, coefficients)
        self.largest_cost = float(max(bounds.max(initial=0), -bounds.min(initial=0)))

    @staticmethod
    def without_kernel(bounds):
        return bounds / 2

    def sweep_block(self, rows, corner, scores, changes, least_gap, n_sweeps):
        wide_scores = in_whole_vectors(scores)
        n_changed = share_out(
            _sweep_labels, len(scores), self.bounds, self.coefficients, rows, in_whole_vectors(corner),
            wide_scores, changes, least_gap / len(scores), n_sweeps, least=ENOUGH_LABELS,
        )  # fmt: skip
        scores[:] = wide_scores[:, : len(rows)]
        return sum(n_changed)

    def sweep_rows(self, order, X, squared_norms, W, least_gap):
        """The groups of labels run beside each other, each elsewhere in the order: no line is shared."""
        return np.sum(share_out(
            _sweep_groups, len(W), self.bounds, self.coefficients, order,
            X.indptr, X.indices, X.data, squared_norms, W, least_gap / len(W), self.largest_cost,
        ), axis=0)  # fmt: skip

    @staticmethod
    def measure(bounds, coefficients, scores):
        sums = np.empty((3, len(bounds)))
        least = max(1, ENOUGH_EXPONENTIALS // len(scores))
        share_out(_measure, len(bounds), bounds, coefficients, as_double(scores), sums, least=least)
        return sums, None


@compiled(fastmath=FAST, error_model="numpy")
def _sweep_labels(bounds, coefficients, rows, corner, scores, changes, least_gap, n_sweeps, start, stop):
    """Exact steps on some labels of a block; returns how many coefficients changed.

    corner, scores : in whole vectors
    """
    kind, n_rows, n_stored = scores.dtype.type, rows.shape[0], 0
    zero, one, enough = kind(0), kind(1), kind(0.01 if scores.itemsize == 4 else 1e-5)
    active, room = np.empty(n_rows, np.int64), np.empty((3, n_rows), scores.dtype)
    bound_of, share_of, margin_of = room
    where, delta = np.empty(1, np.int64), np.empty(1, scores.dtype)
    for label in range(start, stop):
        n_active, where[0], first = 0, label, zero
        for b in range(n_rows):
            changes[label, b] = 0
            bound, old = bounds[rows[b], label], coefficients[rows[b], label]
            cost = abs(bound)
            u = kind(old / bound) if cost > 0 else zero
            margin = scores[label, b] if bound > 0 else -scores[label, b]
            gap = cost * divergence(u, share_of_margin(margin), margin)
            active[n_active], bound_of[n_active], share_of[n_active] = b, bound, u
            n_active += (gap > least_gap) & (corner[b, b] > 0)
        for k in range(n_active):
            share = min(max(np.float64(share_of[k]), LEAST), 1 - LEAST)
            margin_of[k] = log(max(1 - share, LEAST) / share)
        for sweep in range(n_sweeps if n_active > 0 else 0):
            largest = zero
            for position in range(n_active):
                k = position if sweep % 2 == 0 else n_active - 1 - position
                b, bound, u, t = active[k], bound_of[k], share_of[k], margin_of[k]
                steepness = abs(bound) * corner[b, b]
                margin = scores[label, b] if bound > zero else -scores[label, b]
                estimate = t - (t - margin) / (one + steepness * u * (one - u))
                margin_of[k], new = best_share(estimate, margin - steepness * u, steepness, enough)
                share_of[k], change = new, new - u
                if change != zero:
                    delta[0] = bound * change
                    gain = change * change * (steepness + one / (new * (one - new) + kind(LEAST)))
                    largest = max(largest, abs(bound) * gain)
                    add_to_rows(scores, where, delta, 0, 1, corner[b])
            first = largest if sweep == 0 else first
            if largest <= max(least_gap, ENOUGH * first):
                break
        n_changed, square = 0, 0.0
        for k in range(n_active):
            i = rows[active[k]]
            change_of_label = bound_of[k] * np.float64(share_of[k]) - coefficients[i, label]
            changes[label, active[k]] = change_of_label
            square += change_of_label**2
            n_changed += change_of_label != 0
        least = NEGLIGIBLE * square / max(n_changed, 1)
        for k in range(n_active):  # take over what changed, but for the smallest changes
            b = active[k]
            if changes[label, b] ** 2 <= least:
                changes[label, b] = 0
            else:  # nan too, so that it is seen
                coefficients[rows[b], label] = bound_of[k] * np.float64(share_of[k])
                n_stored += 1
    return n_stored


@compiled(fastmath=FAST, error_model="numpy")
def _begin_row(bounds, coefficients, scores, norm, margins):
    """Margins after one Newton step of some labels of one sample; returns their gap and primal before it."""
    kind = scores.dtype.type
    zero, half, one, two = kind(0), kind(0.5), kind(1), kind(2)
    gap = primal = zero
    for label in range(bounds.shape[0]):
        bound, old, score = bounds[label], coefficients[label], scores[label]
        cost, size, margin = abs(bound), abs(old), (score if bound > zero else -score)
        k = cost * norm
        z = exp(-min(abs(margin), kind(LARGEST)))
        p = (z if margin > zero else one) / (one + z)
        s = z / (two + z)
        square = s * s  # log(1 + z) = 2 artanh(s) = 2 s (1 + square / 3 + ...)
        log_1_z = s * (two + square * (kind(2 / 3) + square * (kind(2 / 5) + square * kind(2 / 7))))
        gap += cost * divergence(size / max(cost, kind(LEAST)), p, margin)
        primal += cost * (max(-margin, zero) + log_1_z) + half * old * score
        low, high = bracket(margin - norm * size, k)
        margins[label] = min(max(margin - norm * (size - cost * p) / (one + k * p * (one - p)), low), high)
    return gap, primal


@compiled(fastmath=FAST, error_model="numpy")
def _refine_row(bounds, coefficients, scores, norm, margins):
    """Another Newton step."""
    one, zero = scores.dtype.type(1), scores.dtype.type(0)
    for label in range(bounds.shape[0]):
        t, k = margins[label], abs(bounds[label]) * norm
        q = (scores[label] if bounds[label] > zero else -scores[label]) - norm * abs(coefficients[label])
        low, high = bracket(q, k)
        u = share_of_margin(t)
        margins[label] = min(max(t - (t - q - k * u) / (one + k * u * (one - u)), low), high)


@compiled(fastmath=FAST, error_model="numpy")
def _row_step(bounds, coefficients, scores, norm, n_steps, new, changes):
    """Best coefficients of some labels of one sample, and their changes; returns gap and primal before."""
    gap, primal = _begin_row(bounds, coefficients, scores, norm, new)
    for _ in range(n_steps):
        _refine_row(bounds, coefficients, scores, norm, new)
    for label in range(bounds.shape[0]):
        new[label] = bounds[label] * share_of_margin(new[label])
        changes[label] = new[label] - coefficients[label]
    return gap, primal


@compiled()
def _sweep_groups(
    bounds, coefficients, order, indptr, indices, data, norms, weights, least_gap, largest_cost, start, stop
):
    """One pass over `order` for some groups of labels; returns the sums of gaps and primals met."""
    n_groups, _, width = weights.shape
    total_gap = total_primal = 0.0
    for group in range(start, stop):
        W, first, first_visit = weights[group], group * width, group * len(order) // n_groups
        last = min(first + width, bounds.shape[1])
        scores, changes = np.zeros(width, weights.dtype), np.zeros(width, weights.dtype)
        new = np.zeros(width, weights.dtype)
        for visit in range(len(order)):
            i = order[(first_visit + visit) % len(order)]
            if norms[i] <= 0:
                continue
            soon = order[(first_visit + visit + 4) % len(order)]
            prefetch(indices, indptr[soon], indptr[soon + 1])
            prefetch(data, indptr[soon], indptr[soon + 1])
            prefetch(bounds, soon * bounds.shape[1] + first, soon * bounds.shape[1] + last)
            prefetch(coefficients, soon * bounds.shape[1] + first, soon * bounds.shape[1] + last)
            multiply_row(W, indices, data, indptr[i], indptr[i + 1], scores)
            mine = coefficients[i, first:last]
            n_steps, k = 0 if W.itemsize == 4 else 2, largest_cost * norms[i]
            while k > 2:
                k /= 4
                n_steps += 1
            gap, primal = _row_step(bounds[i, first:last], mine, scores, norms[i], n_steps, new, changes)
            total_gap += gap
            total_primal += primal
            if gap > least_gap:
                for label in range(last - first):
                    mine[label] = new[label]
                add_to_rows(W, indices, data, indptr[i], indptr[i + 1], changes)
    return total_gap, total_primal


@njit(inline="always")
def share_of_margin(margin):
    """1 / (1 + exp(margin)); constants have the type of the margin, or all would be computed in float64."""
    one, largest = type(margin)(1), type(margin)(LARGEST)
    return one / (one + exp(min(max(margin, -largest), largest)))


@njit(inline="always")
def divergence(u, p, margin):
    """KL(u, p) without a logarithm, p = 1 / (1 + exp(margin)).

    By the curvature of the entropy a third of the way from p to u: exact where they are near. Where they are
    not, the part that grows with the margin, which is never more than the whole.
    """
    zero, one = type(p)(0), type(p)(1)
    x = p + (u - p) * type(p)(1 / 3)
    near = type(p)(0.5) * (u - p) * (u - p) / (x * (one - x) + type(p)(LEAST))
    return max(near, (u * margin if margin > zero else (u - one) * margin) - type(p)(LOG_2))


@njit(inline="always")
def bracket(q, k):
    """Ends of an interval that holds the root, and in which Newton's method does not leave it."""
    zero = type(q)(0)
    is_right = q + type(q)(0.5) * k > zero
    low = max(q, zero) if is_right else q
    high = q + k if is_right else min(q + k, zero)
    return low, high


@compiled(fastmath=FAST, error_model="numpy")
def best_share(t, q, k, enough):
    """The root of h, from an estimate of it: the margin, and the share that it stands for."""
    one = type(t)(1)
    low, high = bracket(q, k)
    u = slope = step = type(t)(0)
    for _ in range(MOST_STEPS):
        t = min(max(t, low), high)
        u = share_of_margin(t)
        slope = u * (one - u)
        step = (t - q - k * u) / (one + k * slope)
        if abs(step) < enough:
            break
        t -= step
    # the share at t - step by its Taylor series, which saves an exponential
    return t - step, min(u + step * slope * (one + step * (type(t)(0.5) - u)), one)


@compiled(fastmath=FAST, error_model="numpy")
def _sums_of_sample(bounds, coefficients, scores):
    loss = entropy = inner = 0.0
    for k in range(scores.shape[0]):
        bound, coefficient, score = np.float64(bounds[k]), np.float64(coefficients[k]), scores[k]
        cost = abs(bound)
        margin = score if bound > 0 else -score
        loss += cost * (max(-margin, 0.0) + log(1 + exp(-min(abs(margin), 700.0))))
        u = abs(coefficient) / max(cost, 1e-300)
        entropy -= cost * (u * log(max(u, 1e-300)) + (1 - u) * log(max(1 - u, 1e-300)))
        inner += coefficient * score
    return loss, entropy, inner


@compiled()
def _measure(bounds, coefficients, scores, sums, start, stop):
    """Sums over the labels of each sample of loss, entropy and coefficient * score, shape (3, n_samples)."""
    n_labels, tile = scores.shape[0], np.empty((TILE, scores.shape[0]))
    for first in range(start, stop, TILE):
        n_rows = min(stop - first, TILE)
        for label in range(n_labels):
            for b in range(n_rows):
                tile[b, label] = scores[label, first + b]
        for b in range(n_rows):
            i = first + b
            sums[0, i], sums[1, i], sums[2, i] = _sums_of_sample(bounds[i], coefficients[i], tile[b])

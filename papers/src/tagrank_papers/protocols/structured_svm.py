"""A structural SVM with the Hamming loss, as a general solver trains it: the comparator of M3L (SVM-struct).

    min 1/2 sum_lk (R^-1)_lk z_l'z_k + C sum_i xi_i
    y_i'Z'x_i - y'Z'x_i >= sum_l (1 - y_l y_il) - xi_i    for every y in {-1, +1}^m and every sample i

This is the problem of `PriorMarginClassifier` as it is first written down: with the Hamming loss the worst y
of a sample is found label by label, and xi_i = sum_l max(0, 2 - 2 y_il z_l'x_i). The solver knows nothing of
this. It keeps one cutting plane for all samples a round (the form with one slack), and finds the best point
of all planes so far:

    max delta'a - 1/2 a'Ha    a >= 0, sum a <= C        H_tu = <B_t, K B_u R>

B_t (n_samples, n_labels) is y_i less the worst y, and delta_t the loss of the worst y, summed over the
samples. Any such a bounds the optimum from below.

References: Tsochantaridis, Joachims, Hofmann, Altun: Large Margin Methods for Structured and Interdependent
Output Variables, JMLR 6, 2005. Joachims, Finley, Yu: Cutting-Plane Training of Structural SVMs, Machine
Learning 77, 2009.
"""

from typing import NamedTuple

import numpy as np

RIDGE = 1e-10  # of the mean of the diagonal of H, which is singular where planes repeat


class StructuredSolution(NamedTuple):
    """Coefficients and their certificate.

    Attributes
    ----------
    coefficients : array, shape (n_samples, n_labels); scores are K(new, train) @ coefficients @ R
    primal, dual : float
    gap : float, (primal - dual) / |primal|
    n_planes : int
    """

    coefficients: np.ndarray
    primal: float
    dual: float
    gap: float
    n_planes: int


def train_structured(multiply, Y, C, *, prior=None, tol=1e-2, max_planes=2000, stop=None):
    """Train until the gap is `tol`, the planes are used up, or `stop()` says so.

    Parameters
    ----------
    multiply : function of an array B (n_samples, n_labels), which answers K @ B
    Y : array of 0 and 1, shape (n_samples, n_labels)
    C : float
    prior : array R, shape (n_labels, n_labels), or None for the identity
    """
    import daqp

    signs = np.where(np.asarray(Y) > 0, 1.0, -1.0)
    R = np.eye(signs.shape[1]) if prior is None else np.asarray(prior, np.float64)
    planes, scored, losses, H = [], [], [], np.zeros((0, 0))
    shares, best, lower = np.zeros(0), (np.inf, None), -np.inf
    while True:
        scores = sum((a * one for a, one in zip(shares, scored, strict=True)), start=np.zeros(signs.shape))
        misses = np.maximum(0, 1 - signs * scores)
        primal = shares @ H @ shares / 2 + 2 * C * misses.sum()
        if primal < best[0]:
            best = primal, shares.copy()
        gap = (best[0] - lower) / max(abs(best[0]), np.finfo(float).tiny)
        if gap <= tol or len(planes) >= max_planes or (stop is not None and stop()):
            break
        wrong = misses > 0
        planes.append((2 * signs * wrong).astype(np.int8))
        new = multiply(planes[-1].astype(np.float64)) @ R
        scored.append(new.astype(np.float32))
        losses.append(2.0 * wrong.sum())
        row = np.array([np.vdot(plane, new) for plane in planes])
        H = np.block([[H, row[:-1, None]], [row[None, :]]])
        delta = np.array(losses)
        shares = C * _best_shares(daqp, C * H, delta)
        lower = max(lower, delta @ shares - shares @ H @ shares / 2)
    used = np.zeros(0) if best[1] is None else best[1]
    coefficients = sum(
        (a * plane for a, plane in zip(used, planes, strict=False)), start=np.zeros(signs.shape)
    )
    return StructuredSolution(coefficients, float(best[0]), float(max(lower, 0.0)), float(gap), len(planes))


def _best_shares(daqp, H, delta):
    """The b >= 0, sum b <= 1, of the largest delta'b - 1/2 b'Hb."""
    scale, n = max(delta.max(), np.finfo(float).tiny), len(delta)
    ridge = RIDGE * max(np.trace(H) / n, scale) * np.eye(n)
    high, low = np.ones(n + 1), np.append(np.zeros(n), -np.inf)
    found, _, flag, _ = daqp.solve(
        (H + ridge) / scale, -delta / scale, np.ones((1, n)), high, np.maximum(low, -1e30),
        np.zeros(n + 1, np.int32), primal_tol=1e-10,
    )  # fmt: skip
    if flag <= 0:
        return np.eye(n)[-1]
    found = np.maximum(found, 0)
    return found / max(1.0, found.sum())

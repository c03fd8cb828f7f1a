"""The likelihood of labels that neighbours pass on, and its ascent.

With weights pi_ij = exp(-w'd_ij) / sum_j' exp(-w'd_ij') of the neighbours j of sample i, the label values V
of the neighbours give x_il = sum_j pi_ij V_jl, and a curve for each label p_il = sigmoid(a_l x_il + b_l).

    maximise    sum_il c_il (t_il log p_il + (1 - t_il) log(1 - p_il))    over b, a >= 0 and w >= 0

In a, b it is a logistic regression of one variable for each label; in w the gradient is
- sum_ij pi_ij (g_ij - sum_j' pi_ij' g_ij') d_ij, where g_ij = sum_l c_il (t_il - p_il) a_l V_jl.
Without curves p_il = x_il, and g_ij = sum_l c_il (t_il - x_il) / (x_il (1 - x_il)) V_jl.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, logit

from tagrank.resources import compiled

NEWTON_STEPS = 50
CONVERGED = 1e-6  # relative gain of a step in w
CURVES_CONVERGED = 1e-10  # and of one of Newton's
ROUNDING = 1e-13  # a loss that rises by less has not risen
RIDGE = 1e-9  # keeps a curve of a constant variable solvable


@dataclass
class Propagation:
    """The problem.

    Attributes
    ----------
    indices : array, shape (n_samples, k), neighbours of each sample
    distances : array, shape (n_samples, k, n_terms)
    values : csr_array, shape (n_training, n_labels), label values less `base`
    base : array, shape (n_labels,)
    targets, costs : arrays, shape (n_samples, n_labels), t and c
    has_curves : whether p is a curve of x, or x itself
    may_fall : whether a may be negative
    """

    indices: np.ndarray
    distances: np.ndarray
    values: sparse.csr_array
    base: np.ndarray
    targets: np.ndarray
    costs: np.ndarray
    has_curves: bool = True
    may_fall: bool = False

    def propagate(self, weights):
        """pi (n_samples, k) and x (n_samples, n_labels)."""
        shares = neighbour_shares(self.distances, weights)
        return shares, propagated(self.indices, shares, self.values, self.base)

    def loss(self, x, slopes, intercepts):
        """Minus the objective of each label, shape (n_labels,)."""
        if not self.has_curves:
            likelihood = self.targets * np.log(x) + (1 - self.targets) * np.log1p(-x)
            return -np.sum(self.costs * likelihood, axis=0)
        z = slopes * x + intercepts
        return np.sum(self.costs * (np.logaddexp(0, z) - self.targets * z), axis=0)

    def loss_and_gradient(self, weights, slopes, intercepts):
        """Minus the objective, and its gradient in w (n_terms,)."""
        shares, x = self.propagate(weights)
        if self.has_curves:
            pull = self.costs * (expit(slopes * x + intercepts) - self.targets) * slopes
        else:
            pull = self.costs * (x - self.targets) / (x * (1 - x))
        gains = np.empty(shares.shape)
        _multiply_rows(pull, self.indices, *_parts(self.values), pull @ self.base, gains)
        gains -= np.sum(shares * gains, axis=1, keepdims=True)
        gradient = -np.einsum("ij,ijt->t", shares * gains, self.distances)
        return self.loss(x, slopes, intercepts).sum(), gradient

    def fit_curves(self, x, slopes, intercepts):
        """The best a >= 0 and b of all labels by Newton's method; a step that does not help is halved.

        A curve that would fall is flat: the objective is concave, its slope at the best flat curve tells.
        """
        if not self.has_curves:
            return slopes, intercepts
        totals = np.maximum(self.costs.sum(axis=0), np.finfo(float).tiny)
        means = np.clip(np.sum(self.costs * self.targets, axis=0) / totals, 1e-9, 1 - 1e-9)
        is_flat = (np.sum(self.costs * (means - self.targets) * x, axis=0) >= 0) & (not self.may_fall)
        slopes, intercepts = np.where(is_flat, 0, slopes), np.where(is_flat, logit(means), intercepts)
        loss = self.loss(x, slopes, intercepts)
        for _ in range(NEWTON_STEPS):
            a, b = _newton_step(x, slopes, intercepts, self.targets, self.costs)
            size = np.where(is_flat, 0.0, 1.0)
            for _ in range(20):
                new = self.loss(x, slopes - size * a, intercepts - size * b)
                if not np.any(worse := new > loss * (1 + ROUNDING)):
                    break
                size[worse] /= 2
            size[worse] = 0
            new = np.where(worse, loss, new)
            slopes, intercepts = slopes - size * a, intercepts - size * b
            gain, loss = np.sum(loss - new), new
            if gain <= CURVES_CONVERGED * loss.sum():
                break
        return slopes, intercepts

    def solve(self, weights, *, max_iter, stop=None):
        """w, a, b and the objective after each step; `stop()` is asked then.

        Steps are made in w alone, with the best curves for each w: there the gradient in w is the whole one.
        """
        curves = np.ones(len(self.base)), np.zeros(len(self.base))
        objectives = []

        def best_loss(weights):
            nonlocal curves
            curves = self.fit_curves(self.propagate(weights)[1], *curves)
            return self.loss_and_gradient(weights, *curves)

        def look(intermediate_result):
            objectives.append(-float(intermediate_result.fun))
            if stop is not None and stop():
                raise StopIteration

        optimum = minimize(
            best_loss,
            weights,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, None)] * len(weights),
            callback=look,
            options={"maxiter": max_iter, "ftol": CONVERGED, "gtol": 0},
        )
        curves = self.fit_curves(self.propagate(optimum.x)[1], *curves)
        return optimum.x, *curves, np.array(objectives)


def neighbour_shares(distances, weights):
    """pi of the neighbours of each sample, shape (n_samples, k)."""
    exponents = -(distances @ weights)
    exponents -= exponents.max(axis=1, keepdims=True, initial=-np.inf)
    shares = np.exp(exponents, out=exponents)
    return shares / shares.sum(axis=1, keepdims=True)


def propagated(indices, shares, values, base):
    """x (n_samples, n_labels)."""
    n_samples, k = indices.shape
    ends = np.arange(n_samples + 1) * k
    pick = sparse.csr_array((shares.ravel(), indices.ravel(), ends), shape=(n_samples, values.shape[0]))
    return (pick @ values).toarray() + base


def _newton_step(x, slopes, intercepts, targets, costs):
    p = expit(slopes * x + intercepts)
    residuals, curvatures = costs * (p - targets), costs * p * (1 - p)
    ga, gb = np.sum(residuals * x, axis=0), np.sum(residuals, axis=0)
    hab, hbb = np.sum(curvatures * x, axis=0), np.sum(curvatures, axis=0)
    haa = np.sum(curvatures * x * x, axis=0) + RIDGE * (hbb + np.finfo(float).tiny)
    hbb = hbb * (1 + RIDGE) + np.finfo(float).tiny
    determinant = np.maximum(haa * hbb - hab**2, np.finfo(float).tiny)
    return (hbb * ga - hab * gb) / determinant, (haa * gb - hab * ga) / determinant


def _parts(matrix):
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data


@compiled()
def _multiply_rows(left, indices, ends, places, data, offsets, out):
    """out[i, j] = offsets[i] + <left[i], row indices[i, j] of a sparse matrix>."""
    for i in range(indices.shape[0]):
        for j in range(indices.shape[1]):
            total = offsets[i]
            for p in range(ends[indices[i, j]], ends[indices[i, j] + 1]):
                total += data[p] * left[i, places[p]]
            out[i, j] = total

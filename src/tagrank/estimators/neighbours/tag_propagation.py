"""Labels passed on by neighbours whose weights are learned.

The likelihood of labels that neighbours pass on, and its ascent.

With weights pi_ij = exp(-w'd_ij) / sum_j' exp(-w'd_ij') of the neighbours j of sample i, the label values V
of the neighbours give x_il = sum_j pi_ij V_jl, and a curve for each label p_il = sigmoid(a_l x_il + b_l).

    maximise    sum_il c_il (t_il log p_il + (1 - t_il) log(1 - p_il))    over b, a >= 0 and w >= 0

In a, b it is a logistic regression of one variable for each label; in w the gradient is
- sum_ij pi_ij (g_ij - sum_j' pi_ij' g_ij') d_ij, where g_ij = sum_l c_il (t_il - p_il) a_l V_jl.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, logit

from tagrank.estimators.base import LogOdds, Numbers, stores
from tagrank.estimators.neighbours.distances import term_weights
from tagrank.estimators.neighbours.neighbor_estimator import NeighborEstimator
from tagrank.resources import compiled, limited_threads
from tagrank.validation import check_count

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
    """

    indices: np.ndarray
    distances: np.ndarray
    values: sparse.csr_array
    base: np.ndarray
    targets: np.ndarray
    costs: np.ndarray

    def propagate(self, weights):
        """pi (n_samples, k) and x (n_samples, n_labels)."""
        shares = neighbour_shares(self.distances, weights)
        return shares, propagated(self.indices, shares, self.values, self.base)

    def loss(self, x, slopes, intercepts):
        """Minus the objective of each label, shape (n_labels,)."""
        z = slopes * x + intercepts
        return np.sum(self.costs * (np.logaddexp(0, z) - self.targets * z), axis=0)

    def loss_and_gradient(self, weights, slopes, intercepts):
        """Minus the objective, and its gradient in w (n_terms,)."""
        shares, x = self.propagate(weights)
        pull = self.costs * (expit(slopes * x + intercepts) - self.targets) * slopes
        gains = np.empty(shares.shape)
        _multiply_rows(pull, self.indices, *_parts(self.values), pull @ self.base, gains)
        gains -= np.sum(shares * gains, axis=1, keepdims=True)
        gradient = -np.einsum("ij,ijt->t", shares * gains, self.distances)
        return self.loss(x, slopes, intercepts).sum(), gradient

    def fit_curves(self, x, slopes, intercepts):
        """The best a >= 0 and b of all labels by Newton's method; a step that does not help is halved.

        A curve that would fall is flat: the objective is concave, its slope at the best flat curve tells.
        """
        totals = np.maximum(self.costs.sum(axis=0), np.finfo(float).tiny)
        means = np.clip(np.sum(self.costs * self.targets, axis=0) / totals, 1e-9, 1 - 1e-9)
        is_flat = np.sum(self.costs * (means - self.targets) * x, axis=0) >= 0
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


CERTAINTY = 1e-5  # a neighbour passes on a label with this much less than certainty, as published
START = 10.0  # weight of the mean distance at which learning begins


@dataclass(kw_only=True, eq=False, repr=False)
class TagPropagation(LogOdds, NeighborEstimator):
    """Labels of weighted neighbours, with a sigmoid for each label (TagProp, sigma-ML).

    Guillaumin, Mensink, Verbeek and Schmid 2009, with weights by distance: neighbour j of sample i weighs
    ``exp(-w'd_ij)`` in proportion, where d_ij has one distance for each term of the kernel, such as one for
    each view, and w is not negative. A logistic curve for each label makes rare labels as likely as they are.
    w and the curves maximise the likelihood of the training labels, each sample being left out of its own
    neighbours; present and absent labels have the same total cost. The paper learns w and curves by turns;
    here every step in w has the curves that are best for it, so that the likelihood never falls. Curves never
    fall either: otherwise, with nearly all samples as neighbours, they would read off what was left out.

    Where the paper takes the neighbours of each distance by turns, these are those of the mean distance, see
    `NearestNeighbors`. Targets are (n+ + 1) / (n+ + 2) and 1 / (n- + 2) for a label of n+ and n- samples
    instead of 1 and 0 (Platt 2000): otherwise a label that its neighbours tell without error has no best
    curve. The scores are log-odds that take back the costs, which do not change their order in a sample.

    An unknown label of a sample costs nothing; as a neighbour it passes on the frequency of the label.

    Parameters
    ----------
    kernel : str, Kernel or list of them, default "rbf"
        The distance: Euclidean for "rbf" and "linear", chi-square for "chi2", and for a sum of kernels, such
        as one for each view, the mean of the distances of its terms. With "precomputed", X is a Gram matrix.
    gamma : float, optional
        Width of the kernel; it does not change the neighbours.
    n_neighbors : int, default 200
        Number of training samples that vote; all, if there are fewer. More neighbours give smoother scores.
    n_jobs : int, optional
        Number of threads; all cores by default.
    max_iter : int, default 100
        Maximum number of steps in w; training stops when a step gains less than 1e-6 of the objective.

    Attributes
    ----------
    weights_ : array, shape (n_terms,), w, for distances whose mean is one
    slopes_, intercepts_ : arrays, shape (n_labels,), of the curves
    log_likelihoods_ : array, after each step
    states_ : int8 array, shape (n_samples, n_labels)
        Labels of the training samples: 1 present, -1 absent, 0 unknown.
    frequencies_ : array, shape (n_labels,)
        For each label, the share of the samples that have it, among those where it is known.
    scales_ : array, shape (n_terms,)
        Mean distances of training samples; the distances of each term of the kernel are divided by these.
    diagonal_ : array, shape (n_samples,), or None
        Similarities of the training samples with themselves, for kernel="precomputed".
    support_ : int array, shape (n_samples,)
        Indices of the stored training samples: all.
    kernel_ : Kernel
        The kernel, with its width fixed by the training samples.
    X_fit_ : array, sparse matrix or mapping of views
        The training samples that predictions are computed from; missing for kernel="precomputed".
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive training sample. They are ranked last and never predicted.
    n_features_in_ : int
        Number of columns of X in `fit`; missing if X was a mapping of views.

    Examples
    --------
    >>> from tagrank.estimators import TagPropagation
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> model = TagPropagation().fit(X, [{"sea"}, {"sea"}, {"sea"}, {"street"}, {"street"}, {"street"}])
    >>> dict(zip(model.classes_, model.predict_proba([[0.05]])[0].round(1).tolist()))
    {'sea': 0.8, 'street': 0.2}
    """

    n_neighbors: int = 200
    max_iter: int = 100

    stored = stores(
        weights_=Numbers("f", ("n_terms",)),
        slopes_=Numbers("f", ("n_labels",)),
        intercepts_=Numbers("f", ("n_labels",)),
    )

    def fit(self, X, y, *, stop=None) -> Self:
        """Learn weights and curves; `stop()` is asked after each step, true ends it.

        Parameters
        ----------
        X, y : as in `NearestNeighbors.fit`
        stop : function without arguments, optional

        Returns
        -------
        self
        """
        self._stop = stop
        try:
            return super().fit(X, y)
        finally:
            del self._stop

    def _check_parameters(self):
        super()._check_parameters()
        check_count("max_iter", self.max_iter)

    def _learn(self, X):
        indices, distances = self._nearest(X, leave_one_out=True)
        targets, costs = _targets(self.states_)
        problem = Propagation(indices, distances, *self._values(), targets, costs)
        with limited_threads(1):  # a few numbers at a time
            self.weights_, self.slopes_, intercepts, self.log_likelihoods_ = problem.solve(
                START * term_weights(self.kernel_), max_iter=self.max_iter, stop=self._stop
            )
        n_present, n_absent = np.sum(self.states_ > 0), np.sum(self.states_ < 0)
        self.intercepts_ = intercepts + np.log(max(1, n_present)) - np.log(max(1, n_absent))

    def _values(self):
        """What each training sample passes on, as a sparse matrix to be added to a row that all share."""
        present, unknown = self.states_ > 0, self.states_ == 0
        added = np.where(unknown, np.maximum(self.frequencies_ - CERTAINTY, 0), 0.0)
        added[present] = 1 - 2 * CERTAINTY
        return sparse.csr_array(added), np.full(self.states_.shape[1], CERTAINTY)

    def _scores(self, X):
        indices, distances = self._nearest(X)
        x = propagated(indices, neighbour_shares(distances, self.weights_), *self._values())
        return self.slopes_ * x + self.intercepts_


def _targets(states):
    """Targets and costs (n_samples, n_labels)."""
    n_present, n_absent = (states > 0).sum(axis=0), (states < 0).sum(axis=0)
    targets = np.where(states > 0, (n_present + 1) / (n_present + 2), 1 / (n_absent + 2))
    costs = (states > 0) / max(1, n_present.sum()) + (states < 0) / max(1, n_absent.sum())
    return targets, costs

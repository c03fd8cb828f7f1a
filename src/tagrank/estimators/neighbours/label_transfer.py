"""Labels copied from the nearest samples, by distances whose weights may be learned."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from tagrank.estimators.base import Numbers, stores
from tagrank.estimators.calibration.decisions import predict_top
from tagrank.estimators.neighbours.distances import term_weights
from tagrank.estimators.neighbours.neighbor_estimator import NeighborEstimator, shares
from tagrank.validation import check_choice, check_count, check_positive

FEWEST_PAIRS = 100  # alike ones from which weights are learned
MOST_PAIRS = 50_000  # of each kind

CLEARLY_BELOW = 1e-6  # ties in a group are broken by frequency


@dataclass(kw_only=True, eq=False, repr=False)
class LabelTransfer(NeighborEstimator):
    """Copies the labels of the nearest training sample, then some labels of the next ones (JEC).

    The rule of Makadia, Pavlovic and Kumar 2008: first the labels of the nearest sample, the most frequent
    ones in training first; then labels of its other `n_neighbors` - 1 neighbours, by how often they occur
    together in training with the labels taken first, and how often the neighbours have them. How these two
    are combined is not known here, it is the product. All labels get a score: those that no neighbour has
    follow, by their frequency.

    Distances of several views are added, each divided by its mean over training pairs; with
    ``distance_unit="largest"`` each is divided by the largest, as published (joint equal contribution), which
    one outlier decides. With ``weighting="lasso"`` the weights of the views are learned from pairs of
    training samples, the paper's second form: those that share `n_shared` labels are alike, those that share
    none are not, and

        min over w >= 0, b    mean_ij log(1 + exp(-s_ij (w'd_ij + b))) + sparsity sum_t w_t

    with s = -1 for alike, 1 for other pairs, and as many of these as of those. That no weight is negative is
    ours: a far sample should not be near. A label that is unknown of the nearest sample is not taken from it;
    neighbours where a label is unknown have no say in how often they have it.

    Parameters
    ----------
    n_transferred : int, default 5
        How many labels `predict` gives every sample.
    distance_unit : {"mean", "largest"}, default "mean"
        Each distance is divided by its mean or by its largest value over training pairs.
    weighting : {"kernel", "lasso"}, default "kernel"
        Weights of the distances: those of the terms of the kernel, equal if nothing was said, or learned
        ones.
    n_shared : int, default 4
        Number of labels that similar pairs share, for weighting="lasso"; less if fewer than 100 pairs do.
    sparsity : float, default 0.001
        Penalty of the learned weights. The larger, the fewer distances count.
    kernel : str, Kernel or list of them, default "rbf"
        The distance: Euclidean for "rbf" and "linear", chi-square for "chi2", and for a sum of kernels, such
        as one for each view, the mean of the distances of its terms. With "precomputed", X is a Gram matrix.
    gamma : float, optional
        Width of the kernel; it does not change the neighbours.
    n_neighbors : int, default 5
        Number of training samples that vote; all, if there are fewer. More neighbours give smoother scores.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Attributes
    ----------
    weights_ : array, shape (n_terms,)
        Weights of the distances, for distances whose mean is one; their sum is one.
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
    >>> from tagrank.estimators import LabelTransfer
    >>> X = [[0.0], [0.2], [1.0], [1.1]]
    >>> tags = [{"sea", "boat"}, {"sea", "sun"}, {"street"}, {"street", "car"}]
    >>> model = LabelTransfer(n_neighbors=2).fit(X, tags)
    >>> model.classes_[(-model.decision_function([[0.05]])[0]).argsort()].tolist()
    ['sea', 'boat', 'sun', 'street', 'car']
    """

    n_neighbors: int = 5
    n_transferred: int = 5
    distance_unit: str = "mean"
    weighting: str = "kernel"
    n_shared: int = 4
    sparsity: float = 1e-3

    stored = stores(weights_=Numbers("f", ("n_terms",), least=0, optional=True))

    def _check_parameters(self):
        super()._check_parameters()
        check_count("n_transferred", self.n_transferred)
        check_choice("distance_unit", self.distance_unit, ("mean", "largest"))
        check_choice("weighting", self.weighting, ("kernel", "lasso"))
        check_count("n_shared", self.n_shared)
        check_positive("sparsity", self.sparsity)

    def restore(self, state):
        super().restore(state)
        if self.weights_ is None:  # a model of before weights could be learned
            self.weights_ = super()._term_weights()
        if not self.weights_.any():
            raise ValueError("one of the weights of the distances must be above zero")

    def _term_weights(self):
        return self.weights_

    def _learn(self, X):
        weights = term_weights(self.kernel_)
        if len(weights) > 1 and (self.distance_unit == "largest" or self.weighting == "lasso"):
            some, D = self._some_distances(X)
            largest = D.max(axis=(0, 1)) if self.distance_unit == "largest" else np.ones(len(weights))
            largest = np.where(largest > 0, largest, 1)
            if self.weighting == "lasso":
                pairs = alike_pairs(self.states_[some] > 0, self.n_shared)
                weights = lasso_weights(D / largest, *pairs, self.sparsity, otherwise=weights)
            weights = weights / largest
        self.weights_ = weights / weights.sum()

    def _scores(self, X):
        indices, _ = self._nearest(X)
        first = self.states_[indices[:, 0]] > 0
        local = shares(*self._votes(indices[:, 1:]))
        present = (self.states_ > 0).astype(np.float64)
        together = first.astype(np.float64) @ (present.T @ present)
        together[~first.any(axis=1)] = 1  # without labels of the nearest only the others speak
        follow = local * together
        follow /= 1 + follow.max(axis=1, keepdims=True)
        scores = np.where(local > 0, 1 + follow + CLEARLY_BELOW * self.frequencies_, self.frequencies_ / 2)
        return np.where(first, 3 + self.frequencies_, scores)

    def choose(self, scores) -> np.ndarray:
        """Labels present: as many as are transferred."""
        return predict_top(scores, self.n_transferred) * ~self.never_positive_


def alike_pairs(present, n_shared):
    """Pairs (rows, columns) of samples that share many labels, and pairs that share none.

    Many are `n_shared`, or as many as enough pairs share. An unknown label is shared by none.

    Returns
    -------
    alike, different : two tuples of index arrays, equally many pairs; empty if there are none of one kind
    """
    present = present.astype(np.float64)
    common = present @ present.T
    upper = np.triu(np.ones(common.shape, bool), 1)
    different = np.flatnonzero(upper & (common == 0))
    for least in range(n_shared, 0, -1):
        alike = np.flatnonzero(upper & (common >= least))
        if len(alike) >= FEWEST_PAIRS:
            break
    n_pairs = min(len(alike), len(different), MOST_PAIRS)
    rng = np.random.default_rng(0)
    chosen = (np.sort(rng.permutation(pairs)[:n_pairs]) for pairs in (alike, different))
    return tuple(np.unravel_index(pairs, common.shape) for pairs in chosen)


def lasso_weights(D, alike, different, sparsity, *, otherwise):
    """Weights (n_terms,) of distances `D` (n, n, n_terms) that tell alike pairs from others.

    `otherwise` are those to begin with, and the answer if there are no pairs or no weight is above zero.
    """
    distances = np.vstack([D[alike], D[different]])
    signs = np.repeat([-1.0, 1.0], [len(alike[0]), len(different[0])])
    if not len(signs):
        return otherwise

    def loss(parameters):
        w, b = parameters[:-1], parameters[-1]
        margins = signs * (distances @ w + b)
        slopes = -signs * expit(-margins) / len(signs)
        value = np.logaddexp(0, -margins).mean() + sparsity * w.sum()
        return value, np.append(distances.T @ slopes + sparsity, slopes.sum())

    bounds = [(0, None)] * D.shape[2] + [(None, None)]
    start = np.append(otherwise, 0.0)
    options = {"maxiter": 1000, "ftol": 1e-12, "gtol": 1e-8}
    weights = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x[:-1]
    return weights if weights.any() else otherwise

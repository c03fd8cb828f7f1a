"""Labels by the votes of the nearest training samples: shares and probabilities."""

from dataclasses import dataclass

import numpy as np

from tagrank.estimators.base import LogOdds, Numbers, stores
from tagrank.estimators.neighbours.neighbor_estimator import NeighborEstimator, shares
from tagrank.validation import check_choice, check_positive


@dataclass(kw_only=True, eq=False, repr=False)
class NearestNeighbors(NeighborEstimator):
    """Scores a label by the share of the nearest training samples that have it (k-NN).

    The training set as a whole has one vote beside the `n_neighbors`: ``(votes + frequency) / (voters + 1)``.
    So labels with equal votes stand in the order of their frequency, and a label that no neighbour knows is
    scored by it. Neighbours where a label is unknown have no vote for it. `predict` answers labels with half
    of the votes.

    Parameters
    ----------
    voting : {"equal", "similarity"}, default "equal"
        "similarity": a vote weighs exp(-d^2 / mean of d^2 over the neighbours), in proportion.
    kernel : str, Kernel or list of them, default "rbf"
        The distance: Euclidean for "rbf" and "linear", chi-square for "chi2", and for a sum of kernels, such
        as one for each view, the mean of the distances of its terms. With "precomputed", X is a Gram matrix.
    gamma : float, optional
        Width of the kernel; it does not change the neighbours.
    n_neighbors : int, default 10
        Number of training samples that vote; all, if there are fewer. More neighbours give smoother scores.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Attributes
    ----------
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
    >>> from tagrank.estimators import NearestNeighbors
    >>> X = [[0.0], [0.2], [1.0], [1.1]]
    >>> model = NearestNeighbors(n_neighbors=2).fit(X, [{"sea", "boat"}, {"sea"}, {"street"}, {"street"}])
    >>> dict(zip(model.classes_, model.decision_function([[0.1]])[0].round(2).tolist()))
    {'boat': 0.42, 'sea': 0.83, 'street': 0.17}
    """

    voting: str = "equal"

    def _check_parameters(self):
        super()._check_parameters()
        check_choice("voting", self.voting, ("equal", "similarity"))

    def _scores(self, X):
        indices, distances = self._nearest(X)
        weights = None if self.voting == "equal" else self._similarity(distances)
        present, known = self._votes(indices, weights)
        return (present + self.frequencies_) / (known + 1)

    def _similarity(self, distances):
        """Weights (n_samples, k) of neighbours, of mean 1."""
        squares = (distances @ self._term_weights()) ** 2
        widths = squares.mean(axis=1, keepdims=True)
        weights = np.exp(-squares / np.where(widths > 0, widths, 1))
        return weights / weights.mean(axis=1, keepdims=True)

    def choose(self, scores) -> np.ndarray:
        """Labels present: those whose score reaches one half."""
        return ((scores >= 0.5) & ~self.never_positive_).astype(np.int64)


@dataclass(kw_only=True, eq=False, repr=False)
class BayesianNeighbors(LogOdds, NeighborEstimator):
    """The probability of a label, given how many of the nearest samples have it (ML-kNN).

    With c of k neighbours that have label l, Bayes' rule gives ``P(l | c) = P(l) P(c | l) / P(c)``, where

        P(l) = (s + number of samples with l) / (2 s + n)
        P(c | l) = (s + number of samples with l of whose neighbours c have l) / (s (k + 1) + number with l)

    and in the same way for its absence. The neighbours of a training sample are other training samples. This
    is the published form. If a label is unknown for some neighbours, c is k times its share among the others,
    rounded; if it is unknown for all, the probability is P(l). `predict` answers labels that reach one half.

    Parameters
    ----------
    smoothing : float, default 1.0
        s, what is added to every count.
    kernel : str, Kernel or list of them, default "rbf"
        The distance: Euclidean for "rbf" and "linear", chi-square for "chi2", and for a sum of kernels, such
        as one for each view, the mean of the distances of its terms. With "precomputed", X is a Gram matrix.
    gamma : float, optional
        Width of the kernel; it does not change the neighbours.
    n_neighbors : int, default 10
        Number of training samples that vote; all, if there are fewer. More neighbours give smoother scores.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Attributes
    ----------
    log_odds_ : array, shape (k + 2, n_labels)
        Those of a label for c = 0 ... k neighbours that have it; at last those of P(l).
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
    >>> import numpy as np
    >>> from tagrank.estimators import BayesianNeighbors
    >>> X = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]])
    >>> Y = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
    >>> model = BayesianNeighbors(n_neighbors=2).fit(X, Y)
    >>> model.predict_proba([[0.1]]).round(2).tolist()
    [[0.8, 0.2]]
    """

    smoothing: float = 1.0

    stored = stores(log_odds_=Numbers("f", ("n_votes", "n_labels")))

    def _check_parameters(self):
        super()._check_parameters()
        check_positive("smoothing", self.smoothing)

    def _learn(self, X):
        indices, _ = self._nearest(X, leave_one_out=True)
        k, s = min(self.n_neighbors, len(self.states_)), self.smoothing
        counts = self._counts(indices, k)
        present = _histogram(counts, self.states_ > 0, k)
        absent = _histogram(counts, self.states_ < 0, k)
        prior = np.log(s + (self.states_ > 0).sum(axis=0)) - np.log(s + (self.states_ < 0).sum(axis=0))
        likelihood = np.log((s + present) / (s * (k + 1) + present.sum(axis=0)))
        likelihood -= np.log((s + absent) / (s * (k + 1) + absent.sum(axis=0)))
        self.log_odds_ = np.vstack([likelihood + prior, prior])

    def _counts(self, indices, k):
        """How many of k neighbours have each label (n_samples, n_labels); k + 1 where none knows it."""
        present, known = self._votes(indices)
        counts = np.rint(k * shares(present, known)).astype(np.int64)
        return np.where(known > 0, counts, k + 1)

    def _scores(self, X):
        indices, _ = self._nearest(X)
        counts = self._counts(indices, len(self.log_odds_) - 2)
        return np.take_along_axis(self.log_odds_, counts, axis=0)


def _histogram(counts, chosen, k):
    """For each label how many of the chosen samples have each count, shape (k + 1, n_labels)."""
    rows, labels = np.nonzero(chosen)
    cells = counts[rows, labels] * counts.shape[1] + labels
    found = np.bincount(cells, minlength=(k + 2) * counts.shape[1])
    return found.reshape(k + 2, -1)[: k + 1]

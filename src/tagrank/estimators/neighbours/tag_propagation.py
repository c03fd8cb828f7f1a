"""Labels passed on by neighbours whose weights are learned."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tagrank.estimators.base import Numbers, stores
from tagrank.estimators.log_odds import LogOdds
from tagrank.estimators.neighbours.distances import term_weights
from tagrank.estimators.neighbours.neighbor_estimator import NeighborEstimator
from tagrank.estimators.neighbours.propagation import Propagation, neighbour_shares, propagated
from tagrank.resources import limited_threads
from tagrank.validation import check_count

CERTAINTY = 1e-5  # a neighbour passes on a label with this much less than certainty, as published
START = 10.0  # weight of the mean distance at which learning begins


@dataclass(kw_only=True, eq=False, repr=False)
class TagPropagation(LogOdds, NeighborEstimator):
    """Labels of weighted neighbours, put through a curve for each label (TagProp, sigma-ML).

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
        What distances are measured by: Euclidean for "rbf" and "linear", chi-square for "chi2", the mean of
        those of its terms for a sum of kernels, such as one for each view. With "precomputed", X is a Gram
        matrix.
    gamma : float, optional
        Belongs to the kernel and changes no neighbours.
    n_neighbors : int, default 200
        How many training samples are looked at; all if there are fewer. More give smoother scores.
    n_jobs : int, optional
        Number of threads; all cores by default.
    max_iter : int, default 100
        Maximum number of steps in w; learning ends where one gains less than 1e-6 of the whole.

    Attributes
    ----------
    weights_ : array, shape (n_terms,), w, for distances whose mean is one
    slopes_, intercepts_ : arrays, shape (n_labels,), of the curves
    log_likelihoods_ : array, after each step
    states_ : int8 array, shape (n_samples, n_labels)
        Labels of the training samples: 1 present, -1 absent, 0 unknown.
    frequencies_ : array, shape (n_labels,)
        Shares of the samples where a label is known that have it.
    scales_ : array, shape (n_terms,)
        Mean distances of training samples, by which those of each term of the kernel are divided.
    diagonal_ : array, shape (n_samples,), or None
        Similarities of the training samples with themselves, for kernel="precomputed".
    support_ : int array, shape (n_samples,)
        Indices of the training samples that are kept: all.
    kernel_ : Kernel
        The kernel, with its width fixed by the training samples.
    X_fit_ : array, sparse matrix or mapping of views
        The training samples that predictions are computed from; missing for kernel="precomputed".
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive training sample. They are ranked last and never predicted.
    n_features_in_ : int
        Number of columns of X in `fit`; missing where X was a mapping of views.

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

    def fit(self, X, y, *, stop=None):
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

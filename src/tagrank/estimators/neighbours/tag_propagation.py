"""Labels passed on by neighbours whose weights are learned."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.special import logit

from tagrank.estimators.base import LogOdds, Numbers, stores
from tagrank.estimators.neighbours.distances import nearest_by_turns, term_weights
from tagrank.estimators.neighbours.neighbor_estimator import NeighborEstimator
from tagrank.estimators.neighbours.propagation import Propagation, neighbour_shares, propagated
from tagrank.kernels.gram import n_rows
from tagrank.resources import limited_threads
from tagrank.validation import check_choice, check_count

NEIGHBORHOODS = ("turns", "mean")
VARIANTS = ("sigma-ML", "sigma-SD", "ML", "SD")
CERTAINTY = 1e-5  # a neighbour passes on a label with this much less than certainty, as published
START = 10.0  # weight of the mean distance at which learning begins


@dataclass(kw_only=True, eq=False, repr=False)
class TagPropagation(LogOdds, NeighborEstimator):
    """Labels of weighted neighbours, with a sigmoid for each label (TagProp).

    Guillaumin, Mensink, Verbeek and Schmid 2009, with weights by distance: neighbour j of sample i weighs
    ``exp(-w'd_ij)`` in proportion, where d_ij has one distance for each term of the kernel, such as one for
    each view, and w is not negative. In "sigma-ML" a logistic curve for each label makes rare labels as
    likely as they are; in "ML" the share of the neighbours is the probability. In "sigma-SD" and "SD" one
    weight for the mean of the distances takes the place of w. w and the curves maximise the likelihood of the
    training labels, each sample being left out of its own neighbours; present and absent labels have the same
    total cost. The paper learns w and curves by turns; here every step in w has the curves that are best for
    it, so that the likelihood never falls.

    Neighbours are the nearest by each distance in turn, as published; with ``neighborhood="mean"`` they are
    those of the mean distance, see `NearestNeighbors`. One thing differs from the paper unless it is asked
    for: with ``targets="labels"``, as published, targets are 1 and 0, and curves may fall; by default targets
    are (n+ + 1) / (n+ + 2) and 1 / (n- + 2) for a label of n+ and n- samples (Platt 2000), because a label
    that its neighbours tell without error has no best curve otherwise, and curves never fall: with nearly all
    samples as neighbours, they would read off what was left out. The scores are log-odds that take back the
    costs of the curves, which do not change their order in a sample.

    An unknown label of a sample costs nothing; as a neighbour it passes on the frequency of the label.

    Parameters
    ----------
    variant : {"sigma-ML", "sigma-SD", "ML", "SD"}, default "sigma-ML"
        ML learns a weight for each distance, SD one for their mean; sigma stands for the curves of the
        labels.
    targets : {"smoothed", "labels"}, default "smoothed"
        What the likelihood compares with: smoothed labels and rising curves, or labels as they are, as
        published.
    neighborhood : {"turns", "mean"}, default "turns"
        Neighbours by each distance in turn, as published, or by the mean of the distances.
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
    slopes_, intercepts_ : arrays, shape (n_labels,), of the curves; None for "ML" and "SD"
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
    variant: str = "sigma-ML"
    targets: str = "smoothed"
    neighborhood: str = "turns"
    max_iter: int = 100

    parameters_before: ClassVar[dict[str, Any]] = {"neighborhood": "mean"}
    stored = stores(
        weights_=Numbers("f", ("n_terms",)),
        slopes_=Numbers("f", ("n_labels",), optional=True),
        intercepts_=Numbers("f", ("n_labels",), optional=True),
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
        check_choice("variant", self.variant, VARIANTS)
        check_choice("targets", self.targets, ("smoothed", "labels"))
        check_choice("neighborhood", self.neighborhood, NEIGHBORHOODS)
        check_count("max_iter", self.max_iter)

    def restore(self, state):
        super().restore(state)
        has_curves = self.slopes_ is not None and self.intercepts_ is not None
        if has_curves != self.variant.startswith("sigma"):
            raise ValueError(f"curves of labels do not fit the variant {self.variant!r}")

    def _learn(self, X):
        indices, distances = self._nearest(X, leave_one_out=True)
        mix = term_weights(self.kernel_)
        # one weight for the mean distance, or one for each
        groups = mix[:, None] if self.variant.endswith("SD") else np.eye(len(mix))
        start = START * (np.ones(1) if self.variant.endswith("SD") else mix)
        has_curves = self.variant.startswith("sigma")
        problem = Propagation(
            indices,
            distances @ groups,
            *self._values(),
            *_targets(self.states_, smoothed=self.targets == "smoothed"),
            has_curves=has_curves,
            may_fall=self.targets == "labels",
        )
        with limited_threads(1):  # a few numbers at a time
            weights, slopes, intercepts, self.log_likelihoods_ = problem.solve(
                start, max_iter=self.max_iter, stop=self._stop
            )
        self.weights_ = groups @ weights
        self.slopes_ = self.intercepts_ = None
        if has_curves:
            n_present, n_absent = np.sum(self.states_ > 0), np.sum(self.states_ < 0)
            self.slopes_ = slopes
            self.intercepts_ = intercepts + np.log(max(1, n_present)) - np.log(max(1, n_absent))

    def _nearest(self, X, *, leave_one_out=False):
        if self.neighborhood == "mean" or len(self.kernel_.terms) == 1:
            return super()._nearest(X, leave_one_out=leave_one_out)
        k = min(self.n_neighbors, len(self.states_) - leave_one_out)
        indices = np.empty((n_rows(X), k), np.int64)
        distances = np.empty((n_rows(X), k, len(self.scales_)))
        for block in self._blocks(n_rows(X)):
            D = self._distances(X, block, in_training=leave_one_out)
            indices[block] = nearest_by_turns(D, k, own=block.start if leave_one_out else None)
            distances[block] = np.take_along_axis(D, indices[block][:, :, None], axis=1)
        return indices, distances

    def _values(self):
        """What each training sample passes on, as a sparse matrix to be added to a row that all share."""
        present, unknown = self.states_ > 0, self.states_ == 0
        passed_on = np.clip(self.frequencies_, CERTAINTY, 1 - CERTAINTY) - CERTAINTY
        added = np.where(unknown, passed_on, 0.0)
        added[present] = 1 - 2 * CERTAINTY
        return sparse.csr_array(added), np.full(self.states_.shape[1], CERTAINTY)

    def _scores(self, X):
        indices, distances = self._nearest(X)
        x = propagated(indices, neighbour_shares(distances, self.weights_), *self._values())
        if self.slopes_ is None:
            return logit(np.clip(x, CERTAINTY, 1 - CERTAINTY))
        return self.slopes_ * x + self.intercepts_


def _targets(states, *, smoothed=True):
    """Targets and costs (n_samples, n_labels)."""
    n_present, n_absent = (states > 0).sum(axis=0), (states < 0).sum(axis=0)
    costs = (states > 0) / max(1, n_present.sum()) + (states < 0) / max(1, n_absent.sum())
    if not smoothed:
        return (states > 0).astype(np.float64), costs
    return np.where(states > 0, (n_present + 1) / (n_present + 2), 1 / (n_absent + 2)), costs

"""Label sets as classes: what is learned is which of the label sets seen in training a sample has."""

import warnings
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.special import log_expit, softmax
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from tagrank.estimators.base import FittedEstimator, LabelEstimator, Numbers, stores
from tagrank.estimators.kernel_estimator import KNOWN_OF_ROWS
from tagrank.estimators.one_vs_all import OneVsAllLogistic
from tagrank.estimators.targets import encode_targets, warn_never_positive
from tagrank.validation import check_count, check_positive


@dataclass(kw_only=True, eq=False, repr=False)
class LabelPowerset(LabelEstimator):
    """Treats every label set in the training data as a class (LP).

    A logistic regression per class (`OneVsAllLogistic`) says how probable each label set is; their
    probabilities are divided by their sum. The score of a label is the sum over the sets that hold it, its
    probability under the model. `predict` answers the most probable set: only sets that were seen can be
    predicted.

    Sets with unknown labels are completed: of the sets of samples whose labels are all known, the most
    frequent that agrees with what is known; if none agrees, unknown labels count as absent. Samples without
    any known label are left out.

    Parameters
    ----------
    cost : float, default 10.0
        C of the logistic regressions.
    min_count : int, default 1
        Label sets with fewer samples are no classes, and their samples are left out (pruning).
    kernel : {"rbf", "linear", "poly", "chi2", "intersection", "hellinger", "precomputed"} or Kernel, default
        "rbf"
        Similarity of two samples, see `OneVsAllLogistic`.
    gamma : float, optional
        1 / width of "rbf" and "chi2", and the factor of "poly". By default the width is the mean distance of
        training pairs.
    random_state : int, RandomState or None, default None
        Seed of the order in which samples are visited. Pass an int for repeatable results.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Attributes
    ----------
    label_sets_ : bool array, shape (n_sets, n_labels)
    classifier_ : OneVsAllLogistic, whose labels are the sets
    never_positive_ : bool array, shape (n_labels,)
        Labels that are in no class. They are ranked last and never predicted.
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    n_features_in_ : int
        Number of columns of X in `fit`; missing if X was a mapping of views.

    Examples
    --------
    >>> import numpy as np
    >>> from tagrank import LabelPowerset
    >>> X = np.array([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0], [0.9, 0.2]])
    >>> Y = np.array([[1, 0, 1], [1, 0, 1], [0, 1, 0], [np.nan, 1, 0]])
    >>> LabelPowerset(kernel="linear").fit(X, Y).predict(X).tolist()
    [[1, 0, 1], [1, 0, 1], [0, 1, 0], [0, 1, 0]]
    """

    cost: float = field(default=10.0, kw_only=False)
    kernel: Any = "rbf"
    gamma: float | None = None
    min_count: int = 1
    random_state: Any = None
    n_jobs: int | None = None

    stored = stores(
        label_sets_=Numbers("b", ("n_sets", "n_labels")), classifier_=FittedEstimator(n_labels="n_sets")
    )

    def fit(self, X, y, *, callback=None, stop=None) -> Self:
        """Learn from rows and three-state labels; parameters as in `OneVsAllSVM.fit`.

        Returns
        -------
        self
        """
        self._check_parameters()
        targets = encode_targets(y)
        warn_never_positive(targets)
        self.label_sets_, set_of = find_label_sets(targets.states, self.min_count)
        memberships = (set_of[:, None] == np.arange(len(self.label_sets_))).astype(float)
        memberships[set_of < 0] = np.nan
        with warnings.catch_warnings():
            # of labels it was said above
            warnings.filterwarnings("ignore", message=".*labels are never positive in training")
            self.classifier_ = self._classifier().fit(X, memberships, callback=callback, stop=stop)
        self._know_rows()
        self._name_labels(targets, ~self.label_sets_.any(axis=0))
        return self

    def compare(self, X) -> Any:
        return self._classifier().compare(X)

    def raised_kernel(self, power):
        """Its kernel to a power, not fitted."""
        return self._classifier().raised_kernel(power)

    def n_outputs(self, states):
        """How many label sets there are to learn of such states."""
        return len(find_label_sets(states, self.min_count)[0])

    def predict(self, X) -> Any:
        """The most probable label set, ints (n_samples, n_labels); for one-dimensional y its class."""
        check_is_fitted(self)
        best = self.label_sets_[np.argmax(self.classifier_.decision_function(X), axis=1)]
        if self._one_dimensional:
            return self.classes_[np.argmax(best, axis=1)]
        return self._answer(best.astype(np.int64), X)

    def choose(self, scores) -> np.ndarray:
        """The label set nearest to the scores of labels, where nothing but these is known.

        It is the most probable one wherever that has more than half of the probability.
        """
        sets = self.label_sets_.astype(float)
        return self.label_sets_[np.argmax(2 * scores @ sets.T - sets.sum(axis=1), axis=1)].astype(np.int64)

    def _classifier(self):
        shared = {name: getattr(self, name) for name in ("kernel", "gamma", "random_state", "n_jobs")}
        return OneVsAllLogistic(C=self.cost, **shared)

    def _know_rows(self):
        for name in KNOWN_OF_ROWS:
            vars(self).pop(name, None)
            if hasattr(self.classifier_, name):
                setattr(self, name, getattr(self.classifier_, name))

    def _check_parameters(self):
        check_positive("cost", self.cost)
        check_count("min_count", self.min_count)
        self._classifier()._check_parameters()

    def _check_rows(self, X, *, reset):
        return X  # the classifier does

    def _scores(self, X):
        shares = softmax(log_expit(self.classifier_._scores_of_all(X)), axis=1)
        return shares @ self.label_sets_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._classifier()).input_tags
        return tags


def find_label_sets(states, min_count=1):
    """Distinct label sets, bool (n_sets, n_labels), and of each sample which it has, -1 if left out.

    Parameters
    ----------
    states : array, shape (n_samples, n_labels): positive if present, negative if absent, 0 if unknown
    min_count : int, how many samples a set must have to be one
    """
    sets, set_of = np.unique(complete_states(states), axis=0, return_inverse=True)
    known = np.any(states != 0, axis=1)
    counts = np.bincount(set_of[known], minlength=len(sets))
    kept = counts >= min_count
    if known.any() and not kept.any():
        raise ValueError(
            f"no label set has min_count={min_count} samples; the most frequent has {counts.max()}: "
            "lower min_count"
        )
    if not kept.any():
        kept[:1] = True  # a classifier needs a class, if only one without samples
    place = np.where(kept, np.cumsum(kept) - 1, -1)
    return sets[kept], np.where(known, place[set_of], -1)


def complete_states(states):
    """Label sets, bool (n_samples, n_labels), unknown labels as in the most frequent set that agrees."""
    present, absent = (states > 0).astype(np.float32), (states < 0).astype(np.float32)
    complete = states > 0
    partial = np.flatnonzero(np.any(states == 0, axis=1))
    whole = np.delete(complete, partial, axis=0)
    if len(whole) and len(partial):
        sets, counts = np.unique(whole, axis=0, return_counts=True)
        sets_hold, sets_lack = sets.T.astype(np.float32), (~sets).T.astype(np.float32)
        conflicts = present[partial] @ sets_lack + absent[partial] @ sets_hold
        weight = np.where(conflicts == 0, counts, 0)
        agreed = weight.any(axis=1)
        complete[partial[agreed]] = sets[np.argmax(weight[agreed], axis=1)]
    return complete

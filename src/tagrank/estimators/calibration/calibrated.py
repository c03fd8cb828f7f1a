"""Calibrated probabilities and thresholds around any estimator, learned from held-out scores."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tagrank.estimators.base import Numbers, stores
from tagrank.estimators.calibration.around import AroundEstimator, check_estimator
from tagrank.estimators.calibration.calibration import (
    Calibration,
    calibration_from_arrays,
    fit_calibration,
    prior_probabilities,
)
from tagrank.estimators.calibration.held_out import scores_of_all
from tagrank.estimators.calibration.thresholds import (
    cardinality_threshold,
    f1_thresholds,
    global_threshold,
    predict_top,
)
from tagrank.validation import check_choice, check_count

METHODS = ("platt", "isotonic", None)
STRATEGIES = ("f1", "global", "cardinality", "top_k", None)


def _gives_probabilities(self):
    if self.method is None:
        raise AttributeError("method=None gives no probabilities; choose method='platt' or 'isotonic'")
    return True


@dataclass(kw_only=True, eq=False, repr=False)
class CalibratedRanker(AroundEstimator):
    """Gives an estimator calibrated probabilities, and thresholds that `predict` honours.

    The estimator is trained on each training part of a cross-validation and scores the part held out. From
    these scores probabilities and thresholds are learned, unknown labels left out. A label without a positive
    in a training part has no honest scores there; they are left out too. Then the estimator is trained on
    everything. The scores of a `LabelRanker` have no natural zero, but those of a sample sum to zero over the
    labels, so that they compare from sample to sample and calibrate like any others.

    Parameters
    ----------
    estimator : estimator with `decision_function` and `classes_`
        What is trained and calibrated, such as LabelRanker or OneVsAllSVM.
    method : {"platt", "isotonic", None}, default "platt"
        How probabilities are made from scores, see `Calibration`. None makes none.
    strategy : {"f1", "global", "cardinality", "top_k", None}, default "f1"
        Which labels are predicted. "f1": the threshold of each label maximises its F1; a label without
        held-out positives, or whose scores tell nothing, takes the global threshold. "global": one threshold
        maximises micro-F1. "cardinality": one threshold predicts as many labels as the training samples have.
        "top_k": the `n_tags` highest scores of each sample. None: probability 1/2 or more.
    n_tags : int, default 5
        Labels per sample for "top_k".
    cv : int, splitter or iterable of (train, test), default 3
        An int makes shuffled folds; `tagrank.data.LabelStratifiedKFold` keeps the share of every label. With
        few folds their models learned from far fewer samples than the last one, and claims come out high.
    random_state : int, RandomState or None, default None
        Seeds the shuffling. An int makes results repeatable.
    n_jobs : int, optional
        Number of folds that are trained at the same time, in processes of their own. By default one after the
        other, each with the threads of the estimator.

    Attributes
    ----------
    thresholds_ : array, shape (n_labels,)
        A label is predicted where its probability (with method=None: its score) reaches its threshold. inf
        for labels never positive in training; -inf for the others with "top_k", which has none.
    calibration_ : Calibration, or None with method=None
    estimator_ : estimator
        The estimator, trained on everything.
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    n_features_in_ : int
        Number of columns of X in `fit`; missing where X was a mapping of views.

    Examples
    --------
    >>> import numpy as np
    >>> from tagrank.estimators import CalibratedRanker, OneVsAllSVM
    >>> X = np.linspace(-1, 1, 40)[:, None]
    >>> Y = np.hstack([X > 0, X < 0.5]).astype(float)
    >>> model = CalibratedRanker(OneVsAllSVM(fit_intercept=True), random_state=0).fit(X, Y)
    >>> model.predict([[-0.9], [0.2], [0.9]]).tolist()
    [[0, 1], [1, 1], [1, 0]]
    >>> bool(model.predict_proba([[0.9]])[0, 0] > 0.9)
    True
    """

    estimator: Any = field(kw_only=False)
    method: str | None = "platt"
    strategy: str | None = "f1"
    n_tags: int = 5
    cv: Any = 3
    random_state: Any = None
    n_jobs: int | None = None

    stored = stores(
        never_positive_=None,
        thresholds_=Numbers("f", ("n_labels",), infinite=True),
        slope=Numbers("f", ("n_labels",), optional=True),
        offset=Numbers("f", ("n_labels",), optional=True),
        knot_starts=Numbers("i", (None,), optional=True),
        knot_scores=Numbers("f", ("n_knots",), optional=True),
        knot_probabilities=Numbers("f", ("n_knots",), optional=True),
    )

    def fit(self, X, y, sample_weight=None, *, callback=None, stop=None):
        """Learn probabilities and thresholds from held-out scores, then train on everything.

        Parameters
        ----------
        X, y : rows and labels in any form that the estimator takes
        sample_weight : array, shape (n_samples,) or (n_samples, n_labels), optional
            Handed to the estimator. Calibration counts all samples alike, but leaves out those of weight 0.
        callback : function of a TracePoint, optional
            Called during the last training, the one on everything, if the estimator can call it. The folds
            before it stay silent: each would start the progress anew.
        stop : function without arguments, optional
            Asked in every training, if the estimator can ask it; once it answers true they end early.

        Returns
        -------
        self
        """
        rows, targets = self._take_compared(X, y)
        self.classes_, self._one_dimensional = targets.classes, targets.one_dimensional
        states, scores = self._hold_out(rows, y, sample_weight, stop)
        self._train_on_everything(rows, y, sample_weight, callback=callback, stop=stop)
        self.calibration_ = None
        if self.method is not None:
            prior = prior_probabilities(targets.states)
            self.calibration_ = fit_calibration(states, scores, method=self.method, prior=prior)
        self.thresholds_ = self._find_thresholds(states, self._calibrate(scores))
        self.thresholds_[targets.never_positive] = np.inf
        return self

    @available_if(_gives_probabilities)
    def predict_proba(self, X):
        """Probabilities of all labels, one array of shape (n_samples, n_labels).

        Each label has its own; for one-dimensional y they are divided by their sum.
        """
        probabilities = self._calibrate(self._scores_of_all(X))
        if self._one_dimensional:
            probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

    def probabilities_of(self, scores):
        """Probabilities, given scores of shape (n_samples, n_labels); None with method=None."""
        return None if self.calibration_ is None else self.calibration_.probabilities(scores)

    def _check_parameters(self):
        check_estimator(self.estimator)
        check_choice("method", self.method, METHODS)
        check_choice("strategy", self.strategy, STRATEGIES)
        if self.method is None and self.strategy is None:
            raise ValueError("method and strategy are both None: nothing to learn, use the estimator itself")
        check_count("n_tags", self.n_tags)

    def _find_thresholds(self, states, values):
        if self.strategy == "f1":
            return f1_thresholds(states, values, fallback=global_threshold(states, values))
        constant = {
            "global": global_threshold,
            "cardinality": cardinality_threshold,
            "top_k": lambda states, values: -np.inf,
            None: lambda states, values: 0.5,
        }[self.strategy]
        return np.full(states.shape[1], constant(states, values))

    def stored_state(self):
        arrays = {} if self.calibration_ is None else self.calibration_.to_arrays()
        return super().stored_state() | arrays

    def restore(self, state):
        arrays = {name: state.pop(name) for name in Calibration.__dataclass_fields__}
        super().restore(state)
        self.estimator = clone(self.estimator_)
        self.calibration_ = None if self.method is None else calibration_from_arrays(arrays)
        self._know_rows()

    def _calibrate(self, scores):
        return scores if self.calibration_ is None else self.calibration_.probabilities(scores)

    def _scores_of_all(self, X):
        check_is_fitted(self)
        return scores_of_all(self.estimator_, X)

    def choose(self, scores):
        if self.strategy == "top_k":
            return predict_top(scores, self.n_tags)
        return (self._calibrate(scores) >= self.thresholds_).astype(np.int64)

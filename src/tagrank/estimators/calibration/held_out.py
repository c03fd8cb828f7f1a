"""Scores of every sample by a model that did not see it.

What an estimator chooses while it trains, such as the penalty of a ridge regression, is chosen once, on
everything, and frozen before samples are held out. Were it chosen again in every fold, the scores would be
those of other models than the last one, and a curve learned from them would not be its own. Only parameters
are carried over, a few numbers; coefficients are learned without the samples that are held out.
"""

import warnings
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import ClassifierTags, check_random_state, get_tags

from tagrank.estimators.base import ESTIMATOR, LabelEstimator, stores, taken_by
from tagrank.estimators.compared_rows import PlainRows, compare_rows, rows_for, sliceable, take
from tagrank.estimators.kernel_estimator import KNOWN_OF_ROWS
from tagrank.estimators.targets import encode_targets
from tagrank.labels import is_tag_sets, labels_from_states
from tagrank.resources import count_threads
from tagrank.validation import check_rows, check_same_length
from tagrank.workers import map_in_order


def hold_out(estimator, rows, y, sample_weight=None, *, cv, random_state, n_jobs=None, stop=None):
    """States and scores (n_samples, n_labels); state 0, unknown, where no honest score was held out.

    A label without a positive in a training part has no honest scores there.

    Parameters
    ----------
    estimator : not fitted; copies of it are trained
    rows : what its `compare` made
    y, sample_weight, stop : as in `CalibratedRanker.fit`
    cv, random_state, n_jobs : as in `CalibratedRanker`
    """
    targets = encode_targets(y)
    n_samples = len(targets.states)
    labels = np.asarray(y) if targets.one_dimensional else labels_from_states(targets.states)
    folds = list(_splitter(cv, random_state).split(np.zeros((n_samples, 1)), labels))
    n_workers = 1 if n_jobs is None else min(count_threads(n_jobs), len(folds))
    # a function cannot be asked from another process
    stop = stop if n_workers == 1 else None
    score = partial(_score_fold, estimator, rows, y, sample_weight, targets.classes, stop)
    parts = map_in_order(score, folds, n_workers=n_workers, n_threads=max(1, count_threads() // n_workers))
    scores = np.zeros(targets.states.shape)
    for (_, test), part in zip(folds, parts, strict=True):
        scores[test] = part
    return honest_states(targets.states, folds, sample_weight), scores


def honest_states(states, folds, sample_weight=None):
    """The states, 0 where the training part of the fold has no positive, and in samples of weight 0."""
    honest = np.zeros(states.shape, dtype=bool)
    for train, test in folds:
        honest[test] = np.any(states[train] > 0, axis=0)
    if sample_weight is not None:
        honest &= (np.asarray(sample_weight).T > 0).T.reshape(len(states), -1)
    return np.where(honest, states, 0).astype(np.int8)


def freeze(estimator, rows, y, *, stop=None):
    """The estimator with what it chooses on all rows for parameters; itself if it leaves none open.

    Parameters
    ----------
    estimator : not fitted; it stays as it is
    rows : what its `compare` made
    y, stop : as in `CalibratedRanker.fit`
    """
    if not leaves_open(estimator):
        return estimator
    return frozen_copy(train_copy(estimator, rows, y, None, stop=stop))


def leaves_open(estimator):
    """Whether an estimator chooses parameters while it trains."""
    if isinstance(estimator, LabelEstimator):
        return bool(estimator.left_open())
    return hasattr(estimator, "refit")  # a search of scikit-learn


def frozen_copy(model):
    """A copy of a fitted estimator, not fitted, with the parameters that were chosen in its training."""
    if isinstance(model, LabelEstimator):
        return model.frozen()
    return clone(getattr(model, "best_estimator_", model))


def train_copy(estimator, rows, y, sample_weight, **options):
    """A trained copy; it is handed what was asked of it, as far as its `fit` takes that."""
    model = clone(estimator)
    more = taken_by(model.fit, **options)
    if sample_weight is not None:
        more["sample_weight"] = sample_weight
    return model.fit(rows_for(model, rows), y, **more)


def scores_of_all(estimator, rows):
    """Scores (n_samples, n_labels), also where two classes are answered in one dimension."""
    rows = rows_for(estimator, rows) if isinstance(rows, PlainRows) else rows
    # an array, whatever `set_output` asks of the estimator
    scores = np.asarray(estimator.decision_function(rows))
    return np.column_stack([-scores, scores]) / 2 if scores.ndim == 1 else scores


def _splitter(cv, random_state):
    # only training needs it, and loading it takes as long as a few annotations
    from sklearn.model_selection import KFold, check_cv

    if isinstance(cv, int | np.integer):
        return KFold(cv, shuffle=True, random_state=check_random_state(random_state))
    return check_cv(cv)


def _score_fold(estimator, rows, y, sample_weight, classes, stop, fold):
    """Scores of the held-out samples for all `classes`; 0 for those that the training part does not know."""
    train, test = fold
    weights = None if sample_weight is None else np.asarray(sample_weight)[train]
    with warnings.catch_warnings():
        # of the whole training set it is said once, when the estimator is trained on it
        for message in (".*labels are never positive in training", ".*there is nothing to"):
            warnings.filterwarnings("ignore", message=message)
        model = train_copy(estimator, rows.training(train), _take_labels(y, train), weights, stop=stop)
    is_scored = np.isin(classes, model.classes_)
    scored = scores_of_all(model, rows.held_out(test, train))
    scores = np.zeros((len(scored), len(classes)))
    scores[:, is_scored] = scored
    return scores


def _take_labels(y, rows):
    return [y[i] for i in rows] if is_tag_sets(y) else take(sliceable(y), rows)


def check_estimator(estimator):
    """Raise a TypeError unless `estimator` can be copied and trained."""
    if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise TypeError(f"estimator must be an estimator such as LabelRanker(), got {estimator!r}")


class AroundEstimator(LabelEstimator):
    """A subclass has the parameters `estimator`, `cv`, `random_state` and `n_jobs`, and writes `fit`."""

    stored = stores(estimator_=ESTIMATOR)
    unstored_parameters = (*LabelEstimator.unstored_parameters, "estimator", "cv", "random_state")

    def compare(self, X) -> Any:
        if not isinstance(X, PlainRows):
            check_rows("X", X)
        return compare_rows(self.estimator, X)

    def left_open(self):
        return {"estimator": "estimator_"} if leaves_open(self.estimator) else {}

    def frozen(self) -> Self:
        return clone(self).set_params(estimator=frozen_copy(self.estimator_))

    def _take_compared(self, X, y):
        """Rows compared with each other, and Targets, of `fit`."""
        self._check_parameters()
        targets, rows = encode_targets(y), self.compare(X)
        check_same_length(X=range(len(rows)), y=targets.states)
        return rows, targets

    def _train(self, rows, y, sample_weight, *, held_out=None, stop=None, **options):
        """Train on everything; returns states and held-out scores, see `hold_out`, unless they are given."""
        # the folds come first where they can: if the last training is ended early, its curve is there already
        if held_out is None and not leaves_open(self.estimator):
            held_out = self._hold_out(self.estimator, rows, y, sample_weight, stop)
        self.estimator_ = train_copy(self.estimator, rows, y, sample_weight, stop=stop, **options)
        self._know_rows()
        if held_out is None:
            # a model that was ended early is wanted, and needs a curve of models that were not
            stop = None if stop is not None and stop() else stop
            held_out = self._hold_out(frozen_copy(self.estimator_), rows, y, sample_weight, stop)
        return held_out

    def _hold_out(self, estimator, rows, y, sample_weight, stop):
        folds = {"cv": self.cv, "random_state": self.random_state, "n_jobs": self.n_jobs}
        return hold_out(estimator, rows, y, sample_weight, **folds, stop=stop)

    def _know_rows(self):
        for name in KNOWN_OF_ROWS:
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        tags.no_validation = inner.no_validation
        # scikit-learn reads these of whatever has predict_proba; it is no classifier for all that
        tags.classifier_tags = ClassifierTags()
        return tags

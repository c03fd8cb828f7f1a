"""Calibrated probabilities and thresholds around any estimator, learned from held-out scores.

Probabilities from scores, label by label: Platt's sigmoid and isotonic steps, kept as plain arrays.

Platt     p(s) = 1 / (1 + exp(-(slope s + offset))), by maximum likelihood with the targets
          (n+ + 1) / (n+ + 2) for present and 1 / (n- + 2) for absent samples, not 1 and 0: few samples prove
          nothing
isotonic  the nondecreasing function nearest to the same targets, a chain of knots; for few samples it would
          follow the noise, so that labels with less than 20 positives or negatives take Platt's sigmoid

Unknown entries are left out. Probabilities never fall when scores rise: a label without a held-out positive,
or whose held-out scores mislead, has the same probability everywhere, (n+ + 1) / (n + 2).
"""

from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tagrank.estimators.base import Numbers, stores
from tagrank.estimators.calibration.decisions import (
    cardinality_threshold,
    f1_thresholds,
    global_threshold,
    predict_top,
)
from tagrank.estimators.calibration.held_out import AroundEstimator, check_estimator, scores_of_all
from tagrank.validation import check_choice, check_count

MIN_FOR_ISOTONIC = 20
MAX_STEPS = 200


@dataclass(frozen=True)
class Calibration:
    """Monotone functions from scores to probabilities, one for each label.

    Attributes
    ----------
    slope, offset : arrays, shape (n_labels,), of Platt's sigmoid
    knot_starts : int array, shape (n_labels + 1,)
        Label l has the knots from knot_starts[l] up to knot_starts[l + 1]; without any, its sigmoid holds.
    knot_scores, knot_probabilities : arrays, shape (n_knots,), joined by straight lines, flat outside
    """

    slope: np.ndarray
    offset: np.ndarray
    knot_starts: np.ndarray
    knot_scores: np.ndarray
    knot_probabilities: np.ndarray

    def probabilities(self, scores):
        """Probabilities of all labels, same shape as `scores` (n_samples, n_labels)."""
        answer = expit(scores * self.slope + self.offset)
        for label in np.flatnonzero(np.diff(self.knot_starts)):
            knots = slice(self.knot_starts[label], self.knot_starts[label + 1])
            answer[:, label] = np.interp(
                scores[:, label], self.knot_scores[knots], self.knot_probabilities[knots]
            )
        return answer

    def to_arrays(self):
        """All there is to know as a dict of plain arrays; `calibration_from_arrays` reads it back."""
        return asdict(self)


def calibration_from_arrays(arrays):
    """The Calibration that `Calibration.to_arrays` wrote; a ValueError says what does not fit together."""
    names = [field.name for field in fields(Calibration)]
    if sorted(arrays) != sorted(names):
        raise ValueError(f"calibration arrays must be {', '.join(names)}, got {', '.join(sorted(arrays))}")
    parts = {name: np.asarray(arrays[name]) for name in names}
    for name, array in parts.items():
        kinds = "iu" if name == "knot_starts" else "fiu"
        if array.ndim != 1 or array.dtype.kind not in kinds or not np.all(np.isfinite(array)):
            raise ValueError(
                f"calibration array {name} must have one dimension and hold finite numbers, "
                f"got shape {array.shape} and dtype {array.dtype}"
            )
    if parts["offset"].shape != parts["slope"].shape:
        raise ValueError(
            f"{len(parts['slope'])} slopes but {len(parts['offset'])} offsets in the calibration"
        )
    if np.any(parts["slope"] < 0):
        raise ValueError("slope must not be negative: probabilities rise with scores")
    calibration = Calibration(**parts)
    _check_knots(calibration)
    return calibration


def _check_knots(calibration):
    starts, scores, probabilities = (
        calibration.knot_starts,
        calibration.knot_scores,
        calibration.knot_probabilities,
    )
    n_labels, n_knots = len(calibration.slope), len(scores)
    if len(probabilities) != n_knots:
        raise ValueError(f"{n_knots} knots but {len(probabilities)} probabilities in the calibration")
    if len(starts) != n_labels + 1 or starts[0] != 0 or starts[-1] != n_knots or np.any(np.diff(starts) < 0):
        raise ValueError(
            f"knot_starts must rise from 0 to {n_knots} in {n_labels + 1} numbers, got {len(starts)}"
        )
    same_label = np.diff(np.repeat(np.arange(n_labels), np.diff(starts))) == 0
    if np.any(np.diff(scores)[same_label] <= 0):
        raise ValueError("knot_scores must rise within each label")
    if np.any(np.diff(probabilities)[same_label] < 0) or np.any((probabilities < 0) | (probabilities > 1)):
        raise ValueError("knot_probabilities must not fall within a label, nor leave 0 to 1")


def fit_calibration(states, scores, *, method, prior):
    """A Calibration of held-out scores, finite (n_samples, n_labels), under int8 states of the same shape.

    `prior` (n_labels,) holds probabilities for labels of whose scores nothing can be learned.
    """
    return {"platt": fit_platt, "isotonic": fit_isotonic}[method](states, scores, prior)


def fit_platt(states, scores, prior):
    """Sigmoids; parameters as in `fit_calibration`, but states may be weights with a sign."""
    known = np.abs(states).T.astype(np.float64)
    n_known = known.sum(axis=1)
    n_known[n_known == 0] = 1
    centre = (known * scores.T).sum(axis=1) / n_known
    standard = (known > 0) * (scores.T - centre[:, None])
    scale = np.sqrt((known * standard**2).sum(axis=1) / n_known)
    scale[scale <= 1e-12 * np.abs(centre)] = np.inf
    standard /= scale[:, None]
    slope, offset = _fit_logistic(standard, _smoothed_targets(states).T, known)
    learned = (slope > 0) & np.isfinite(scale) & np.any(states > 0, axis=0)
    slope = np.where(learned, slope / scale, 0.0)
    offset = np.where(learned, offset - slope * centre, np.log(prior / (1 - prior)))
    return Calibration(slope, offset, np.zeros(len(slope) + 1, np.int64), np.empty(0), np.empty(0))


def fit_isotonic(states, scores, prior):
    """Knots for labels with samples enough, sigmoids for the others; parameters as in `fit_calibration`."""
    targets = _smoothed_targets(states)
    n_rarer = np.minimum((states > 0).sum(axis=0), (states < 0).sum(axis=0))
    starts, knot_scores, knot_probabilities = [0], [np.empty(0)], [np.empty(0)]
    for label in range(states.shape[1]):
        if n_rarer[label] >= MIN_FOR_ISOTONIC:
            known = states[:, label] != 0
            steps = IsotonicRegression().fit(scores[known, label], targets[known, label])
            knot_scores.append(steps.X_thresholds_)
            knot_probabilities.append(steps.y_thresholds_)
        starts.append(sum(map(len, knot_scores)))
    return replace(
        fit_platt(states, scores, prior),
        knot_starts=np.array(starts),
        knot_scores=np.concatenate(knot_scores),
        knot_probabilities=np.concatenate(knot_probabilities),
    )


def prior_probabilities(states):
    """(n+ + 1) / (n + 2) of each label, shape (n_labels,): its share, never 0 or 1; states or weights."""
    return (np.maximum(states, 0).sum(axis=0) + 1) / (np.abs(states).sum(axis=0) + 2)


def _smoothed_targets(states):
    """What Platt puts in the place of 1 and 0, shape (n_samples, n_labels)."""
    n_present, n_absent = np.maximum(states, 0).sum(axis=0), np.maximum(-states, 0).sum(axis=0)
    return np.where(states > 0, (n_present + 1) / (n_present + 2), 1 / (n_absent + 2))


def _fit_logistic(inputs, targets, weights):
    """Slopes and offsets of weighted logistic regressions, one a row of (n_labels, n_samples).

    Newton's method with step halving, all labels at once; those that are done drop out.
    """
    solution = np.zeros((2, len(inputs)))
    solution[1] = _log_odds((weights * targets).sum(axis=1), weights.sum(axis=1))
    active = np.arange(len(inputs))
    loss, step = _newton_step(solution, inputs, targets, weights)
    length = np.ones(len(inputs))
    for _ in range(MAX_STEPS):
        trial = solution[:, active] + length[active] * step[:, active]
        new_loss, new_step = _newton_step(trial, inputs[active], targets[active], weights[active])
        better = new_loss <= loss[active]
        accepted = active[better]
        moved = np.abs(trial - solution[:, active]).max(axis=0, initial=0)
        solution[:, accepted], loss[accepted] = trial[:, better], new_loss[better]
        step[:, accepted], length[accepted] = new_step[:, better], 1
        length[active[~better]] /= 2
        active = active[moved > 1e-8]
        if not len(active):
            break
    return solution


def _newton_step(solution, inputs, targets, weights):
    """The losses (n_labels,) at (slope, offset), and Newton's steps (2, n_labels) from there."""
    raised = solution[0][:, None] * inputs + solution[1][:, None]
    shrunk = np.exp(-np.abs(raised))
    loss = (weights * (np.maximum(raised, 0) + np.log1p(shrunk) - targets * raised)).sum(axis=1)
    probability = np.where(raised >= 0, 1, shrunk) / (1 + shrunk)
    residual = weights * (targets - probability)
    curvature = weights * probability * (1 - probability)
    by_offset, gradient = residual.sum(axis=1), (residual * inputs).sum(axis=1)
    # the small ridge keeps constant inputs solvable
    h_bb = curvature.sum(axis=1) + 1e-10
    h_ab = (curvature * inputs).sum(axis=1)
    h_aa = (curvature * inputs**2).sum(axis=1) + 1e-10
    determinant = h_aa * h_bb - h_ab**2
    return loss, np.array(
        [h_bb * gradient - h_ab * by_offset, h_aa * by_offset - h_ab * gradient]
    ) / determinant


def _log_odds(total, size):
    share = (total + 1e-6) / (size + 2e-6)
    return np.log(share / (1 - share))


METHODS = ("platt", "isotonic", None)
STRATEGIES = ("f1", "global", "cardinality", "top_k", None)


def _gives_probabilities(self):
    if self.method is None:
        raise AttributeError("method=None gives no probabilities; choose method='platt' or 'isotonic'")
    return True


@dataclass(kw_only=True, eq=False, repr=False)
class CalibratedRanker(AroundEstimator):
    """Gives an estimator calibrated probabilities, and thresholds for `predict`.

    The estimator is trained on each training part of a cross-validation and scores the part held out. From
    these scores probabilities and thresholds are learned, unknown labels left out. A label without a positive
    in a training part has no honest scores there; they are left out too. The estimator is also trained on
    everything; parameters that it chooses in that training, such as the penalty of `RidgeRegression`, are the
    same in every part. The scores of a `LabelRanker` have no natural zero, but those of a sample sum to zero
    over the labels, so that they compare from sample to sample and calibrate like any others.

    Parameters
    ----------
    estimator : estimator with `decision_function` and `classes_`
        The estimator to train and calibrate, such as LabelRanker or OneVsAllSVM.
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
        few folds, their models learn from far fewer samples than the final one, and the probabilities come
        out too high.
    random_state : int, RandomState or None, default None
        Seed of the shuffling. Pass an int for repeatable results.
    n_jobs : int, optional
        Number of folds to train at the same time, each in its own process. By default one after the other,
        each with the threads of the estimator.

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
        Number of columns of X in `fit`; missing if X was a mapping of views.

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

    def fit(self, X, y, sample_weight=None, *, callback=None, stop=None) -> Self:
        """Learn probabilities and thresholds from held-out scores, and train on everything.

        Parameters
        ----------
        X, y : rows and labels in any form that the estimator takes
        sample_weight : array, shape (n_samples,) or (n_samples, n_labels), optional
            Handed to the estimator. Calibration counts all samples alike, but leaves out those of weight 0.
        callback : function of a TracePoint, optional
            Called during the training on everything, if the estimator can call it. The folds stay silent:
            each would start the progress anew.
        stop : function without arguments, optional
            Asked in every training, if the estimator can ask it; when it returns True, they end early.

        Returns
        -------
        self
        """
        rows, targets = self._take_compared(X, y)
        self.classes_, self._one_dimensional = targets.classes, targets.one_dimensional
        states, scores = self._train(rows, y, sample_weight, callback=callback, stop=stop)
        self.calibration_ = None
        if self.method is not None:
            prior = prior_probabilities(targets.states)
            self.calibration_ = fit_calibration(states, scores, method=self.method, prior=prior)
        self.thresholds_ = self._find_thresholds(states, self._calibrate(scores))
        self.thresholds_[targets.never_positive] = np.inf
        return self

    @available_if(_gives_probabilities)
    def predict_proba(self, X) -> Any:
        """Probabilities of all labels, one array of shape (n_samples, n_labels).

        Each label has its own; for one-dimensional y they are divided by their sum.
        """
        probabilities = self._calibrate(self._scores_of_all(X))
        if self._one_dimensional:
            probabilities /= probabilities.sum(axis=1, keepdims=True)
        return self._answer(probabilities, X)

    def probabilities_of(self, scores) -> Any:
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

    def choose(self, scores) -> np.ndarray:
        if self.strategy == "top_k":
            return predict_top(scores, self.n_tags)
        return (self._calibrate(scores) >= self.thresholds_).astype(np.int64)

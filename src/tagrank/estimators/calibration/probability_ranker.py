"""Ranks labels by one probability, from which order, percentage and decision all come."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from tagrank.estimators.base import COUNT, NUMBER, Numbers, stores
from tagrank.estimators.calibration.audit import audit_listed, bend_to_truth, check_audited, surely_known
from tagrank.estimators.calibration.companions import Companions, fit_companions
from tagrank.estimators.calibration.completeness import (
    Completeness,
    completeness_by_label,
    estimate_completeness,
    listed_states,
    most_listed,
)
from tagrank.estimators.calibration.decisions import CURVE_WIDTHS, DecisionCurve
from tagrank.estimators.calibration.held_out import AroundEstimator, check_estimator, scores_of_all
from tagrank.estimators.calibration.shared import SharedCalibration, SharedFitting, deal_rows, keep_order
from tagrank.validation import check_share


@dataclass(kw_only=True, eq=False, repr=False)
class ProbabilityRanker(AroundEstimator):
    """Gives an estimator calibrated probabilities that rank and predict labels.

    The estimator is trained on each training part of a cross-validation and scores the part held out. From
    these scores it is learned how probable a score makes a label, by one curve that all labels share as far
    as their examples are few, see `tagrank.estimators.calibration.shared`. Scores of this estimator are the
    log-odds of that probability: what is ranked higher is more probable, and a label is predicted where its
    probability reaches one threshold, the same for all.

    Parameters that the estimator chooses while it trains, such as the penalty of `RidgeRegression`, are
    chosen on everything, once, and are the same in every part.

    Labels that are listed may be some of the true ones only. The probability is that of being true, given how
    complete the labels are; this is estimated, or given.

    Parameters
    ----------
    estimator : estimator with `decision_function` and `classes_`
        The estimator to train and calibrate, such as LabelRanker or OneVsAllSVM.
    completeness : float, optional
        The share of the true labels that are listed, above 0 up to 1. By default it is estimated, see
        `tagrank.estimators.calibration.completeness`.
    precision : float, optional
        Target precision: predict labels of which this share is right. By default the threshold has the
        highest expected F1.
    cv : int, splitter or iterable of (train, test), default 5
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
    threshold_ : float, the probability from which on a label is predicted
    calibration_ : SharedCalibration, from scores of `estimator_` to log-odds
    completeness_ : Completeness, the share of the true labels that are listed, and an interval
    label_completeness_ : array, shape (n_labels,), the same of each label
    companions_ : Companions, what labels that are known of a sample say about its others; None where nothing
    curve_ : DecisionCurve, what every threshold is worth on held-out samples
    n_held_out_ : int, how many samples that was measured on
    quality_ : Quality, what predictions at `threshold_` are worth on held-out samples
    estimator_ : estimator
        The estimator, trained on everything.
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive training sample. They are ranked last and never predicted.
    n_features_in_ : int
        Number of columns of X in `fit`; missing if X was a mapping of views.

    Examples
    --------
    >>> import numpy as np
    >>> from tagrank.estimators import OneVsAllSVM, ProbabilityRanker
    >>> X = np.linspace(-1, 1, 40)[:, None]
    >>> Y = np.hstack([X > 0, X < 0.5]).astype(float)
    >>> model = ProbabilityRanker(OneVsAllSVM(fit_intercept=True), completeness=1, random_state=0).fit(X, Y)
    >>> model.predict([[-0.9], [0.2], [0.9]]).tolist()
    [[0, 1], [1, 1], [1, 0]]
    >>> bool(model.predict_proba([[0.9]])[0, 0] > 0.9)
    True
    """

    estimator: Any = field(kw_only=False)
    completeness: float | None = None
    precision: float | None = None
    cv: Any = 5
    random_state: Any = None
    n_jobs: int | None = None

    stored = stores(
        threshold_=NUMBER,
        slope=Numbers("f", ("n_labels",)),
        offset=Numbers("f", ("n_labels",)),
        level=Numbers("f", (2,)),
        bend=Numbers("f", (3,)),
        completeness_=Numbers("f", (None,)),
        label_completeness_=Numbers("f", ("n_labels",)),
        ties=Numbers("f", ("n_labels", "n_labels"), optional=True),
        votes=Numbers("f", ("n_labels", "n_labels"), optional=True),
        company=Numbers("f", (3,), optional=True),
        curve_=Numbers("f", (None, None)),
        n_held_out_=COUNT,
    )

    def fit(
        self,
        X,
        y,
        sample_weight=None,
        *,
        held_out=None,
        decided=None,
        audited=None,
        start=None,
        callback=None,
        stop=None,
    ) -> Self:
        """Learn probabilities from held-out scores, and train on everything.

        Parameters
        ----------
        X, y : rows and labels in any form that the estimator takes
        sample_weight : array, shape (n_samples,) or (n_samples, n_labels), optional
            Handed to the estimator. Calibration counts all samples alike, but leaves out those of weight 0.
        held_out : pair of arrays (states, scores), shape (n_samples, n_labels), optional
            Scores by models that did not see the sample, if they are known already; state 0 marks entries
            without a score. By default they are computed here.
        decided : array of bool, shape (n_samples, n_labels), optional
            Where somebody looked, so that it is surely known: found where it was not listed, or absent.
        audited : array of bool, shape (n_samples,), optional
            Samples that were drawn at random and whose labels were all checked, so that all are certainly
            known; those of `decided` that are present were not listed. From ten on they tell how complete the
            labels of the other samples are, what probabilities are worth, and `curve_`.
        start : optional
            What the training on everything starts from, see `MaxMarginEstimator.fit`.
        callback : function of a TracePoint, optional
            Called during the training on everything, if the estimator can call it.
        stop : function without arguments, optional
            Asked in every training, if the estimator can ask it; when it returns True, they end early.

        Returns
        -------
        self
        """
        rows, targets = self._take_compared(X, y)
        hooks = {"start": start, "callback": callback, "stop": stop}
        held_out = self._train(rows, y, sample_weight, held_out=held_out, **hooks)
        self._name_labels(targets, getattr(self.estimator_, "never_positive_", None))
        self._calibrate(*held_out, decided, check_audited(audited, targets.states), targets.states)
        return self

    def decision_function(self, X) -> Any:
        """Log-odds of all labels, shape (n_samples, n_labels).

        For one-dimensional y with two classes, shape (n_samples,): the lead of the second over the first.
        """
        return super().decision_function(X)

    def predict_proba(self, X) -> Any:
        """Probabilities of all labels to be true, one array of shape (n_samples, n_labels).

        Each label has its own; for one-dimensional y they are divided by their sum.
        """
        probabilities = expit(self._scores_of_all(X))
        if self._one_dimensional:
            probabilities /= probabilities.sum(axis=1, keepdims=True)
        return self._answer(probabilities, X)

    def probabilities_of(self, scores) -> Any:
        """Probabilities, given log-odds of shape (n_samples, n_labels)."""
        return expit(scores)

    def given_known(self, scores, known) -> np.ndarray:
        """Log-odds given what is known of the other labels of each sample, shape (n_samples, n_labels).

        Parameters
        ----------
        scores : log-odds by the samples alone, of that shape
        known : int8 array of that shape: +1 known to be true, -1 known not to be true, 0 not known
        """
        if self.companions_ is None:
            return scores
        return self._behind(self.companions_.log_odds(scores, known))

    def choose(self, scores) -> np.ndarray:
        """Labels present, ints, given log-odds of shape (n_samples, n_labels)."""
        return ((expit(scores) >= self.threshold_) & ~self.never_positive_).astype(np.int64)

    @property
    def quality_(self):
        """What is predicted is worth so much, measured on held-out samples: a `Quality`."""
        return self.curve_.quality(self.threshold_)

    def _check_parameters(self):
        check_estimator(self.estimator)
        for name in ("completeness", "precision"):
            if getattr(self, name) is not None:
                check_share(name, getattr(self, name))

    def _calibrate(self, states, scores, decided=None, audited=None, known=None):
        """From held-out states and scores; `known` are the states with those that nothing was held out of."""
        sure = surely_known(decided, audited, states.shape[1])
        freedom, _ = keep_order(states, scores, deal_rows(len(states)), sure)
        fitting = SharedFitting(states, scores, sure, freedom=freedom)
        listed = listed_states(states, decided)
        audit = audit_listed(known, decided, audited)
        if self.completeness is not None:
            share = float(self.completeness)
            self.completeness_ = Completeness(share, share, share)
        elif audit is not None:
            self.completeness_ = audit.completeness
        else:
            straight = fitting.fit(bends=False).straight(scores)
            self.completeness_ = estimate_completeness(states, straight, decided)
        share = self.completeness_.share
        self.calibration_ = fitting.fit(share)
        self.label_completeness_ = np.full(states.shape[1], share)
        if audit is not None and self.completeness is None:
            self.label_completeness_ = audit.by_label
        elif share < 1:
            log_odds = self.calibration_.log_odds(scores)
            self.label_completeness_ = completeness_by_label(listed, log_odds, share)
        if decided is not None:
            most = most_listed(states, decided)
            self.label_completeness_ = np.minimum(self.label_completeness_, most)
        if np.any(self.label_completeness_ != share):
            self.calibration_ = fitting.fit(self.label_completeness_)
        if audit is not None:
            self.calibration_ = bend_to_truth(
                self.calibration_, states[audited], scores[audited], audit.completeness
            )
        log_odds = self.calibration_.log_odds(scores)
        self.companions_ = fit_companions(states, log_odds, self.label_completeness_, sure)
        probabilities = expit(log_odds)
        self.curve_ = DecisionCurve.measured(listed, probabilities, self.label_completeness_)
        if audit is not None:
            judged = np.where(states[audited] != 0, probabilities[audited], 0.0)
            self.curve_ = self.curve_.audited(known[audited] > 0, judged)
        self.threshold_ = (
            self.curve_.best_f1() if self.precision is None else self.curve_.for_precision(self.precision)
        )
        self.n_held_out_ = int(np.count_nonzero(np.any(states != 0, axis=1)))

    def _scores_of_all(self, X):
        check_is_fitted(self)
        return self._behind(self.calibration_.log_odds(scores_of_all(self.estimator_, X)))

    def _behind(self, scores):
        """With labels that were never positive in training behind all others."""
        if self.never_positive_.any() and not self.never_positive_.all():
            known = scores[:, ~self.never_positive_]
            scores[:, self.never_positive_] = known.min(axis=1, keepdims=True) - 1
        return scores

    def stored_state(self):
        calibration, companions = self.calibration_, self.companions_
        told = {} if companions is None else {"ties": companions.ties, "votes": companions.votes}
        if companions is not None:
            told["company"] = np.array(companions.numbers)
        return super().stored_state() | {
            "slope": calibration.slope,
            "offset": calibration.offset,
            "level": np.array([calibration.level_weight, calibration.level_rank], dtype=np.float64),
            "bend": calibration.bend,
            "completeness_": np.array(self.completeness_),
            "curve_": self.curve_.points,
            **told,
        }

    def restore(self, state):
        weight, rank = state.pop("level")
        slope, offset, bend = (state.pop(name) for name in ("slope", "offset", "bend"))
        ties, votes, company = (state.pop(name) for name in ("ties", "votes", "company"))
        if np.any(slope < 0) or np.any(bend[:2] < 0) or rank < 1 or rank != int(rank):
            raise ValueError("a calibration must rise with scores, and its level begin at a whole rank")
        super().restore(state)
        self.calibration_ = SharedCalibration(slope, offset, float(weight), int(rank), bend)
        if len(self.completeness_) not in (3, 4):  # models of older versions do not tell of audits
            raise ValueError(f"the completeness has 4 numbers, got {len(self.completeness_)}")
        *shares, n_audited = map(float, np.append(self.completeness_, 0.0)[:4])
        self.completeness_ = Completeness(*shares, n_audited=int(n_audited))
        is_whole = ties is not None and votes is not None and company is not None
        self.companions_ = Companions(ties, votes, *map(float, company)) if is_whole else None
        self.curve_ = DecisionCurve(self.curve_)
        if not len(self.curve_.points) or self.curve_.points.shape[1] not in CURVE_WIDTHS:
            raise ValueError("the curve of decisions has no points, or too few or many numbers a point")
        self._know_rows()

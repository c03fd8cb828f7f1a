"""Every picture judged by models that saw neither the picture nor its tags.

The pictures with known tags are dealt into folds. A model trained on the other folds scores each; how
probable a score makes a tag is learned from the held-out scores of the other folds. So the tags of a picture
enter neither its scores nor the step from scores to probabilities. Pictures about which nothing is known are
scored by one more model, of all the others.

What all pictures share is learned from all of them, untagged ones too, and knows nothing of tags: scale of
the columns, widths of the kernel, vocabularies of the features. Only C, one number, is chosen with all tags
in view: the one whose held-out probabilities fit the known tags best. The image-based AUC, by which `train`
chooses, compares the tags of one picture; here pictures are compared too.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from tagrank.annotation.bank.picture_keys import Progress
from tagrank.annotation.estimator_choice import choose_estimator, kernel_of
from tagrank.annotation.scaling import arrange_views, fit_scaler
from tagrank.annotation.shared_gram import share_gram
from tagrank.annotation.tuning import Tuning, take_block
from tagrank.annotation.views import take_in
from tagrank.commands.missing.result import LIKELIHOOD
from tagrank.data import Collection, LabelStratifiedKFold
from tagrank.estimators.calibration.calibration import fit_calibration, prior_probabilities
from tagrank.features import Feature
from tagrank.kernels import reads_views

Part = tuple[np.ndarray, np.ndarray]
SCORING = "scoring pictures by models that did not see them"


@dataclass(frozen=True)
class HeldOut:
    """What models say about pictures that they did not see; every array has the shape (n, n_tags).

    Attributes
    ----------
    states : int8, what is known: +1 present, -1 absent, 0 unknown
    scores : the higher, the better
    probabilities : that a collection like this one lists the tag
    is_judged : whether there is anything to go by; false where no training picture of the model has the tag
    tuning : how well the values of C did that were tried; None where none were
    """

    states: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray
    is_judged: np.ndarray
    tuning: Tuning | None


def hold_out(
    rows: Collection,
    estimator: Any,
    *,
    view: str | None = None,
    features: Mapping[str, Feature] | None = None,
    costs: Sequence[float] | None = None,
    folds: int = 5,
    calibration: str = "platt",
    seed: int = 0,
    progress: Progress | None = None,
) -> HeldOut:
    """Score every row by a model that did not see it.

    Parameters
    ----------
    rows : with a view for each of `features`, if there are any
    estimator : not fitted; it stays as it is
    view : the view to learn from, where there are several
    features : by which pictures became rows
    costs : values of C to choose among by the likelihood of held-out tags; None keeps that of the estimator
    folds : models that share the rows with known tags; each sees all but its own share
    calibration : {"platt", "isotonic"}, how scores become probabilities
    seed : for the folds
    progress : called with how much is done, of how much, and what is being done
    """
    estimator, X = _compare(rows, estimator, view, features, progress)
    if costs is None or not (hasattr(estimator, "C") and hasattr(estimator, "path")):
        costs = ()
    ascending = tuple(sorted(map(float, costs)))
    states = rows.states()
    parts = list(_deal(rows, states, folds, seed))
    all_scores = np.empty((max(1, len(ascending)), *states.shape))
    is_judged = np.empty(states.shape, dtype=bool)
    for done, (train, test) in enumerate(parts):
        if progress is not None:
            progress(done, len(parts), SCORING)
        for place, model in enumerate(_train(estimator, X, rows.labels, train, ascending)):
            all_scores[place, test] = model.decision_function(take_block(estimator, X, test, train))
        is_judged[test] = np.any(states[train] > 0, axis=0)
    if progress is not None:
        progress(len(parts), len(parts), SCORING)
    if not all_scores.any():
        warnings.warn(
            "the models learned nothing and all scores are zero, as where no picture has both a present and "
            "an absent tag; the method one-vs-all learns from single tags",
            stacklevel=3,
        )
    learned = np.where(is_judged, states, 0)
    answers = [_calibrate(learned, scores, parts, calibration) for scores in all_scores]
    fits = [_log_likelihood(learned, probabilities) for probabilities in answers]
    best = int(np.argmax(fits))
    tuning = Tuning(ascending, {LIKELIHOOD: tuple(fits)}) if ascending else None
    return HeldOut(states, all_scores[best], answers[best], is_judged, tuning)


def _compare(
    rows: Collection,
    estimator: Any,
    view: str | None,
    features: Mapping[str, Feature] | None,
    progress: Progress | None,
) -> tuple[Any, Any]:
    """The estimator and what it reads: one Gram matrix of all rows, or scaled columns if it needs none."""
    intake = take_in(rows, view=view, features=features)
    estimator = choose_estimator(estimator, intake)
    kernel = kernel_of(estimator)
    scalers = {name: fit_scaler(columns, "auto", kernel, name) for name, columns in intake.views.items()}
    X = arrange_views(intake.views, scalers, by_view=kernel is not None and reads_views(kernel))
    shared = share_gram(estimator, X, progress=progress)
    return estimator, X if shared is None else shared[1]


def _deal(rows: Collection, states: np.ndarray, folds: int, seed: int) -> Iterator[Part]:
    """Rows to learn from and rows to score: each row is scored once, and never learned from there."""
    is_known = np.any(states != 0, axis=1)
    known, unknown = np.flatnonzero(is_known), np.flatnonzero(~is_known)
    if len(known) < folds:
        raise ValueError(
            f"{folds} folds need at least as many pictures with tags, got {len(known)} in "
            f"{rows.name or 'the data'}; take fewer folds, or tag more pictures"
        )
    splitter = LabelStratifiedKFold(folds, shuffle=True, random_state=seed)
    for train, test in splitter.split(np.zeros((len(known), 1)), rows.labels[known]):
        yield known[train], known[test]
    if len(unknown):
        yield known, unknown


def _train(estimator: Any, X: Any, labels: Any, train: np.ndarray, costs: Sequence[float]) -> list[Any]:
    """A model for each cost, or the only one."""
    rows = take_block(estimator, X, train, train)
    with warnings.catch_warnings():
        # what no model could judge is said by `missing`, and that nothing was learned by `hold_out`, once
        for message in (".*never positive in training", ".*there is nothing to"):
            warnings.filterwarnings("ignore", message=message)
        if costs:
            return estimator.path(rows, labels[train], costs)
        return [clone(estimator).fit(rows, labels[train])]


def _calibrate(states: np.ndarray, scores: np.ndarray, parts: Sequence[Part], method: str) -> np.ndarray:
    """Probabilities of each part from the held-out scores of the rows outside of it."""
    probabilities = np.empty(scores.shape)
    for train, test in parts:
        learned = fit_calibration(
            states[train], scores[train], method=method, prior=prior_probabilities(states[train])
        )
        probabilities[test] = learned.probabilities(scores[test])
    return probabilities


def _log_likelihood(states: np.ndarray, probabilities: np.ndarray) -> float:
    """Mean over the known labels; the higher, the better."""
    told = np.where(states > 0, probabilities, 1 - probabilities)[states != 0]
    return float(np.log(np.maximum(told, np.finfo(float).tiny)).mean())

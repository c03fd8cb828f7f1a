"""Every picture judged by models that saw neither the picture nor its tags.

The pictures with known tags are dealt into folds. A model trained on the other folds scores each; how
probable a score makes a tag is learned from the held-out scores of the other folds. So the tags of a picture
enter neither its scores nor the step from scores to probabilities. Pictures about which nothing is known are
scored by one more model, of all the others.

What is known of a picture's other tags then speaks for and against each of its tags, see
`tagrank.estimators.calibration.companions`; how tags go together is learned from the other folds, too. No tag
speaks for itself.

What all pictures share knows nothing of tags: scale of the columns, widths of the kernel, vocabularies of the
features. Only few things are chosen with all tags in view: method, kernel and C, as `train` does, but by how
well held-out probabilities fit the known tags, because here pictures are compared too; what a method
chooses while it trains, such as the penalty of a ridge regression, so that all models are of one kind; and
how complete the tags are, one number, or of audited pictures one a tag.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import clone

from tagrank.annotation.choosing import (
    LIKELIHOOD,
    Choice,
    ChosenModel,
    Recipe,
    candidates_of,
    choose,
    deal_folds,
    kernel_of,
    quiet_folds,
    scaled,
    score_fold,
)
from tagrank.annotation.scaling import scale_views
from tagrank.annotation.views import take_in
from tagrank.commands.options import SHARED
from tagrank.data import Collection
from tagrank.data.coherence import make_coherent
from tagrank.errors import warn
from tagrank.estimators.base import taken_by
from tagrank.estimators.calibration.audit import Audit, audit_listed, bend_to_truth, surely_known
from tagrank.estimators.calibration.calibrated import fit_calibration, prior_probabilities
from tagrank.estimators.calibration.companions import fit_companions, known_of
from tagrank.estimators.calibration.completeness import Completeness, estimate_completeness
from tagrank.estimators.calibration.held_out import freeze
from tagrank.estimators.calibration.shared import SharedCalibration, fit_shared
from tagrank.estimators.compared_rows import rows_for, sliceable, take
from tagrank.features import Feature
from tagrank.progress import Progress

Part = tuple[np.ndarray, np.ndarray]
SCORING = "judging pictures with models that were not trained on them"


@dataclass(frozen=True)
class HeldOut:
    """What models say about pictures that they did not see; every array has the shape (n, n_tags).

    Attributes
    ----------
    states : int8, what is known: +1 present, -1 absent, 0 unknown
    scores : the higher, the better
    probabilities : that the tag is true, given what is known of the other tags of the picture
    is_judged : whether there is anything to go by; false where no training picture of the model has the tag
    completeness : the share of the true tags that are listed
    choice : what was tried and what was chosen; None where nothing was
    """

    states: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray
    is_judged: np.ndarray
    completeness: Completeness
    choice: Choice | None


def hold_out(
    rows: Collection,
    wanted: Any,
    *,
    view: str | None = None,
    features: Mapping[str, Feature] | None = None,
    costs: Sequence[float] | None = None,
    powers: Sequence[int] = (1,),
    folds: int = 5,
    calibration: str = SHARED,
    completeness: float | None = None,
    known_tags: bool = True,
    seed: int = 0,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> HeldOut:
    """Score every row by a model that did not see it.

    What is `wanted` is a Recipe without calibration; or an estimator, not fitted, with `costs` and `powers`
    to choose among. Each of the `folds` models sees all rows with known
    tags but its own share. Unless `known_tags`, a probability is that of the picture alone. All else is as in
    `missing`.
    """
    intake = take_in(rows, view=view, features=features)
    is_recipe = isinstance(wanted, Recipe)
    candidates = (
        wanted.candidates(intake, rows.tags) if is_recipe else candidates_of(wanted, intake, costs, powers)
    )
    states = rows.states()
    known, unknown = _known_rows(rows, states, folds)
    scaling = "none" if candidates.scalers else "auto"
    X = sliceable(scale_views(intake.views, kernel_of(candidates.usual.estimator), scaling))
    labels = rows.labels[known]
    chosen = choose(
        candidates,
        X if not len(unknown) else take(X, known),
        labels,
        criterion=LIKELIHOOD,
        n_folds=folds,
        seed=seed,
        progress=progress,
        stop=stop,
    )
    parts = deal_folds(labels, folds, seed)
    scores = np.empty(states.shape)
    scores[known] = (
        _score(chosen, labels, parts, progress, stop) if chosen.held_out is None else chosen.held_out[1]
    )
    is_judged = np.empty(states.shape, dtype=bool)
    for train, test in parts:
        is_judged[known[test]] = np.any(states[known[train]] > 0, axis=0)
    if len(unknown):
        with quiet_folds():
            model = clone(chosen.estimator).fit(
                rows_for(chosen.estimator, chosen.rows), labels, **taken_by(chosen.estimator.fit, stop=stop)
            )
        scores[unknown] = model.decision_function(scaled(take(X, unknown), chosen.scaler))
        is_judged[unknown] = np.any(states[known] > 0, axis=0)
    if not scores.any():
        warn(
            "the models learned nothing: all scores are zero. This happens if no picture has both a present "
            "and an absent tag; use the method one-vs-all, which learns each tag by itself"
        )
    learned = np.where(is_judged, states, 0)
    everywhere = [(known[train], known[test]) for train, test in parts] + [(known, unknown)]
    decided = rows.decided_mask(confirmed=False) if rows.decided else None
    audited = rows.audited_mask() if rows.audited else None
    audit = audit_listed(states, decided, audited)
    share = _completeness(
        learned[known],
        scores[known],
        calibration,
        completeness,
        None if decided is None else decided[known],
        audit,
    )
    by_tag = share.share if audit is None or completeness is not None else audit.by_label
    sure = surely_known(decided, audited, states.shape[1])
    told = None if audit is None else audit.completeness
    probabilities = _calibrate(
        learned, scores, everywhere, calibration, by_tag, sure, audited, told, known_tags=known_tags
    )
    probabilities = make_coherent(probabilities, rows.implied_columns())
    return HeldOut(states, scores, probabilities, is_judged, share, chosen.choice)


def _known_rows(rows: Collection, states: np.ndarray, folds: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of which something is known, and the others."""
    is_known = np.any(states != 0, axis=1)
    known, unknown = np.flatnonzero(is_known), np.flatnonzero(~is_known)
    if len(known) < folds:
        raise ValueError(
            f"{folds} folds need at least as many pictures with tags, got {len(known)} in "
            f"{rows.name or 'the data'}; use fewer folds or tag more pictures"
        )
    return known, unknown


def _completeness(
    states: np.ndarray,
    scores: np.ndarray,
    calibration: str,
    given: float | None,
    decided: np.ndarray | None,
    audit: Audit | None,
) -> Completeness:
    if given is not None:
        return Completeness(given, given, given)
    if audit is not None:
        return audit.completeness
    if calibration != SHARED:
        return Completeness(1.0, 1.0, 1.0)
    straight = fit_shared(states, scores, decided=decided).straight(scores)
    return estimate_completeness(states, straight, decided)


def _score(
    chosen: ChosenModel,
    labels: Any,
    parts: Sequence[Part],
    progress: Progress | None,
    stop: Callable[[], bool] | None,
) -> np.ndarray:
    """Scores of every row by models that did not see it, shape (n, n_tags)."""
    rows, scores = chosen.rows, np.empty(labels.shape)
    with quiet_folds():
        estimator = freeze(chosen.estimator, rows, labels, stop=stop)
    for done, fold in enumerate(parts):
        if progress is not None:
            progress(done, len(parts), SCORING)
        scores[fold[1]] = score_fold(estimator, rows, labels, fold, stop=stop)[0]
    if progress is not None:
        progress(len(parts), len(parts), SCORING)
    return scores


def _calibrate(
    states: np.ndarray,
    scores: np.ndarray,
    parts: Sequence[Part],
    method: str,
    completeness: Any,
    sure: np.ndarray | None = None,
    audited: np.ndarray | None = None,
    told: Completeness | None = None,
    *,
    known_tags: bool = True,
) -> np.ndarray:
    """Probabilities of each part from the held-out scores of the rows outside of it.

    `sure` tells where the truth itself is known, `audited` in which rows all of it is; `told` is what these
    tell of the completeness, None where they are too few. With `known_tags` they are given the other tags of
    each picture, if that helps in every part.
    """
    if method == SHARED:
        seen = None if told is None else audited
        curves = [_curve(states, scores, train, completeness, sure, seen, told) for train, _ in parts]
        return expit(_given_known(states, scores, parts, curves, completeness, sure, known_tags=known_tags))
    probabilities = np.empty(scores.shape)
    for train, test in parts:
        if len(test):
            prior = prior_probabilities(states[train])
            learned = fit_calibration(states[train], scores[train], method=method, prior=prior)
            probabilities[test] = learned.probabilities(scores[test])
    return probabilities


def _curve(
    states: np.ndarray,
    scores: np.ndarray,
    train: np.ndarray,
    completeness: Any,
    sure: np.ndarray | None,
    audited: np.ndarray | None,
    told: Completeness | None,
) -> SharedCalibration:
    """The curve of some rows, bent to the truth where it is known."""
    curve = fit_shared(states[train], scores[train], completeness, None if sure is None else sure[train])
    if audited is None or told is None:
        return curve
    seen = train[audited[train]]
    return bend_to_truth(curve, states[seen], scores[seen], told)


def _given_known(
    states: np.ndarray,
    scores: np.ndarray,
    parts: Sequence[Part],
    curves: Sequence[SharedCalibration],
    completeness: Any,
    sure: np.ndarray | None,
    *,
    known_tags: bool,
) -> np.ndarray:
    """Log-odds of each part by its curve, given the other tags of a picture if that helps in every part."""
    alone, given = np.empty(scores.shape), np.empty(scores.shape)
    known = known_of(states, sure)
    for (train, test), curve in zip(parts, curves, strict=True):
        alone[test] = curve.log_odds(scores[test])
        if known_tags and len(test):
            of_train = None if sure is None else sure[train]
            found = fit_companions(states[train], curve.log_odds(scores[train]), completeness, of_train)
            known_tags = found is not None
            if found is not None:
                given[test] = found.log_odds(alone[test], known[test])
    return given if known_tags else alone

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

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from tagrank.annotation.bank.picture_keys import Progress
from tagrank.annotation.recipe import Recipe, is_compared, kernel_of, plan_given
from tagrank.annotation.scaling import arrange_views, fit_scaler
from tagrank.annotation.tuning import COMPARING, Tuning, quiet_folds
from tagrank.annotation.views import Intake, take_in
from tagrank.commands.missing.result import LIKELIHOOD
from tagrank.data import Collection, LabelStratifiedKFold
from tagrank.errors import warn
from tagrank.estimators.base import taken_by
from tagrank.estimators.calibration.calibration import fit_calibration, prior_probabilities
from tagrank.estimators.compared_rows import compare_rows, rows_for
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
    wanted: Any,
    *,
    view: str | None = None,
    features: Mapping[str, Feature] | None = None,
    costs: Sequence[float] | None = None,
    powers: Sequence[int] = (1,),
    folds: int = 5,
    calibration: str = "platt",
    seed: int = 0,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> HeldOut:
    """Score every row by a model that did not see it.

    What is `wanted` is a Recipe without calibration; or an estimator, not fitted, with `costs` and `powers`
    to choose among by the likelihood of held-out tags. Each of the `folds` models sees all rows with known
    tags but its own share. All else is as in `missing`.
    """
    intake = take_in(rows, view=view, features=features)
    is_recipe = isinstance(wanted, Recipe)
    plan = wanted.plan(intake, rows.tags) if is_recipe else plan_given(wanted, intake, costs, powers)
    if progress is not None and is_compared(plan.estimator):
        progress(0, 1, COMPARING)
    compared = compare_rows(plan.estimator, _arranged(intake, plan.estimator))
    can_choose = plan.costs is not None and hasattr(plan.estimator, "path")
    ascending = tuple(sorted(map(float, plan.costs))) if plan.costs and can_choose else ()
    states, labels = rows.states(), rows.labels
    parts = list(_deal(rows, states, folds, seed))
    is_judged = np.empty(states.shape, dtype=bool)
    for train, test in parts:
        is_judged[test] = np.any(states[train] > 0, axis=0)
    learned, found = np.where(is_judged, states, 0), []
    powers = sorted(plan.powers) if ascending else (1,)
    for place, power in enumerate(powers):
        report = _report(progress, place * len(parts), len(powers) * len(parts))
        all_scores = _score(plan.estimator, compared.raised(power), labels, parts, ascending, report, stop)
        answers = [_calibrate(learned, scores, parts, calibration) for scores in all_scores]
        fits = [_log_likelihood(learned, probabilities) for probabilities in answers]
        best = int(np.argmax(fits))
        tuning = Tuning(ascending, {LIKELIHOOD: tuple(fits)}, power) if ascending else None
        found.append((max(fits), HeldOut(states, all_scores[best], answers[best], is_judged, tuning)))
    held_out = max(found, key=lambda pair: pair[0])[1]
    if not held_out.scores.any():
        warn(
            "the models learned nothing and all scores are zero, as where no picture has both a present and "
            "an absent tag; the method one-vs-all learns from single tags"
        )
    return held_out


def _arranged(intake: Intake, estimator: Any) -> Any:
    """Scaled columns, as the estimator reads them."""
    kernel = kernel_of(estimator)
    scalers = {name: fit_scaler(columns, "auto", kernel, name) for name, columns in intake.views.items()}
    return arrange_views(intake.views, scalers, by_view=kernel is not None and reads_views(kernel))


def _report(progress: Progress | None, before: int, total: int) -> Callable[[int], None]:
    def report(done: int) -> None:
        if progress is not None:
            progress(before + done, total, SCORING)

    return report


def _score(
    estimator: Any,
    rows: Any,
    labels: Any,
    parts: Sequence[Part],
    costs: Sequence[float],
    report: Callable[[int], None],
    stop: Callable[[], bool] | None,
) -> np.ndarray:
    """Scores of every row by models that did not see it, shape (n_costs, n, n_tags)."""
    all_scores = np.empty((max(1, len(costs)), *labels.shape))
    for done, (train, test) in enumerate(parts):
        report(done)
        training, held_out = rows_for(estimator, rows.training(train)), rows.held_out(test, train)
        for place, model in enumerate(_train(estimator, training, labels[train], costs, stop)):
            all_scores[place, test] = model.decision_function(rows_for(model, held_out))
    report(len(parts))
    return all_scores


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


def _train(
    estimator: Any, rows: Any, labels: Any, costs: Sequence[float], stop: Callable[[], bool] | None
) -> list[Any]:
    """A model for each cost, or the only one."""
    with quiet_folds():
        if costs:
            return estimator.path(rows, labels, costs, **taken_by(estimator.path, stop=stop))
        return [clone(estimator).fit(rows, labels, **taken_by(estimator.fit, stop=stop))]


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

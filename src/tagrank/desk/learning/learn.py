"""One training: every picture judged by models that did not see it, and a last model of all of them.

The pictures with known tags lie in folds that they keep. A model of the other folds scores each; pictures
about which nothing is known are scored by the last model. All start from the solutions of the training
before, rows matched by picture and columns by tag; the first time each starts from the folds before it. What
comes out is certified all the same: the duality gap does not ask where a training began.

One curve makes held-out scores probabilities, see `ProbabilityRanker`. Decided labels are surely known; only
of the others it is asked how complete they are, and audited pictures answer that. What is proposed also
weighs what is known of the other tags of the picture, see `tagrank.estimators.calibration.companions`; this
is learned from the other folds.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import clone

from tagrank.annotation import Annotator
from tagrank.annotation.choosing import COMPARING, ChosenModel, kernel_of, quiet_folds
from tagrank.desk.learning.choosing import choose_model
from tagrank.desk.learning.examples import Examples, Prepared, prepare, take_in_examples
from tagrank.desk.learning.models import SMALLEST
from tagrank.desk.learning.remembered import (
    OUTSIDE,
    Remembered,
    Solution,
    Solutions,
    deal,
    mean_of_folds,
    solution_of,
    start_from,
)
from tagrank.estimators import ProbabilityRanker
from tagrank.estimators.base import taken_by
from tagrank.estimators.calibration.companions import Companions, cross_fitted
from tagrank.estimators.calibration.completeness import (
    Completeness,
    Remaining,
    estimate_remaining,
    given_not_listed,
)
from tagrank.estimators.calibration.held_out import freeze
from tagrank.estimators.compared_rows import PlainRows, rows_for
from tagrank.kernels import Linear
from tagrank.labels import labels_from_states
from tagrank.metrics import image_auc, image_average_precision
from tagrank.progress import Progress

FOLD_TOL = 2e-2  # duality gap of the models of folds; a smaller one ranks what they did not see no better
METRICS = {"Image-MAP": image_average_precision, "Image-AUC": image_auc}
MOST_COMPLETE = 0.95  # share of the true tags that is supposed to be listed at most
CANCELLED = "the training was cancelled; the current model stays"
SCORING, FINISHING = "cross-validation", "learning from all pictures"


class Cancelled(RuntimeError):
    """A training that was asked to stop."""


@dataclass(frozen=True)
class Learned:
    """What a training found; arrays have the shape (n, n_tags).

    Attributes
    ----------
    ids, tags : of the pictures and columns
    states : int8, what is known: +1 present, -1 absent, 0 unknown
    probabilities : float32, that the tag is true, by the picture alone
    given_others : float32, the same given what is known of the other tags of the picture
    is_judged : whether there was anything to go by; false where no picture of the training had the tag
    model : ProbabilityRanker, trained on everything
    completeness : how complete the tags are that nobody decided
    metrics : name to value, of the held-out probabilities
    chosen : what was trained
    solutions : what the next training starts from
    prepared : rows that the next training need not make again
    seconds : step to seconds
    """

    ids: np.ndarray
    tags: list[str]
    states: np.ndarray
    probabilities: np.ndarray
    given_others: np.ndarray
    is_judged: np.ndarray
    model: ProbabilityRanker
    completeness: Completeness
    metrics: dict[str, float]
    chosen: ChosenModel
    solutions: Solutions
    prepared: Prepared
    examples: Examples = field(repr=False)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def gap(self) -> float | None:
        """The relative duality gap of the last model, None where the method has none."""
        gap = getattr(self.model.estimator_, "duality_gap_", None)
        return None if gap is None else float(gap)

    def proposed(self) -> np.ndarray:
        """What the desk shows, float32: that a tag is true, given whether it is listed; 0 where not judged.

        A tag that is not listed, was listed with probability c if it is true, and is so with probability p by
        the picture and its other tags, is true with probability p (1 - c) / (1 - c p).
        """
        return self._given_listing(self.given_others)

    def _given_listing(self, probabilities: np.ndarray) -> np.ndarray:
        is_open = (self.states < 0) & ~self.examples.closed_mask()
        if_not_listed = given_not_listed(probabilities, self._supposed())
        given = np.where(is_open, if_not_listed, probabilities)
        given[(self.states < 0) & self.examples.audited_mask()[:, None]] = 0
        return np.where(self.is_judged, np.maximum(given, SMALLEST), 0)

    def _supposed(self) -> np.ndarray:
        """The completeness of each tag; where nothing can be told, between the lowest possible and all.

        That no tag is missing is never supposed: nothing would be proposed, and nothing learned about it.
        """
        by_tag = self.model.label_completeness_
        if self.completeness.share == 1:
            by_tag = np.minimum(by_tag, (1 + self.completeness.low) / 2)
        return np.minimum(by_tag, MOST_COMPLETE)

    @property
    def missing(self) -> Remaining:
        """How many true tags are neither listed nor decided."""
        return self.missing_if(self.completeness)

    def missing_if(self, completeness: Completeness) -> Remaining:
        """The same, were the completeness known as well as that."""
        is_open = (self.states < 0) & ~self.examples.closed_mask() & self.is_judged
        is_open &= ~self.examples.unmarked_mask()
        return estimate_remaining(self.probabilities, is_open, completeness, self._supposed())

    def open_probabilities(self, *, alone: bool = False) -> np.ndarray:
        """What the desk shows of tags that are neither listed nor decided, also of pictures without any.

        With `alone` the same by the picture alone: how many tags are missing is told by these.
        """
        shown = self._given_listing(self.probabilities) if alone else self.proposed()
        return np.where((self.states <= 0) & ~self.examples.closed_mask(), shown, 0)

    @property
    def companions(self) -> Companions | None:
        """What known tags say about others; None where that does not help."""
        is_given = self.given_others is not self.probabilities
        return self.model.companions_ if is_given else None

    def annotator(self) -> Annotator:
        """The last model as an Annotator, which can be saved, annotates and explains."""
        rows, scalers = self.prepared.rows, self.prepared.scalers
        labels = self.examples.rows.with_labels(labels_from_states(self.states), self.tags)
        return Annotator.of_trained(self.model, rows, scalers, labels, self.chosen.choice)


def learn(
    examples: Examples,
    before: Learned | Remembered | None = None,
    *,
    fresh: bool = False,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    callback: Callable[[Any], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Learned:
    """Train on everything that is known.

    Parameters
    ----------
    examples : pictures with features, what is known and what was decided
    before : the training before; its choice, folds and solutions are kept
    fresh : choose method, kernel and C again
    seed, n_jobs : as in `Recipe`
    progress : called with the number of steps done, the number of steps, and the name of the work
    callback : function of a TracePoint, called while a model is trained
    stop : function without arguments; when it returns True, the training ends with `Cancelled`
    """
    training = _LearningRun(examples, seed, n_jobs, progress, callback, stop)
    chosen, prepared = training.chosen(None if fresh else before)
    solutions = None if before is None else before.solutions.carried(examples.ids, examples.tags)
    if solutions is not None and fresh:
        solutions = solutions.only_folds()
    return training.run(chosen, prepared, solutions)


def prepare_again(examples: Examples, chosen: ChosenModel) -> Prepared:
    """The rows scaled for a model that was chosen before."""
    is_linear = isinstance(kernel_of(chosen.estimator), Linear)
    rows = take_in_examples(examples, for_linear=is_linear)
    return prepare(examples.ids, rows, chosen.estimator)


class _LearningRun:
    def __init__(
        self,
        examples: Examples,
        seed: int,
        n_jobs: int | None,
        progress: Progress | None,
        callback: Callable[[Any], None] | None,
        stop: Callable[[], bool] | None,
    ) -> None:
        self.examples, self.states = examples, examples.states()
        self.seed, self.n_jobs = seed, n_jobs
        self.callback, self.stop = callback, stop
        self._progress = progress
        self.seconds: dict[str, float] = {}

    def chosen(self, before: Learned | Remembered | None) -> tuple[ChosenModel, Prepared]:
        """What is trained, and the rows compared for it."""
        started = time.perf_counter()
        hooks: dict[str, Any] = {"progress": self.progress, "stop": self.stop}
        if before is None:
            chosen, prepared = choose_model(
                self.examples, self.states, seed=self.seed, n_jobs=self.n_jobs, **hooks
            )
        else:
            chosen, kept = before.chosen, before.prepared
            if kept is not None and np.array_equal(kept.ids, self.examples.ids):
                return chosen, kept
            prepared = prepare_again(self.examples, chosen)
        self._note("choosing", started)
        started = time.perf_counter()
        self.progress(0, 1, COMPARING)
        prepared = prepared.comparing(chosen.estimator)
        self._note("comparing", started)
        return chosen, prepared

    def run(self, chosen: ChosenModel, prepared: Prepared, before: Solutions | None) -> Learned:
        started = time.perf_counter()
        folds = deal(self.states, None if before is None else before.folds, seed=self.seed)
        rows = prepared.compared
        assert rows is not None
        with quiet_folds():
            frozen = freeze(chosen.estimator, rows, labels_from_states(self.states), stop=self.stop)
        of_folds, scores, is_judged = self._hold_out(frozen, rows, folds, before)
        self._note("folds", started)
        started = time.perf_counter()
        start = before.of_all if before is not None and before.of_all else mean_of_folds(of_folds, folds)
        model = self._train_last(chosen.estimator, rows, scores, is_judged, start)
        self._note("last", started)
        started = time.perf_counter()
        unknown = np.flatnonzero(folds == OUTSIDE)
        if len(unknown):
            scores[unknown] = _scores(model.estimator_, rows.held_out(unknown, np.arange(len(rows))))
            is_judged[unknown] = np.any(self.states > 0, axis=0)
        log_odds = model.calibration_.log_odds(scores)
        probabilities = expit(log_odds).astype(np.float32)
        given = self._given_others(model, log_odds, is_judged, folds)
        metrics = held_out_metrics(self.states, probabilities)
        self._note("scores", started)
        of_all = solution_of(model.estimator_, np.arange(len(rows)), len(rows))
        solutions = Solutions(self.examples.ids, self.examples.tags, folds, of_folds, of_all)
        return Learned(
            self.examples.ids,
            self.examples.tags,
            self.states,
            probabilities,
            probabilities if given is None else given,
            is_judged,
            model,
            model.completeness_,
            metrics,
            chosen,
            solutions,
            prepared,
            self.examples,
            self.seconds,
        )

    def _given_others(
        self, model: ProbabilityRanker, log_odds: np.ndarray, is_judged: np.ndarray, folds: np.ndarray
    ) -> np.ndarray | None:
        """Probabilities given the other tags of each picture, float32; None where that does not help."""
        if model.companions_ is None:
            return None
        states = np.where(is_judged, self.states, 0).astype(np.int8)
        sure = self.examples.closed_mask()
        given = cross_fitted(states, log_odds, folds, model.label_completeness_, sure)
        return None if given is None else expit(given).astype(np.float32)

    def _hold_out(
        self, estimator: Any, rows: PlainRows, folds: np.ndarray, before: Solutions | None
    ) -> tuple[list[Solution], np.ndarray, np.ndarray]:
        """The solution of each fold, held-out scores, and where they are worth something."""
        of_folds: list[Solution] = []
        scores, is_judged = np.zeros(self.states.shape), np.zeros(self.states.shape, dtype=bool)
        n_folds = int(folds.max()) + 1
        for number in range(n_folds):
            self._check()
            self.progress(number, n_folds + 1, SCORING)
            train = np.flatnonzero((folds != number) & (folds != OUTSIDE))
            test = np.flatnonzero(folds == number)
            start = before.of_folds[number] if before is not None and before.of_folds else ()
            start = start or mean_of_folds(of_folds, folds)
            model = self._train(_loosened(estimator), rows.training(train), train, start)
            scores[test] = _scores(model, rows.held_out(test, train))
            is_judged[test] = np.any(self.states[train] > 0, axis=0)
            of_folds.append(solution_of(model, train, len(self.states)))
        return of_folds, scores, is_judged

    def _train(self, estimator: Any, rows: PlainRows, train: np.ndarray, start: Solution) -> Any:
        hooks: dict[str, Any] = {"callback": self.callback, "stop": self.stop}
        more = taken_by(estimator.fit, start=start_from(start, train), **hooks)
        with quiet_folds():
            return clone(estimator).fit(
                rows_for(estimator, rows), labels_from_states(self.states[train]), **more
            )

    def _train_last(
        self, estimator: Any, rows: PlainRows, scores: np.ndarray, is_judged: np.ndarray, start: Solution
    ) -> ProbabilityRanker:
        """Trained on everything; probabilities are learned from what was held out."""
        self._check()
        self.progress(1, 2, FINISHING)
        model = ProbabilityRanker(clone(estimator), random_state=self.seed)
        held_out = np.where(is_judged, self.states, 0).astype(np.int8), scores
        everything = start_from(start, np.arange(len(self.states)))
        hooks: dict[str, Any] = {"start": everything, "callback": self.callback, "stop": self.stop}
        with quiet_folds():
            model.fit(
                rows_for(estimator, rows),
                labels_from_states(self.states),
                held_out=held_out,
                decided=self.examples.decided_mask(),
                audited=self.examples.audited_mask(),
                **hooks,
            )
        self._check()
        return model

    def progress(self, done: int, of: int, what: str) -> None:
        """Tell how far it is; whoever is told may stop it."""
        self._check()
        if self._progress is not None:
            self._progress(done, of, what)

    def _check(self) -> None:
        if self.stop is not None and self.stop():
            raise Cancelled(CANCELLED)

    def _note(self, step: str, started: float) -> None:
        self.seconds[step] = time.perf_counter() - started


def _loosened(estimator: Any) -> Any:
    """A copy that is trained no further than held-out scores need, or both parts of a sum."""
    parameters = estimator.get_params()
    tolerances = {
        name: max(parameters[name], FOLD_TOL) for name in parameters if name.split("__")[-1] == "tol"
    }
    return clone(estimator).set_params(**tolerances)


def _scores(model: Any, rows: PlainRows) -> np.ndarray:
    return np.asarray(model.decision_function(rows_for(model, rows)))


def held_out_metrics(states: np.ndarray, probabilities: np.ndarray) -> dict[str, float]:
    """Every metric that is defined, of probabilities under states, both (n, n_tags)."""
    known = np.flatnonzero(np.any(states > 0, axis=1) & np.any(states < 0, axis=1))
    if not len(known):
        return {}
    labels, values = labels_from_states(states[known]), probabilities[known]
    measured = {name: float(function(labels, values)) for name, function in METRICS.items()}
    return {name: value for name, value in measured.items() if not np.isnan(value)}

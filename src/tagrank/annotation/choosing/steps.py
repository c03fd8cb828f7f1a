"""The choice of a model, step by step: weights, kernel, method, C and intercept; and of two models together.

Of pictures the sets of features are weighed first. Everything else is tried on the same folds, on rows that
were compared once. Of counts the scale of the rows is chosen next, on a straight line. Then the kernel is
chosen, by the methods that lead; then the other methods are tried on it over their values of C, which are
extended while the best is the last; then each method without its intercept, or with one. Of each
method the best held-out scores are made log-odds, as `ProbabilityRanker` does, and it is these that are
measured: order and percentages come from them in the end. Last, the best ranker and the best classifier are
added up; their sum is taken where it is better than both.

With many rows all this is done on some of them.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from tagrank.annotation.choosing.candidates import Candidate, Candidates, is_compared, kernel_of
from tagrank.annotation.choosing.choice import CRITERION, LIKELIHOOD, Choice, ChosenModel, Trial, Weighing
from tagrank.annotation.choosing.landmarks import settle_landmarks
from tagrank.annotation.choosing.pace import Pace
from tagrank.annotation.choosing.plan import MOST_COMPARED, RowPlan, landmark_names
from tagrank.annotation.choosing.recipe import FEWEST_TO_WEIGH
from tagrank.annotation.choosing.trials import COMPARING, Trials, Tried, quiet_folds
from tagrank.annotation.scaling import SCALING_WORDS, Scaler
from tagrank.data.label_matrix import Matrix
from tagrank.estimators import MaxMarginEstimator, ScoreSum
from tagrank.estimators.base import taken_by
from tagrank.estimators.calibration.held_out import leaves_open
from tagrank.estimators.compared_rows import ComparedRows, compare_rows, sliceable, take
from tagrank.kernels import Precomputed, Sum
from tagrank.labels import label_states
from tagrank.progress import Progress
from tagrank.resources import Ending

WORTH_ADDING = 5e-4  # what the sum of two models must gain
FEWEST_LOOKED_AT = 500  # rows, with how little memory soever
MOST_ROWS, MOST_PAIRS = 5_000, 2_000_000  # rows, and rows times labels, that the choice looks at
CHOOSING_SHARE = 0.6  # of the seconds that choice and training may take together
SCALED_BY = "one-vs-all-logistic"  # fast on a straight line, where the scale of rows is chosen
WORSE_INTERCEPT = 0.01  # behind the best: such a method is not tried with another intercept
MOST_OUTPUTS = 1_000  # labels, or label sets, that a method beside the usual one may have to learn
WORTH_PACING = 10_000  # rows, from which on a plan says how long it takes
WEIGHING = "weighing the features"

Stop = Callable[[], bool]


def choose(
    candidates: Candidates,
    X: Any,
    labels: Matrix,
    *,
    criterion: str = CRITERION,
    n_folds: int = 3,
    seed: int = 0,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> ChosenModel:
    """The best of the candidates.

    Parameters
    ----------
    candidates : what to choose among
    X : rows in any form that the estimators take
    labels : shape (n, n_labels)
    criterion : a key of `CRITERIA`, or `LIKELIHOOD`
    n_folds : the number of folds
    seed : for the folds
    progress : called with the number of steps done, the number of steps, and the name of the work
    stop : function without arguments; when it returns True, the current training ends early
    """
    least = _check_budget(candidates, *labels.shape)
    if not candidates.has_choice:
        return _usual(candidates, X, labels.shape, progress)
    n_rows, n_looked_at = labels.shape[0], n_rows_looked_at(*labels.shape)
    beside = least if n_looked_at < n_rows else 0.0  # for the training on all rows, while these are kept
    while n_looked_at > FEWEST_LOOKED_AT and not candidates.budget.fits(n_looked_at, labels.shape[1], beside):
        n_looked_at //= 2
    candidates = _trainable(candidates, *labels.shape)
    X_some, labels_some, model = X, labels, None
    seconds = candidates.max_seconds
    ending = Ending(None if seconds is None else CHOOSING_SHARE * seconds, stop)
    if n_looked_at < n_rows:
        some = np.sort(np.random.default_rng(seed).choice(n_rows, n_looked_at, replace=False))
        are_similarities = isinstance(kernel_of(candidates.usual.estimator), Precomputed)
        X_some, labels_some = take(sliceable(X), some, some if are_similarities else None), labels[some]
    candidates = _affordable(candidates, labels_some)
    candidates, X_some, weighing = weigh(candidates, X_some, labels_some, progress, ending.is_over)
    # where no row has both a present and an absent label, there is nothing to rank
    for by in dict.fromkeys((criterion, LIKELIHOOD)):
        model = model or _Steps(candidates, labels_some, by, n_folds, seed, progress, ending).run(X_some)
    if model is None or model.choice is None:
        return _usual(candidates, X, labels.shape, progress)
    choice = replace(model.choice, weighing=weighing)
    if n_looked_at == n_rows:
        return replace(model, choice=choice)
    X = scaled(X, model.scaler)
    plan = _planned(candidates, model.estimator, X, labels.shape, ending)
    plan = settle_landmarks(
        plan,
        candidates.budget,
        model.estimator,
        X,
        labels,
        sample=(model.rows, labels_some),
        seed=seed,
        progress=progress,
        stop=ending.is_over,
    )
    whole = _compared(plan.applied(model.estimator), X, progress, plan.place)
    choice = replace(choice, plan=plan.words)
    return replace(model, estimator=whole.estimator, choice=choice, rows=whole.rows, held_out=None)


def n_rows_looked_at(n_rows: int, n_labels: int) -> int:
    """How many rows the choice looks at."""
    return min(n_rows, MOST_ROWS, max(MOST_ROWS // 5, MOST_PAIRS // max(1, n_labels)))


def _affordable(candidates: Candidates, labels: Matrix) -> Candidates:
    """Without those beside the usual method that would have to learn thousands of label sets."""
    states, usual = label_states(labels), candidates.usual.estimator

    def is_affordable(one: Candidate) -> bool:
        return one.estimator is usual or _n_outputs(one.estimator, states) <= MOST_OUTPUTS

    return candidates.only(is_affordable)


def _n_outputs(estimator: Any, states: np.ndarray) -> int:
    return estimator.n_outputs(states) if hasattr(estimator, "n_outputs") else states.shape[1]


def scaled(X: Any, scaler: Scaler | None) -> Any:
    """The rows `X` scaled; as they are without a scaler."""
    return X if scaler is None else scaler.apply(X)


def _trainable(candidates: Candidates, n_rows: int, n_labels: int) -> Candidates:
    """Without those beside the usual method that can only compare all of so many rows with each other."""
    if n_rows <= MOST_COMPARED and candidates.budget.fits(n_rows, n_labels):
        return candidates
    usual = candidates.usual.estimator

    def is_trainable(one: Candidate) -> bool:
        made = one.made()
        return one.estimator is usual or not is_compared(made) or bool(landmark_names(made))

    return candidates.only(is_trainable)


def _check_budget(candidates: Candidates, n_rows: int, n_labels: int) -> float:
    """Refuse what does not fit into the memory before anything is tried; else the bytes of the least way."""
    budget, groups = candidates.budget, candidates.on_kernels
    tried = [candidates.usual] if budget.is_exact else [*candidates.others, *chain.from_iterable(groups)]
    made = [one.made() for one in tried]
    return budget.check(
        [budget.least(one, n_rows, n_labels, is_compared=is_compared(one)) for one in made], n_rows, n_labels
    )


def _planned(
    candidates: Candidates, estimator: Any, X: Any, shape: tuple[int, ...], ending: Ending | None = None
) -> RowPlan:
    """How the rows are compared for an estimator that is to be trained on all of them."""
    if not is_compared(estimator):
        return RowPlan()
    pace, seconds = None, candidates.max_seconds
    if shape[0] > WORTH_PACING:
        pace = Pace.measure(estimator.raised_kernel(1), X, getattr(estimator, "n_jobs", None))
    if seconds is not None and ending is not None:
        seconds -= ending.seconds
    n_rows, n_labels = shape
    return candidates.budget.plan(estimator, n_rows, n_labels, pace, seconds)


def _usual(candidates: Candidates, X: Any, shape: tuple[int, ...], progress: Progress | None) -> ChosenModel:
    """What is trained where nothing can be measured."""
    scaler, estimator = next(iter(candidates.scalers.values()), None), candidates.usual.made()
    X = scaled(X, scaler)
    plan = _planned(candidates, estimator, X, shape)
    model = _compared(plan.applied(estimator), X, progress, plan.place)
    return replace(model, scaler=scaler, note=plan.words)


def _compared(estimator: Any, X: Any, progress: Progress | None, place: str = "memory") -> ChosenModel:
    if progress is not None and is_compared(estimator):
        progress(0, 1, COMPARING)
    where = {} if place == "memory" else {"place": place}
    return ChosenModel(estimator, rows=compare_rows(estimator, X, **where))


class _OnKernel(NamedTuple):
    """What was tried on one kernel, and the rows compared by it."""

    tried: list[Tried]
    rows: Any

    @property
    def value(self) -> float:
        """What the best of them reached."""
        return max((one.trial.known_value for one in self.tried), default=-np.inf)


class _Steps:
    """One choice among candidates, by one criterion."""

    def __init__(
        self,
        candidates: Candidates,
        labels: Matrix,
        criterion: str,
        n_folds: int,
        seed: int,
        progress: Progress | None,
        ending: Ending,
    ) -> None:
        self.candidates, self.criterion, self.progress = candidates, criterion, progress
        self.ending, self.n_tried = ending, 0
        n_trials = sum(map(len, candidates.on_kernels)) + len(candidates.others)
        n_trials += max(0, len(candidates.scalers) - 1)
        n_trials += sum(one.tries_intercept for one in candidates.methods)
        folds: dict[str, Any] = {"n_folds": n_folds, "seed": seed, "n_expected": n_trials}
        self.trials = Trials(labels, criterion, **folds, progress=progress, stop=ending.is_over)

    def run(self, X: Any) -> ChosenModel | None:
        """The best; None where nothing can be measured."""
        started = time.perf_counter()
        best, others = self._choose_kernel(X)
        if best is None:
            return None
        leader = best.tried[0].candidate
        tried = best.tried + self._try_all(
            [one.on_kernel_of(leader) for one in self.candidates.others], best.rows
        )
        measured = [one if one.trial.value is not None else self._measured(one) for one in tried]
        least = max(one.trial.known_value for one in measured) - WORSE_INTERCEPT
        measured = [
            one if one.trial.known_value < least else self._with_best_intercept(one, best.rows)
            for one in measured
        ]
        chosen, estimator, value, scores = self._taken(measured)
        self.trials.report(is_finished=True)
        choice = Choice(
            (*(one.trial for one in measured), *others, *self.trials.dropped),
            chosen,
            value,
            self.criterion,
            len(self.trials.states),
            time.perf_counter() - started,
            is_complete=not self.is_late,
        )
        # models that chose for themselves in every fold are of another kind than the last one
        is_one_kind = not (leaves_open(estimator) and chosen[0].costs)
        held_out = (self.trials.states, scores.astype(np.float64)) if is_one_kind else None
        return ChosenModel(estimator, choice, best.rows, held_out, leader.scaler)

    @property
    def is_late(self) -> bool:
        """Whether the seconds of the choice are over."""
        return self.ending.reason() == "max_seconds"

    def _choose_kernel(self, X: Any) -> tuple[_OnKernel | None, list[Trial]]:
        """What the leading methods did on the kernel that is best for them, and the trials on the others."""
        best: _OnKernel | None = None
        others: list[Trial] = []
        for one in self._try_kernels(X):
            if best is None or one.value > best.value:
                best, one = one, best
            # rows of the others are not kept: they are as large as a Gram matrix
            others += [] if one is None else [tried.trial for tried in one.tried]
        return best if best is not None and best.tried else None, others

    def _try_kernels(self, X: Any) -> Iterator[_OnKernel]:
        """The leading methods on every kernel; where the scale of rows is open, on a straight line first."""
        groups = list(self.candidates.on_kernels)
        if self.candidates.scalers:
            straight = next((group for group in groups if group[0].kernel == "linear"), groups[0])
            groups.remove(straight)
            scaling = next((one for one in straight if one.method == SCALED_BY), straight[0])
            by_name = {}
            for name, scaler in self.candidates.scalers.items():
                some = [scaling.on_rows_of(SCALING_WORDS.get(name, ""), scaler)]
                by_name[name] = self._try_group(some, self._plain(some, scaled(X, scaler)))
                yield by_name[name]
            name = max(by_name, key=lambda name: by_name[name].value)
            best, scaler = by_name[name], self.candidates.scalers[name]
            words = SCALING_WORDS.get(name, "")
            X, groups = (
                scaled(X, scaler),
                [[one.on_rows_of(words, scaler) for one in group] for group in groups],
            )
            others = [one.on_rows_of(words, scaler) for one in straight if one is not scaling]
            best.tried.extend(map(self._measured, self._try_all(others, best.rows)))
        plain: Any = None
        for group in groups:
            if group[0].power == 1 or plain is None:
                plain = self._plain(group, X)
            yield self._try_group(group, plain)

    def _plain(self, group: Sequence[Candidate], X: Any) -> Any:
        """The rows compared by the kernel of a group, not raised to its power."""
        return _compared(group[0]._replace(power=1).made(), X, self.progress).rows

    def _try_group(self, group: Sequence[Candidate], plain: Any) -> _OnKernel:
        rows = plain.raised(group[0].power)
        return _OnKernel([self._measured(one) for one in self._try_all(group, rows)], rows)

    def _try_all(self, candidates: Sequence[Candidate], rows: Any) -> list[Tried]:
        """Those of the candidates that could be measured; once time is up, no more are tried."""
        tried = []
        for one in candidates:
            if self.n_tried and self.is_late:
                break
            tried.append(self.trials.try_costs(one, rows))
            self.n_tried += tried[-1] is not None
        return [one for one in tried if one is not None]

    def _with_best_intercept(self, one: Tried, rows: Any) -> Tried:
        """With an intercept or without it, whichever is better, and measured."""
        other = one if self.is_late else self.trials.with_other_intercept(one, rows)
        return one if other is one else self._measured(other)

    def _measured(self, one: Tried) -> Tried:
        """With the value of its log-odds."""
        return one._replace(trial=replace(one.trial, value=self.trials.value(one.scores)))

    def _taken(self, measured: Sequence[Tried]) -> tuple[tuple[Trial, ...], Any, float, np.ndarray]:
        """The best, or the sum of the best ranker and the best classifier where that is better."""
        best = max(measured, key=lambda one: one.trial.known_value)
        alone = (best.trial,), best.estimator, best.trial.known_value, best.scores
        families: dict[str, Tried] = {}
        for one in sorted(measured, key=lambda one: one.trial.known_value):
            if isinstance(one.estimator, MaxMarginEstimator):
                families[one.candidate.family] = one
        if len(families) != 2:
            return alone
        first, second = sorted(families.values(), key=lambda one: -one.trial.known_value)
        weights = [1 / (float(one.scores.std()) or 1.0) for one in (first, second)]
        scores = weights[0] * first.scores + weights[1] * second.scores
        value = self.trials.value(scores)
        if not value > best.trial.known_value + WORTH_ADDING:
            return alone
        estimator = ScoreSum(
            first.estimator, second.estimator, first_weight=weights[0], second_weight=weights[1]
        )
        return (first.trial, second.trial), estimator, value, scores


def weigh(
    candidates: Candidates, X: Any, labels: Matrix, progress: Progress | None, stop: Stop | None
) -> tuple[Candidates, Any, Weighing | None]:
    """The candidates with kernels of the best weights, the rows compared by them, and how these were found.

    The same candidates and the same rows where there is nothing to weigh, or too little to weigh by.
    """
    if candidates.weigher is None or _n_ranked(labels) < FEWEST_TO_WEIGH:
        return candidates, X, None
    say = progress or (lambda done, total, what: None)
    say(0, 1, COMPARING)
    rows, weigher = candidates.weigher.compare(X), clone(candidates.weigher)
    say(0, 1, WEIGHING)
    with quiet_folds():
        weigher.fit(rows, labels, **taken_by(weigher.fit, stop=stop))
    active = [int(j) for j in weigher.active_kernels_]
    weights = tuple(float(weigher.kernel_weights_[j]) for j in active)
    kernel, fitted = (
        Sum(tuple(whole.kernels[j] for j in active), weights) for whole in (weigher.kernel, rows.kernel)
    )
    weighted = candidates.changed(
        lambda one: one._replace(estimator=clone(one.estimator).set_params(kernel=kernel))
    )
    K = np.array(rows.K.combined(weigher.kernel_weights_))
    compared = ComparedRows(weigher.X_fit_, fitted, K, rows.known)
    return replace(weighted, weigher=None), compared, _described(weigher)


def _n_ranked(labels: Matrix) -> int:
    """How many rows have both a present and an absent label."""
    states = label_states(labels)
    return int(np.sum((states > 0).any(axis=1) & (states < 0).any(axis=1)))


def _described(weigher: Any) -> Weighing:
    path = tuple(tuple(map(float, weights)) for weights in weigher.weight_path_)
    return Weighing(tuple(weigher.kernel_names_), tuple(map(float, weigher.kernel_weights_)), path)

"""Candidates tried on the same folds: their held-out scores, and how good these are."""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.base import clone

from tagrank.annotation.choosing.candidates import Candidate
from tagrank.annotation.choosing.choice import CRITERION, LIKELIHOOD, Trial, measure
from tagrank.data import LabelStratifiedKFold
from tagrank.data.label_matrix import Matrix
from tagrank.estimators.base import taken_by
from tagrank.estimators.calibration.held_out import freeze, honest_states
from tagrank.estimators.calibration.shared import fit_shared
from tagrank.estimators.compared_rows import rows_for
from tagrank.labels import label_states
from tagrank.progress import Progress

COMPARING = "comparing pictures with each other"
CHOOSING, CHOOSING_COST = "choosing a model", "choosing C"
SEARCH_TOL = 1e-2  # duality gap of models that are only compared
SEARCH_PASSES = 200  # and passes at most
STEP, MOST_STEPS = 10**0.5, 3  # by how much C goes on when the best is the last, and how often
WORTH_GOING_ON = 5e-4  # by how much the last C must be better than those before it
FEW_PAIRS = 100_000  # of row and label, up to which log-odds are learned from other folds
PAIRS_COMPARED = 30_000  # from which a curve is learned where there are more; models are only compared by it

Fold = tuple[np.ndarray, np.ndarray]


def deal_folds(labels: Matrix, n_folds: int, seed: int | None) -> list[Fold]:
    """Rows to train on and rows to hold out, for each fold; each label keeps its share in them."""
    splitter = LabelStratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros((labels.shape[0], 1)), labels))


def score_fold(
    estimator: Any,
    rows: Any,
    labels: Matrix,
    fold: Fold,
    *,
    costs: Sequence[float] = (),
    stop: Callable[[], bool] | None = None,
) -> list[np.ndarray]:
    """Scores of the rows that a fold holds out, by models that learned from its other rows.

    One array for each of the `costs`, or one where there are none. The estimator stays as it is.
    """
    train, test = fold
    training, held_out = rows_for(estimator, rows.training(train)), rows.held_out(test, train)
    with quiet_folds():
        models = train_models(estimator, training, labels[train], costs, stop)
        return [model.decision_function(rows_for(model, held_out)) for model in models]


def train_models(
    estimator: Any, rows: Any, labels: Matrix, costs: Sequence[float], stop: Callable[[], bool] | None
) -> list[Any]:
    """A trained copy of the estimator for each of the costs, or one where there are none."""
    if costs:
        return estimator.path(rows, labels, costs, **taken_by(estimator.path, stop=stop))
    return [clone(estimator).fit(rows, labels, **taken_by(estimator.fit, stop=stop))]


@contextmanager
def quiet_folds() -> Iterator[None]:
    """Inside, nothing is said of labels that a fold lacks, nor of gaps that the last training may close."""
    with warnings.catch_warnings():
        for message in (".*never positive in training", ".*there is nothing to", "the relative duality gap"):
            warnings.filterwarnings("ignore", message=message)
        yield


def loosened(estimator: Any) -> Any:
    """A copy that is trained no further than comparing needs."""
    estimator = clone(estimator)
    if hasattr(estimator, "tol"):
        estimator.set_params(tol=max(estimator.tol, SEARCH_TOL))
    if hasattr(estimator, "max_iter"):
        estimator.set_params(max_iter=min(estimator.max_iter, SEARCH_PASSES))
    return estimator


def cost_beyond(costs: Sequence[float], best: float) -> float | None:
    """The next C where the best of several is the largest or the smallest."""
    if len(costs) < 2 or best not in (max(costs), min(costs)):
        return None
    return float(f"{best * STEP if best == max(costs) else best / STEP:.1g}")


class Tried(NamedTuple):
    """A trial with the candidate, the estimator with the best C, and its held-out scores."""

    trial: Trial
    candidate: Candidate
    estimator: Any
    scores: np.ndarray


class Trials:
    """The folds, and what all trials on them share.

    Parameters
    ----------
    labels : shape (n, n_labels)
    criterion : a key of `CRITERIA`, or `LIKELIHOOD`
    n_folds, seed : of the folds, in which each label keeps its share
    n_expected : trials that will be made, for `progress`
    progress : called with how many folds are done, of how many, and what is being done
    stop : function without arguments; once it answers true, what is being trained ends early
    is_exact : whether models are trained as far as their estimator says, and not only as comparing needs
    """

    def __init__(
        self,
        labels: Matrix,
        criterion: str,
        *,
        n_folds: int,
        seed: int,
        n_expected: int,
        progress: Progress | None,
        stop: Callable[[], bool] | None,
        is_exact: bool = False,
    ) -> None:
        self.labels, self.criterion, self.stop, self.is_exact = labels, criterion, stop, is_exact
        self.folds = deal_folds(labels, n_folds, seed)
        self.states = honest_states(label_states(labels), self.folds)
        self.progress, self.n_done, self.n_steps = progress, 0, n_folds * n_expected

    def try_costs(self, candidate: Candidate, rows: Any) -> Tried | None:
        """A candidate over its values of C; None where nothing could be measured."""
        started = time.perf_counter()
        estimator, costs = candidate.made(), sorted(float(cost) for cost in candidate.costs or ())
        by_cost = dict(zip(costs or [np.nan], self._hold_out(estimator, rows, costs), strict=True))
        measures = {cost: self._measures(scores) for cost, scores in by_cost.items()}
        for _ in range(MOST_STEPS if candidate.extends else 0):
            beyond = self._beyond(measures)
            if beyond is None:
                break
            by_cost[beyond] = self._hold_out(estimator, rows, [beyond])[0]
            measures[beyond] = self._measures(by_cost[beyond])
        if any(np.isnan(list(values.values())).any() for values in measures.values()):
            return None
        costs = sorted(by_cost)
        scores = {name: tuple(measures[cost][name] for cost in costs) for name in measures[costs[0]]}
        trial = Trial(
            tuple(costs) if candidate.costs else (),
            scores,
            candidate.power,
            method=candidate.method,
            kernel=candidate.kernel_words,
            fit_intercept=getattr(estimator, "fit_intercept", None),
            criterion=self.criterion,
            parameters=candidate.parameters,
            n_rows=max(len(train) for train, _ in self.folds),
            n_folds=len(self.folds),
            seconds=time.perf_counter() - started,
        )
        best = costs[int(np.argmax(scores[self.criterion]))]
        return Tried(trial, candidate, candidate.made(best), by_cost[best])

    def with_other_intercept(self, one: Tried, rows: Any) -> Tried:
        """The same with an intercept, or without it, if that is better."""
        if not one.candidate.tries_intercept:
            return one
        other = clone(one.estimator).set_params(fit_intercept=not one.estimator.fit_intercept)
        scores = self._hold_out(other, rows, [other.C] if one.trial.costs else [])[0]
        if not self._measures(scores)[self.criterion] > one.trial.best_score():
            return one
        trial = replace(one.trial, fit_intercept=other.fit_intercept)
        return one._replace(trial=trial, estimator=other, scores=scores)

    def value(self, scores: np.ndarray) -> float:
        """How good the log-odds are that the scores become; nan where nothing is known of them."""
        if not self.states.any():
            return float("nan")
        log_odds = self._log_odds(scores.astype(np.float64))
        if self.criterion != LIKELIHOOD:
            return measure(self.labels, log_odds)[self.criterion]
        truth = expit(log_odds)
        told = np.where(self.states > 0, truth, 1 - truth)[self.states != 0]
        return float(np.log(np.maximum(told, np.finfo(float).tiny)).mean())

    def report(self, *, is_finished: bool = False) -> None:
        """Tell `progress` how many folds are done."""
        if self.progress is not None:
            self.n_steps = self.n_done if is_finished else max(self.n_steps, self.n_done + 1)
            self.progress(self.n_done, self.n_steps, CHOOSING_COST if self.is_exact else CHOOSING)

    def _beyond(self, measures: Mapping[float, Mapping[str, float]]) -> float | None:
        """The next C where the first or the last is the best so far, by more than chance."""
        values = {cost: measures[cost][self.criterion] for cost in sorted(measures)}
        if np.isnan(list(values.values())).any():
            return None
        best = max(values, key=lambda cost: values[cost])
        others = [value for cost, value in values.items() if cost != best]
        is_worth_it = not others or values[best] > max(others) + WORTH_GOING_ON
        return cost_beyond(list(values), best) if is_worth_it else None

    def _log_odds(self, scores: np.ndarray) -> np.ndarray:
        """Learned from the other folds; from all where there are plenty of pairs, which is as honest."""
        if self.states.size > FEW_PAIRS:
            return fit_shared(self.states, scores, most_pairs=PAIRS_COMPARED).log_odds(scores)
        log_odds = np.empty(scores.shape)
        for train, test in self.folds:
            log_odds[test] = fit_shared(self.states[train], scores[train]).log_odds(scores[test])
        return log_odds

    def _measures(self, scores: np.ndarray) -> dict[str, float]:
        """What C and kernel are chosen by: the mean over the folds in which it is defined."""
        if self.criterion == LIKELIHOOD:
            return {LIKELIHOOD: self.value(scores)}
        parts = [measure(self.labels[test], scores[test]) for _, test in self.folds]
        defined = [part for part in parts if not np.isnan(list(part.values())).any()]
        return {name: float(np.mean([part[name] for part in defined] or [np.nan])) for name in parts[0]}

    def _hold_out(self, estimator: Any, rows: Any, costs: Sequence[float]) -> list[np.ndarray]:
        """Scores (n, n_labels) of every row by models that did not see it, for each cost if there are any."""
        estimator = estimator if self.is_exact else loosened(estimator)
        if not costs:
            # what it chooses may depend on C: with several it chooses in every fold
            with quiet_folds():
                estimator = freeze(estimator, rows, self.labels, stop=self.stop)
        dtype = np.float64 if self.is_exact else np.float32
        held_out = [np.zeros(self.states.shape, dtype=dtype) for _ in costs or [0]]
        for fold in self.folds:
            self.report()
            parts = score_fold(estimator, rows, self.labels, fold, costs=costs, stop=self.stop)
            for scores, part in zip(held_out, parts, strict=True):
                scores[fold[1]] = part
            self.n_done += 1
        return held_out


def tune_cost(
    estimator: Any,
    X: Any,
    Y: Any,
    *,
    costs: Sequence[float],
    powers: Sequence[int] = (1,),
    criterion: str = CRITERION,
    n_folds: int = 3,
    seed: int = 0,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Trial | None:
    """Try every cost, and every power of the kernel, on the same folds, in which each label keeps its share.

    Parameters
    ----------
    estimator : with `path` and `compare`, such as LabelRanker or OneVsAllSVM; it stays as it is
    X : rows in any form that it takes, or what its `compare` made of them
    Y : labels, shape (n, n_labels)
    costs : the values of C
    powers : to which the kernel is raised; the best one is answered, the smallest of equals
    criterion : by which the power is chosen, a key of `CRITERIA`
    n_folds : the number of folds
    seed : for the folds
    progress : called with how many folds are done, how many there are, and what is being done
    stop : function without arguments; once it answers true, what is being trained ends early

    Returns
    -------
    Trial; None where nothing could be measured, as with a single label
    """
    rows, candidate = estimator.compare(X), Candidate("", "", estimator, costs)
    trials = Trials(
        Y,
        criterion,
        n_folds=n_folds,
        seed=seed,
        n_expected=len(powers),
        progress=progress,
        stop=stop,
        is_exact=True,
    )
    tried = []
    for power in sorted(powers):
        one = trials.try_costs(candidate._replace(power=power), rows.raised(power))
        if one is None:
            return None
        tried.append(one.trial)
    trials.report(is_finished=True)
    return max(tried, key=Trial.best_score)

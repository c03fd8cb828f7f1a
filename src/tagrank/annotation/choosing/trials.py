"""Candidates tried on the same folds: their held-out scores, and how good these are."""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
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
from tagrank.estimators.calibration.shared import fit_shared, keep_order
from tagrank.estimators.compared_rows import rows_for
from tagrank.labels import label_states
from tagrank.progress import Progress

COMPARING = "comparing pictures with each other"
CHOOSING, CHOOSING_COST = "choosing a model", "choosing C"
SEARCH_TOL = 1e-2  # duality gap of models that are only compared
SEARCH_PASSES = 200  # and passes at most
STEP, MOST_STEPS = 10**0.5, 3  # by how much C goes on when the best is the last, and how often
WORTH_GOING_ON = 5e-4  # by how much the last C must be better than those before it
# a value of C, or a method, that is this much worse on the first fold is not tried on the others; methods
# differ more by the order of scores, which is seen there, than by that of log-odds
WORSE_COST, WORSE_METHOD = 0.02, 0.06
FEWEST_TO_DROP = 100  # rows of a fold, below which the first says little
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
        return [np.asarray(model.decision_function(rows_for(model, held_out))) for model in models]


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


@dataclass
class HeldOutScores:
    """Scores (n, n_labels) of the rows of the first `n_folds` folds, by models that did not see them."""

    scores: np.ndarray
    n_folds: int = 0


class Trials:
    """The folds, and what all trials on them share.

    Parameters
    ----------
    labels : shape (n, n_labels)
    criterion : a key of `CRITERIA`, or `LIKELIHOOD`
    n_folds, seed : of the folds, in which each label keeps its share
    n_expected : trials that will be made, for `progress`
    progress : called with the number of folds done, the number of folds, and the name of the work
    stop : function without arguments; when it returns True, the current training ends early
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
        self.first_fold, self.dropped = -np.inf, list[Trial]()

    def try_costs(self, candidate: Candidate, rows: Any) -> Tried | None:
        """A candidate over its values of C; None where nothing could be measured."""
        started = time.perf_counter()
        estimator, costs = candidate.made(), sorted(float(cost) for cost in candidate.costs or ())
        held_out = self._hold_out(estimator, rows, costs)
        n_folds = max(one.n_folds for one in held_out)
        by_cost = dict(zip(costs or [np.nan], held_out, strict=True))
        measures = self._compare(by_cost)
        for _ in range(MOST_STEPS if candidate.extends and n_folds > 1 else 0):
            beyond = self._beyond(measures)
            if beyond is None:
                break
            by_cost[beyond] = self._hold_out(estimator, rows, [beyond])[0]
            measures = self._compare(by_cost)
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
            n_folds=n_folds,
            seconds=time.perf_counter() - started,
        )
        if n_folds < len(self.folds):
            self.dropped.append(trial)
            return None
        best = costs[int(np.argmax(scores[self.criterion]))]
        return Tried(trial, candidate, candidate.made(best), by_cost[best].scores)

    def with_other_intercept(self, one: Tried, rows: Any) -> Tried:
        """The same with an intercept, or without it, if that is better."""
        if not one.candidate.tries_intercept:
            return one
        other = clone(one.estimator).set_params(fit_intercept=not one.estimator.fit_intercept)
        held_out = self._hold_out(other, rows, [other.C] if one.trial.costs else [])[0]
        is_better = self._measures(held_out)[self.criterion] > one.trial.best_score()
        if held_out.n_folds < len(self.folds) or not is_better:
            return one
        trial = replace(one.trial, fit_intercept=other.fit_intercept)
        return one._replace(trial=trial, estimator=other, scores=held_out.scores)

    def value(self, scores: np.ndarray) -> float:
        """How good the log-odds are that the scores become; nan where nothing is known of them."""
        if not self.states.any():
            return float("nan")
        scores = scores.astype(np.float64)
        if self.criterion != LIKELIHOOD:
            log_odds = keep_order(self.states, scores, self.folds, most_pairs=PAIRS_COMPARED)[1]
            return measure(self.labels, log_odds)[self.criterion]
        truth = expit(self._log_odds(scores))
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

    def _compare(self, by_cost: Mapping[float, HeldOutScores]) -> dict[float, dict[str, float]]:
        """The measures of every cost; where one was dropped, what it would reach if it stayed as far behind.

        That is behind the best of the others on the folds on which both were tried.
        """
        whole = [cost for cost, one in by_cost.items() if one.n_folds == len(self.folds)]
        measures = {cost: self._measures(one) for cost, one in by_cost.items()}
        for cost, one in by_cost.items():
            if whole and one.n_folds < len(self.folds):
                best = max(whole, key=lambda cost: measures[cost][self.criterion])
                beside = self._measures(replace(by_cost[best], n_folds=one.n_folds))
                measures[cost] = {
                    name: measures[best][name] - max(0.0, beside[name] - value)
                    for name, value in measures[cost].items()
                }
        return measures

    def _measures(self, held_out: HeldOutScores) -> dict[str, float]:
        """What C and kernel are chosen by: the mean over the folds in which it is defined."""
        if self.criterion == LIKELIHOOD:
            return {LIKELIHOOD: self.value(held_out.scores)}
        parts = [self._measure_fold(held_out.scores, fold) for fold in self.folds[: held_out.n_folds]]
        defined = [part for part in parts if not np.isnan(list(part.values())).any()]
        return {name: float(np.mean([part[name] for part in defined] or [np.nan])) for name in parts[0]}

    def _measure_fold(self, scores: np.ndarray, fold: Fold) -> dict[str, float]:
        return measure(self.labels[fold[1]], scores[fold[1]])

    def _hold_out(self, estimator: Any, rows: Any, costs: Sequence[float]) -> list[HeldOutScores]:
        """Scores of every row by models that did not see it, for each cost if there are any."""
        estimator = estimator if self.is_exact else loosened(estimator)
        if not costs:
            # what it chooses may depend on C: with several it chooses in every fold
            with quiet_folds():
                estimator = freeze(estimator, rows, self.labels, stop=self.stop)
        dtype = np.float64 if self.is_exact else np.float32
        held_out = [HeldOutScores(np.zeros(self.states.shape, dtype=dtype)) for _ in costs or [0]]
        going_on = list(range(len(held_out)))
        for number, fold in enumerate(self.folds):
            self.report()
            if going_on:
                some = [costs[i] for i in going_on] if costs else ()
                parts = score_fold(estimator, rows, self.labels, fold, costs=some, stop=self.stop)
                for i, part in zip(going_on, parts, strict=True):
                    held_out[i].scores[fold[1]] = part
                    held_out[i].n_folds = number + 1
                going_on = self._worth_going_on(held_out) if number == 0 else going_on
            self.n_done += 1
        return held_out

    def _worth_going_on(self, held_out: Sequence[HeldOutScores]) -> list[int]:
        """Those that are not far behind on the first fold: behind each other, or behind other methods."""
        everything = list(range(len(held_out)))
        can_drop = not self.is_exact and self.criterion != LIKELIHOOD
        if not can_drop or len(self.folds[0][1]) < FEWEST_TO_DROP:
            return everything
        values = [self._measure_fold(one.scores, self.folds[0])[self.criterion] for one in held_out]
        if np.isnan(values).any():
            return everything
        best = max(values)
        if best < self.first_fold - WORSE_METHOD:
            return []
        self.first_fold = max(self.first_fold, best)
        return [i for i in everything if values[i] >= best - WORSE_COST]


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
    progress : called with the number of folds done, the number of folds, and the name of the work
    stop : function without arguments; when it returns True, the current training ends early

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

"""Models tried on the same folds: their held-out scores, and how good these are."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.base import clone

from tagrank.annotation.plan import Candidate, KernelOption
from tagrank.annotation.recipe import is_compared
from tagrank.annotation.tuning import Tuning, measure, quiet_folds
from tagrank.data import LabelStratifiedKFold
from tagrank.estimators.base import taken_by
from tagrank.estimators.calibration.held_out import honest_states
from tagrank.estimators.calibration.shared import fit_shared
from tagrank.estimators.compared_rows import rows_for
from tagrank.labels import label_states
from tagrank.progress import Progress

CHOOSING = "choosing a model"
SEARCH_TOL = 1e-2  # duality gap of models that are only compared
SEARCH_PASSES = 200  # and passes at most
STEP, MOST_STEPS = 10**0.5, 3  # by how much C goes on when the best is the last, and how often
WORTH_GOING_ON = 5e-4  # by how much the last C must be better than those before it
FEW_PAIRS = 100_000  # of row and label, up to which log-odds are learned from other folds
PAIRS_COMPARED = 30_000  # from which a curve is learned where there are more; models are only compared by it
LIKELIHOOD = "log-likelihood"


class Tried(NamedTuple):
    """A method on a kernel: how it did, the estimator with the best C, and its held-out scores."""

    tuning: Tuning
    estimator: Any
    scores: np.ndarray
    candidate: Candidate


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
    """

    def __init__(
        self,
        labels: Any,
        criterion: str,
        *,
        n_folds: int,
        seed: int,
        n_expected: int,
        progress: Progress | None,
        stop: Callable[[], bool] | None,
    ) -> None:
        self.labels, self.criterion, self.stop = labels, criterion, stop
        splitter = LabelStratifiedKFold(n_folds, shuffle=True, random_state=seed)
        self.folds = list(splitter.split(np.zeros((labels.shape[0], 1)), labels))
        self.states = honest_states(label_states(labels), self.folds)
        self.progress, self.n_done, self.n_steps = progress, 0, n_folds * n_expected

    def try_costs(self, candidate: Candidate, option: KernelOption, rows: Any) -> Tried | None:
        """A method over its values of C; None where nothing could be measured."""
        estimator = loosened(_settings(candidate, option))
        costs = sorted(float(cost) for cost in candidate.costs or ())
        found = dict(zip(costs or [np.nan], self._hold_out(estimator, rows, costs), strict=True))
        measures = {cost: self._measures(scores) for cost, scores in found.items()}
        for _ in range(MOST_STEPS if candidate.extends else 0):
            beyond = self._beyond(measures)
            if beyond is None:
                break
            found[beyond] = self._hold_out(estimator, rows, [beyond])[0]
            measures[beyond] = self._measures(found[beyond])
        if any(np.isnan(list(values.values())).any() for values in measures.values()):
            return None
        costs = sorted(found)
        scores = {name: tuple(measures[cost][name] for cost in costs) for name in measures[costs[0]]}
        tuning = Tuning(
            tuple(costs) if candidate.costs else (),
            scores,
            option.power,
            method=candidate.method,
            kernel=option.words,
            fit_intercept=getattr(estimator, "fit_intercept", None),
            criterion=self.criterion,
            settings=candidate.settings,
        )
        best = costs[int(np.argmax(scores[self.criterion]))]
        return Tried(tuning, _settings(candidate, option, best), found[best], candidate)

    def with_other_intercept(self, one: Tried, rows: Any) -> Tried:
        """The same with an intercept, or without it, if that is better."""
        if not one.candidate.tries_intercept:
            return one
        other = clone(one.estimator).set_params(fit_intercept=not one.estimator.fit_intercept)
        costs = [other.C] if one.tuning.costs else []
        scores = self._hold_out(loosened(other), rows, costs)[0]
        if not self._measures(scores)[self.criterion] > one.tuning.best_score():
            return one
        tuning = replace(one.tuning, fit_intercept=other.fit_intercept)
        return one._replace(tuning=tuning, estimator=other, scores=scores)

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
            self.progress(self.n_done, self.n_steps, CHOOSING)

    def _beyond(self, measures: Mapping[float, Mapping[str, float]]) -> float | None:
        """The next C where the first or the last is the best so far."""
        costs = sorted(measures)
        values = [measures[cost][self.criterion] for cost in costs]
        if len(costs) < 2 or np.isnan(values).any():
            return None
        if values[-1] > max(values[:-1]) + WORTH_GOING_ON:
            return float(f"{costs[-1] * STEP:.1g}")
        if values[0] > max(values[1:]) + WORTH_GOING_ON:
            return float(f"{costs[0] / STEP:.1g}")
        return None

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
        found = [np.zeros(self.states.shape, dtype=np.float32) for _ in costs or [0]]
        for train, test in self.folds:
            self.report()
            training, held_out = rows_for(estimator, rows.training(train)), rows.held_out(test, train)
            for place, model in enumerate(self._train(estimator, training, self.labels[train], costs)):
                found[place][test] = model.decision_function(rows_for(model, held_out))
            self.n_done += 1
        return found

    def _train(self, estimator: Any, rows: Any, labels: Any, costs: Sequence[float]) -> Iterator[Any]:
        with quiet_folds():
            if costs:
                yield from estimator.path(rows, labels, costs, **taken_by(estimator.path, stop=self.stop))
            else:
                yield clone(estimator).fit(rows, labels, **taken_by(estimator.fit, stop=self.stop))


def loosened(estimator: Any) -> Any:
    """A copy that is trained no further than comparing needs."""
    estimator = clone(estimator)
    if hasattr(estimator, "tol"):
        estimator.set_params(tol=max(estimator.tol, SEARCH_TOL))
    if hasattr(estimator, "max_iter"):
        estimator.set_params(max_iter=min(estimator.max_iter, SEARCH_PASSES))
    return estimator


def _settings(candidate: Candidate, option: KernelOption, cost: float | None = None) -> Any:
    """The estimator of a candidate with that kernel and that C."""
    estimator = with_kernel(candidate.estimator, option)
    return estimator.set_params(C=cost) if candidate.costs and cost is not None else estimator


def with_kernel(estimator: Any, option: KernelOption) -> Any:
    """A copy of the estimator with that kernel."""
    estimator = clone(estimator)
    if option.kernel is not None:
        estimator.set_params(kernel=option.kernel, gamma=None)
    if option.power > 1 and is_compared(estimator):
        estimator.set_params(kernel=estimator.raised_kernel(option.power), gamma=None)
    return estimator

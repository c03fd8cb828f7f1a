"""The choice of a model by cross-validation: method, intercept, kernel and C; and of two models together.

Everything is tried on the same folds, on rows that were compared once. First the kernel is chosen, by the
methods that lead; then the other methods are tried on it over their values of C, which are extended while the
best is the last; then each method without its intercept, or with one. Of each method the best held-out scores
are made log-odds, as `ProbabilityRanker` does, and it is these that are measured: order and percentages come
from them in the end. Last, the best ranker and the best classifier are added up; their sum is taken where it
is better than both.

With many rows all this is done on some of them.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.base import clone

from tagrank.annotation.bank.picture_keys import Progress
from tagrank.annotation.recipe import (
    CRITERION,
    KEPT,
    Candidate,
    KernelOption,
    Plan,
    is_compared,
)
from tagrank.annotation.tuning import COMPARING, Tuning, measure, quiet_folds
from tagrank.data import LabelStratifiedKFold
from tagrank.estimators import ScoreSum
from tagrank.estimators.base import taken_by
from tagrank.estimators.calibration.held_out import honest_states
from tagrank.estimators.calibration.shared import fit_shared
from tagrank.estimators.compared_rows import compare_rows, rows_for, sliceable, take
from tagrank.kernels import Power, make_kernel
from tagrank.labels import label_states

CHOOSING = "choosing a model"
SEARCH_TOL = 1e-2  # duality gap of models that are only compared
SEARCH_PASSES = 200  # and passes at most
STEP, MOST_STEPS = 10**0.5, 3  # by how much C goes on when the best is the last, and how often
WORTH_GOING_ON = 5e-4  # by how much the last C must be better than those before it
WORTH_ADDING = 5e-4  # what the sum of two models must gain
MOST_ROWS, MOST_PAIRS = 5_000, 2_000_000  # rows, and rows times labels, on which is chosen
FEW_PAIRS = 100_000  # of row and label, up to which log-odds are learned from other folds
LIKELIHOOD = "log-likelihood"

HeldOut = tuple[np.ndarray, np.ndarray]
_Taken = tuple[tuple[Tuning, ...], Any, float, np.ndarray]


@dataclass(frozen=True)
class Choice:
    """What was tried and what was chosen.

    Attributes
    ----------
    tried : every method on every kernel on which it was tried; `value` is that of its best C
    chosen : the ones taken: one, or two whose scores are added up
    value : what they reach, by `criterion`
    criterion : the name of a measure, of held-out log-odds
    n_rows : how many rows this was measured on
    seconds : what it took
    """

    tried: tuple[Tuning, ...]
    chosen: tuple[Tuning, ...]
    value: float
    criterion: str
    n_rows: int
    seconds: float = field(compare=False)

    @property
    def second_best(self) -> Tuning | None:
        """The best of those whose method was not taken, or was not taken alone."""
        others = [one for one in self.tried if one.value is not None and (one,) != self.chosen]
        return max(others, key=_value, default=None)

    @property
    def lead(self) -> float | None:
        """By how much it is better than `second_best`."""
        second = self.second_best
        return None if second is None or second.value is None else self.value - second.value

    @property
    def words(self) -> str:
        """What was chosen, for people."""
        return " + ".join(one.words for one in self.chosen)

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        return {
            "chosen": [one.to_dict() for one in self.chosen],
            "value": self.value,
            "lead": self.lead,
            "criterion": self.criterion,
            "rows": self.n_rows,
            "seconds": self.seconds,
            "tried": [one.to_dict() for one in self.tried],
        }


class Chosen(NamedTuple):
    """A model that is to be trained.

    Attributes
    ----------
    estimator : not fitted, without what goes around it
    rows : what is learned from, compared with its kernel
    held_out : states and scores of all rows by models that did not see them; None where they were not needed
    choice : how it was found; None where there was nothing to choose, or nothing to choose by
    """

    estimator: Any
    rows: Any
    held_out: HeldOut | None
    choice: Choice | None


def choose(
    plan: Plan,
    X: Any,
    labels: Any,
    *,
    criterion: str = CRITERION,
    n_folds: int = 3,
    seed: int = 0,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Chosen:
    """The best of what a plan offers.

    Parameters
    ----------
    plan : what to choose among
    X : rows in any form that the estimators take
    labels : shape (n, n_labels)
    criterion : a key of `CRITERIA`, or `LIKELIHOOD`
    n_folds : the number of folds
    seed : for the folds
    progress : called with how much is done, how much there is to do, and what is being done
    stop : function without arguments; once it answers true, what is being trained ends early
    """
    if not plan.has_choice:
        return _compared(plan.candidates[0].estimator, plan.kernels[0], X, progress)
    n_rows, n_labels = labels.shape
    n_looked_at = min(n_rows, MOST_ROWS, max(MOST_ROWS // 5, MOST_PAIRS // max(1, n_labels)))
    some = np.arange(n_rows)
    if n_looked_at < n_rows:
        some = np.sort(np.random.default_rng(seed).choice(n_rows, n_looked_at, replace=False))
        X_some, labels_some = take(sliceable(X), some), labels[some]
    else:
        X_some, labels_some = X, labels
    found = None
    # where no row has both a present and an absent label, there is nothing to rank
    for by in dict.fromkeys((criterion, LIKELIHOOD)):
        found = found or _Search(plan, labels_some, by, n_folds, seed, progress, stop).run(X_some)
    if found is None:
        return _compared(plan.candidates[0].estimator, plan.kernels[0], X, progress)
    if n_looked_at == n_rows:
        return found
    return _compared(found.estimator, KEPT, X, progress)._replace(choice=found.choice)


def _compared(estimator: Any, option: KernelOption, X: Any, progress: Progress | None) -> Chosen:
    estimator = _with_kernel(estimator, option)
    if progress is not None and is_compared(estimator):
        progress(0, 1, COMPARING)
    return Chosen(estimator, compare_rows(estimator, X), None, None)


class _Tried(NamedTuple):
    """A method on a kernel: how it did, the estimator with the best C, and its held-out scores."""

    tuning: Tuning
    estimator: Any
    scores: np.ndarray
    candidate: Candidate


class _Search:
    """One search: the folds, and what all trials share."""

    def __init__(
        self,
        plan: Plan,
        labels: Any,
        criterion: str,
        n_folds: int,
        seed: int,
        progress: Progress | None,
        stop: Callable[[], bool] | None,
    ) -> None:
        self.plan, self.labels, self.criterion, self.stop = plan, labels, criterion, stop
        splitter = LabelStratifiedKFold(n_folds, shuffle=True, random_state=seed)
        self.folds = list(splitter.split(np.zeros((labels.shape[0], 1)), labels))
        self.states = honest_states(label_states(labels), self.folds)
        self.progress, self.n_done = progress, 0
        n_leading = len(plan.leading)
        n_trials = len(plan.kernels) * n_leading + len(plan.candidates) - n_leading
        self.n_steps = n_folds * (n_trials + sum(one.tries_intercept for one in plan.candidates))

    def run(self, X: Any) -> Chosen | None:
        """The best; None where nothing can be measured."""
        started = time.perf_counter()
        option, rows, leading, others = self._choose_kernel(X)
        if not leading:
            return None
        rest = [one for one in self.plan.candidates if one not in self.plan.leading]
        tried = leading + [self._try(candidate, option, rows) for candidate in rest]
        best = [self._with_intercept(one, rows) for one in tried if one is not None]
        measured = [self._measure(one) for one in best]
        first = max(measured, key=lambda one: _value(one.tuning))
        taken: _Taken = (first.tuning,), first.estimator, _value(first.tuning), first.scores
        if (added := self._add(measured)) is not None and added[2] > taken[2] + WORTH_ADDING:
            taken = added
        chosen, estimator, value, scores = taken
        self._report(CHOOSING, is_finished=True)
        choice = Choice(
            (*(one.tuning for one in measured), *others),
            chosen,
            value,
            self.criterion,
            len(self.states),
            time.perf_counter() - started,
        )
        return Chosen(estimator, rows, (self.states, scores.astype(np.float64)), choice)

    def _choose_kernel(self, X: Any) -> tuple[KernelOption, Any, list[_Tried], list[Tuning]]:
        """The kernel on which the leading methods did best, the rows compared by it, and all trials."""
        best: tuple[float, KernelOption, Any, list[_Tried]] | None = None
        all_tried: list[Tuning] = []
        plain: Any = None
        for option in self.plan.kernels:
            if option.power == 1 or plain is None:
                plain = _compared(self.plan.leading[0].estimator, option._replace(power=1), X, self.progress)
            rows = plain.rows.raised(option.power)
            found = [self._try(candidate, option, rows) for candidate in self.plan.leading]
            tried = [one for one in found if one is not None]
            all_tried += [one.tuning for one in tried]
            value = max((one.tuning.best_score() for one in tried), default=-np.inf)
            if tried and (best is None or value > best[0]):
                best = value, option, rows, tried
        if best is None:
            return self.plan.kernels[0], None, [], []
        kept = {id(one.tuning) for one in best[3]}
        return best[1], best[2], best[3], [one for one in all_tried if id(one) not in kept]

    def _try(self, candidate: Candidate, option: KernelOption, rows: Any) -> _Tried | None:
        """A method over its values of C; None where nothing could be measured."""
        estimator = _loosened(_settings(candidate, option))
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
        )
        best = costs[int(np.argmax(scores[self.criterion]))]
        return _Tried(tuning, _settings(candidate, option, best), found[best], candidate)

    def _beyond(self, measures: Mapping[float, Mapping[str, float]]) -> float | None:
        """The next C where the first or the last is the best so far."""
        costs = sorted(measures)
        values = [measures[cost][self.criterion] for cost in costs]
        if np.isnan(values).any():
            return None
        if len(costs) < 2:
            return None
        if values[-1] > max(values[:-1]) + WORTH_GOING_ON:
            return float(f"{costs[-1] * STEP:.1g}")
        if values[0] > max(values[1:]) + WORTH_GOING_ON:
            return float(f"{costs[0] / STEP:.1g}")
        return None

    def _with_intercept(self, one: _Tried, rows: Any) -> _Tried:
        """The same with an intercept, or without it, if that is better."""
        if not one.candidate.tries_intercept:
            return one
        other = clone(one.estimator).set_params(fit_intercept=not one.estimator.fit_intercept)
        costs = [other.C] if one.tuning.costs else []
        scores = self._hold_out(_loosened(other), rows, costs)[0]
        if not self._measures(scores)[self.criterion] > one.tuning.best_score():
            return one
        tuning = replace(one.tuning, fit_intercept=other.fit_intercept)
        return one._replace(tuning=tuning, estimator=other, scores=scores)

    def _measure(self, one: _Tried) -> _Tried:
        """With the value of its log-odds."""
        return one._replace(tuning=replace(one.tuning, value=self._value(one.scores)))

    def _add(self, measured: Sequence[_Tried]) -> _Taken | None:
        """The sum of the best ranker and the best classifier."""
        families: dict[str, _Tried] = {}
        for one in sorted(measured, key=lambda one: _value(one.tuning)):
            families[one.candidate.family] = one
        if len(families) != 2:
            return None
        first, second = sorted(families.values(), key=lambda one: -_value(one.tuning))
        weights = [1 / (float(one.scores.std()) or 1.0) for one in (first, second)]
        scores = weights[0] * first.scores + weights[1] * second.scores
        estimator = ScoreSum(
            first.estimator, second.estimator, first_weight=weights[0], second_weight=weights[1]
        )
        return (first.tuning, second.tuning), estimator, self._value(scores), scores

    def _value(self, scores: np.ndarray) -> float:
        """How good the log-odds are that the scores become; nan where nothing is known of them."""
        if not self.states.any():
            return float("nan")
        log_odds = self._log_odds(scores.astype(np.float64))
        if self.criterion != LIKELIHOOD:
            return measure(self.labels, log_odds)[self.criterion]
        truth = expit(log_odds)
        told = np.where(self.states > 0, truth, 1 - truth)[self.states != 0]
        return float(np.log(np.maximum(told, np.finfo(float).tiny)).mean())

    def _log_odds(self, scores: np.ndarray) -> np.ndarray:
        """Learned from the other folds; from all where there are plenty of pairs, which is as honest."""
        if self.states.size > FEW_PAIRS:
            return fit_shared(self.states, scores).log_odds(scores)
        log_odds = np.empty(scores.shape)
        for train, test in self.folds:
            log_odds[test] = fit_shared(self.states[train], scores[train]).log_odds(scores[test])
        return log_odds

    def _measures(self, scores: np.ndarray) -> dict[str, float]:
        """What C and kernel are chosen by: the mean over the folds in which it is defined."""
        if self.criterion == LIKELIHOOD:
            return {LIKELIHOOD: self._value(scores)}
        parts = [measure(self.labels[test], scores[test]) for _, test in self.folds]
        defined = [part for part in parts if not np.isnan(list(part.values())).any()]
        return {name: float(np.mean([part[name] for part in defined] or [np.nan])) for name in parts[0]}

    def _hold_out(self, estimator: Any, rows: Any, costs: Sequence[float]) -> list[np.ndarray]:
        """Scores (n, n_labels) of every row by models that did not see it, for each cost if there are any."""
        found = [np.zeros(self.states.shape, dtype=np.float32) for _ in costs or [0]]
        for train, test in self.folds:
            self._report(CHOOSING)
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

    def _report(self, what: str, *, is_finished: bool = False) -> None:
        if self.progress is not None:
            self.n_steps = self.n_done if is_finished else max(self.n_steps, self.n_done + 1)
            self.progress(self.n_done, self.n_steps, what)


def _value(tuning: Tuning) -> float:
    return -np.inf if tuning.value is None else tuning.value


def _loosened(estimator: Any) -> Any:
    """A copy that is trained no further than comparing needs."""
    estimator = clone(estimator)
    if hasattr(estimator, "tol"):
        estimator.set_params(tol=max(estimator.tol, SEARCH_TOL))
    if hasattr(estimator, "max_iter"):
        estimator.set_params(max_iter=min(estimator.max_iter, SEARCH_PASSES))
    return estimator


def _settings(candidate: Candidate, option: KernelOption, cost: float | None = None) -> Any:
    """The estimator of a candidate with that kernel and that C."""
    estimator = _with_kernel(candidate.estimator, option)
    return estimator.set_params(C=cost) if candidate.costs and cost is not None else estimator


def _with_kernel(estimator: Any, option: KernelOption) -> Any:
    estimator = clone(estimator)
    if option.kernel is not None:
        estimator.set_params(kernel=option.kernel, gamma=None)
    if option.power > 1 and is_compared(estimator):
        kernel = Power(make_kernel(estimator.kernel, gamma=estimator.gamma), option.power)
        estimator.set_params(kernel=kernel, gamma=None)
    return estimator

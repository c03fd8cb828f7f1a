"""The choice of a model by cross-validation: method, intercept, kernel and C; and of two models together.

Of pictures the sets of features are weighed first (`weighing.py`). Everything else is tried on the same
folds, on rows that were compared once. First the kernel is chosen, by the methods that lead; then the other
methods are tried on it over their values of C, which are extended while the best is the last; then each
method without its intercept, or with one. Of each method the best held-out scores are made log-odds, as
`ProbabilityRanker` does, and it is these that are measured: order and percentages come from them in the end.
Last, the best ranker and the best classifier are added up; their sum is taken where it is better than both.

With many rows all this is done on some of them.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from tagrank.annotation.plan import KEPT, KernelOption, Plan
from tagrank.annotation.recipe import CRITERION, is_compared, kernel_of
from tagrank.annotation.trials import LIKELIHOOD, Trials, Tried, with_kernel
from tagrank.annotation.tuning import COMPARING, Tuning
from tagrank.annotation.weighing import Weighing, weigh
from tagrank.estimators import MaxMarginEstimator, ScoreSum
from tagrank.estimators.compared_rows import compare_rows, sliceable, take
from tagrank.kernels import Precomputed
from tagrank.labels import label_states
from tagrank.progress import Progress

WORTH_ADDING = 5e-4  # what the sum of two models must gain
MOST_ROWS, MOST_PAIRS = 5_000, 2_000_000  # rows, and rows times labels, on which is chosen
MOST_OUTPUTS = 1_000  # labels, or label sets, that a method beside the usual one may have to learn

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
    weighing : how the weights of the sets of features were found; None where they were not
    """

    tried: tuple[Tuning, ...]
    chosen: tuple[Tuning, ...]
    value: float
    criterion: str
    n_rows: int
    seconds: float = field(compare=False)
    weighing: Weighing | None = None

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
            "weights": None if self.weighing is None else self.weighing.to_dict(),
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
    n_rows, n_looked_at = labels.shape[0], n_rows_looked_at(*labels.shape)
    X_some, labels_some, found = X, labels, None
    if n_looked_at < n_rows:
        some = np.sort(np.random.default_rng(seed).choice(n_rows, n_looked_at, replace=False))
        are_similarities = isinstance(kernel_of(plan.usual), Precomputed)
        X_some, labels_some = take(sliceable(X), some, some if are_similarities else None), labels[some]
    plan = _affordable(plan, labels_some)
    plan, X_some, weighing = weigh(plan, X_some, labels_some, progress, stop)
    # where no row has both a present and an absent label, there is nothing to rank
    for by in dict.fromkeys((criterion, LIKELIHOOD)):
        found = found or _Search(plan, labels_some, by, n_folds, seed, progress, stop).run(X_some)
    if found is None:
        return _compared(plan.candidates[0].estimator, plan.kernels[0], X, progress)
    if found.choice is not None:
        found = found._replace(choice=replace(found.choice, weighing=weighing))
    if n_looked_at == n_rows:
        return found
    return _compared(found.estimator, KEPT, X, progress)._replace(choice=found.choice)


def _affordable(plan: Plan, labels: Any) -> Plan:
    """Without those beside the usual method that would have to learn thousands of label sets."""
    states = label_states(labels)
    others = [one for one in plan.candidates[1:] if _n_outputs(one.estimator, states) <= MOST_OUTPUTS]
    return replace(plan, candidates=[plan.candidates[0], *others])


def _n_outputs(estimator: Any, states: np.ndarray) -> int:
    return estimator.n_outputs(states) if hasattr(estimator, "n_outputs") else states.shape[1]


def n_rows_looked_at(n_rows: int, n_labels: int) -> int:
    """On how many of the rows is chosen."""
    return min(n_rows, MOST_ROWS, max(MOST_ROWS // 5, MOST_PAIRS // max(1, n_labels)))


def _compared(estimator: Any, option: KernelOption, X: Any, progress: Progress | None) -> Chosen:
    estimator = with_kernel(estimator, option)
    if progress is not None and is_compared(estimator):
        progress(0, 1, COMPARING)
    return Chosen(estimator, compare_rows(estimator, X), None, None)


class _Search:
    """One search among what a plan offers."""

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
        self.plan, self.criterion, self.progress = plan, criterion, progress
        n_leading = len(plan.leading)
        n_trials = len(plan.kernels) * n_leading + len(plan.candidates) - n_leading
        n_trials += sum(one.tries_intercept for one in plan.candidates)
        folds: dict[str, Any] = {"n_folds": n_folds, "seed": seed, "n_expected": n_trials}
        self.trials = Trials(labels, criterion, **folds, progress=progress, stop=stop)

    def run(self, X: Any) -> Chosen | None:
        """The best; None where nothing can be measured."""
        started = time.perf_counter()
        option, rows, leading, others = self._choose_kernel(X)
        if not leading:
            return None
        rest = [one for one in self.plan.candidates if one not in self.plan.leading]
        tried = leading + [self.trials.try_costs(candidate, option, rows) for candidate in rest]
        best = [self.trials.with_other_intercept(one, rows) for one in tried if one is not None]
        measured = [self._measure(one) for one in best]
        first = max(measured, key=lambda one: _value(one.tuning))
        taken: _Taken = (first.tuning,), first.estimator, _value(first.tuning), first.scores
        if (added := self._add(measured)) is not None and added[2] > taken[2] + WORTH_ADDING:
            taken = added
        chosen, estimator, value, scores = taken
        self.trials.report(is_finished=True)
        choice = Choice(
            (*(one.tuning for one in measured), *others),
            chosen,
            value,
            self.criterion,
            len(self.trials.states),
            time.perf_counter() - started,
        )
        return Chosen(estimator, rows, (self.trials.states, scores.astype(np.float64)), choice)

    def _choose_kernel(self, X: Any) -> tuple[KernelOption, Any, list[Tried], list[Tuning]]:
        """The kernel on which the leading methods did best, the rows compared by it, and all trials."""
        best: tuple[float, KernelOption, Any, list[Tried]] | None = None
        all_tried: list[Tuning] = []
        plain: Any = None
        for option in self.plan.kernels:
            if option.power == 1 or plain is None:
                plain = _compared(self.plan.leading[0].estimator, option._replace(power=1), X, self.progress)
            rows = plain.rows.raised(option.power)
            found = [self.trials.try_costs(candidate, option, rows) for candidate in self.plan.leading]
            tried = [one for one in found if one is not None]
            all_tried += [one.tuning for one in tried]
            value = max((one.tuning.best_score() for one in tried), default=-np.inf)
            if tried and (best is None or value > best[0]):
                best = value, option, rows, tried
        if best is None:
            return self.plan.kernels[0], None, [], []
        kept = {id(one.tuning) for one in best[3]}
        return best[1], best[2], best[3], [one for one in all_tried if id(one) not in kept]

    def _measure(self, one: Tried) -> Tried:
        """With the value of its log-odds."""
        return one._replace(tuning=replace(one.tuning, value=self.trials.value(one.scores)))

    def _add(self, measured: Sequence[Tried]) -> _Taken | None:
        """The sum of the best ranker and the best classifier."""
        families: dict[str, Tried] = {}
        for one in sorted(measured, key=lambda one: _value(one.tuning)):
            if isinstance(one.estimator, MaxMarginEstimator):
                families[one.candidate.family] = one
        if len(families) != 2:
            return None
        first, second = sorted(families.values(), key=lambda one: -_value(one.tuning))
        weights = [1 / (float(one.scores.std()) or 1.0) for one in (first, second)]
        scores = weights[0] * first.scores + weights[1] * second.scores
        estimator = ScoreSum(
            first.estimator, second.estimator, first_weight=weights[0], second_weight=weights[1]
        )
        return (first.tuning, second.tuning), estimator, self.trials.value(scores), scores


def _value(tuning: Tuning) -> float:
    return -np.inf if tuning.value is None else tuning.value

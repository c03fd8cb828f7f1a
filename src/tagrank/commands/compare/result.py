"""What a comparison found, and what its tables show: the same on the terminal, on pages and in documents."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tagrank.commands.tune import option_words
from tagrank.files import Problem

if TYPE_CHECKING:
    from tagrank.commands.compare.folds import Fold
    from tagrank.metrics.chance import AverageRanks

DONE, FAILED, SLOW, TOO_LARGE = "done", "failed", "too slow", "too large"
FREQUENCY, LOGISTIC = "label-frequency", "one-vs-all-logistic"
BASELINES = {FREQUENCY: "label frequency", LOGISTIC: "logistic regression"}
SECONDS = ("tuning", "training", "prediction")


@dataclass(frozen=True)
class MethodLine:
    """A method on one collection.

    Attributes
    ----------
    method : its name
    state : "done", "failed", "too slow" or "too large"
    reason : why there are no figures
    values : metric to its value, the mean over the folds
    intervals : metric to (low, high), the 95 % interval over resampled test rows
    parameters : what was chosen, for each fold
    seconds : of tuning, training and prediction, over all folds
    is_like_best : whether its difference to the best is within chance; true of the best
    below : name of a baseline to the metrics in which this method is worse
    below_by_chance : of these baselines those from which it is told apart by none of the metrics
    ended_early : whether tuning ended at the limit of seconds, with the best so far
    warnings : what was said while it was trained
    searches : how parameters were found, for each fold, as `search_facts` tells it; None where there was
        nothing to choose
    """

    method: str
    state: str
    reason: str = ""
    values: Mapping[str, float] = field(default_factory=dict)
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    parameters: Sequence[Mapping[str, Any]] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    is_like_best: bool = False
    below: Mapping[str, Sequence[str]] = field(default_factory=dict)
    below_by_chance: Sequence[str] = ()
    ended_early: bool = False
    warnings: Sequence[str] = ()
    searches: Sequence[Mapping[str, Any] | None] = ()

    @property
    def is_done(self) -> bool:
        """Whether there are figures."""
        return self.state == DONE

    @property
    def total_seconds(self) -> float:
        """Of tuning, training and prediction."""
        return sum(self.seconds.values())

    @property
    def words(self) -> str:
        """What is to be said of it."""
        if not self.is_done:
            return f"{self.state}: {self.reason}"
        said = [
            f"below {BASELINES[name]} in {', '.join(worse)}"
            f"{', within chance' if name in self.below_by_chance else ''}"
            for name, worse in self.below.items()
        ]
        said += ["tuning stopped early"] if self.ended_early else []
        return "; ".join(said)

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        return {**vars(self), "words": self.words}


@dataclass(frozen=True)
class DataResult:
    """All methods on one collection.

    Attributes
    ----------
    name : of the data
    folds : what was measured on
    lines : of the methods, the best first; those without figures at the end
    """

    name: str
    folds: Sequence[Fold]
    lines: Sequence[MethodLine]

    @property
    def sizes(self) -> str:
        """How many rows were learned from and measured on, in words."""
        one = self.folds[0]
        things = f"{one.kind}s"
        if len(self.folds) > 1:
            n_rows = sum(fold.n_test for fold in self.folds)
            return f"{len(self.folds)} folds of {n_rows:,} {things}, {one.n_tags:,} tags"
        return f"{one.n_train:,} training {things}, {one.n_test:,} test {things}, {one.n_tags:,} tags"

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        return {
            "data": self.name,
            "kind": self.folds[0].kind,
            "folds": [{"training": fold.n_train, "test": fold.n_test} for fold in self.folds],
            "tags": self.folds[0].n_tags,
            "methods": [line.to_dict() for line in self.lines],
        }


@dataclass(frozen=True)
class Comparison:
    """Methods side by side.

    Attributes
    ----------
    data : what was compared on
    criterion : the metric by which parameters were chosen and methods are ordered
    metrics : those that are shown
    ranks : average ranks over data sets, or over the folds of one; None where there is only one of them
    ranked_over : "data sets" or "folds"
    seconds : from beginning to end, without what was done before
    n_before : methods on folds that had been done before
    problems : files that were left out, and why
    """

    data: Sequence[DataResult]
    criterion: str
    metrics: Sequence[str]
    ranks: AverageRanks | None
    ranked_over: str
    seconds: float
    n_before: int = 0
    problems: Sequence[Problem] = ()

    @property
    def left_out(self) -> list[str]:
        """Methods without a rank, as they have no figures somewhere."""
        ranked = () if self.ranks is None else self.ranks.names
        everyone = dict.fromkeys(line.method for one in self.data for line in one.lines)
        return [name for name in everyone if name not in ranked]

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        return {
            "criterion": self.criterion,
            "metrics": list(self.metrics),
            "data": [one.to_dict() for one in self.data],
            "ranks": None if self.ranks is None else {"over": self.ranked_over, **self.ranks.to_dict()},
            "seconds": self.seconds,
            "done_before": self.n_before,
            "problems": [vars(problem) for problem in self.problems],
        }


LIKE_BEST, BELOW = "=", "▼"


class MarkedValue(NamedTuple):
    """A value and what is to be seen of it.

    Attributes
    ----------
    text, low, high : the value, and the ends of its interval
    is_best : whether no other method has a better one
    is_like_best : whether, by the criterion, it is not distinguishable from the best
    is_below : whether it is worse than that of label frequency
    """

    text: str
    low: str
    high: str
    is_best: bool
    is_like_best: bool
    is_below: bool

    @property
    def marks(self) -> str:
        """Signs in front of the value; the legend says what they mean."""
        return BELOW * self.is_below + LIKE_BEST * self.is_like_best


def legend(found: Comparison) -> str:
    """What the signs mean."""
    return (
        f"Best first, by {found.criterion}. {LIKE_BEST} not significantly worse than the best, {BELOW} below "
        "label frequency. Intervals are 95 % bootstrap intervals over the test rows."
    )


def shown_metrics(found: Comparison) -> list[str]:
    """The criterion first, then the others."""
    return list(dict.fromkeys((found.criterion, *found.metrics)))


def table_lines(found: Comparison, one: DataResult) -> list[tuple[MethodLine, list[MarkedValue]]]:
    """Methods with figures, and a cell for each metric."""
    done = [line for line in one.lines if line.is_done]
    best = {metric: _best(metric, [line.values[metric] for line in done]) for metric in shown_metrics(found)}
    return [(line, [_cell(line, metric, best[metric], found.criterion) for metric in best]) for line in done]


def said(one: DataResult) -> dict[str, list[str]]:
    """What is to be said of methods, and of which; those without figures first."""
    found: dict[str, list[str]] = {}
    for line in sorted(one.lines, key=lambda line: line.is_done):
        if line.words:
            found.setdefault(line.words, []).append(line.method)
    return found


def chosen_words(line: MethodLine) -> str:
    """What was chosen, as options of ``tagrank train``; of several folds all that differ."""
    return " | ".join(dict.fromkeys(" ".join(option_words(one)) or "defaults" for one in line.parameters))


def rank_words(found: Comparison) -> str:
    """What average ranks say, in a sentence or two."""
    ranks = found.ranks
    if ranks is None:
        return ""
    words = (
        f"Average ranks by {found.criterion} over {ranks.n_blocks} {found.ranked_over}; 1 is best. Two "
        f"methods differ if their ranks differ by more than {ranks.critical_difference:.2f} (Nemenyi, 5 %)."
    )
    if not math.isnan(ranks.p_value):
        words += f" For the hypothesis that all methods are alike, p = {ranks.p_value:.2g} (Friedman)."
    if found.ranked_over == "folds":
        words += " The folds share training rows, so this is only a hint."
    if found.left_out:
        words += f" Not ranked, because they failed somewhere: {', '.join(found.left_out)}."
    return words


def _cell(line: MethodLine, metric: str, best: float, criterion: str) -> MarkedValue:
    value, (low, high) = line.values[metric], line.intervals[metric]
    return MarkedValue(
        shown(value),
        shown(low),
        shown(high),
        value == best,
        metric == criterion and line.is_like_best,
        metric in line.below.get(FREQUENCY, ()),
    )


def _best(metric: str, values: list[float]) -> float:
    from tagrank.annotation.choosing import find_criterion

    defined = [value for value in values if not math.isnan(value)]
    if not defined:
        return math.nan
    return (max if find_criterion(metric).higher_is_better else min)(defined)


def shown(value: float) -> str:
    """A number for people."""
    if math.isnan(value):
        return "–"
    return f"{value:.3f}" if abs(value) < 5 else f"{value:.1f}"

"""What tables of a comparison show, the same on the terminal, on pages and in documents."""

import math
from typing import NamedTuple

from tagrank.annotation.choosing import find_criterion
from tagrank.commands.compare.result import FREQUENCY, Comparison, DataResult, MethodLine
from tagrank.commands.tune import option_words

LIKE_BEST, BELOW = "=", "▼"


class Cell(NamedTuple):
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
        f"Best first, by {found.criterion}. {LIKE_BEST} not distinguishable from the best, {BELOW} below "
        "label frequency. Intervals hold 95 % of what resampled test rows give."
    )


def shown_metrics(found: Comparison) -> list[str]:
    """The criterion first, then the others."""
    return list(dict.fromkeys((found.criterion, *found.metrics)))


def table_lines(found: Comparison, one: DataResult) -> list[tuple[MethodLine, list[Cell]]]:
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
    return " | ".join(dict.fromkeys(" ".join(option_words(one)) or "as usual" for one in line.parameters))


def rank_words(found: Comparison) -> str:
    """What average ranks say, in a sentence or two."""
    ranks = found.ranks
    if ranks is None:
        return ""
    words = (
        f"Average ranks by {found.criterion} over {ranks.n_blocks} {found.ranked_over}, 1 is best; two "
        f"methods differ if theirs lie more than {ranks.critical_difference:.2f} apart (Nemenyi, 5 %)."
    )
    if not math.isnan(ranks.p_value):
        words += f" That all are alike has p = {ranks.p_value:.2g} (Friedman)."
    if found.ranked_over == "folds":
        words += " Folds share their training rows: take this for a hint."
    if found.left_out:
        words += f" Without figures somewhere, and left out: {', '.join(found.left_out)}."
    return words


def _cell(line: MethodLine, metric: str, best: float, criterion: str) -> Cell:
    value, (low, high) = line.values[metric], line.intervals[metric]
    return Cell(
        shown(value),
        shown(low),
        shown(high),
        value == best,
        metric == criterion and line.is_like_best,
        metric in line.below.get(FREQUENCY, ()),
    )


def _best(metric: str, values: list[float]) -> float:
    defined = [value for value in values if not math.isnan(value)]
    if not defined:
        return math.nan
    return (max if find_criterion(metric).higher_is_better else min)(defined)


def shown(value: float) -> str:
    """A number for people."""
    if math.isnan(value):
        return "–"
    return f"{value:.3f}" if abs(value) < 5 else f"{value:.1f}"

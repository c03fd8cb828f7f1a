"""From what came out of every method on every fold to lines in their order, and to average ranks."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tagrank.annotation.choosing import find_criterion
from tagrank.commands.compare.folds import Fold
from tagrank.commands.compare.result import DONE, FREQUENCY, LOGISTIC, SECONDS, DataResult, MethodLine
from tagrank.commands.compare.running import Key
from tagrank.metrics.chance import AverageRanks, average_ranks, interval


def summarise_all(
    folds: Sequence[Fold],
    names: Sequence[str],
    found: Mapping[Key, dict[str, Any]],
    criterion: str,
    metrics: Sequence[str],
) -> list[DataResult]:
    by_data: dict[str, list[Fold]] = {}
    for fold in folds:
        by_data.setdefault(fold.data, []).append(fold)
    return [
        summarise(
            data,
            its_folds,
            {name: [found[data, fold.number, name] for fold in its_folds] for name in names},
            criterion,
            metrics,
        )
        for data, its_folds in by_data.items()
    ]


def rank(
    results: Sequence[DataResult], found: Mapping[Key, dict[str, Any]], criterion: str
) -> tuple[AverageRanks | None, str]:
    """Over data sets where there are several, else over the folds of the only one."""
    over = "data sets" if len(results) > 1 else "folds"
    blocks = _by_data(results, criterion) if len(results) > 1 else _by_fold(results[0], found, criterion)
    names = [name for name in blocks[0] if all(not np.isnan(block.get(name, np.nan)) for block in blocks)]
    if len(blocks) < 2 or len(names) < 2:
        return None, over
    values = [[signed(block[name], criterion) for name in names] for block in blocks]
    return average_ranks(names, np.array(values)), over


def _by_data(results: Sequence[DataResult], criterion: str) -> list[dict[str, float]]:
    return [{line.method: line.values[criterion] for line in one.lines if line.is_done} for one in results]


def _by_fold(one: DataResult, found: Mapping[Key, dict[str, Any]], criterion: str) -> list[dict[str, float]]:
    return [
        {
            method: answer["values"][criterion]
            for (_, number, method), answer in found.items()
            if number == fold.number and answer["state"] == DONE
        }
        for fold in one.folds
    ]


def summarise(
    name: str,
    folds: Sequence[Fold],
    found: Mapping[str, Sequence[Mapping[str, Any]]],
    criterion: str,
    metrics: Sequence[str],
) -> DataResult:
    """The lines of one collection, from what came out of each method on each fold."""
    shown = list(dict.fromkeys((criterion, *metrics)))
    draws = {method: _draws(units, shown) for method, units in found.items() if _are_done(units)}
    values = {method: _values(found[method]) for method in draws}
    order = sorted(draws, key=lambda method: -signed(values[method][criterion], criterion))
    lines = []
    for method in order:
        units, below = found[method], _below(method, values, shown, criterion)
        lines.append(
            MethodLine(
                method,
                DONE,
                values=values[method],
                intervals={metric: interval(draws[method][metric]) for metric in shown},
                parameters=[unit["parameters"] for unit in units],
                seconds={part: sum(unit["seconds"][part] for unit in units) for part in SECONDS},
                is_like_best=_is_like(draws[order[0]][criterion], draws[method][criterion]),
                below=below,
                below_by_chance=[
                    name
                    for name, worse in below.items()
                    if all(_is_like(draws[name][metric], draws[method][metric]) for metric in worse)
                ],
                ended_early=any(_ended_early(unit) for unit in units),
                searches=[unit["tuning"] for unit in units],
                warnings=list(dict.fromkeys(word for unit in units for word in unit["warnings"])),
            )
        )
    lines += [_without_figures(method, units) for method, units in found.items() if method not in draws]
    return DataResult(name, folds, lines)


def _are_done(units: Sequence[Mapping[str, Any]]) -> bool:
    return all(unit["state"] == DONE for unit in units)


def _ended_early(unit: Mapping[str, Any]) -> bool:
    return unit["tuning"] is not None and not unit["tuning"]["is_complete"]


def _without_figures(method: str, units: Sequence[Mapping[str, Any]]) -> MethodLine:
    number, unit = next((i, unit) for i, unit in enumerate(units) if unit["state"] != DONE)
    where = f"fold {number + 1}: " if len(units) > 1 else ""
    return MethodLine(method, unit["state"], where + unit["reason"])


def _values(units: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    return {name: _mean([unit["values"][name] for unit in units]) for name in units[0]["values"]}


def _mean(values: Sequence[float]) -> float:
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else float("nan")


def _draws(units: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> dict[str, np.ndarray]:
    """Draw by draw the mean over the folds."""
    return {
        metric: np.mean([unit["draws"][metric][: _shortest(units, metric)] for unit in units], axis=0)
        for metric in metrics
    }


def _shortest(units: Sequence[Mapping[str, Any]], metric: str) -> int:
    return min(len(unit["draws"][metric]) for unit in units)


def signed(value: float, metric: str) -> float:
    """The higher the better; what is undefined is worst."""
    if np.isnan(value):
        return -np.inf
    return value if find_criterion(metric).higher_is_better else -value


def _is_like(best: np.ndarray, other: np.ndarray) -> bool:
    """Whether the 95 % interval of the paired differences holds zero."""
    low, high = interval(best - other)
    return bool(low <= 0 <= high)


def _below(
    method: str, values: Mapping[str, Mapping[str, float]], shown: Sequence[str], criterion: str
) -> dict[str, list[str]]:
    """Where it is worse than label frequency, and by the criterion than logistic regression."""
    found = {}
    for baseline, metrics in ((FREQUENCY, shown), (LOGISTIC, [criterion])):
        if method in (baseline, FREQUENCY) or baseline not in values:
            continue
        worse = [m for m in metrics if signed(values[method][m], m) < signed(values[baseline][m], m)]
        if worse:
            found[baseline] = worse
    return found

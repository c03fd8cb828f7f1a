"""Lines of results, a plain dict for each measurement: picked, averaged and fitted."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

Line = dict[str, Any]


def distinct(lines: Iterable[Line], key: str) -> list[Any]:
    """The values of a key, in the order in which they come up."""
    return list(dict.fromkeys(line[key] for line in lines))


def where(lines: Iterable[Line], **values: Any) -> list[Line]:
    """The lines that have these values."""
    return [line for line in lines if all(line[key] == value for key, value in values.items())]


def mean(lines: Iterable[Line], key: str, **values: Any) -> float:
    """The mean of a key over the lines that have these values."""
    return float(np.mean([line[key] for line in where(lines, **values)]))


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """e of seconds ~ size^e, by least squares on the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def listed(values: Iterable[float]) -> str:
    """Numbers in a sentence."""
    return ", ".join(f"{value:g}" for value in values)

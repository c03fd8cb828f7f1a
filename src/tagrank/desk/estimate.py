"""How many tags are still missing: the sum of the probabilities of what is neither listed nor decided.

Each such tag is true with its probability p, independently of the others: their number has the mean sum(p)
and the variance sum(p (1 - p)), and is nearly normal.
"""

import math
from collections.abc import Iterable

import numpy as np

from tagrank.desk.judged import Judged
from tagrank.desk.queues import OPEN
from tagrank.desk.states import StateTable

_TWO_SIDED_95 = 1.96


class Estimate:
    """The number of missing tags; it follows decisions without looking at all pairs again."""

    def __init__(self, judged: Judged, table: StateTable) -> None:
        self._judged, self._mean, self._variance = judged, 0.0, 0.0
        for rows, columns, probabilities in judged.pieces():
            open_ = probabilities[table.codes[np.ix_(rows, columns)] == OPEN]
            self._add(np.nan_to_num(open_.astype(np.float64)), 1)

    def _add(self, probabilities: np.ndarray, sign: int) -> None:
        self._mean += sign * float(probabilities.sum())
        self._variance += sign * float((probabilities * (1 - probabilities)).sum())

    def follow(self, changes: Iterable[tuple[int, int, int, int]]) -> None:
        """Take over decisions, as `StateTable.apply` gives them."""
        changes = list(changes)
        if self._judged.is_empty or not changes:
            return
        rows, columns, before, now = np.array(changes).T
        probabilities = np.nan_to_num(self._judged.of_pairs(rows, columns).astype(np.float64))
        self._add(probabilities[(before == OPEN) & (now != OPEN)], -1)
        self._add(probabilities[(before != OPEN) & (now == OPEN)], 1)

    def interval(self) -> dict[str, int] | None:
        """The estimate, and an interval of about 95 %; None without a model."""
        if self._judged.is_empty:
            return None
        width = _TWO_SIDED_95 * math.sqrt(max(0.0, self._variance))
        low, high = max(0.0, self._mean - width), max(0.0, self._mean + width)
        return {"estimate": round(max(0.0, self._mean)), "low": math.floor(low), "high": math.ceil(high)}

"""How many tags are still missing: the sum of the probabilities of what is neither listed nor decided.

Each such tag is true with its probability p. Were these exact, the number of missing tags would have the mean
sum(p) and the variance sum(p (1 - p)). They are not: a model tells, as shares of its own estimate, between
which numbers the truth lies (`estimate_remaining`). The interval is the wider of both.
"""

import math
from collections.abc import Iterable

import numpy as np

from tagrank.desk.judged import Judged
from tagrank.desk.queues import OPEN
from tagrank.desk.states import StateTable

_TWO_SIDED_95 = 1.96


class Estimate:
    """The number of missing tags; it follows decisions without looking at all pairs again.

    Parameters
    ----------
    judged, table : how probable pairs are, and which of them are open
    told : "estimate", "low" and "high" of the model, when it was trained
    """

    def __init__(self, judged: Judged, table: StateTable, told: dict[str, int] | None = None) -> None:
        self._judged, self._mean, self._variance = judged, 0.0, 0.0
        told = told if told and told["estimate"] > 0 else {"estimate": 1, "low": 1, "high": 1}
        self._shares = told["low"] / told["estimate"], told["high"] / told["estimate"]
        for rows, columns, probabilities in judged.pieces():
            is_open = (table.block(rows, columns) == OPEN) & (probabilities > 0)
            self._add(np.where(is_open, probabilities, 0), 1)

    def _add(self, probabilities: np.ndarray, sign: int) -> None:
        self._mean += sign * float(probabilities.sum(dtype=np.float64))
        self._variance += sign * float((probabilities * (1 - probabilities)).sum(dtype=np.float64))

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
        mean, width = max(0.0, self._mean), _TWO_SIDED_95 * math.sqrt(max(0.0, self._variance))
        low = max(0.0, min(mean - width, mean * self._shares[0]))
        high = max(mean + width, mean * self._shares[1])
        return {"estimate": round(mean), "low": math.floor(low), "high": math.ceil(high)}

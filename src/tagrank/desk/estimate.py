"""How many tags are still missing: the sum of the probabilities of what is neither listed nor decided.

Each such tag is true with its probability p. Were these exact, the number of missing tags would have the mean
sum(p) and the variance sum(p (1 - p)). They are not: a model tells, as shares of its estimate, between
which numbers the truth lies (`estimate_remaining`). The interval is the wider of both. Where the trainings so
far tell another number than the last one alone (`learning.missing`), the sum is multiplied by their ratio.

A tag that is accepted is missing no more, and one that is rejected never was: between two trainings the
estimate falls by one for each that is accepted, but is no higher than what is open still allows.
"""

import math
from collections.abc import Iterable

import numpy as np

from tagrank.desk.learning.models import PROPOSED
from tagrank.desk.probabilities import Probabilities
from tagrank.desk.states import OPEN, PRESENT

_TWO_SIDED_95 = 1.96


class Estimate:
    """The number of missing tags; it follows decisions without looking at all pairs again.

    Parameters
    ----------
    probabilities : how probable pairs are, and in its table which of them are open
    told : "estimate", "low" and "high" of the trainings so far, and "own", the estimate of the last one alone
    """

    def __init__(self, probabilities: Probabilities, told: dict[str, float] | None = None) -> None:
        self._probabilities, self._mean, self._variance, self._proposed = probabilities, 0.0, 0.0, 0.0
        told = told if told and told["estimate"] > 0 else {"estimate": 1, "low": 1, "high": 1}
        self._shares = told["low"] / told["estimate"], told["high"] / told["estimate"]
        self._is_told = bool(told.get("is_told", True))
        self._times = told["estimate"] / (told.get("own") or told["estimate"])
        for rows, columns, values in probabilities.pieces():
            is_open = (probabilities.table.block(rows, columns) == OPEN) & (values > 0)
            self._add(np.where(is_open, values, 0), 1)
        self._left = self._times * self._mean

    def _add(self, probabilities: np.ndarray, sign: int) -> None:
        self._mean += sign * float(probabilities.sum(dtype=np.float64))
        self._variance += sign * float((probabilities * (1 - probabilities)).sum(dtype=np.float64))
        self._proposed += sign * float(probabilities[probabilities >= PROPOSED].sum(dtype=np.float64))

    def follow(self, changes: Iterable[tuple[int, int, int, int]]) -> None:
        """Take over decisions, as `StateTable.apply` gives them."""
        changes = list(changes)
        if self._probabilities.is_empty or not changes:
            return
        rows, columns, before, now = np.array(changes).T
        probabilities = np.nan_to_num(self._probabilities.of_pairs(rows, columns).astype(np.float64))
        is_closed, is_opened = (before == OPEN) & (now != OPEN), (before != OPEN) & (now == OPEN)
        self._add(probabilities[is_closed], -1)
        self._add(probabilities[is_opened], 1)
        is_judged = probabilities > 0
        self._left -= np.count_nonzero(is_judged & is_closed & (now & PRESENT > 0))
        self._left += np.count_nonzero(is_judged & is_opened & (before & PRESENT > 0))

    def move(self, before: np.ndarray, now: np.ndarray, is_open: np.ndarray) -> None:
        """Take over new probabilities of some pictures; all (n, n_tags), nan where there is none."""
        self._add(np.nan_to_num(np.where(is_open, before, 0)), -1)
        self._add(np.nan_to_num(np.where(is_open, now, 0)), 1)

    def interval(self) -> dict[str, int | bool] | None:
        """The estimate, and an interval of about 95 %; None without a model.

        "proposed" of them have a probability from which on tags count as proposed. Where "is_told" is false
        the interval is all that can be said.
        """
        if self._probabilities.is_empty:
            return None
        # sums of what was added and taken away again are not quite zero
        mean = self._times * max(0.0, round(self._mean, 4))
        width = _TWO_SIDED_95 * self._times * math.sqrt(max(0.0, round(self._variance, 4)))
        low = max(0.0, min(mean - width, mean * self._shares[0]))
        high = max(mean + width, mean * self._shares[1])
        estimate = min(max(self._left, 0.0), high)
        proposed = self._times * max(0.0, self._proposed) * (estimate / mean if mean else 0)
        return {
            "estimate": round(estimate),
            "low": math.floor(min(low, estimate)),
            "high": math.ceil(high),
            "proposed": round(proposed),
            "is_told": self._is_told,
        }

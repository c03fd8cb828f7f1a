"""In which order pairs of picture and tag are shown: found in one pass over the probabilities."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count

import numpy as np

from tagrank.desk.judged import Judged
from tagrank.desk.states import StateTable

MOST = 100_000  # pairs of an order; those after them are looked for when these are used up
_serials = count(1)

# probabilities and bytes (n, m), present pictures of each tag (m,), tagged pictures -> priorities, (n, m);
# -inf for what is not shown
Rank = Callable[[np.ndarray, np.ndarray, np.ndarray, int], np.ndarray]


@dataclass(frozen=True)
class Order:
    """Items in their order.

    Attributes
    ----------
    rows, columns : places in the table of states; a column of -1 stands for the picture as a whole
    is_cut : whether there were more
    serial : tells this order from all others
    """

    rows: np.ndarray
    columns: np.ndarray
    is_cut: bool = False
    serial: int = field(default_factory=lambda: next(_serials))

    @cached_property
    def pictures(self) -> np.ndarray:
        """The rows, each once, in the order of their first items."""
        _, first = np.unique(self.rows, return_index=True)
        return self.rows[np.sort(first)]


def best_pairs(
    judged: Judged,
    table: StateTable,
    rank: Rank,
    *,
    rows: np.ndarray | None = None,
    column: int | None = None,
    most: int = MOST,
) -> Order:
    """The pairs of the highest priority, at most so many, with `rows` and `column` as in `Judged.pieces`."""
    best, n_present, n_tagged = _Best(most), table.n_present_of_tags(), table.n_tagged
    for piece, columns, probabilities in judged.pieces(rows, column):
        priorities = rank(probabilities, table.block(piece, columns), n_present[columns], n_tagged)
        found = np.nonzero(priorities > best.least)
        best.add(piece[found[0]], columns[found[1]], priorities[found])
    return best.order()


class _Best:
    """The items of the highest priorities of those that were added; of equal ones the first."""

    def __init__(self, most: int) -> None:
        self._most, self.least, self._is_cut = most, -np.inf, False
        self._parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._n = 0

    def add(self, rows: np.ndarray, columns: np.ndarray, priorities: np.ndarray) -> None:
        self._parts.append((rows, columns, priorities))
        self._n += len(rows)
        if self._n > 2 * self._most:
            self._shrink()

    def _shrink(self) -> None:
        rows, columns, priorities = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        order = np.argsort(-priorities, kind="stable")
        if len(order) > self._most:
            self._is_cut, order = True, order[: self._most]
            self.least = float(priorities[order[-1]])
        self._parts = [(rows[order], columns[order], priorities[order])]
        self._n = len(order)

    def order(self) -> Order:
        if not self._parts:
            return Order(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32))
        self._shrink()
        rows, columns, _ = self._parts[0]
        return Order(rows.astype(np.int32), columns.astype(np.int32), self._is_cut)

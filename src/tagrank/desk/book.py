"""The orders of all queues by one model, each found once, when it is first asked for."""

from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from tagrank.archive.records import PictureFilter
from tagrank.desk.judged import Judged
from tagrank.desk.orders import MOST, Order, best_pairs
from tagrank.desk.queues import OPEN, PROPOSED, Wanted
from tagrank.desk.states import StateTable
from tagrank.errors import did_you_mean

_KEPT_ORDERS = 48
_BLOCK = 1024


class Found(NamedTuple):
    """An order; the rows of the pictures that its filters leave, None for all; and when it was found."""

    order: Order
    rows: np.ndarray | None
    decision: int


class Book:
    """Orders over one table of states by one model.

    Parameters
    ----------
    archive : asked for the pictures that filters leave
    table, judged : what is known, and how probable the rest is
    """

    def __init__(self, archive: Any, table: StateTable, judged: Judged) -> None:
        self._archive, self.table, self.judged = archive, table, judged
        self._orders: dict[Wanted, Found] = {}
        self._making = Lock()  # one at a time: each reads all probabilities
        proposed = best_pairs(judged, table, _rank_proposed, most=len(table.ids) * len(table.tags) + 1)
        self._proposed = proposed.rows, proposed.columns

    def proposed(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of what is proposed, from 20 % on, neither listed nor decided."""
        rows, columns = self._proposed
        is_open = self.table.codes[rows, columns] == OPEN
        return rows[is_open], columns[is_open]

    def find(self, wanted: Wanted, *, is_first: bool = False, is_used_up: bool = False) -> Found:
        """The order of a queue.

        Parameters
        ----------
        is_first : for a first page: what depends on decisions is looked for again
        is_used_up : look for it again in any case, without what was decided
        """
        found = self._orders.get(wanted)
        if found is not None and not is_used_up and not (is_first and self._is_stale(wanted, found)):
            return found
        with self._making:
            now = self._orders.get(wanted)
            if now is None or now is found:  # else another thread has just made it
                now = self._orders[wanted] = self._make(wanted)
            while len(self._orders) > _KEPT_ORDERS:
                del self._orders[next(iter(self._orders))]
            return now

    def column(self, wanted: Wanted) -> int | None:
        """The place of the tag that is asked for, if one is."""
        if not wanted.tag:
            return None
        column = self.table.column(wanted.tag)
        if column is None:
            hint = did_you_mean(wanted.tag, list(self.table.tags))
            raise LookupError(f"the tag {wanted.tag!r} is unknown in this archive{hint}")
        return column

    def best_columns(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The most probable open tag of each picture, and its probability; -1 where there is none."""
        columns, values = np.full(len(rows), -1), np.full(len(rows), -1.0)
        for start in range(0, len(rows) if self.table.tags else 0, _BLOCK):
            block = rows[start : start + _BLOCK]
            found = self.judged.of_rows(block)
            is_open = (self.table.codes[block, : found.shape[1]] == OPEN) & ~np.isnan(found)
            found = np.where(is_open, found, -1.0)
            best, here = found.argmax(axis=1), slice(start, start + len(block))
            values[here] = found[np.arange(len(block)), best]
            columns[here] = np.where(values[here] >= 0, best, -1)
        return columns, values

    def _is_stale(self, wanted: Wanted, found: Found) -> bool:
        depends = bool(wanted.picture_state or wanted.pair_state or wanted.text)
        return depends and found.decision != self._archive.last_decision()

    def _make(self, wanted: Wanted) -> Found:
        decision, column = self._archive.last_decision(), self.column(wanted)
        rows = self._filtered(wanted)
        if wanted.queue in ("untagged", "all"):
            order = self._order_pictures(wanted, rows, column)
        else:
            order = best_pairs(self.judged, self.table, wanted.rank, rows=rows, column=column)
        if wanted.queue == "tag" and column is not None:
            order = self._with_unjudged(wanted, order, rows, column)
        return Found(order, rows, decision)

    def _with_unjudged(self, wanted: Wanted, order: Order, rows: np.ndarray | None, column: int) -> Order:
        """An order of one tag, and after it the pictures of which no model says anything."""
        rows = np.arange(len(self.table.ids)) if rows is None else rows
        is_other = np.isnan(self.judged.of_pairs(rows, np.full(len(rows), column)))
        others = rows[is_other & wanted.is_open(self.table.codes[rows, column])]
        more = others[: max(0, MOST - len(order.rows))]
        return Order(
            np.concatenate([order.rows, more]),
            np.concatenate([order.columns, np.full(len(more), column)]),
            order.is_cut or len(more) < len(others),
        )

    def _order_pictures(self, wanted: Wanted, rows: np.ndarray | None, column: int | None) -> Order:
        rows = np.arange(len(self.table.ids)) if rows is None else rows
        if wanted.queue == "untagged":
            rows = rows[self.table.n_present[rows] == 0]
            rows = rows[np.argsort(-self.best_columns(rows)[1], kind="stable")]
        return Order(rows, np.full(len(rows), -1 if column is None else column))

    def _filtered(self, wanted: Wanted) -> np.ndarray | None:
        limits = {name: getattr(wanted, name) or None for name in ("folder", "start", "end", "text")}
        limits["state"] = wanted.picture_state or None
        if not any(limits.values()):
            return None
        ids = np.asarray(self._archive.select(PictureFilter(**limits)), dtype=np.int64)
        return np.flatnonzero(np.isin(self.table.ids, ids))


def _rank_proposed(probabilities: np.ndarray, codes: np.ndarray, *_: object) -> np.ndarray:
    return np.where((codes == OPEN) & (probabilities >= PROPOSED), probabilities, -np.inf)

"""Queues are read page by page, or picture by picture; what was decided meanwhile is passed over."""

from typing import NamedTuple

import numpy as np

from tagrank.desk.book import Book
from tagrank.desk.leases import Held, Item, hold
from tagrank.desk.orders import Order
from tagrank.desk.queues import ACCEPT, KEEP, MARK, Wanted
from tagrank.errors import ArgumentError

_BLOCK = 1024  # items looked at together
NOTHING = Held()

Pair = tuple[int, int]


class Page(NamedTuple):
    """Some items that are decided by one rule.

    Attributes
    ----------
    items : as (row, column)
    cursor : where the next page begins; None at the end
    rule : what becomes of items that nobody marks, `ACCEPT`, `MARK` or `KEEP`
    right : how many of the tags are true, as far as the model can tell; None where it cannot
    """

    items: list[Pair]
    cursor: str | None
    rule: str = MARK
    right: float | None = None


class Reader:
    """Reads the queues of a book.

    Parameters
    ----------
    book : the orders
    is_reviewed : bool array, whether somebody was done with a picture; it is read as it is at the time
    """

    def __init__(self, book: Book, is_reviewed: np.ndarray) -> None:
        self._book, self._table, self._is_reviewed = book, book.table, is_reviewed

    def page(
        self,
        wanted: Wanted,
        *,
        cursor: str = "",
        limit: int = 60,
        others: Held = NOTHING,
        own: Held = NOTHING,
    ) -> Page:
        """The next items, up to the first that is decided by another rule.

        Parameters
        ----------
        wanted : queue and filters
        cursor : of the page before; where its order is gone, the best are looked for again
        limit : how many items at most
        others, own : what others look at; what this person was shown, left out where an order is a new one
        """
        serial, start = _read_cursor(cursor)
        order = self._book.find(wanted, is_first=not cursor).order
        if cursor and order.serial != serial:
            start, others = 0, others | own
        items, ends = self._read(wanted, order, start, limit, others)
        places = [f"{order.serial}.{end}" for end in ends]
        if len(items) < limit and order.is_cut:
            order = self._book.find(wanted, is_used_up=True).order
            shown = own | hold(self.item(wanted, pair) for pair in items)
            more, ends = self._read(wanted, order, 0, limit - len(items), others | shown)
            items += more
            places += [f"{order.serial}.{end}" for end in ends]
        return self._by_one_rule(wanted, items, places, limit)

    def _by_one_rule(self, wanted: Wanted, items: list[Pair], places: list[str], limit: int) -> Page:
        """The items before the first that is decided by another rule; `places` are those behind each."""
        if not items:
            return Page([], None)
        rows, columns = np.array(items).T
        # a picture without a tag to ask about, -1, adds nothing to what is right
        probabilities = np.where(columns >= 0, self._book.judged.of_pairs(rows, columns), 0)
        is_accepted = wanted.is_accepted(probabilities, self._table.codes[rows, columns])
        n_same = int(np.argmin(np.append(is_accepted == is_accepted[0], False)))
        right = float(probabilities[:n_same].sum(dtype=np.float64))
        return Page(
            items[:n_same],
            None if n_same == len(items) < limit else places[n_same - 1],
            KEEP if wanted.is_kept else ACCEPT if is_accepted[0] else MARK,
            None if np.isnan(right) else right,
        )

    def next_picture(self, wanted: Wanted, *, after: int | None = None, others: Held = NOTHING) -> int | None:
        """The row of the next picture that nobody reviewed; None at the end.

        It is the first that comes `after` a row in the order of the queue, else the first from its beginning.
        """
        rows = self._book.find(wanted, is_first=after is None).order.pictures
        here = np.flatnonzero(rows == (-1 if after is None else after))
        rows = np.roll(rows, -(int(here[0]) + 1)) if len(here) else rows
        for begin in range(0, len(rows), _BLOCK):
            block = rows[begin : begin + _BLOCK]
            for row in block[self._is_open_picture(wanted, block)]:
                if row != after and not others.holds(int(self._table.ids[row]), None):
                    return int(row)
        return None

    def item(self, wanted: Wanted, pair: Pair) -> Item:
        """What is lent of a queue: the pair, or the whole picture."""
        row, column = pair
        return int(self._table.ids[row]), self._table.tags[column] if wanted.is_of_pairs else None

    def total(self, wanted: Wanted) -> int:
        """How many items are left; of missing tags those that are proposed."""
        return len(self._left(wanted))

    def n_pictures(self, wanted: Wanted) -> int:
        """How many pictures with such items are left that nobody reviewed."""
        is_left = np.zeros(len(self._is_reviewed), dtype=bool)
        is_left[self._left(wanted)] = True
        return int(np.count_nonzero(is_left & (~self._is_reviewed | (wanted.picture_state == "reviewed"))))

    def _left(self, wanted: Wanted) -> np.ndarray:
        """The row of each item that is left."""
        found = self._book.find(wanted)
        if wanted.queue == "missing" or (wanted.queue == "tag" and not wanted.pair_state):
            rows, columns = self._book.proposed()
            is_in = np.ones(len(rows), dtype=bool) if found.rows is None else np.isin(rows, found.rows)
            return rows[is_in & (columns == self._book.column(wanted))] if wanted.tag else rows[is_in]
        rows = found.order.rows
        return rows[self._is_open(wanted, rows, found.order.columns)]

    def _read(
        self, wanted: Wanted, order: Order, start: int, limit: int, held: Held
    ) -> tuple[list[Pair], list[int]]:
        """Items from a place on, and the place after each."""
        items: list[Pair] = []
        ends: list[int] = []
        for begin in range(start, len(order.rows), _BLOCK):
            rows, columns = order.rows[begin : begin + _BLOCK], order.columns[begin : begin + _BLOCK]
            for at in np.flatnonzero(self._is_open(wanted, rows, columns)):
                row, column = int(rows[at]), int(columns[at])
                tag = self._table.tags[column] if column >= 0 else None
                if not held.holds(int(self._table.ids[row]), tag):
                    items.append((row, column))
                    ends.append(begin + int(at) + 1)
                    if len(items) == limit:
                        return self._named(items), ends
        return self._named(items), ends

    def _named(self, items: list[Pair]) -> list[Pair]:
        """Whole pictures get the tag that is most probable now, -1 where there is none."""
        whole = np.array([row for row, column in items if column < 0], dtype=np.intp)
        best = dict(zip(whole.tolist(), self._book.best_columns(whole)[0].tolist(), strict=True))
        return [(row, best[row] if column < 0 else column) for row, column in items]

    def _is_open(self, wanted: Wanted, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        if wanted.is_of_pairs:
            return wanted.is_open(self._table.codes[rows, columns])
        return (self._table.n_present[rows] == 0) | (wanted.queue != "untagged")

    def _is_open_picture(self, wanted: Wanted, rows: np.ndarray) -> np.ndarray:
        """Whether something in these pictures belongs to the queue, and nobody is done with them."""
        is_new = ~self._is_reviewed[rows] | (wanted.picture_state == "reviewed")
        column = self._book.column(wanted)
        if not wanted.is_of_pairs or column is not None:
            return is_new & self._is_open(
                wanted, rows, np.full(len(rows), column if column is not None else -1)
            )
        probabilities = self._book.judged.of_rows(rows)
        n_tags = probabilities.shape[1]
        n_present = self._table.n_present_of_tags()[:n_tags]
        priorities = wanted.rank(
            probabilities, self._table.codes[rows, :n_tags], n_present, self._table.n_tagged
        )
        return is_new & (priorities > -np.inf).any(axis=1)


def _read_cursor(cursor: str) -> Pair:
    """The serial number of an order, and a place in it."""
    if not cursor:
        return 0, 0
    parts = cursor.split(".")
    if len(cursor) > 40 or len(parts) != 2 or not all(part.isascii() and part.isdecimal() for part in parts):
        raise ArgumentError(f"a cursor is what the page before gave, got {cursor[:40]!r}")
    return int(parts[0]), int(parts[1])

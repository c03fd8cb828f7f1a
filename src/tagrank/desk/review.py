"""An archive as it is reviewed: what is known of it at a moment, and its queues, page by page.

Requests of a moment read one `Review`. A scan or a new model makes another; decisions go into its table as
they are recorded, and what was decided meanwhile is passed over when a queue is read.
"""

from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
from typing import NamedTuple

import numpy as np

from tagrank.archive import Archive
from tagrank.archive.records import PictureFilter, PictureTable
from tagrank.data.vocabulary import TagVocabulary
from tagrank.desk.estimate import Estimate
from tagrank.desk.learning.models import PROPOSED, Proposals
from tagrank.desk.leases import Held, Item, hold
from tagrank.desk.probabilities import Order, Probabilities
from tagrank.desk.queues import ACCEPT, KEEP, MARK, Missing, Queue
from tagrank.desk.states import OPEN, StateTable
from tagrank.errors import ArgumentError, did_you_mean

MOST_PROPOSED, FEWEST_PROPOSED = 24, 5  # tags to ask about in one picture
_KEPT_ORDERS = 48
_BLOCK = 1024  # items looked at together
_NOTHING = Held()

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


class Review:
    """What is known at a time, and the queues by one model; each order is found once, when first asked for.

    Parameters
    ----------
    archive : asked for the pictures that filters leave, and for the last decision
    pictures : those that are there
    table : what is known of each pair
    is_reviewed : bool array, whether somebody was done with a picture; follows decisions, as `table` does
    proposals : of the current model, None before the first
    vocabulary : what the tags mean

    Attributes
    ----------
    pictures, table, is_reviewed, proposals, vocabulary : as given
    probabilities : those of the model, in the places of the table
    estimate : how many tags are missing
    """

    def __init__(
        self,
        archive: Archive,
        pictures: PictureTable,
        table: StateTable,
        is_reviewed: np.ndarray,
        proposals: Proposals | None,
        vocabulary: TagVocabulary,
    ) -> None:
        self._archive, self.pictures, self.table = archive, pictures, table
        self.is_reviewed, self.proposals, self.vocabulary = is_reviewed, proposals, vocabulary
        self.probabilities = Probabilities(proposals, table, vocabulary)
        self.estimate = Estimate(
            self.probabilities, None if proposals is None else proposals.facts.get("missing")
        )
        self._orders: dict[Queue, Order] = {}
        self._moved: list[np.ndarray] = []  # rows whose probabilities moved, by each step
        self._making = Lock()  # one at a time: each reads all probabilities
        n_pairs = len(table.ids) * len(table.tags)
        proposed = self.probabilities.best_pairs(_rank_proposed, most=n_pairs + 1)
        self._proposed = proposed.rows, proposed.columns

    def hear(self, changes: Sequence[tuple[int, int, int, int]]) -> None:
        """Let decisions speak for and against the other tags of their pictures; as `Probabilities.hear`."""
        rows = np.unique([row for row, *_ in changes]).astype(np.int64)
        before = self.probabilities.of_rows(rows)
        rows, kept = (heard := self.probabilities.hear(changes)), np.isin(rows, heard)
        if not len(rows):
            return
        now = self.probabilities.of_rows(rows)
        is_open = self.table.codes[rows, : now.shape[1]] == OPEN
        self.estimate.move(before[kept], now, is_open)
        self._moved.append(rows)
        anew = self.probabilities.best_pairs(_rank_proposed, rows=rows)
        stays = ~np.isin(self._proposed[0], rows)
        self._proposed = (
            np.concatenate([self._proposed[0][stays], anew.rows]),
            np.concatenate([self._proposed[1][stays], anew.columns]),
        )

    # the orders of the queues

    def proposed(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of what is proposed, from 20 % on, neither listed nor decided."""
        rows, columns = self._proposed
        is_open = self.table.codes[rows, columns] == OPEN
        return rows[is_open], columns[is_open]

    def order(self, queue: Queue, *, is_first: bool = False, is_used_up: bool = False) -> Order:
        """The order of a queue.

        Parameters
        ----------
        is_first : for a first page: what depends on decisions is looked for again
        is_used_up : look for it again in any case, without what was decided
        """
        kept = self._orders.get(queue)
        if kept is not None and not is_used_up and not (is_first and self._is_stale(queue, kept)):
            return self._with_moves(queue, kept) if kept.n_moved < len(self._moved) else kept
        with self._making:
            now = self._orders.get(queue)
            if now is None or now is kept:  # else another thread has just made it
                now = self._orders[queue] = self._make_order(queue)
            while len(self._orders) > _KEPT_ORDERS:
                del self._orders[next(iter(self._orders))]
            return now

    def _with_moves(self, queue: Queue, order: Order) -> Order:
        """The order with pairs whose probabilities moved since it was found in their new places."""
        with self._making:
            order, n_moved = self._orders.get(queue, order), len(self._moved)
            rows = np.unique(np.concatenate([np.zeros(0, np.int64), *self._moved[order.n_moved : n_moved]]))
            rows = rows if order.among is None else rows[np.isin(rows, order.among)]
            if len(rows) and order.priorities is not None:
                anew = queue.order(self.probabilities, rows, self.column(queue.tag))
                order = order.moved(rows, anew, n_moved)
            elif len(rows) and queue.needs_tag:
                order = self._make_order(queue)
            self._orders[queue] = order = replace(order, n_moved=n_moved, serial=order.serial)
            return order

    def _is_stale(self, queue: Queue, order: Order) -> bool:
        depends = bool(queue.picture_state or queue.pair_state or queue.text)
        return depends and order.decision != self._archive.last_decision()

    def _make_order(self, queue: Queue) -> Order:
        decision, column, n_moved = self._archive.last_decision(), self.column(queue.tag), len(self._moved)
        rows = self._filtered(queue)
        order = queue.order(self.probabilities, rows, column)
        return replace(order, among=rows, decision=decision, n_moved=n_moved)

    def _filtered(self, queue: Queue) -> np.ndarray | None:
        limits = PictureFilter(
            folder=queue.folder or None,
            state=queue.picture_state or None,
            start=queue.start or None,
            end=queue.end or None,
            text=queue.text or None,
        )
        if limits == PictureFilter():
            return None
        ids = np.asarray(self._archive.select(limits), dtype=np.int64)
        return np.flatnonzero(np.isin(self.table.ids, ids))

    def column(self, tag: str) -> int | None:
        """The place of a tag; None for "", and LookupError for one that nobody used."""
        if not tag:
            return None
        column = self.table.column(tag)
        if column is None:
            hint = did_you_mean(tag, list(self.table.tags))
            raise LookupError(f"the tag {tag!r} is unknown in this archive{hint}")
        return column

    def named(self, queue: Queue | None) -> Queue:
        """The queue, with the name of its tag for a synonym; by default what is probably missing."""
        queue = queue or Missing()
        return replace(queue, tag=self.vocabulary.name(queue.tag))

    def is_new_tag(self, tag: str, n_examples: int) -> bool:
        """Whether the model does not know a tag that has now so many examples; a synonym means its tag."""
        tag = self.vocabulary.name(tag)
        is_known = self.proposals is not None and tag in self.proposals.tags
        column = self.table.column(tag)
        return not is_known and column is not None and self.table.tally(column)["present"] == n_examples

    # page by page

    def page(
        self,
        queue: Queue,
        *,
        cursor: str = "",
        limit: int = 60,
        others: Held = _NOTHING,
        own: Held = _NOTHING,
    ) -> Page:
        """The next items, up to the first that is decided by another rule.

        Parameters
        ----------
        queue : with its filters
        cursor : of the page before; where its order is gone, the best are looked for again
        limit : how many items at most
        others, own : what others look at; what this person was shown, left out where an order is a new one
        """
        serial, start = _read_cursor(cursor)
        order = self.order(queue, is_first=not cursor)
        if cursor and order.serial != serial:
            start, others = 0, others | own
        items, ends = self._read(queue, order, start, limit, others)
        places = [f"{order.serial}.{end}" for end in ends]
        if len(items) < limit and order.is_cut:
            order = self.order(queue, is_used_up=True)
            shown = own | hold(self.item(queue, pair) for pair in items)
            more, ends = self._read(queue, order, 0, limit - len(items), others | shown)
            items += more
            places += [f"{order.serial}.{end}" for end in ends]
        return self._by_one_rule(queue, items, places, limit)

    def _by_one_rule(self, queue: Queue, items: list[Pair], places: list[str], limit: int) -> Page:
        """The items before the first that is decided by another rule; `places` are those behind each."""
        if not items:
            return Page([], None)
        rows, columns = np.array(items).T
        # a picture without a tag to ask about, -1, adds nothing to what is right
        probabilities = np.where(columns >= 0, self.probabilities.of_pairs(rows, columns), 0)
        is_accepted = queue.is_accepted(probabilities, self.table.codes[rows, columns])
        n_same = int(np.argmin(np.append(is_accepted == is_accepted[0], False)))
        right = float(probabilities[:n_same].sum(dtype=np.float64))
        return Page(
            items[:n_same],
            None if n_same == len(items) < limit else places[n_same - 1],
            KEEP if queue.is_kept else ACCEPT if is_accepted[0] else MARK,
            None if np.isnan(right) else right,
        )

    def _read(
        self, queue: Queue, order: Order, start: int, limit: int, held: Held
    ) -> tuple[list[Pair], list[int]]:
        """Items from a place on, and the place after each."""
        items: list[Pair] = []
        ends: list[int] = []
        for begin in range(start, len(order.rows), _BLOCK):
            rows, columns = order.rows[begin : begin + _BLOCK], order.columns[begin : begin + _BLOCK]
            for at in np.flatnonzero(queue.are_items(self.table, rows, columns)):
                row, column = int(rows[at]), int(columns[at])
                tag = self.table.tags[column] if column >= 0 else None
                if not held.holds(int(self.table.ids[row]), tag):
                    items.append((row, column))
                    ends.append(begin + int(at) + 1)
                    if len(items) == limit:
                        return self._named(items), ends
        return self._named(items), ends

    def _named(self, items: list[Pair]) -> list[Pair]:
        """Whole pictures get the tag that is most probable now, -1 where there is none."""
        whole = np.array([row for row, column in items if column < 0], dtype=np.intp)
        best = dict(zip(whole.tolist(), self.probabilities.best_open(whole)[0].tolist(), strict=True))
        return [(row, best[row] if column < 0 else column) for row, column in items]

    def item(self, queue: Queue, pair: Pair) -> Item:
        """What is lent of a queue: the pair, or the whole picture."""
        row, column = pair
        return int(self.table.ids[row]), self.table.tags[column] if queue.is_of_pairs else None

    # picture by picture

    def next_picture(self, queue: Queue, *, after: int | None = None, others: Held = _NOTHING) -> int | None:
        """The row of the next picture that nobody reviewed; None at the end.

        It is the first that comes `after` a row in the order of the queue, else the first from its beginning.
        """
        rows = self.order(queue, is_first=after is None).pictures
        here = np.flatnonzero(rows == (-1 if after is None else after))
        rows = np.roll(rows, -(int(here[0]) + 1)) if len(here) else rows
        for begin in range(0, len(rows), _BLOCK):
            block = rows[begin : begin + _BLOCK]
            for row in block[self._is_open_picture(queue, block)]:
                if row != after and not others.holds(int(self.table.ids[row]), None):
                    return int(row)
        return None

    def _is_open_picture(self, queue: Queue, rows: np.ndarray) -> np.ndarray:
        """Whether something in these pictures belongs to the queue, and nobody is done with them."""
        is_new = ~self.is_reviewed[rows] | self._asks_again(queue)
        column = self.column(queue.tag)
        if not queue.is_of_pairs or column is not None:
            columns = np.full(len(rows), -1 if column is None else column)
            return is_new & queue.are_items(self.table, rows, columns)
        probabilities = self.probabilities.of_rows(rows)
        n_tags = probabilities.shape[1]
        n_present = self.table.n_present_of_tags()[:n_tags]
        priorities = queue.rank(
            probabilities, self.table.codes[rows, :n_tags], n_present, self.table.n_tagged
        )
        return is_new & (priorities > -np.inf).any(axis=1)

    def proposed_columns(self, queue: Queue, row: int) -> Sequence[int]:
        """Columns to ask about in one picture: the tag of the queue, what is probable, and a few more."""
        probabilities = self.probabilities.of_rows(np.array([row]))[0]
        codes = self.table.codes[row, : len(probabilities)]
        n_present = self.table.n_present_of_tags()[: len(codes)]
        ranks = queue.rank_in_picture(probabilities, codes, n_present, self.table.n_tagged)
        order = [int(j) for j in np.argsort(-ranks, kind="stable") if ranks[j] > -np.inf]
        n_probable = int(np.count_nonzero((codes == OPEN) & (probabilities >= PROPOSED)))
        order = order[: min(MOST_PROPOSED, max(FEWEST_PROPOSED, n_probable))]
        column = self.table.column(queue.tag)
        if column is not None and codes[column] == OPEN:
            order = [column, *(j for j in order if j != column)]
        return order

    # what is left

    def total(self, queue: Queue) -> int:
        """How many items are left; of missing tags those that are proposed."""
        return len(self._left(queue))

    def n_pictures(self, queue: Queue) -> int:
        """How many pictures with such items are left that nobody reviewed."""
        is_left = np.zeros(len(self.is_reviewed), dtype=bool)
        is_left[self._left(queue)] = True
        return int(np.count_nonzero(is_left & (~self.is_reviewed | self._asks_again(queue))))

    @staticmethod
    def _asks_again(queue: Queue) -> bool:
        """Whether it shows pictures, too, that somebody was done with."""
        return queue.picture_state == "reviewed" or queue.wants_all

    def _left(self, queue: Queue) -> np.ndarray:
        """The row of each item that is left."""
        order = self.order(queue)
        if queue.counts_proposed:
            rows, columns = self.proposed()
            is_in = np.ones(len(rows), dtype=bool) if order.among is None else np.isin(rows, order.among)
            return rows[is_in & (columns == self.column(queue.tag))] if queue.tag else rows[is_in]
        return order.rows[queue.are_items(self.table, order.rows, order.columns)]

    def why_nothing(self, queue: Queue, *, is_wall: bool) -> str:
        """Why nothing is shown: no "pictures", "filters" leave none, no "tags", no "model"; or "decided"."""
        among = self.order(queue).among
        if not len(self.table.ids):
            return "pictures"
        if among is not None and not len(among):
            return "filters"
        if is_wall or not queue.by_picture:
            if not self.table.n_present.any():
                return "tags"
            if self.probabilities.is_empty:
                return "model"
        return "decided"


def _rank_proposed(probabilities: np.ndarray, codes: np.ndarray, *_: object) -> np.ndarray:
    return np.where((codes == OPEN) & (probabilities >= PROPOSED), probabilities, -np.inf)


def _read_cursor(cursor: str) -> Pair:
    """The serial number of an order, and a place in it."""
    if not cursor:
        return 0, 0
    parts = cursor.split(".")
    if len(cursor) > 40 or len(parts) != 2 or not all(part.isascii() and part.isdecimal() for part in parts):
        raise ArgumentError(f"cursor must be the one of the previous page, got {cursor[:40]!r}")
    return int(parts[0]), int(parts[1])

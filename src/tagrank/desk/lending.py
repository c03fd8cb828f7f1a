"""Items of queues are lent to the people who ask for them: two who ask at once get different ones."""

from collections.abc import Iterable
from threading import Lock

from tagrank.desk.leases import Item, Leases
from tagrank.desk.queues import Queue
from tagrank.desk.review import Page, Review


class Lending:
    """Reads queues for several people and remembers who looks at what."""

    def __init__(self) -> None:
        self._leases, self._handing = Leases(), Lock()

    def page(self, review: Review, queue: Queue, *, who: str, cursor: str, limit: int) -> Page:
        """The next items of a queue, lent to `who`; a first page frees what they had before."""
        review.order(queue, is_first=not cursor)  # before the lock, as the first time takes a while
        with self._handing:
            if not cursor:
                self._leases.free(who)
            others, own = self._leases.held_by_others(who), self._leases.held_by(who)
            page = review.page(queue, cursor=cursor, limit=limit, others=others, own=own)
            self._leases.lend(who, [review.item(queue, pair) for pair in page.items])
        return page

    def next_picture(self, review: Review, queue: Queue, *, who: str, after: int | None) -> int | None:
        """The next picture of a queue, lent to `who`; None at the end.

        What they had before is free again, but for `after`: a page asks ahead while it is looked at.
        """
        place = review.table.row(after) if after is not None and after in review.table else None
        review.order(queue, is_first=after is None)
        with self._handing:
            self._leases.free(who)
            others = self._leases.held_by_others(who)
            if after is not None and place is not None and not others.holds(after, None):
                self._leases.lend(who, [(after, None)])
            row = review.next_picture(queue, after=place, others=others)
            if row is None:
                return None
            picture = int(review.table.ids[row])
            self._leases.lend(who, [(picture, None)])
        return picture

    def settle(self, items: Iterable[Item]) -> None:
        """Items were decided: nobody holds them any more."""
        self._leases.settle(items)

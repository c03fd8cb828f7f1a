"""What the pages of a review show: walls of proposals, one picture with its tags, lists of pictures."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np

from tagrank.archive.records import ArchivedPicture, PictureFilter
from tagrank.desk.leases import Leases
from tagrank.desk.memory import Memory, View
from tagrank.desk.queues import DOUBTED, OPEN, PROPOSED, QUEUES, Wanted, is_doubtful
from tagrank.desk.states import StateTable, is_in_state, state_of
from tagrank.errors import ArgumentError

MOST_ITEMS = 500
MOST_PROPOSED, FEWEST_PROPOSED = 24, 5
NOTHING: dict[str, Any] = {"picture": None, "tags": [], "proposed": [], "doubtful": [], "rejected": []}


class Review:
    """Items of the queues as plain dicts, each lent to the person who gets it."""

    def __init__(self, archive: Any, memory: Memory, leases: Leases) -> None:
        self._archive, self._memory, self._leases = archive, memory, leases
        self._handing = Lock()  # two people who ask at once get different items

    def wall(self, *, who: str = "", cursor: str = "", limit: int = 60, **wanted: Any) -> dict[str, Any]:
        """A page of pairs of picture and tag; a first page frees what this person had before.

        "rule" says what becomes of pairs that nobody marks ("accept": they are accepted; "mark": they stay
        undecided; "keep": they keep their tags), and "right" how many of them are right, by the model. Where
        there is no pair, "nothing" says why.
        """
        view, asked = self._memory.view, self._wanted(wanted)
        _check_limit(limit)
        view.book.find(asked, is_first=not cursor)  # before the lock, as the first time takes a while
        with self._handing:
            if not cursor:
                self._leases.free(who)
            others, own = self._leases.held_by_others(who), self._leases.held_by(who)
            page = view.reader.page(asked, cursor=cursor, limit=limit, others=others, own=own)
            self._leases.lend(who, [view.reader.item(asked, pair) for pair in page.items])
        pairs = [pair for pair in page.items if pair[1] >= 0]  # else there is no tag to ask about
        pictures = self._archive.pictures_of([int(view.table.ids[row]) for row, _ in pairs])
        items = [
            {"picture": picture_json(picture)} | _pair(view, row, column)
            for picture, (row, column) in zip(pictures, pairs, strict=True)
        ]
        return {
            "items": items,
            "cursor": page.cursor,
            "total": view.reader.total(asked),
            "rule": page.rule,
            "right": None if page.right is None else round(page.right, 2),
            "nothing": None if items else why_nothing(view, asked, is_wall=True),
        }

    def next(self, *, who: str = "", after: int | None = None, **wanted: Any) -> dict[str, Any]:
        """The next picture of a queue.

        What this person had before is free again, but for `after`: a page asks ahead while it is looked at.
        """
        view, asked = self._memory.view, self._wanted(wanted)
        place = view.table.row(after) if after is not None and after in view.table else None
        view.book.find(asked, is_first=after is None)
        with self._handing:
            self._leases.free(who)
            others = self._leases.held_by_others(who)
            if after is not None and place is not None and not others.holds(after, None):
                self._leases.lend(who, [(after, None)])
            row = view.reader.next_picture(asked, after=place, others=others)
            if row is None:
                return NOTHING | {"left": 0, "nothing": why_nothing(view, asked, is_wall=False)}
            picture = int(view.table.ids[row])
            self._leases.lend(who, [(picture, None)])
        return self._show(view, picture, asked) | {"left": view.reader.n_pictures(asked), "nothing": None}

    def left(self, **wanted: Any) -> dict[str, int]:
        """How much is left of a queue, of its wall and of its pictures; nothing if none is named."""
        if not wanted:
            return {}
        view, asked = self._memory.view, self._wanted(wanted)
        return {"total": view.reader.total(asked), "left": view.reader.n_pictures(asked)}

    def _wanted(self, given: dict[str, Any]) -> Wanted:
        """What is asked for; a synonym is its tag."""
        asked = Wanted(**{name: value for name, value in given.items() if value is not None})
        return replace(asked, tag=self._memory.view.vocabulary.name(asked.tag))

    def picture(self, picture: int) -> dict[str, Any]:
        """One picture with its tags."""
        view = self._memory.view
        return self._show(view, picture, Wanted()) | {
            "left": view.reader.n_pictures(Wanted()),
            "nothing": None,
        }

    def pictures(self, *, limit: int = 60, cursor: str = "", **wanted: Any) -> dict[str, Any]:
        """Pictures by their numbers, with filters; `cursor` is the last number of the page before."""
        _check_limit(limit)
        if cursor and not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 19):
            raise ArgumentError(f"a cursor is what the page before gave, got {cursor[:40]!r}")
        chosen = PictureFilter(**{name: value or None for name, value in wanted.items()})
        self._memory.view.book.column(
            self._wanted({"tag": chosen.tag})
        )  # an unknown tag is said to be unknown
        ids = self._archive.select(chosen, after=int(cursor) if cursor else None, limit=limit)
        items = [
            picture_json(picture) | self._tags_of(picture.id) for picture in self._archive.pictures_of(ids)
        ]
        total = self._archive.count(chosen)
        return {"items": items, "cursor": str(ids[-1]) if len(ids) == limit else None, "total": total}

    def _tags_of(self, picture: int) -> dict[str, Any]:
        """Names of the tags that are present, and how many are proposed."""
        view = self._memory.view
        if picture not in view.table:
            return {"tags": [], "proposed": 0}
        row, tags = view.table.row(picture), view.table.tags
        codes = view.table.codes[row, : len(tags)]
        probabilities = view.judged.of_rows(np.array([row]))[0]
        n_proposed = np.count_nonzero((codes[: len(probabilities)] == OPEN) & (probabilities >= PROPOSED))
        return {
            "tags": [tags[j] for j in np.flatnonzero(is_in_state(codes, "present"))],
            "proposed": int(n_proposed),
        }

    def _show(self, view: View, picture: int, asked: Wanted) -> dict[str, Any]:
        row = view.table.row(picture)
        known = self._archive.states_of(picture)
        probabilities = view.judged.of_rows(np.array([row]))[0]
        codes = view.table.codes[row, : len(probabilities)]
        n_present = view.table.n_present_of_tags()[: len(codes)]
        is_doubted = (codes == DOUBTED) & is_doubtful(probabilities, n_present, view.table.n_tagged)
        is_present = is_in_state(codes, "present") & ~is_doubted
        is_rejected = (codes != OPEN) & ~is_in_state(codes, "present")

        def pairs(columns: Iterable[int]) -> list[dict[str, Any]]:
            return [_pair(view, row, int(j)) | _answer(known.get(view.table.tags[int(j)])) for j in columns]

        doubted = np.flatnonzero(is_doubted)
        is_asked = doubted == view.table.column(asked.tag)
        doubted = doubted[np.lexsort((probabilities[doubted], ~is_asked))]
        return {
            "picture": picture_json(self._archive.picture(picture)),
            "tags": pairs(np.flatnonzero(is_present)),
            "proposed": pairs(proposed_columns(asked, probabilities, codes, view.table)),
            "doubtful": pairs(doubted),
            "rejected": pairs(np.flatnonzero(is_rejected)),
        }


def why_nothing(view: View, asked: Wanted, *, is_wall: bool) -> str:
    """Why nothing is shown: no "pictures", "filters" leave none, no "tags", no "model", all is "decided"."""
    rows = view.book.find(asked).rows
    if not len(view.table.ids):
        return "pictures"
    if rows is not None and not len(rows):
        return "filters"
    if is_wall or not QUEUES[asked.queue].by_picture:
        if not view.table.n_present.any():
            return "tags"
        if view.judged.is_empty:
            return "model"
    return "decided"


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= MOST_ITEMS:
        raise ArgumentError(f"limit must be from 1 to {MOST_ITEMS}, got {limit}")


def proposed_columns(
    asked: Wanted, probabilities: np.ndarray, codes: np.ndarray, table: StateTable
) -> Sequence[int]:
    """Columns to ask about in one picture: the tag that is asked for, what is probable, and a few more."""
    queue = Wanted("informative" if asked.queue == "informative" else "missing")
    n_present, column = table.n_present_of_tags()[: len(codes)], table.column(asked.tag)
    ranks = queue.rank(probabilities, codes, n_present, table.n_tagged)
    order = [int(j) for j in np.argsort(-ranks, kind="stable") if ranks[j] > -np.inf]
    n_probable = int(np.count_nonzero((codes == OPEN) & (probabilities >= PROPOSED)))
    order = order[: min(MOST_PROPOSED, max(FEWEST_PROPOSED, n_probable))]
    if column is not None and codes[column] == OPEN:
        order = [column, *(j for j in order if j != column)]
    return order


def _pair(view: View, row: int, column: int) -> dict[str, Any]:
    probability = float(view.judged.of_pairs(np.array([row]), np.array([column]))[0])
    return {
        "tag": view.table.tags[column],
        "probability": None if np.isnan(probability) else round(probability, 4),
        "state": state_of(int(view.table.codes[row, column])),
    }


def _answer(known: Any) -> dict[str, Any]:
    if known is None:
        return {"listed": False, "answer": None, "by": None}
    return {"listed": known.is_listed, "answer": known.answer, "by": known.who}


def picture_json(picture: ArchivedPicture) -> dict[str, Any]:
    """A picture for pages; no path."""
    return {
        "id": picture.id,
        "name": picture.name,
        "folder": picture.folder,
        "date": picture.date,
        "width": picture.width,
        "height": picture.height,
        "tagged": picture.is_tagged,
        "reviewed": picture.is_reviewed,
        "changed": picture.is_changed,
    }
